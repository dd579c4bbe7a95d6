package wire

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
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

	// The session may have come to its end while a guest was waited for.
	ctx, rested := s.working()
	defer rested()
	g, err := s.pool.take(ctx, s.kind, s.engine.ConnectRenewable)
	switch why := s.endReason(); {
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

// offer gives the guest back if somebody waits for one, where the client is waited for.
func (s *session) offer() {
	if s.pool.wanted() && s.held != nil && !s.within && s.in.r.Buffered() == 0 {
		s.release()
	}
}

// release gives the guest back if nothing depends on it. What is not known to be as it should is ended and not given
// back.
func (s *session) release() {
	if s.pinned.Load() || !s.exchange.unbound() {
		return
	}

	// The backend stops reading between two messages, and says whether it has.
	s.yielding.Store(true)
	_ = s.guest.SetReadDeadline(time.Unix(1, 0))
	<-s.done
	s.yielding.Store(false)
	if s.parting != errYield {
		return // lost, or the session is over
	}

	// A cancel request could hit the next client.
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
	case lasting && s.endReason() != nil, changed && !lasting: // by the server's configuration: it is not as others are
		s.drop(g)
	case lasting:
		s.pinned.Store(true)
		g.status = s.told
		s.enter(g)
	default:
		s.pool.park(g)
	}
}

// drop ends a guest that nobody is to have again.
func (s *session) drop(g *lent) {
	g.end()
	s.pool.vacate()
}
