package pipeline

import (
	"context"

	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/parser"
	"fugu/wire"
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

// Recall implements wire.Recaller: it is Bind where that needs nothing of the client's session and the answer is in
// memory. It does not answer a failure, which is told like any other error.
func (s *statement) Recall(ctx context.Context, formats []int16, values [][]byte) (wire.Bound, bool) {
	memory, ok := s.session.engine.ledger.(*remembering)
	switch {
	case !ok, hook.NoStored, s.session.touched, s.plain != nil, s.execute != nil, s.prepare, s.plan == nil, s.noData, s.probe != "":
		return wire.Bound{}, false
	case len(s.plan.Cuts) == 0, len(s.plan.Virtual) > 0, len(s.plan.Ordinary()) > 0, s.plan.Explain != parser.NoExplain,
		s.session.engine.snapshot.Load() != s.snapshot:
		return wire.Bound{}, false
	}
	if found, err := s.session.engine.overloads.candidates(ctx, s.session.engine.reader, s.plan.Uses()); err != nil || len(found) > 0 {
		return wire.Bound{}, false
	}
	q, err := s.question(ctx, wire.Binding{Formats: formats, Values: values}, settings{confidence: defaultConfidence}, s.session.engine.reader, nil)
	if err != nil {
		return wire.Bound{}, false
	}
	a, ok := memory.answers.get(paidFor{q.key, q.scope})
	if !ok || a.Failed {
		return wire.Bound{}, false
	}
	arrays, err := q.arrays(a)
	if err != nil || q.record(ctx, a) != nil {
		return wire.Bound{}, false
	}
	return wire.Bound{Values: arrays}, true
}
