package wire

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
	"fugu/wire/auth"
)

// undoing is what is to be done when a session is over, or comes to nothing: the last first.
type undoing []func()

func (u *undoing) add(f func()) { *u = append(*u, f) }

func (u *undoing) run() {
	for _, f := range slices.Backward(*u) {
		f()
	}
}

// login brings a connection up to its first ReadyForQuery. A cancel request gives no session. leave is to be called
// when the session is over.
func (s *Server) login(ctx, work context.Context, l *login) (_ *session, leave func(), err error) {
	var undo undoing
	defer s.giveUp(&undo, &err)

	// It has to be quick, and at once where the server is to end.
	if s.config.LoginTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.config.LoginTimeout)
		defer cancel()
	}
	plain := l.conn
	hurry := whenEnded(ctx, func() { _ = plain.SetDeadline(time.Unix(1, 0)) })
	defer hurry()

	req, err := s.receive(ctx, l)
	switch {
	case err != nil:
		return nil, nil, err
	case req.cancel != nil:
		s.cancel(ctx, req.cancel)
		return nil, nil, nil
	}
	if err := s.admit(ctx, l, req, &undo); err != nil {
		return nil, nil, err
	}

	// A guest that was opened for the client alone is closed where the session does not come about.
	engine, lease, err := s.open(ctx, req.startup)
	if err != nil {
		return nil, nil, err
	}
	if lease.held != nil {
		undo.add(func() {
			if err != nil { // otherwise the session's run closes it
				_ = lease.held.Conn().Close()
			}
		})
	}
	if err := accepted(lease.told); err != nil {
		return nil, nil, err
	}

	// From the first ReadyForQuery on the client may send.
	session := s.begin(work, l, engine, lease, req.version, &undo)
	l.out.flush()
	if l.out.err != nil {
		return nil, nil, errDone
	}

	switch hurried := !hurry(); { // the client takes itself to be let in, and is told why that has ended
	case hurried && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, nil, late(ctx)
	case hurried:
		return nil, nil, errShutdown
	}
	l.in.r.from, l.in.r.keep = requestReader{session}, false
	return session, undo.run, nil
}

// giveUp is deferred: a login that fails or panics leaves nothing behind.
func (s *Server) giveUp(undo *undoing, err *error) {
	if p := recover(); p != nil {
		s.config.Logger.Error("a login panicked", "panic", fmt.Sprintf("%T", p))
		*err = sqlstate.New(sqlstate.InternalError, "internal error").Ending()
	}
	if *err != nil {
		undo.run()
	}
}

// receive reads what a connection asks for first. Who speaks another protocol, or is gone, is told nothing, as
// PostgreSQL has it.
func (s *Server) receive(ctx context.Context, l *login) (request, error) {
	address := l.conn.RemoteAddr()
	req, err := l.readStartup(ctx, s.config.TLS)
	switch {
	case errors.Is(err, auth.ErrHandshake):
		s.config.Logger.Warn("a client was not let in", "address", address, "cause", err)
		return req, errDone
	case err != nil && !isKnown(err):
		return req, errDone
	}
	return req, err
}

// admit lets a client in who is who it says, if there is a place for it.
func (s *Server) admit(ctx context.Context, l *login, req request, undo *undoing) error {
	undo.add(func() { s.clients.Add(-1) })
	if n := s.clients.Add(1); s.config.MaxClients > 0 && n > int64(s.config.MaxClients) {
		return sqlstate.New(sqlstate.TooManyConnections, "sorry, too many clients already").Ending()
	}

	user := req.startup.User
	err := s.config.TLS.Admit(l.channel, user, req.startup.Database)
	if err == nil {
		err = s.config.Auth.Authenticate(ctx, asked{l}, user)
	}
	switch {
	case err != nil && !isKnown(err):
		return late(ctx)
	case err != nil:
		s.config.Logger.Warn("a client was not let in", "user", user, "address", l.conn.RemoteAddr(),
			"code", string(sqlstate.As(err).Code))
		return err
	}

	// After that, or others could take the user's places.
	if !s.users.enter(user, s.config.UserClients) {
		return sqlstate.New(sqlstate.TooManyConnections, "too many connections for role \"%s\"", user).Ending()
	}
	undo.add(func() { s.users.leave(user) })
	return nil
}

// open is connect, with the errors that a client is told.
func (s *Server) open(ctx context.Context, startup Startup) (Session, *lease, error) {
	engine, lease, err := s.connect(ctx, startup)
	if err == nil || errors.Is(err, errDone) {
		return engine, lease, err
	}
	e := sqlstate.As(err)
	s.config.Logger.Warn("a session could not be opened", "code", string(e.Code), "cause", loggable(e.Cause))
	return nil, nil, e.Ending()
}

// begin makes the session, with a key for cancel requests, and leaves in out what the client is told when it is let in.
// The process id is the guest's, if the session has one from the beginning.
func (s *Server) begin(work context.Context, l *login, engine Session, lease *lease, version uint32,
	undo *undoing) *session {
	lasting, cancel := context.WithCancel(work)
	undo.add(cancel)
	undo.add(s.tally.enter())
	session := &session{log: s.config.Logger, tally: &s.tally, idle: s.config.IdleTimeout,
		idleInTransaction: s.config.IdleInTransactionTimeout, ctx: lasting, conn: l.conn, engine: engine, lease: lease,
		exchange: newExchange(statusIdle), in: l.in, maxBody: s.config.MessageBytes, client: l.out, linger: s.linger}
	var pid uint32
	if lease.held != nil {
		session.guest = lease.held.Conn()
		session.out = newOutlet(session.guest)
		pid = lease.held.PID()
	}

	// From here on a cancel request finds the session.
	pid, secret, name := s.keys.add(session, pid, version)
	undo.add(func() { s.keys.remove(pid) })
	session.askName = name
	l.greet(lease.told)
	l.out.send(&pgproto3.BackendKeyData{ProcessID: pid, SecretKey: secret},
		&pgproto3.ReadyForQuery{TxStatus: statusIdle})
	return session
}

// connect begins a client's session with the engine, and lets it have a guest, or find out what those of the pool are
// like.
func (s *Server) connect(ctx context.Context, startup Startup) (Session, *lease, error) {
	engine, err := s.engine.Open(ctx, startup)
	if err != nil {
		return nil, nil, err
	}
	if s.pool != nil {
		l := &lease{pool: s.pool, kind: engine.Kind()}
		l.told, err = s.pool.status(ctx, l.kind, engine.ConnectRenewable)
		if err != nil && !isKnown(err) && ctx.Err() != nil {
			err = late(ctx)
		}
		return engine, l, err
	}
	guest, err := engine.Connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	return engine, &lease{held: &lent{Guest: guest}, told: guest.Parameters()}, nil
}

// accepted refuses a guest whose settings Fugu's parser does not read by.
func accepted(parameters map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(pins)) {
		if value, ok := parameters[name]; ok && value != pins[name] {
			return pinned(name, pins[name])
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
