package ledger

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// What refusals may cost: nobody who asks for nonsense all day may fill the ledger's disk, or keep charges waiting.
// What is beyond is counted, and the count is written.
const (
	refusalsWaiting  = 256              // different ones at a time: one transaction
	refusalsOfUser   = 1000             // entries, in each hour
	refusalsOfAll    = 10_000           // likewise
	refusalsTogether = time.Second      // how long they wait for others
	refusalsApart    = 10 * time.Second // from one try to the next, when the ledger takes none
	refusalsPatience = 20 * time.Second // for one transaction
	nameBytes        = 128              // of a user or a dataset; what is longer is cut
)

// Refusals writes refusals into a ledger's audit chain: in the background, since nothing is released by a refusal, so
// that a client is told at once, whether the ledger can be reached or not. The same refusal of the same user within a
// second is one entry. Those that cannot be written are counted, and the count is written when the ledger takes it;
// what a proxy that is killed had not written is not known.
type Refusals struct {
	ledger Ledger
	log    *slog.Logger
	wake   chan struct{} // of one: something waits
	stop   chan struct{}
	done   chan struct{}

	mu      sync.Mutex
	waiting []*Refusal
	known   map[refusalKind]*Refusal // those of waiting
	lost    int64
	hour    time.Time // when the counts began
	written map[string]int
	total   int
}

type refusalKind struct{ user, dataset, code, statement string }

// NewRefusals starts what writes refusals. Close ends it.
func NewRefusals(l Ledger, log *slog.Logger) *Refusals {
	r := &Refusals{ledger: l, log: log, wake: make(chan struct{}, 1), stop: make(chan struct{}),
		done:  make(chan struct{}),
		known: map[refusalKind]*Refusal{}, written: map[string]int{}, hour: now()}
	go r.run()
	return r
}

// Add takes a refusal of this moment, whatever x says of times. It waits for nothing.
func (r *Refusals) Add(x Refusal) {
	x.User, x.Dataset, x.Times = name(x.User), name(x.Dataset), 1
	kind := refusalKind{x.User, x.Dataset, x.Code, x.Statement}
	r.mu.Lock()
	defer r.mu.Unlock()
	x.At = now()

	if x.At.Sub(r.hour) >= time.Hour || x.At.Before(r.hour) { // a clock that was put back begins anew
		r.hour, r.total = x.At, 0
		clear(r.written)
	}

	// The same refusal again is counted in its entry; of others there is room for so many an hour.
	switch same := r.known[kind]; {
	case same != nil:
		same.Times++
		same.Until = x.At
	case len(r.waiting) == refusalsWaiting || r.written[x.User] == refusalsOfUser || r.total == refusalsOfAll ||
		x.check() != nil:
		r.lost++
	default:
		r.written[x.User]++
		r.total++
		r.known[kind] = &x
		r.waiting = append(r.waiting, &x)
	}

	// The writer is woken, if it is not awake already.
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Close writes what waits, and returns when that is done or has failed. Nothing may be added any more.
func (r *Refusals) Close() {
	close(r.stop)
	<-r.done
}

// run is the one goroutine that writes.
func (r *Refusals) run() {
	defer close(r.done)
	for {
		select {
		case <-r.stop:
			r.write()
			return
		case <-r.wake:
		}
		for pause := refusalsTogether; r.sleep(pause) && !r.write(); pause = refusalsApart {
		}
	}
}

// sleep waits for d, and reports whether it was not stopped meanwhile.
func (r *Refusals) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-r.stop:
		return false
	case <-t.C:
		return true
	}
}

// write writes what waits. Where that fails it may have been written nevertheless, so it is not tried again: it counts
// among those of which the chain may not tell.
func (r *Refusals) write() bool {
	r.mu.Lock()
	batch, lost := r.waiting, r.lost
	r.waiting, r.lost = nil, 0
	clear(r.known)
	r.mu.Unlock()

	refusals := make([]Refusal, len(batch))
	for i, x := range batch {
		refusals[i] = *x
	}

	// Whoever waits for the writer has been waited for long enough then.
	ctx, cancel := context.WithTimeout(context.Background(), refusalsPatience)
	defer cancel()
	err := r.ledger.Refuse(ctx, refusals, lost)
	if err == nil {
		return true
	}

	r.log.Warn("refusals could not be written into the audit chain", "error", err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost += lost
	for _, x := range refusals {
		r.lost += x.Times
	}
	return false
}

// name makes a name fit for the ledger.
func name(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?")
	if len(s) > nameBytes {
		s = strings.ToValidUTF8(s[:nameBytes], "")
	}
	return s
}
