package pipeline

import (
	"context"
	"encoding/binary"
	"strings"

	"fugu/account"
	"fugu/account/memory"
	"fugu/internal/hook"
	"fugu/parser"
	"fugu/wire"
)

// Recall implements wire.Recaller: it is Bind where that needs nothing of the client's session and the answer is in
// memory. It does not answer a failure, which is told like any other error.
func (s *statement) Recall(ctx context.Context, formats []int16, values [][]byte) (wire.Bound, bool) {
	engine := s.session.engine
	books, ok := engine.desk.Ledger.(*memory.Ledger)
	if !ok || !s.recallable(ctx) {
		return wire.Bound{}, false
	}

	// An answer is of one epoch of the data, and whose shares have paid for it is told by the scopes.
	standing, err := account.Stands(ctx, books, s.policy)
	if err != nil || account.Current(s.policy, standing) != nil {
		return wire.Bound{}, false
	}
	scopes := account.Scopes(account.Shares(s.policy.Privacy.Budget, s.session.user))

	// The same plan with the same bytes bound was recalled before: neither the question is written down again nor the
	// answer decoded.
	by := recalledBy{s.serial, standing.Epoch, strings.Join(scopes, "\x00"), ""}
	if by.binding, ok = bindingKey(formats, values); ok && s.serial > 0 {
		if r, ok := s.snapshot.recalled.Get(by); ok {
			s.session.last = r.told
			s.remember(r.bound, settings{confidence: defaultConfidence}, nil)
			return wire.Bound{Values: r.values}, true
		}
	}

	// Otherwise it is found by what it asks, in the ledger's memory.
	q, err := s.question(ctx, wire.Binding{Formats: formats, Values: values}, settings{confidence: defaultConfidence},
		engine.desk.Reader, nil)
	if err != nil || q.Current() != nil {
		return wire.Bound{}, false
	}
	a, found := books.Recall(q.Key, q.Scopes())
	if !found || a.Failed {
		return wire.Bound{}, false
	}

	arrays, err := q.Arrays(ctx, a)
	if err != nil {
		return wire.Bound{}, false
	}
	told, err := q.Told(ctx, a)
	if err != nil {
		return wire.Bound{}, false
	}

	// It was told: fugu.last_release shows it, and the next binding of these bytes finds it sooner.
	s.session.last = told
	bound := lasting(formats, values)
	s.remember(bound, settings{confidence: defaultConfidence}, nil)
	if r := (recalled{told, bound, arrays}); ok && s.serial > 0 && q.Epoch() == by.epoch {
		s.snapshot.recalled.Add(by, r, by.size()+r.size())
	}
	return wire.Bound{Values: arrays}, true
}

// recallable reports whether the statement can be answered without asking the guest anything, as Recall has to.
func (s *statement) recallable(ctx context.Context) bool {
	engine := s.session.engine

	// So no settings, no ordinary tables, no names in doubt, no policy but the one of now, and nothing to be said that
	// the client may not want to hear.
	switch {
	case hook.NoStored, s.session.touched, s.plain != nil, s.execute != nil, s.prepare, s.plan == nil, s.noData,
		s.probe != "":
		return false
	case len(s.plan.Cuts) == 0, len(s.plan.Twins) > 0, len(s.plan.Virtual) > 0, len(s.plan.Ordinary()) > 0,
		s.plan.Explain != parser.NoExplain,
		engine.closed.Load(), engine.snapshot.Load() != s.snapshot, !s.introduced():
		return false
	}

	// A name or an operator that may mean something else is looked up on the way of Bind.
	if len(s.session.doubtful(ctx, s.snapshot, s.source)) > 0 {
		return false
	}
	found, err := engine.overloads.Candidates(ctx, engine.desk.Reader, s.plan)
	return err == nil && len(found) == 0
}

// bindingKey tells bindings apart, byte by byte; ok is false for a long one.
func bindingKey(formats []int16, values [][]byte) (key string, ok bool) {
	if len(values) == 0 {
		return "", true
	}

	// Nobody is to fill the memory with long bindings.
	n := 2 * len(formats)
	for _, v := range values {
		n += 4 + len(v)
	}
	if n > bindingBytes {
		return "", false
	}

	b := make([]byte, 0, n+2)
	b = binary.BigEndian.AppendUint16(b, uint16(len(formats)))
	for _, f := range formats {
		b = binary.BigEndian.AppendUint16(b, uint16(f))
	}
	for _, v := range values {
		if v == nil {
			b = binary.BigEndian.AppendUint32(b, 1<<32-1) // as in the message
			continue
		}
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
	}
	return string(b), true
}
