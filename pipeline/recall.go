package pipeline

import (
	"context"
	"encoding/binary"
	"strings"

	"fugu/internal/hook"
	"fugu/parser"
	"fugu/wire"
)

// Sizes of the cache of what was recalled, and of one binding that it knows, in bytes.
const (
	recalledEntries = 4096
	recalledBytes   = 32 << 20
	bindingBytes    = 4 << 10
)

// recalled is a stored answer as one binding of a statement has it: what is asked for need not be written down to find
// it, nor the answer be decoded. It is a shortcut to what the memory of the ledger has returned, and goes with the
// snapshot whose policy it is of.
type recalled struct {
	lastRelease
	values [][]byte // not changed
}

// recalledBy is all that the answer depends on where settings are as the policy has them: the plan, the data, whose
// shares have paid for it, and what the client bound.
type recalledBy struct {
	serial  uint64 // of the template
	epoch   int64
	scopes  string
	binding string
}

// Recall implements wire.Recaller: it is Bind where that needs nothing of the client's session and the answer is in
// memory. It does not answer a failure, which is told like any other error.
func (s *statement) Recall(ctx context.Context, formats []int16, values [][]byte) (wire.Bound, bool) {
	engine := s.session.engine
	memory, ok := engine.ledger.(*remembering)
	switch {
	case !ok, hook.NoStored, s.session.touched, s.plain != nil, s.execute != nil, s.prepare, s.plan == nil, s.noData,
		s.probe != "":
		return wire.Bound{}, false
	case len(s.plan.Cuts) == 0, len(s.plan.Twins) > 0, len(s.plan.Virtual) > 0, len(s.plan.Ordinary()) > 0,
		s.plan.Explain != parser.NoExplain,
		engine.closed.Load(), engine.snapshot.Load() != s.snapshot:
		return wire.Bound{}, false
	}
	if len(s.session.doubtful(ctx, s.snapshot, s.source)) > 0 {
		return wire.Bound{}, false
	}
	if found, err := engine.overloads.candidates(ctx, engine.reader, s.plan); err != nil || len(found) > 0 {
		return wire.Bound{}, false
	}
	standing, err := stands(ctx, memory, s.policy)
	if err != nil || current(s.policy, standing) != nil {
		return wire.Bound{}, false
	}
	by := recalledBy{s.serial, standing.Epoch, strings.Join(scopes(shares(s.policy.Privacy.Budget, s.session.user)),
		"\x00"), ""}
	if by.binding, ok = bindingKey(formats, values); ok && s.serial > 0 {
		if r, ok := s.snapshot.recalled.Get(by); ok {
			s.session.last = r.lastRelease
			return wire.Bound{Values: r.values}, true
		}
	}
	q, err := s.question(ctx, wire.Binding{Formats: formats, Values: values}, settings{confidence: defaultConfidence},
		engine.reader, nil)
	if err != nil || current(s.policy, q.standing) != nil {
		return wire.Bound{}, false
	}
	a, found := memory.answers.Get(paidBy(q.key, scopes(q.shares)))
	if !found || a.Failed {
		return wire.Bound{}, false
	}
	arrays, err := q.arrays(a)
	if err != nil || q.record(ctx, a) != nil {
		return wire.Bound{}, false
	}
	if r := (recalled{s.session.last, arrays}); ok && s.serial > 0 && q.standing.Epoch == by.epoch {
		s.snapshot.recalled.Add(by, r, weight(by)+weight(r))
	}
	return wire.Bound{Values: arrays}, true
}

// bindingKey tells bindings apart, byte by byte; ok is false for a long one.
func bindingKey(formats []int16, values [][]byte) (key string, ok bool) {
	if len(values) == 0 {
		return "", true
	}
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
