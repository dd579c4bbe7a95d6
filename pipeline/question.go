package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/dataset"
	"fugu/ledger"
	"fugu/mechanism"
	"fugu/planner"
	"fugu/privacy"
	"fugu/sqlstate"
	"fugu/upstream"
	"fugu/wire"
)

// database is where a question's cuts are measured and asked: the reader, or one snapshot of the database.
type database interface {
	planner.Querier
	Statistics(ctx context.Context, questions []upstream.Question, start []*big.Rat) (mechanism.Statistics, error)
}

// question takes in the parameters and settings of one binding. contents identifies what the ordinary tables hold that
// the cuts read.
func (s *statement) question(ctx context.Context, b wire.Binding, set settings, db database, contents []string) (*question, error) {
	q := &question{statement: s, engine: s.session.engine, policy: s.policy, settings: set, database: db}
	if s.policy == nil {
		return q, nil
	}
	p := s.policy.Privacy
	q.budget = privacy.Budget{Epsilon: p.Epsilon, Delta: p.Delta}
	if set.epsilon > p.Epsilon {
		return nil, sqlstate.New(sqlstate.NotAllowed, "fugu.epsilon is %g, and the policy allows at most %g per statement", set.epsilon, p.Epsilon).
			WithHint("Write SET fugu.epsilon = %g, or less; RESET fugu.epsilon gives the policy's.", p.Epsilon)
	} else if set.epsilon > 0 {
		q.budget.Epsilon = set.epsilon
	}
	if set.delta > p.Delta {
		return nil, sqlstate.New(sqlstate.NotAllowed, "fugu.delta is %g, and the policy allows at most %g per statement", set.delta, p.Delta).
			WithHint("Write SET fugu.delta = %g, or less; RESET fugu.delta gives the policy's.", p.Delta)
	} else if set.deltaSet {
		q.budget.Delta = set.delta
	}
	q.kind = mechanism.Kind(p.Mechanism)
	if set.mechanism != "" {
		q.kind = set.mechanism
	}
	if err := q.tolerance(set); err != nil {
		return nil, err
	}
	if err := q.worth(set); err != nil {
		return nil, err
	}
	q.shares = shares(p.Budget, s.session.user)
	var err error
	if l := q.engine.ledger; l != nil { // what only models, as loading a policy does, has none
		if q.standing, err = stands(ctx, l, s.policy); err != nil {
			return nil, err
		}
	}
	types := pgtype.NewMap()
	for _, z := range s.plan.Zeros {
		if v, err := textParam(types, b, z.Number, s.plan.ParamTypes[z.Number-1]); err != nil {
			return nil, err
		} else if string(v) != "0" {
			return nil, sqlstate.New(sqlstate.NotAnswerable, "OFFSET of a subquery below an aggregate of protected rows has to be 0").
				WithHint("Aggregate all rows.").At(z.Position)
		}
	}
	for _, c := range s.plan.Cuts {
		params := make([][]byte, len(c.Params))
		for i, n := range c.Params {
			v, err := textParam(types, b, n, c.ParamTypes[i])
			if err != nil {
				return nil, err
			}
			params[i] = v
		}
		bound, err := c.Bind(ctx, db, params)
		if err != nil {
			return nil, err
		}
		q.cuts = append(q.cuts, bound)
	}
	q.key, err = q.identity(contents)
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
	if format == pgtype.TextFormatCode {
		value = dateTime(oid, value)
	}
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
func (q *question) identity(contents []string) (ledger.Key, error) {
	id := struct {
		Version     int
		Fingerprint string
		Cuts        []dataset.AskedCut
		Contents    []string
		Epsilon     privacy.Epsilon
		Delta       privacy.Delta
		Mechanism   mechanism.Kind
		Epoch       int64 `json:",omitempty"`
		Whole       int   `json:",omitempty"` // values that are constants, and were not always
	}{4, q.policy.Fingerprint, nil, contents, q.budget.Epsilon, q.budget.Delta, q.kind, q.standing.Epoch, 0}
	for _, c := range q.cuts {
		t := q.snapshot.Find(c.Table.Schema, c.Table.Name)
		asked := dataset.DescribeCut(c)
		asked.Totals = t.Totals
		id.Cuts, id.Whole = append(id.Cuts, asked), id.Whole+len(constantValues(c))
	}
	text, err := json.Marshal(id)
	if err != nil {
		return "", fmt.Errorf("identifying a statement: %w", err)
	}
	sum := sha256.Sum256(text)
	return ledger.Key(hex.EncodeToString(sum[:])), nil
}
