package auth

import (
	"context"
	"math"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"fugu/sqlstate"
)

// backoff slows down who guesses passwords. Failures are counted by user and address together, so that nobody can lock
// out a user who comes from elsewhere, and by address alone, with more patience, for who tries many users. Each count
// falls with time. Beyond what is free, every answer has to wait, right or wrong, existing user or not: twice as long
// for each failure more, up to maxWait; answers under the same count wait one after the other.
type backoff struct {
	mu     sync.Mutex
	counts *simplelru.LRU[backoffKey, *failures]
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error
}

// backoffKey is what failures are counted under.
type backoffKey struct {
	user string // empty: all, of the address
	from netip.Prefix
}

// failures are those under one key.
type failures struct {
	count float64   // at the time at, less what has been forgiven
	at    time.Time // of the last change
	free  time.Time // when the next answer may be given
}

// leniency is how failures of one kind are counted.
type leniency struct {
	free    float64       // failures that cost nothing
	forgive time.Duration // after which one is forgotten
}

var (
	ofUser    = leniency{free: 5, forgive: time.Minute}
	ofAddress = leniency{free: 50, forgive: time.Second}
)

const (
	firstWait = 100 * time.Millisecond
	maxWait   = 10 * time.Second
	// maxCounts bounds the memory: some 2 MB. The count that was changed longest ago goes first; to push out one's own
	// takes as many failures.
	maxCounts = 10_000
)

func newBackoff() *backoff {
	counts, _ := simplelru.NewLRU[backoffKey, *failures](maxCounts, nil) // it fails for sizes below 1 only
	return &backoff{counts: counts, now: time.Now, sleep: sleep}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// wait holds back the answer to a guess as long as the failures before it deserve; a wrong one is a failure more, a
// right one ends those of the user at the address. Who would have to wait behind too many others is refused, right or
// wrong.
func (b *backoff) wait(ctx context.Context, user string, from net.Addr, right bool) error {
	place := network(from)
	one, all := backoffKey{user, place}, backoffKey{from: place}

	// Failures count by the user at an address, and by the address alone, whatever users it tries.
	b.mu.Lock()
	now := b.now()
	u, a := b.count(one, ofUser, now), b.count(all, ofAddress, now)
	answer := later(u.answer(ofUser, now), a.answer(ofAddress, now))
	if answer.Sub(now) > 2*maxWait {
		b.mu.Unlock()
		return sqlstate.New(sqlstate.InvalidAuthorization, "too many failed logins of user \"%s\" from this address",
			user).
			WithHint("Try again in a minute.").Ending()
	}

	// A wrong guess counts before it has waited: guesses at the same time do not wait side by side.
	if !right {
		u.fail(ofUser, now)
		a.fail(ofAddress, now)
	}
	b.mu.Unlock()

	if d := answer.Sub(now); d > 0 {
		if err := b.sleep(ctx, d); err != nil {
			return err
		}
	}

	if right {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.counts.Remove(one)
	}
	return nil
}

// count finds the failures under a key as they stand now.
func (b *backoff) count(key backoffKey, p leniency, now time.Time) *failures {
	f, ok := b.counts.Get(key)
	if !ok {
		f = &failures{at: now}
		b.counts.Add(key, f)
	}
	f.count = max(0, f.count-float64(now.Sub(f.at))/float64(p.forgive))
	f.at = now
	return f
}

// answer is when a guess that comes now may be answered.
func (f *failures) answer(p leniency, now time.Time) time.Time {
	over := math.Ceil(f.count - p.free)
	if over < 0 {
		return later(now, f.free)
	}
	return later(now, f.free).Add(time.Duration(min(float64(maxWait), float64(firstWait)*math.Pow(2, over))))
}

func (f *failures) fail(p leniency, now time.Time) {
	f.free = f.answer(p, now)
	f.count++
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// network is where an address belongs: by itself for IPv4, by the /64 that one host is given for IPv6. The zero prefix
// is for what has no IP address.
func network(a net.Addr) netip.Prefix {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Prefix{}
	}
	ip, bits := at.Addr().Unmap().WithZone(""), 128
	if ip.Is4() {
		bits = 32
	} else {
		bits = 64
	}
	p, _ := ip.Prefix(bits)
	return p
}
