package answer

import (
	"context"
	"sync"

	"fugu/internal/hook"
	"fugu/sqlstate"
)

// userPlaces is how many of the reader's connections one user's statements may have until their points of the grid, or
// for as long as they hold ordinary tables. A dear statement over a large table has one for minutes. With the searches
// that a user may have besides they leave some for others, whose statements cannot even be planned without one.
const userPlaces = 4

// places are those of all users. The zero value has none taken.
type places struct {
	mu     sync.Mutex
	byUser map[string]*userPlace
}

// userPlace are one user's: those that are taken, and how many statements have one or wait for one.
type userPlace struct {
	taken chan struct{}
	all   int
}

// Place waits until a statement of the user's may have one of the reader's connections for long; leave gives it back.
// Who waits, waits for statements of their own alone.
func (d *Desk) Place(ctx context.Context, user string) (leave func(), err error) {
	if hook.OpenPlaces {
		return func() {}, nil
	}
	p := d.places.of(user)
	select {
	case p.taken <- struct{}{}:
		return func() { <-p.taken; d.places.left(user, p) }, nil
	case <-ctx.Done():
		d.places.left(user, p)
		return nil, sqlstate.Canceled(ctx.Err())
	}
}

// of counts a statement of the user's.
func (s *places) of(user string) *userPlace {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.byUser[user]
	if p == nil {
		if s.byUser == nil {
			s.byUser = map[string]*userPlace{}
		}
		p = &userPlace{taken: make(chan struct{}, userPlaces)}
		s.byUser[user] = p
	}
	p.all++
	return p
}

// left forgets a user who has no statement any more.
func (s *places) left(user string, p *userPlace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.all--; p.all == 0 {
		delete(s.byUser, user)
	}
}
