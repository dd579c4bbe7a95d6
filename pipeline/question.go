package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/ledger"
	"fugu/mechanism"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/sqlstate"
	"fugu/wire"
)

// question takes in the parameters and settings of one binding.
func (s *statement) question(b wire.Binding, set settings) (*question, error) {
	q := &question{statement: s, engine: s.session.engine, policy: s.policy, settings: set}
	if s.policy == nil {
		return q, nil
	}
	p := s.policy.Privacy
	q.budget = privacy.Budget{Epsilon: p.Epsilon, Delta: p.Delta}
	if set.epsilon > p.Epsilon {
		return nil, sqlstate.New(sqlstate.NotAllowed, "fugu.epsilon is %g, and the policy allows at most %g per statement", set.epsilon, p.Epsilon)
	} else if set.epsilon > 0 {
		q.budget.Epsilon = set.epsilon
	}
	if set.delta > p.Delta {
		return nil, sqlstate.New(sqlstate.NotAllowed, "fugu.delta is %g, and the policy allows at most %g per statement", set.delta, p.Delta)
	} else if set.deltaSet {
		q.budget.Delta = set.delta
	}
	q.kind = mechanism.Kind(p.Mechanism)
	if set.mechanism != "" {
		q.kind = set.mechanism
	}
	if p.Budget.Per == policy.PerUser {
		q.scope = s.session.user
	}
	types := pgtype.NewMap()
	for _, c := range s.plan.Cuts {
		params := make([][]byte, len(c.Params))
		for i, n := range c.Params {
			v, err := textParam(types, b, n, c.ParamTypes[i])
			if err != nil {
				return nil, err
			}
			params[i] = v
		}
		q.params = append(q.params, params)
	}
	var err error
	q.key, err = q.identity()
	return q, err
}

// textParam returns the text form of the client's parameter n: one text for one value, however the client sent it, so
// that the same statement with the same parameters is known again. nil is NULL.
func textParam(types *pgtype.Map, b wire.Binding, n int, oid uint32) ([]byte, error) {
	if n > len(b.Values) {
		return nil, sqlstate.New(sqlstate.UndefinedParameter, "there is no parameter $%d", n)
	}
	value := b.Values[n-1]
	if value == nil {
		return nil, nil
	}
	format := int16(pgtype.TextFormatCode)
	switch len(b.Formats) {
	case 0:
	case 1:
		format = b.Formats[0]
	default:
		format = b.Formats[n-1]
	}
	t, ok := types.TypeForOID(oid)
	if !ok {
		if format == pgtype.TextFormatCode {
			return value, nil
		}
		return nil, sqlstate.New(sqlstate.FeatureNotSupported, "parameter $%d cannot be sent in binary on protected data", n).WithHint("Send it as text.")
	}
	bad := sqlstate.New(sqlstate.InvalidTextRepr, "invalid input for parameter $%d of type %s", n, t.Name)
	v, err := t.Codec.DecodeValue(types, oid, format, value)
	if err != nil {
		return nil, bad.Because(err)
	}
	text, err := types.Encode(oid, pgtype.TextFormatCode, v, nil)
	if err != nil || text == nil {
		return nil, bad.Because(err)
	}
	return text, nil
}

// identity is the key of the answer: everything below the cuts, and nothing above them, so that another HAVING or ORDER
// BY over the same F is answered from what is stored.
func (q *question) identity() (ledger.Key, error) {
	type cut struct {
		Statistics string
		Types      []uint32
		Params     [][]byte
		Cells      []planner.Cell
		Totals     any
	}
	id := struct {
		Version     int
		Fingerprint string
		Cuts        []cut
		Epsilon     privacy.Epsilon
		Delta       privacy.Delta
		Mechanism   mechanism.Kind
	}{1, q.policy.Fingerprint, nil, q.budget.Epsilon, q.budget.Delta, q.kind}
	for i, c := range q.plan.Cuts {
		t := q.snapshot.find(c.Table.Schema, c.Table.Name)
		id.Cuts = append(id.Cuts, cut{c.Statistics, c.ParamTypes, q.params[i], c.Cells, t.totals})
	}
	text, err := json.Marshal(id)
	if err != nil {
		return "", fmt.Errorf("identifying a statement: %w", err)
	}
	sum := sha256.Sum256(text)
	return ledger.Key(hex.EncodeToString(sum[:])), nil
}
