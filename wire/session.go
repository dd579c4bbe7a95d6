package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// session is one authenticated client with its guest connection.
type session struct {
	log   *slog.Logger
	tally *tally // the server's
	// idle and idleInTransaction are how long a client may ask nothing before it is sent away; 0: for ever.
	idle, idleInTransaction time.Duration
	linger                  time.Duration // the server's
	ctx                     context.Context
	conn                    net.Conn // the client's
	// guest is of held; nil while none is. The frontend changes it, with mu held, where no backend runs.
	guest    net.Conn
	engine   Session
	exchange *exchange
	*lease

	// Of the frontend.
	in      *frames // from the client
	maxBody int     // of a message of the client's, in bytes
	out     *outlet // to the guest
	buf     []byte
	within  bool // a message has begun to come, or is being handled
	torn    bool // a frame to the guest was left unfinished
	names   names
	portals map[string]portal // portals of the engine's statements
	askName string
	fed     bool // the copy that was started last got data

	// Of the backend.
	client *client // to the client
	heard  bool    // the client knows why the session ends: the guest's own FATAL was relayed, or Fugu's sent
	// complete is the CommandComplete of a script's last statement: PostgreSQL sends a Query's after the commit.
	complete *pgproto3.CommandComplete

	draining  atomic.Bool
	following atomic.Bool // the client is at a copy within a script

	mu       sync.Mutex
	reason   error              // why the session ends; nil while it does not
	armed    bool               // the client's read deadline is set, and not later than the session's end from idleness
	armedFor time.Duration      // from when it was set
	work     context.Context    // of the engine's work, one statement's after the other; nil: there was none yet
	cancel   context.CancelFunc // of work
	busy     bool               // the engine is at work
	asked    bool               // that work was canceled on request
}

var (
	errDone   = errors.New("the client has said goodbye")
	errClient = errors.New("the client is gone")
	errGuest  = errors.New("the guest is gone")
)

// errCopyOver says that a copy has ended while the client was waited for.
var errCopyOver = errors.New("the copy is over")

var errShutdown = sqlstate.New(sqlstate.AdminShutdown, "terminating connection due to administrator command").Ending()

// linger is how long a session that ends waits for replies still to come, and for the client to take them.
const linger = 2 * time.Second

// guarded turns a panic into an error: it ends this session, and no other.
func (s *session) guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a session panicked", "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			err = sqlstate.New(sqlstate.InternalError, "internal error").Ending()
		}
	}()
	return f()
}

// stop ends the session, for the first reason given: whatever waits is woken, or has linger to end by itself.
func (s *session) stop(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason != nil {
		return
	}
	s.reason = reason
	if s.busy {
		s.cancel()
	}
	s.expire()
	if s.guest != nil {
		_ = s.guest.SetDeadline(time.Now().Add(s.linger))
	}
	_ = s.conn.SetWriteDeadline(time.Now().Add(2 * s.linger)) // for what the guest still replies
}

// endReason is why the session ends; nil while it goes on.
func (s *session) endReason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason
}

// tell says why the session ends, if the client has to be told and has not been. It has time of its own for that: where
// thousands of sessions end at once, the guest's end may take all that stop allows.
func (s *session) tell() {
	_ = s.conn.SetWriteDeadline(time.Now().Add(s.linger))
	if last := farewell(s.endReason()); last != nil && !s.heard {
		s.client.muted = false
		s.client.send(response(last))
	}
	s.heard = true
	s.client.flush()
}

// farewell is the FATAL error that an end deserves; nil for a client that left by itself.
func farewell(err error) *sqlstate.Error {
	var known *sqlstate.Error
	switch {
	case err == nil, errors.Is(err, errDone), errors.Is(err, errClient):
		return nil
	case errors.As(err, &known):
		return known.Ending()
	case !errors.Is(err, errGuest) && errors.Is(err, errMessage):
		return sqlstate.New(sqlstate.ProtocolViolation, "%v", err).Ending()
	}
	return sqlstate.New(sqlstate.ConnectionFailure, "the connection to the database was lost").Ending()
}

// working gives the engine a context that ends with the session, or by a cancel request; rested says that the work is
// done. A context that nobody has canceled is good for the next statement as well: to make one for each would be a
// thirtieth of what relaying it costs.
func (s *session) working() (ctx context.Context, rested func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.work == nil || s.work.Err() != nil {
		s.work, s.cancel = context.WithCancel(s.ctx)
	}
	s.busy, s.asked = true, false
	if s.reason != nil {
		s.cancel()
	}
	return s.work, s.rest
}

// rest is that the engine is not at work any more.
func (s *session) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
}

// canceled gives work that was cut short by a cancel request the error that PostgreSQL has for it.
func (s *session) canceled(ctx context.Context, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.asked && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return sqlstate.New(sqlstate.QueryCanceled, "canceling statement due to user request").Because(err)
	}
	return err
}

// interrupt ends the engine's work and the guest's, if any is under way, on request of the client's.
func (s *session) interrupt(ctx context.Context) error {
	s.mu.Lock()
	if s.busy {
		s.asked = true
		s.cancel()
	}
	guest := s.held
	if idle, _ := s.exchange.idle(); idle || guest == nil {
		s.mu.Unlock()
		return nil
	}
	s.struck = true // before it can be given to another client
	s.mu.Unlock()
	return guest.Cancel(ctx)
}

// copyIn reports whether the server reads a copy.
func (s *session) copyIn() bool {
	_, copyIn := s.exchange.mode()
	return copyIn
}

// known gives an error the form in which a client may see it, and logs what it may not see. What a database said can
// repeat literals, so of that the log has the code alone.
func (s *session) known(err error) *sqlstate.Error {
	e := sqlstate.As(err)
	s.tally.failed(e.Code)
	switch e.Code {
	case sqlstate.InternalError, sqlstate.ConnectionFailure, sqlstate.CannotConnectNow:
		s.log.Error("a statement failed", "code", string(e.Code), "cause", loggable(e.Cause))
	}
	return e
}

func loggable(err error) string {
	var p *pgconn.PgError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &p) && sqlstate.Code(p.Code).ForbidsLogin():
		// It says who is not let in, and from where: it is of a login, and of no statement.
		return "the database raised " + p.Code + ": " + p.Message
	case errors.As(err, &p):
		return "the database raised " + p.Code
	}
	return err.Error()
}
