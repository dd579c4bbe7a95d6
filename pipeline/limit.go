package pipeline

import (
	"context"

	"fugu/policy"
	"fugu/privacy"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/wire"
)

// tolerance is the error up to which the past may answer: the policy's, or what a session asks for.
func (s settings) tolerance(p *policy.Policy) (privacy.Tolerance, error) {
	if !s.errorSet {
		return p.Privacy.Error, nil
	}
	if s.error != (privacy.Tolerance{}) && p.Privacy.Error == (privacy.Tolerance{}) {
		return s.error, sqlstate.New(sqlstate.NotAllowed, "fugu.error is %s, and the policy has every answer of "+
			"dataset %s drawn afresh", s.error, p.Dataset).
			WithHint("RESET fugu.error; or the owner of the policy can write privacy.error: %s.", s.error)
	}
	return s.error, nil
}

// worth is how much noise an answer may have: the policy's limit, or a session's that is narrower.
func (s settings) worth(p *policy.Policy) (privacy.Worth, error) {
	limit := p.Privacy.MaxError
	switch {
	case s.maxError == 0:
		return limit, nil
	case limit != 0 && s.maxError > limit:
		return limit, sqlstate.New(sqlstate.NotAllowed, "fugu.max_error is %s, and the policy allows noise of at "+
			"most %s", s.maxError, limit).
			WithHint("Write SET fugu.max_error = '%s', or less; RESET fugu.max_error gives the policy's.", limit)
	}
	return s.maxError, nil
}

// worthless refuses a question whose noise is above the limit.
func (q *question) worthless(ctx context.Context, m *quote.Quote) error {
	return q.request.Worthless(m, q.limit, func(r *quote.Request) (*quote.Quote, error) { return q.measureOf(ctx, r) })
}

// unlimited asks whether an answer that has to be paid for is worth it, where a limit is set.
func (q *question) unlimited(ctx context.Context) error {
	if q.limit == 0 {
		return nil
	}
	m, err := q.measure(ctx)
	if sqlstate.Is(err, sqlstate.StatisticsFailed) { // which costs its price, like any failure on rows
		return nil
	} else if err != nil {
		return err
	}
	return q.worthless(ctx, m)
}

// warning tells who has paid for an answer, and has set no limit, that the noise of values is larger than themselves.
func (q *question) warning(ctx context.Context) []wire.Notice {
	if !q.paid || q.limit != 0 {
		return nil
	}
	m, err := q.measure(ctx)
	if err != nil {
		return nil
	}
	text := m.Warning()
	if text == "" {
		return nil
	}
	return []wire.Notice{{Warning: true, Message: "fugu: " + text,
		Hint: "SET fugu.max_error = '50%' refuses such a statement before it is charged; EXPLAIN (PRIVACY) shows " +
			"its noise, and costs nothing."}}
}
