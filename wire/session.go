package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// session is one authenticated client with its guest connection.
type session struct {
	log *slog.Logger
	// idle and idleInTransaction are how long a client may ask nothing before it is sent away; 0: for ever.
	idle, idleInTransaction time.Duration
	ctx                     context.Context
	conn                    net.Conn // the client's
	guest                   net.Conn // of held; nil while none is. The frontend changes it, with mu held, where no backend runs
	engine                  Session
	exchange                *exchange
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
	cancel   context.CancelFunc // of the engine's work under way
	asked    bool               // that work was canceled on request
}

var (
	errDone   = errors.New("the client has said goodbye")
	errClient = errors.New("the client is gone")
	errGuest  = errors.New("the guest is gone")
)

var errShutdown = sqlstate.New(sqlstate.AdminShutdown, "terminating connection due to administrator command").Ending()

// linger is how long a session that ends waits for replies still to come, and for the client to take them.
const linger = 2 * time.Second

// run relays until one side is gone, and closes both. A session ends as PostgreSQL's do: what the client sent before is
// still carried out, and its replies go out, before the client is told why.
func (s *session) run() {
	if s.held != nil {
		s.start()
	}
	s.stop(s.guarded(s.frontend))
	if s.pool != nil && s.held != nil && !s.torn && s.out.Flush() == nil {
		s.release()
	}
	if s.held != nil {
		s.dismiss()
	}
	s.tell()
	s.in.r.close()
	if last := farewell(s.why()); last != nil && last.Code == sqlstate.ProtocolViolation || last != nil && last.Code == sqlstate.ProgramLimitExceeded {
		discard(s.conn)
	}
	_ = s.conn.Close()
}

// dismiss takes leave of the guest, behind all that was sent to it.
func (s *session) dismiss() {
	if !s.torn {
		_ = s.send(&pgproto3.Terminate{})
		_ = s.out.Flush()
	}
	<-s.done
	if idle, _ := s.exchange.idle(); !idle && errors.Is(s.why(), errShutdown) {
		ctx, stop := context.WithTimeout(context.Background(), linger)
		defer stop()
		if err := s.held.Cancel(ctx); err != nil {
			s.log.Warn("a statement could not be canceled", "error", err)
		}
	}
	if s.pool == nil {
		return
	}
	if s.leave(); s.parting == nil {
		s.pool.vacate()
	}
}

// tell says why the session ends, if the client has to be told and has not been. It has time of its own for that: where
// thousands of sessions end at once, the guest's end may take all that stop allows.
func (s *session) tell() {
	_ = s.conn.SetWriteDeadline(time.Now().Add(linger))
	if last := farewell(s.why()); last != nil && !s.heard {
		s.client.muted = false
		s.client.send(response(last))
	}
	s.heard = true
	s.client.flush()
}

// discard reads what a client still sends, for a moment: a connection that is closed before is reset, and the client may
// never see what it was told last.
func discard(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = conn.SetReadDeadline(time.Now().Add(linger / 4))
		_, _ = io.Copy(io.Discard, conn)
	}
}

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
	if s.cancel != nil {
		s.cancel()
	}
	s.expire()
	if s.guest != nil {
		_ = s.guest.SetDeadline(time.Now().Add(linger))
	}
	_ = s.conn.SetWriteDeadline(time.Now().Add(2 * linger)) // for what the guest still replies
}

func (s *session) why() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason
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

// requestReader is the client's connection as the frontend reads it: before it waits, the guest gets what there is, and
// it waits no longer than the session is to last.
type requestReader struct{ s *session }

func (r requestReader) fill(in *inlet) (int, error) {
	if err := r.s.flush(); err != nil {
		return 0, err
	}
	for {
		if err := r.s.attend(); err != nil {
			return 0, err
		}
		r.s.offer() // who wants the guest from here on ends the wait
		n, err := in.read(r.s.conn)
		switch {
		case n > 0:
			return n, nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return 0, fmt.Errorf("%w: %w", errClient, err)
		}
		r.s.expired()
	}
}

// attend sets how long to wait for the client, or says why not to.
func (s *session) attend() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.reason != nil:
		return s.reason
	case s.following.Load() && !s.within && !s.copyIn():
		return errCopyOver
	case s.draining.Load() && !s.within && s.in.r.Buffered() == 0 && s.exchange.free():
		return errShutdown
	case s.armed && s.armedFor <= s.shorter(): // perhaps for sooner than need be: then it is looked at again
		return nil
	}
	deadline, err := s.patience()
	if err != nil {
		return err
	}
	return s.arm(deadline)
}

// drain asks the session to end as soon as nothing is under way, not even a transaction.
func (s *session) drain() {
	s.draining.Store(true)
	s.wake()
}

// wake makes the frontend attend, if it waits for the client.
func (s *session) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
}

// arm lets the frontend wait up to a time; for ever, if that is zero. With mu held.
func (s *session) arm(t time.Time) error {
	s.armed, s.armedFor = true, time.Until(t)
	if t.IsZero() && s.shorter() > 0 { // but not in another state
		s.armedFor = math.MaxInt64
	}
	return s.conn.SetReadDeadline(t)
}

// expire ends the wait at once. With mu held.
func (s *session) expire() {
	s.armed = false
	_ = s.conn.SetReadDeadline(time.Unix(1, 0))
}

// expired takes note that the deadline has come.
func (s *session) expired() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = false
}

// afterReady lets the frontend of a session that drains, or whose guest is wanted, see that its transaction may be over.
func (s *session) afterReady() {
	if s.draining.Load() || s.pool.wanted() {
		s.wake()
	}
}

// working gives the engine a context that ends with the session, or by a cancel request.
func (s *session) working() (context.Context, func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel, s.asked = cancel, false
	if s.reason != nil {
		cancel()
	}
	return ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.cancel = nil
		cancel()
	}
}

// interrupt ends the engine's work and the guest's, if any is under way, on request of the client's.
func (s *session) interrupt(ctx context.Context) error {
	s.mu.Lock()
	if s.cancel != nil {
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
