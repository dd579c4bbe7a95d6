package preview

import (
	"context"
	"math"

	"fugu/answer"
	"fugu/explain"
	"fugu/model"
	"fugu/privacy"
	"fugu/sensitivity"
)

// Preview is an explanation with what the secrets do to the value that they show most in.
type Preview struct {
	explain.Explanation
	Laws []Law `json:"laws,omitempty"`
}

// Law is f_θ of one value of an answer under two values of a secret that nobody may tell apart, those in the middle of
// its range: what the reference says of the true value, before noise.
type Law struct {
	Secret string     `json:"secret"`
	Pair   [2]float64 `json:"pair"`
	Column string     `json:"column"`
	Group  string     `json:"group,omitempty"`
	Mean   [2]float64 `json:"mean"`        // under each of the two, in the value's units
	SD     [2]float64 `json:"sampling_sd"` // likewise
	Noise  float64    `json:"noise_sd"`    // that hides which of the two it is
}

// Preview is Explain with the laws of the values that each secret moves most, in units of their noise. It has none of
// secrets whose values lie on no line, and none of percentiles and distinct values, whose law is not known. params are
// the statement's parameters in text form.
func (d *Desk) Preview(ctx context.Context, sql string, params []string,
	epsilons []privacy.Epsilon) (out []Preview, err error) {
	err = d.ask(ctx, sql, params, func(q *answer.Question) error {
		families, err := familiesOf(ctx, q)
		if err != nil {
			return err
		}

		// The families do not depend on ε, so that the references are asked once.
		explained, err := explainEach(ctx, q, epsilons)
		if err != nil {
			return err
		}
		for _, x := range explained {
			p := Preview{Explanation: x}
			for _, f := range families {
				if l, ok := f.law(x.Values); ok {
					p.Laws = append(p.Laws, l)
				}
			}
			out = append(out, p)
		}
		return nil
	})
	return out, err
}

// family is f_θ of the values of one cut, of which the first stands at begins among all of them.
type family struct {
	sensitivity.Family
	begins int
	values []model.Component
}

// familiesOf asks the references for f_θ of each cut, along each secret.
func familiesOf(ctx context.Context, q *answer.Question) (out []family, err error) {
	begins := 0
	for _, c := range q.Request.Cuts {
		if len(c.Aggregates) == 0 {
			continue
		}
		m, err := q.Request.Model(ctx, c)
		if err != nil {
			return nil, err
		}

		// Without a family nothing is known of how these values vary, but they have their places.
		if m.Families != nil {
			families, err := m.Families(ctx)
			if err != nil {
				return nil, err
			}
			for _, f := range families {
				out = append(out, family{f, begins, m.Components})
			}
		}
		begins += len(m.Components)
	}
	return out, nil
}

// law is that of the value which the secret moves most, in units of its noise.
func (f family) law(values []explain.Value) (out Law, ok bool) {
	if f.begins+len(f.values) > len(values) {
		return out, false
	}
	span := f.Span()
	middle, half := (span.From+span.To)/2, min(span.Within, span.To-span.From)/2
	pair := [2]float64{middle - half, middle + half}
	first, second := f.Mean(pair[0]), f.Mean(pair[1])
	firstVariance, secondVariance := f.Covariance(pair[0]).Diagonal(), f.Covariance(pair[1]).Diagonal()

	// The value that moves most, seen in units of its own noise, is the one that tells most.
	most := -1.
	for k := range f.values {
		v := values[f.begins+k]
		moved := math.Abs(second[k]-first[k]) / v.SD
		varies := firstVariance[k] + secondVariance[k]
		if !(moved > most) || math.IsInf(moved, 0) || math.IsNaN(varies) || math.IsInf(varies, 0) {
			continue
		}
		most, ok = moved, true
		out = Law{Secret: f.Secret(), Pair: pair, Column: v.Column, Group: v.GroupKey,
			Mean: [2]float64{first[k], second[k]}, Noise: v.SD,
			SD: [2]float64{math.Sqrt(max(0, firstVariance[k])), math.Sqrt(max(0, secondVariance[k]))}}
	}
	return out, ok
}
