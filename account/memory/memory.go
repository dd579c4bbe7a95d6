// Package memory has a ledger's answers in memory once they were returned, and for a moment where its datasets stand.
// It decides nothing: what it returns, the ledger has returned.
package memory

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"fugu/account"
	"fugu/internal/cache"
	"fugu/ledger"
)

// Sizes of the cache of stored answers.
const (
	answerEntries = 4096
	answerBytes   = 32 << 20
)

// standingFor is how long a proxy may take to notice that the data are others. It charges nothing for data that are
// gone, and what it tells of them meanwhile it has told before.
const standingFor = time.Second

// Of returns the ledger with a memory for the answers that it returned, and for a moment for where its datasets
// stand. A ledger never changes those answers, and has them on disk, so it is asked for each once.
func Of(l ledger.Ledger) *Ledger {
	return &Ledger{Ledger: l, answers: cache.New[paidFor, ledger.Answer](answerEntries, answerBytes),
		standings: map[standingOf]standingUntil{}}
}

// Ledger is a ledger with such a memory. It is safe for concurrent use.
type Ledger struct {
	ledger.Ledger
	answers *cache.Cache[paidFor, ledger.Answer]

	mu        sync.Mutex
	standings map[standingOf]standingUntil // as many as policies
}

type standingOf struct {
	dataset string
	renew   time.Duration
}

type standingUntil struct {
	ledger.Standing
	until time.Time
}

// paidFor is an answer and the scopes that have paid for it, besides everybody.
type paidFor struct {
	key    ledger.Key
	scopes string
}

// paidBy tells scopes apart: no name has a NUL.
func paidBy(key ledger.Key, scopes []string) paidFor {
	return paidFor{key, strings.Join(scopes, "\x00")}
}

// Recall returns an answer that is in memory, and paid for by the scopes besides everybody; the ledger is not asked.
func (r *Ledger) Recall(key ledger.Key, scopes []string) (ledger.Answer, bool) {
	return r.answers.Get(paidBy(key, scopes))
}

// Find implements ledger.Ledger.
func (r *Ledger) Find(ctx context.Context, key ledger.Key, scopes ...string) (ledger.Answer, bool, error) {
	if a, ok := r.answers.Get(paidBy(key, scopes)); ok {
		return a, true, nil
	}
	a, ok, err := r.Ledger.Find(ctx, key, scopes...)
	if err == nil && ok {
		r.keep(paidBy(key, scopes), a)
	}
	return a, ok, err
}

// Charge implements ledger.Ledger.
func (r *Ledger) Charge(ctx context.Context, c ledger.Charge) (ledger.Answer, error) {
	a, err := r.Ledger.Charge(ctx, c)
	if err == nil && !a.Pending {
		r.keep(paidBy(c.Key, account.Scopes(c.Shares)), a)
	}
	var stale *ledger.Stale
	if errors.As(err, &stale) || c.Renew > 0 { // it may have begun a period
		r.Forget()
	}
	return a, err
}

// Give implements ledger.Ledger.
func (r *Ledger) Give(ctx context.Context, o ledger.Outcome) (ledger.Answer, error) {
	a, err := r.Ledger.Give(ctx, o)
	if err == nil {
		r.keep(paidBy(o.Key, o.Scopes), a)
	}
	var stale *ledger.Stale
	if errors.As(err, &stale) {
		r.Forget()
	}
	return a, err
}

// Standing implements ledger.Ledger.
func (r *Ledger) Standing(ctx context.Context, dataset string, renew time.Duration) (ledger.Standing, error) {
	r.mu.Lock()
	s, ok := r.standings[standingOf{dataset, renew}]
	r.mu.Unlock()
	if ok && time.Now().Before(s.until) {
		return s.Standing, nil
	}
	until := time.Now().Add(standingFor)
	standing, err := r.Ledger.Standing(ctx, dataset, renew)
	if err != nil {
		return ledger.Standing{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.standings[standingOf{dataset, renew}] = standingUntil{standing, until}
	return standing, nil
}

// Advance implements ledger.Ledger.
func (r *Ledger) Advance(ctx context.Context, e ledger.Epoch) (ledger.Epoch, error) {
	defer r.Forget()
	return r.Ledger.Advance(ctx, e)
}

// Forget has the ledger asked where its datasets stand.
func (r *Ledger) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.standings)
}

func (r *Ledger) keep(key paidFor, a ledger.Answer) {
	a.Fresh = false
	r.answers.Add(key, a, key.size()+size(a))
}

// size is how many bytes the key keeps alive, about.
func (k paidFor) size() int { return len(k.key) + len(k.scopes) + 2*wordBytes }

// wordBytes is about what a string, or a map's entry, takes besides what is in it.
const wordBytes = 32

// size is how many bytes an answer keeps alive, about.
func size(a ledger.Answer) int {
	n := 256 + len(a.Bytes) + len(a.Mechanism) + len(a.Assumption)
	for secret := range a.Losses {
		n += 2 * (len(secret) + wordBytes + 24)
	}
	for _, c := range a.Cells {
		n += 4*wordBytes + 24 + len(c.Column) + len(c.GroupKey) + len(c.Value) + len(c.Secret)
	}
	for _, c := range a.Certificates {
		n += 5*wordBytes + 24 + len(c.Secret) + len(c.Mechanism)
		for _, assumption := range c.Assumptions {
			n += wordBytes + len(assumption)
		}
	}
	return n
}
