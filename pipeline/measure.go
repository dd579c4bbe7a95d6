package pipeline

import (
	"context"
	"math/big"

	"fugu/ledger"
	"fugu/quote"
)

// measure returns what is known of the question.
func (q *question) measure(ctx context.Context) (*quote.Quote, error) {
	return q.measureOf(ctx, q.request)
}

// measureOf returns what is known of a request, the question's or one like it.
func (q *question) measureOf(ctx context.Context, r *quote.Request) (*quote.Quote, error) {
	return q.statement.snapshot.quotes.Quote(ctx, q.engine.searches, q.statement.session.user, r)
}

// cells describes each released value: its noise, an interval that holds the value without noise at the confidence, and
// the secret that it tells most about. past: it was computed, and tells nothing more.
func (q *question) cells(m *quote.Quote, past *quote.Past, values []string, confidence float64) []ledger.Cell {
	binding := ""
	if past == nil {
		binding = m.Binding(float64(q.request.Budget.Delta))
	}
	out := make([]ledger.Cell, m.Width)
	for k := range out {
		v, _ := new(big.Rat).SetString(values[k])
		x, _ := v.Float64()
		h, sd := 0.0, m.Calibration.SD[k]
		if past == nil {
			h = m.Calibration.Noise.HalfWidth(k, confidence)
		} else {
			h, sd = past.Errors[k].HalfWidth(confidence), past.Errors[k].SD()
		}
		out[k] = ledger.Cell{Column: m.Labels[k].Column, GroupKey: m.Labels[k].Group, Value: values[k], SD: sd,
			Lower: x - h, Upper: x + h, Secret: binding}
	}
	return out
}
