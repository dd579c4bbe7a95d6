package pipeline

import (
	"context"
	"math/big"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/ledger"
	"fugu/mechanism"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/upstream"
	"fugu/wire"
)

// database is where a question's cuts are measured and asked: the reader, or one snapshot of the database.
type database interface {
	planner.Querier
	Statistics(ctx context.Context, questions []upstream.Question, start []*big.Rat) (mechanism.Statistics, error)
}

// question is what one binding of a statement asks of protected rows: a request, and who pays for its answer.
type question struct {
	statement *statement
	engine    *Engine
	request   *quote.Request
	database  database // of the request's
	settings  settings
	key       ledger.Key // of the answer
	shares    []ledger.Share
	standing  ledger.Standing   // of the dataset, before anything was read
	paid      bool              // this question was charged for its answer
	error     privacy.Tolerance // up to which it is answered from the past
	limit     privacy.Worth     // on the noise of an answer that is charged
}

// question takes in the parameters and settings of one binding of a statement with a policy. contents identifies what
// the ordinary tables hold that the cuts read.
func (s *statement) question(ctx context.Context, b wire.Binding, set settings, db database,
	contents []string) (*question, error) {
	q := &question{statement: s, engine: s.session.engine, database: db, settings: set}
	budget, err := set.budget(s.policy)
	if err != nil {
		return nil, err
	}
	if q.error, err = set.tolerance(s.policy); err != nil {
		return nil, err
	}
	if q.limit, err = set.worth(s.policy); err != nil {
		return nil, err
	}
	q.shares = shares(s.policy.Privacy.Budget, s.session.user)
	if q.standing, err = stands(ctx, q.engine.ledger, s.policy); err != nil {
		return nil, err
	}
	q.request = &quote.Request{Dataset: s.snapshot.Snapshot, Policy: s.policy, Budget: budget,
		Mechanism: set.kind(s.policy), Database: db,
		Reference: s.snapshot.Fitted[s.policy].Over(db), Timeout: q.engine.reader.Timeout()}
	types := pgtype.NewMap()
	q.request.Cuts, err = quote.Bind(ctx, s.plan, db, func(n int, oid uint32) ([]byte, error) {
		return textParam(types, b, n, oid)
	})
	if err != nil {
		return nil, err
	}
	if err := q.request.Identify(q.standing.Epoch, contents); err != nil {
		return nil, err
	}
	q.key = ledger.Key(q.request.Key)
	return q, nil
}

// budget is what a statement may cost: the policy's, or less.
func (s settings) budget(p *policy.Policy) (privacy.Budget, error) {
	most := privacy.Budget{Epsilon: p.Privacy.Epsilon, Delta: p.Privacy.Delta}
	out := most
	if s.epsilon > most.Epsilon {
		return out, sqlstate.New(sqlstate.NotAllowed, "fugu.epsilon is %g, and the policy allows at most %g per "+
			"statement", s.epsilon, most.Epsilon).
			WithHint("Write SET fugu.epsilon = %g, or less; RESET fugu.epsilon gives the policy's.", most.Epsilon)
	} else if s.epsilon > 0 {
		out.Epsilon = s.epsilon
	}
	if s.delta > most.Delta {
		return out, sqlstate.New(sqlstate.NotAllowed, "fugu.delta is %g, and the policy allows at most %g per "+
			"statement", s.delta, most.Delta).
			WithHint("Write SET fugu.delta = %g, or less; RESET fugu.delta gives the policy's.", most.Delta)
	} else if s.deltaSet {
		out.Delta = s.delta
	}
	return out, nil
}

// kind is the mechanism that is asked for.
func (s settings) kind(p *policy.Policy) mechanism.Kind {
	if s.mechanism != "" {
		return s.mechanism
	}
	return mechanism.Kind(p.Privacy.Mechanism)
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
		return nil, sqlstate.New(sqlstate.FeatureNotSupported, "parameter $%d cannot be sent in binary on protected "+
			"data", n).WithHint("Send it as text.")
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
