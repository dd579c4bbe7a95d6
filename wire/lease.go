package wire

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// lease is a session's dealings with the pool. Where there is one, a session takes a guest for the first message of a
// transaction, and is ready to give it back when nothing is outstanding or unfinished. It keeps it until then, and longer
// if nobody waits for one. A session that may have left something in the database's session that it would miss is pinned:
// its guest is its own from there on, and ends with it.
type lease struct {
	pool *pool // nil: the session has a guest of its own
	kind string
	told map[string]string // ParameterStatus, as the client knows it; not changed
	kept kept

	held    *lent
	done    chan struct{} // the backend has ended
	parting error         // and why: errYield or errLost; nil where the session ended

	lasting  bool // the client has sent what may last: of the frontend
	pinned   atomic.Bool
	yielding atomic.Bool // the frontend waits for the backend to stop reading
	struck   bool        // a cancel request was sent to the guest, and may yet arrive; with mu held
}

var (
	errYield = errors.New("the guest is to be given back")
	errLost  = errors.New("the guest has ended, and nothing depended on it")
)

// renewal bounds how long a guest may take to be renewed.
const renewal = 5 * time.Second

// start relays what the guest that the session holds says.
func (s *session) start() {
	done := make(chan struct{})
	s.done = done
	go func() {
		defer close(done)
		s.parting = s.backend()
	}()
}

// engage takes a guest for a message of the client's, if there is none.
func (s *session) engage() error {
	switch {
	case s.pool == nil:
		return nil
	case s.held != nil && s.exchange.begin():
		return nil
	case s.held != nil: // it was lost
		<-s.done
		s.leave()
	}
	ctx, stop := s.working()
	defer stop()
	g, err := s.pool.take(ctx, s.kind, s.engine.Connect)
	switch why := s.why(); {
	case why != nil && err == nil:
		s.drop(g)
		return why
	case why != nil:
		return why
	case err != nil:
		e := s.known(s.canceled(ctx, err))
		return e.Ending()
	}
	s.enter(g)
	return nil
}

// enter begins to use a guest: the client is told which parameters it has, where it knows others.
func (s *session) enter(g *lent) {
	s.mu.Lock()
	s.held, s.guest, s.struck = g, g.Conn(), false
	if s.reason != nil {
		_ = s.guest.SetDeadline(time.Now().Add(linger))
	}
	s.mu.Unlock()
	s.out = newOutlet(s.guest)
	clear(s.portals)
	for _, name := range slices.Sorted(maps.Keys(g.status)) {
		if value := g.status[name]; s.told[name] != value {
			s.client.send(&pgproto3.ParameterStatus{Name: name, Value: value})
		}
	}
	s.told = g.status
	s.exchange.renew()
	s.pool.hold(s)
	s.start()
}

// leave ends the use of a guest whose backend has ended, and reports whether a cancel request may yet come to it.
func (s *session) leave() (g *lent, struck bool) {
	s.pool.unhold(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	g, struck = s.held, s.struck
	s.held, s.guest, s.out = nil, nil, nil
	return g, struck
}

// drop ends a guest that nobody is to have again.
func (s *session) drop(g *lent) {
	g.end()
	s.pool.vacate()
}

// wanted is called when somebody waits for a guest.
func (s *session) wanted() {
	if !s.pinned.Load() && s.exchange.unbound() {
		s.wake()
	}
}

// offer gives the guest back if somebody waits for one, where the client is waited for.
func (s *session) offer() {
	if s.pool.wanted() && s.held != nil && !s.within && s.in.r.Buffered() == 0 {
		s.release()
	}
}

// release gives the guest back if nothing depends on it. What is not known to be as it should is ended and not given back.
func (s *session) release() {
	if s.pinned.Load() || !s.exchange.unbound() {
		return
	}
	s.yielding.Store(true)
	_ = s.guest.SetReadDeadline(time.Unix(1, 0))
	<-s.done
	s.yielding.Store(false)
	if s.parting != errYield {
		return // lost, or the session is over
	}
	g, struck := s.leave()
	if struck {
		s.drop(g)
		return
	}
	changed := !maps.Equal(s.told, g.status)
	_ = g.Conn().SetDeadline(time.Time{})
	ctx, stop := context.WithTimeout(s.ctx, renewal)
	defer stop()
	lasting, err := g.Renew(ctx)
	switch {
	case err != nil:
		s.log.Warn("a guest could not be renewed", "cause", loggable(err))
		s.drop(g)
	case lasting && s.why() != nil, changed && !lasting: // by the server's configuration: it will not be as others are
		s.drop(g)
	case lasting:
		s.pinned.Store(true)
		g.status = s.told
		s.enter(g)
	default:
		s.pool.park(g)
	}
}

// part is called when the guest says no more, because of err. It says whether the session goes on without it.
func (s *session) part(err error) error {
	switch {
	case s.pool == nil:
		return nil
	case errors.Is(err, errYield):
		return errYield
	case s.lose():
		_ = s.guest.Close()
		s.pool.vacate()
		return errLost
	}
	return nil
}

// lose reports whether the session can do without the guest, which has ended.
func (s *session) lose() bool {
	return s.pool != nil && !s.pinned.Load() && s.why() == nil && s.exchange.lose()
}

// yielded reports whether reading from the guest ended because that was asked for, between two messages.
func (s *session) yielded(in *frames, err error) bool {
	return s.yielding.Load() && in.r.Buffered() == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}

// report takes note of a ParameterStatus that the client is told.
func (s *session) report(name, value string) {
	if s.pool != nil && s.told[name] != value {
		s.told = maps.Clone(s.told)
		s.told[name] = value
	}
}
