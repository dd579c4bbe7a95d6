package wire

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// Pool is how sessions share guest connections. With Size 0 each has its own, from its beginning to its end.
type Pool struct {
	Size int           // guest connections at a time
	Wait time.Duration // that a client waits for one; 0: for ever
}

// pool lends guests to sessions for a transaction each, or for longer if nobody else wants them. A guest serves
// sessions of its kind alone, one after another, and is renewed between two. No more than size are open or being
// opened.
//
// It has no goroutine of its own: who returns a guest gives it to whoever waits first.
type pool struct {
	Pool
	waiting atomic.Int32 // the length of queue

	mu        sync.Mutex
	serial    uint64  // the last one given
	open      int     // guests that there are, or are being opened
	parked    []*lent // nobody has them; the longest first
	queue     []*waiter
	holders   map[*session]struct{}
	greetings map[string]map[string]string // what guests of a kind reported at last, by kind
}

// lent is a guest of the pool's, or a session's own.
type lent struct {
	Guest
	kind   string
	status map[string]string // ParameterStatus, when it was opened and whenever it is renewed; not changed
	serial uint64            // another one whenever it is renewed
}

// waiter waits for a guest.
type waiter struct {
	kind  string
	given chan *lent // nil: a place, to open one
}

// connector opens a guest, as Session.ConnectRenewable does.
type connector func(ctx context.Context) (Guest, error)

// maxGreetings bounds the kinds of guests that are remembered.
const maxGreetings = 1000

func newPool(p Pool) *pool {
	return &pool{Pool: p, holders: map[*session]struct{}{}, greetings: map[string]map[string]string{}}
}

// wanted reports whether somebody waits for a guest.
func (p *pool) wanted() bool { return p != nil && p.waiting.Load() > 0 }

// take gives a guest of a kind. It waits while there is none; connect opens one where there is a place.
func (p *pool) take(ctx context.Context, kind string, connect connector) (*lent, error) {
	g, err := p.place(ctx, kind)
	if g != nil || err != nil {
		return g, err
	}
	guest, err := connect(ctx)
	if err != nil {
		p.vacate()
		return nil, err
	}
	g = &lent{Guest: guest, kind: kind, status: maps.Clone(guest.Parameters())}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number(g)
	if len(p.greetings) >= maxGreetings {
		clear(p.greetings)
	}
	p.greetings[kind] = g.status
	return g, nil
}

// status is what the guest of the kind that was opened last reported; one is opened if there was none.
func (p *pool) status(ctx context.Context, kind string, connect connector) (map[string]string, error) {
	p.mu.Lock()
	status, ok := p.greetings[kind]
	p.mu.Unlock()
	if ok {
		return status, nil
	}
	g, err := p.take(ctx, kind, connect)
	if err != nil {
		return nil, err
	}
	status = g.status
	p.park(g)
	return status, nil
}

// place gives a guest of a kind, or nil and the right to open one.
func (p *pool) place(ctx context.Context, kind string) (*lent, error) {
	p.mu.Lock()
	if len(p.queue) == 0 {
		if g := p.unpark(kind); g != nil {
			p.mu.Unlock()
			return g, nil
		}
		if p.open < p.Size {
			p.open++
			p.mu.Unlock()
			return nil, nil
		}
		if len(p.parked) > 0 { // of another kind
			g := p.parked[0]
			p.parked = slices.Delete(p.parked, 0, 1)
			p.mu.Unlock()
			g.end()
			return nil, nil
		}
	}

	// Those who have guests and do not need them are asked.
	w := &waiter{kind, make(chan *lent, 1)}
	p.queue = append(p.queue, w)
	p.waiting.Add(1)
	holders := slices.Collect(maps.Keys(p.holders))
	p.mu.Unlock()
	for _, s := range holders {
		s.wanted()
	}
	return p.await(ctx, w)
}

// await waits for what w is given.
func (p *pool) await(ctx context.Context, w *waiter) (*lent, error) {
	var late <-chan time.Time
	if p.Wait > 0 {
		timer := time.NewTimer(p.Wait)
		defer timer.Stop()
		late = timer.C
	}
	var err error
	select {
	case g := <-w.given:
		return g, nil
	case <-late:
		err = sqlstate.New(sqlstate.TooManyConnections, "no connection to the database became free within %v", p.Wait).
			WithHint("All are at work, or kept by sessions that have settings, temporary tables, locks or the like " +
				"of their own.").Ending()
	case <-ctx.Done():
		err = ctx.Err()
	}

	// What was given in the meantime is taken: nobody else would have it.
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.queue, w); i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
		p.waiting.Add(-1)
		return nil, err
	}
	return <-w.given, nil // at the last moment
}

// unpark gives a parked guest of the kind that is still good, with mu held.
func (p *pool) unpark(kind string) *lent {
	for i := len(p.parked) - 1; i >= 0; i-- {
		g := p.parked[i]
		if g.kind != kind {
			continue
		}
		p.parked = slices.Delete(p.parked, i, i+1)
		if g.Quiet() {
			return g
		}
		_ = g.Conn().Close()
		p.open--
	}
	return nil
}

// park takes back a guest that has been renewed.
func (p *pool) park(g *lent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number(g)
	w := p.next()
	switch {
	case w == nil:
		p.parked = append(p.parked, g)
	case w.kind == g.kind:
		w.given <- g
	default:
		g.end()
		w.given <- nil
	}
}

// number tells a guest from what it was before it was renewed, with mu held.
func (p *pool) number(g *lent) {
	p.serial++
	g.serial = p.serial
}

// vacate takes note that a guest has ended, or was not opened.
func (p *pool) vacate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.next(); w != nil {
		w.given <- nil
		return
	}
	p.open--
}

// next takes who has waited longest out of the queue, with mu held.
func (p *pool) next() *waiter {
	if len(p.queue) == 0 {
		return nil
	}
	w := p.queue[0]
	p.queue = slices.Delete(p.queue, 0, 1)
	p.waiting.Add(-1)
	return w
}

// hold takes note of who has guests, and is to be told when they are wanted.
func (p *pool) hold(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holders[s] = struct{}{}
}

func (p *pool) unhold(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.holders, s)
}

// close ends the guests that are parked, when all sessions are over.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range p.parked {
		g.end()
	}
	p.open -= len(p.parked)
	p.parked = nil
}

// end takes leave of an idle guest.
func (g *lent) end() {
	b, _ := (&pgproto3.Terminate{}).Encode(nil)
	_ = g.Conn().SetWriteDeadline(time.Now().Add(linger))
	_, _ = g.Conn().Write(b)
	_ = g.Conn().Close()
}
