package answer

import (
	"context"
	"slices"
	"sync"

	"fugu/internal/hook"
	"fugu/sqlstate"
	"fugu/upstream"
)

// allPlaces is how many of the reader's connections statements may have for long: until their points of the grid, for
// as long as they hold ordinary tables, read a reference, or aggregate a twin whose rows are not listed. A dear one
// over a large table has one for minutes. One connection is left for what is short, without which nobody's statement
// could even be planned, nor go on if it needs another.
const allPlaces = upstream.ReaderConns - 1

// A user may have one more place as long as they have fewer than are left: four of seven if nobody else has any, then
// the next user two and a third one the last [Choudhury and Hahne, Dynamic queue length thresholds, 1998]. A place that
// becomes free is for whoever has the fewest, so that nobody waits for more than one statement of each user before.

// places are those of all users. The zero value has none taken.
type places struct {
	mu      sync.Mutex
	all     int            // of those that are taken
	taken   map[string]int // by user; of none where there is no entry
	waiting []*waiter      // in the order in which they came
}

// waiter is a statement that waits for a place, until let is closed.
type waiter struct {
	user string
	let  chan struct{}
}

// placed is the key under which a context says that its statement has a place.
type placed struct{}

// Place waits until a statement of the user's may have one of the reader's connections for long; leave gives it back.
// A statement has one at the most, which is that of everything under the context held: if it waited for another, those
// who have some could wait for each other.
func (d *Desk) Place(ctx context.Context, user string) (held context.Context, leave func(), err error) {
	if hook.OpenPlaces || ctx.Value(placed{}) != nil {
		return ctx, func() {}, nil
	}
	w := &waiter{user, make(chan struct{})}
	d.places.enter(w)
	select {
	case <-w.let:
		return context.WithValue(ctx, placed{}, true), func() { d.places.leave(w) }, nil
	case <-ctx.Done():
		d.places.leave(w)
		return nil, nil, sqlstate.Canceled(ctx.Err())
	}
}

func (p *places) enter(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, w)
	p.admit()
}

// leave is that a statement needs its place no more, whether it has one or waits for it.
func (p *places) leave(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.waiting, w); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
		return
	}
	p.all--
	if p.taken[w.user]--; p.taken[w.user] == 0 {
		delete(p.taken, w.user)
	}
	p.admit()
}

// admit lets statements in for as long as there is one that may have a place.
func (p *places) admit() {
	for len(p.waiting) > 0 {
		// Of users who have as many, the first that came.
		next := slices.MinFunc(p.waiting, func(a, b *waiter) int { return p.taken[a.user] - p.taken[b.user] })
		if p.taken[next.user] >= allPlaces-p.all {
			return
		}
		if p.taken == nil {
			p.taken = map[string]int{}
		}
		p.all++
		p.taken[next.user]++
		p.waiting = slices.DeleteFunc(p.waiting, func(w *waiter) bool { return w == next })
		close(next.let)
	}
}
