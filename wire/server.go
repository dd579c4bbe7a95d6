package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
	"fugu/wire/auth"
)

// Config says how clients are served. Zero timeouts and limits mean none, except that a DrainTimeout of zero does not
// wait. Auth and Logger must be given.
type Config struct {
	Auth         auth.Method
	TLS          *auth.TLS // nil: clients are not offered encryption
	MaxClients   int
	UserClients  int           // at a time, of one user
	MessageBytes int           // of one message of a client's
	LoginTimeout time.Duration // from connecting to the end of authentication
	// IdleTimeout is of a client that asks nothing, IdleInTransactionTimeout of one that does so in a transaction.
	IdleTimeout, IdleInTransactionTimeout time.Duration
	KeepAlive                             time.Duration // of a client's silence, until TCP asks whether it is there
	DrainTimeout                          time.Duration // for clients that are at work when the server stops
	Pool                                  Pool          // of guests
	Logger                                *slog.Logger
}

// Server serves clients.
type Server struct {
	config  Config
	engine  Engine
	pool    *pool // nil: each session has a guest of its own
	keys    keys
	users   places
	clients atomic.Int64 // that have asked for a session
	conns   atomic.Int64 // all, with those of which nothing is known yet
}

// New returns a server that answers from engine.
func New(config Config, engine Engine) *Server {
	if config.MessageBytes <= 0 || config.MessageBytes > maxFrame {
		config.MessageBytes = maxFrame
	}
	s := &Server{config: config, engine: engine, keys: keys{m: map[uint32]key{}}}
	if config.Pool.Size > 0 {
		s.pool = newPool(config.Pool)
	}
	return s
}

// Serve accepts clients until ctx ends. Then it takes no more, sends idle ones away, lets the others finish their
// transaction for DrainTimeout, and returns when every session is over. It closes the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	// Sessions outlive ctx by the time of the drain.
	work, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	closing := after(ctx, func() { _ = l.Close() })
	defer closing()
	var clients sync.WaitGroup
	err := s.accept(ctx, l, func(conn net.Conn) {
		clients.Go(func() { s.client(ctx, work, conn) })
	})
	stop()
	timer := time.AfterFunc(s.config.DrainTimeout, kill)
	defer timer.Stop()
	clients.Wait()
	if s.pool != nil {
		s.pool.close()
	}
	return err
}

// after calls f when ctx has ended. stop prevents it, or if it is too late for that, waits for its end and reports false.
func after(ctx context.Context, f func()) (stop func() bool) {
	var running sync.WaitGroup
	running.Add(1)
	prevent := context.AfterFunc(ctx, func() {
		defer running.Done()
		f()
	})
	prevented := false
	return func() bool {
		if !prevented && !prevent() {
			running.Wait()
			return false
		}
		prevented = true
		return true
	}
}

func (s *Server) accept(ctx context.Context, l net.Listener, serve func(net.Conn)) error {
	for {
		conn, err := l.Accept()
		switch {
		case err == nil && ctx.Err() == nil:
			serve(conn)
		case err == nil:
			_ = conn.Close()
			return nil
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accepting clients: %w", err)
		default:
			s.config.Logger.Warn("accepting a client failed", "error", err)
			select { // out of file descriptors, usually
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
}

// client serves one connection from its first byte to its last. It is to end with ctx as soon as it can, and with work
// in any case.
func (s *Server) client(ctx, work context.Context, conn net.Conn) {
	defer conn.Close()
	defer s.conns.Add(-1)
	// Cancel requests, and clients to be told that they are too many, need some room.
	if n := s.conns.Add(1); s.config.MaxClients > 0 && n > int64(2*s.config.MaxClients+16) {
		return
	}
	keepAlive(conn, s.config.KeepAlive)
	l := newLogin(conn)
	session, leave, err := s.login(ctx, work, l)
	defer func() { _ = l.conn.Close() }()
	if err != nil {
		if last := farewell(err); last != nil {
			_ = conn.SetDeadline(time.Now().Add(linger)) // the one of the login may be over
			l.refuse(last)
		}
		return
	}
	if session == nil {
		return // it was a cancel request
	}
	defer leave()
	draining := after(ctx, session.drain)
	defer draining()
	killing := after(work, func() { session.stop(errShutdown) })
	defer killing()
	session.run()
}

// login brings a connection up to its first ReadyForQuery. A cancel request gives no session. leave is to be called when
// the session is over.
func (s *Server) login(ctx, work context.Context, l *login) (_ *session, leave func(), err error) {
	var undo []func()
	back := func() {
		for _, f := range slices.Backward(undo) {
			f()
		}
	}
	defer func() {
		if p := recover(); p != nil {
			s.config.Logger.Error("a login panicked", "panic", fmt.Sprintf("%T", p))
			err = sqlstate.New(sqlstate.InternalError, "internal error").Ending()
		}
		if err != nil {
			back()
		}
	}()
	if s.config.LoginTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.config.LoginTimeout)
		defer cancel()
	}
	plain := l.conn
	hurry := after(ctx, func() { _ = plain.SetDeadline(time.Unix(1, 0)) })
	defer hurry()

	req, err := l.readStartup(ctx, s.config.TLS)
	switch {
	case errors.Is(err, auth.ErrHandshake):
		s.config.Logger.Warn("a client was not let in", "address", plain.RemoteAddr(), "cause", err)
		return nil, nil, errDone
	case err != nil && !isKnown(err):
		return nil, nil, errDone // not a client of PostgreSQL's protocol, or gone: PostgreSQL says nothing either
	case err != nil:
		return nil, nil, err
	case req.cancel != nil:
		s.cancel(ctx, req.cancel)
		return nil, nil, nil
	}
	undo = append(undo, func() { s.clients.Add(-1) })
	if n := s.clients.Add(1); s.config.MaxClients > 0 && n > int64(s.config.MaxClients) {
		return nil, nil, sqlstate.New(sqlstate.TooManyConnections, "sorry, too many clients already").Ending()
	}
	err = s.config.TLS.Admit(l.channel, req.startup.User, req.startup.Database)
	if err == nil {
		err = s.config.Auth.Authenticate(ctx, asked{l}, req.startup.User)
	}
	if err != nil {
		if !isKnown(err) {
			return nil, nil, late(ctx)
		}
		s.config.Logger.Warn("a client was not let in", "user", req.startup.User, "address", plain.RemoteAddr(), "code", string(sqlstate.As(err).Code))
		return nil, nil, err
	}
	if !s.users.enter(req.startup.User, s.config.UserClients) {
		return nil, nil, sqlstate.New(sqlstate.TooManyConnections, "too many connections for role \"%s\"", req.startup.User).Ending()
	}
	undo = append(undo, func() { s.users.leave(req.startup.User) })
	engine, lease, err := s.open(ctx, req.startup)
	if errors.Is(err, errDone) {
		return nil, nil, err
	} else if err != nil {
		e := sqlstate.As(err)
		s.config.Logger.Warn("a session could not be opened", "code", string(e.Code), "cause", loggable(e.Cause))
		return nil, nil, e.Ending()
	}
	var pid uint32 // that the client is told, if it can be
	opened := len(undo)
	if held := lease.held; held != nil {
		pid = held.PID()
		undo = append(undo, func() { _ = held.Conn().Close() })
	}
	if err := accepted(lease.told); err != nil {
		return nil, nil, err
	}
	lasting, cancel := context.WithCancel(work)
	session := &session{log: s.config.Logger, idle: s.config.IdleTimeout, idleInTransaction: s.config.IdleInTransactionTimeout,
		ctx: lasting, conn: l.conn, engine: engine, lease: lease, exchange: newExchange('I'), in: l.in, maxBody: s.config.MessageBytes, client: l.out}
	if lease.held != nil {
		session.guest = lease.held.Conn()
		session.out = newOutlet(session.guest)
	}
	undo = append(undo, cancel)
	pid, secret, name := s.keys.add(session, pid, req.version)
	session.askName = name
	undo = append(undo, func() { s.keys.remove(pid) })
	l.greet(lease.told)
	l.out.send(&pgproto3.BackendKeyData{ProcessID: pid, SecretKey: secret}, &pgproto3.ReadyForQuery{TxStatus: 'I'})
	l.out.flush()
	if l.out.err != nil {
		return nil, nil, errDone
	}
	if !hurry() { // the client takes itself to be let in, and is told why that has ended
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, nil, late(ctx)
		}
		return nil, nil, errShutdown
	}
	l.in.r.from, l.in.r.keep = requestReader{session}, false
	if lease.held != nil { // the session's run closes it
		undo = slices.Delete(undo, opened, opened+1)
	}
	return session, back, nil
}

// open begins a client's session with the engine, and lets it have a guest, or find out what those of the pool are like.
func (s *Server) open(ctx context.Context, startup Startup) (Session, *lease, error) {
	engine, err := s.engine.Open(ctx, startup)
	if err != nil {
		return nil, nil, err
	}
	if s.pool != nil {
		l := &lease{pool: s.pool, kind: engine.Kind()}
		if l.told, err = s.pool.status(ctx, l.kind, engine.Connect); err != nil && !isKnown(err) && ctx.Err() != nil {
			err = late(ctx)
		}
		return engine, l, err
	}
	guest, err := engine.Connect(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	return engine, &lease{held: &lent{Guest: guest}, told: guest.Parameters()}, nil
}

// accepted refuses a guest whose settings Fugu's parser does not read by.
func accepted(parameters map[string]string) error {
	for name, want := range pins {
		if value, ok := parameters[name]; ok && value != want {
			return pinned(name, want)
		}
	}
	return nil
}

// greet leaves in out what a client is told when it is let in, up to its cancel key.
func (l *login) greet(parameters map[string]string) {
	l.out.send(&pgproto3.AuthenticationOk{})
	names := make([]string, 0, 32)
	for name := range parameters {
		names = append(names, name)
	}
	slices.Sort(names)
	var status pgproto3.ParameterStatus
	for _, name := range names {
		status = pgproto3.ParameterStatus{Name: name, Value: parameters[name]}
		l.out.send(&status)
	}
}

func isKnown(err error) bool {
	var e *sqlstate.Error
	return errors.As(err, &e)
}

// cancelTimeout bounds the forwarding of a cancel request.
const cancelTimeout = 10 * time.Second

// cancel ends what the named session is at. A wrong key gets the same silence as a right one.
func (s *Server) cancel(ctx context.Context, r *pgproto3.CancelRequest) {
	session := s.keys.find(r.ProcessID, r.SecretKey)
	if session == nil {
		return
	}
	ctx, stop := context.WithTimeout(ctx, cancelTimeout)
	defer stop()
	if err := session.interrupt(ctx); err != nil {
		s.config.Logger.Warn("a cancel request could not be forwarded", "error", err)
	}
}
