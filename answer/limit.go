package answer

import (
	"context"

	"fugu/quote"
	"fugu/sqlstate"
)

// worthless refuses a question whose noise is above the limit.
func (q *Question) worthless(ctx context.Context, m *quote.Quote) error {
	return q.Request.Worthless(m, q.asked.Limit, func(r *quote.Request) (*quote.Quote, error) {
		return q.quote(ctx, r)
	})
}

// checkLimit asks whether an answer that has to be paid for is worth it, where a limit is set.
func (q *Question) checkLimit(ctx context.Context) error {
	if q.asked.Limit == 0 {
		return nil
	}
	m, err := q.Measure(ctx)
	if sqlstate.Is(err, sqlstate.StatisticsFailed) { // which costs its price, like any failure on rows
		return nil
	} else if err != nil {
		return err
	}
	return q.worthless(ctx, m)
}

// Warning tells who has paid for an answer, and has set no limit, that the noise of values is larger than themselves;
// empty: it is not.
func (q *Question) Warning(ctx context.Context) string {
	if !q.paid || q.asked.Limit != 0 {
		return ""
	}
	m, err := q.Measure(ctx)
	if err != nil {
		return ""
	}
	return m.Warning()
}
