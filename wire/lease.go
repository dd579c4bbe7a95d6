package wire

import (
	"errors"
	"maps"
	"os"
	"sync/atomic"
)

// lease is a session's dealings with the pool. Where there is one, a session takes a guest for the first message of a
// transaction, and is ready to give it back when nothing is outstanding or unfinished. It keeps it until then, and
// longer if nobody waits for one. A session that may have left something in the database's session that it would miss
// is pinned: its guest is its own from there on, and ends with it.
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

// leave ends the use of a guest whose backend has ended, and reports whether a cancel request may yet come to it.
func (s *session) leave() (g *lent, struck bool) {
	s.pool.unhold(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	g, struck = s.held, s.struck
	s.held, s.guest, s.out = nil, nil, nil
	return g, struck
}

// wanted is called when somebody waits for a guest.
func (s *session) wanted() {
	if !s.pinned.Load() && s.exchange.unbound() {
		s.wake()
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
	return s.pool != nil && !s.pinned.Load() && s.endReason() == nil && s.exchange.lose()
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
