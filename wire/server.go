package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

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
	tally   tally
	linger  time.Duration // of sessions: the constant, but in tests of more at once than processors serve in it

	retiring context.Context // ends when no more clients are taken
	retire   context.CancelFunc
	patience atomic.Int64 // in nanoseconds: of retiring
}

// New returns a server that answers from engine.
func New(config Config, engine Engine) *Server {
	if config.MessageBytes <= 0 || config.MessageBytes > maxFrame {
		config.MessageBytes = maxFrame
	}
	s := &Server{config: config, engine: engine, keys: keys{m: map[uint32]key{}}, linger: linger}
	s.retiring, s.retire = context.WithCancel(context.Background())
	if config.Pool.Size > 0 {
		s.pool = newPool(config.Pool)
	}
	return s
}

// Serve accepts clients until ctx ends. Then it takes no more, sends idle ones away, lets the others finish their
// transaction for DrainTimeout, and returns when every session is over. It closes the listener. Once it is retired it
// leaves the sessions that there are in peace before.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	// Sessions outlive ctx by the time of the drain.
	work, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	ctx, stop := context.WithCancel(ctx)
	defer stop()

	closing := whenEnded(ctx, func() { _ = l.Close() })
	defer closing()
	ceasing := whenEnded(s.retiring, func() { _ = l.Close() })
	defer ceasing()
	var clients sync.WaitGroup
	err := s.accept(ctx, l, func(conn net.Conn) {
		clients.Go(func() { s.client(ctx, work, conn) })
	})

	if err == nil {
		s.outlast(ctx, &clients)
	}
	stop()
	timer := time.AfterFunc(s.config.DrainTimeout, kill)
	defer timer.Stop()
	clients.Wait()
	if s.pool != nil {
		s.pool.close()
	}
	return err
}

// Retire has Serve take no more clients and wait until those that there are have gone by themselves, for as long as
// patience at the most; then it goes on as if its context had ended. Somebody else may be taking clients from the same
// socket by now. It may be called once, while Serve runs.
func (s *Server) Retire(patience time.Duration) {
	s.patience.Store(int64(patience))
	s.retire()
}

// outlast waits, where the server is retired, until its clients are gone, its patience is over or ctx has ended.
func (s *Server) outlast(ctx context.Context, clients *sync.WaitGroup) {
	if s.retiring.Err() == nil {
		return
	}
	gone := make(chan struct{})
	go func() {
		clients.Wait()
		close(gone)
	}()
	patience := time.NewTimer(time.Duration(s.patience.Load()))
	defer patience.Stop()
	select {
	case <-gone:
	case <-patience.C:
	case <-ctx.Done():
	}
}

// whenEnded calls f when ctx has ended. stop prevents it, or if it is too late for that, waits for its end and reports
// false.
func whenEnded(ctx context.Context, f func()) (stop func() bool) {
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

		// The listener is closed both to end and to hand it over, and neither is an error.
		switch {
		case err == nil && ctx.Err() == nil:
			serve(conn)
		case err == nil:
			_ = conn.Close()
			return nil
		case ctx.Err() != nil, s.retiring.Err() != nil:
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
			s.tally.failed(last.Code)
			_ = conn.SetDeadline(time.Now().Add(linger)) // the one of the login may be over
			l.refuse(last)
		}
		return
	}

	if session == nil {
		return // it was a cancel request
	}
	defer leave()

	draining := whenEnded(ctx, session.drain)
	defer draining()
	killing := whenEnded(work, func() { session.stop(errShutdown) })
	defer killing()
	session.run()
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

// Counts returns what the server is at, and what it has done. It may be called at any time.
func (s *Server) Counts() Counts {
	c := s.tally.counts()
	c.Connections = s.conns.Load()
	if p := s.pool; p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		c.Pooled, c.Guests, c.Idle, c.Places, c.Queue = true, p.open, len(p.parked), p.Size, len(p.queue)
	}
	return c
}
