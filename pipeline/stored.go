package pipeline

import (
	"context"

	"fugu/ledger"
)

// Sizes of the cache of stored answers.
const (
	answerEntries = 4096
	answerBytes   = 32 << 20
)

// Remember returns the ledger with a memory for the answers that it returned. A ledger never changes those, and has them on
// disk, so it is asked for each once.
func Remember(l ledger.Ledger) ledger.Ledger {
	return &remembering{l, newCache[paidFor, ledger.Answer](answerEntries, answerBytes)}
}

type remembering struct {
	ledger.Ledger
	answers *cache[paidFor, ledger.Answer]
}

// paidFor is an answer and a scope that has paid for it.
type paidFor struct {
	key   ledger.Key
	scope string
}

// Find implements ledger.Ledger.
func (r *remembering) Find(ctx context.Context, key ledger.Key, scope string) (ledger.Answer, bool, error) {
	if a, ok := r.answers.get(paidFor{key, scope}); ok {
		return a, true, nil
	}
	a, ok, err := r.Ledger.Find(ctx, key, scope)
	if err == nil && ok {
		r.keep(paidFor{key, scope}, a)
	}
	return a, ok, err
}

// Charge implements ledger.Ledger.
func (r *remembering) Charge(ctx context.Context, c ledger.Charge) (ledger.Answer, error) {
	a, err := r.Ledger.Charge(ctx, c)
	if err == nil {
		r.keep(paidFor{c.Key, c.Scope}, a)
	}
	return a, err
}

func (r *remembering) keep(key paidFor, a ledger.Answer) {
	a.Fresh = false
	r.answers.add(key, a, weight(key)+weight(a))
}
