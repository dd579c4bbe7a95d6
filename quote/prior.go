package quote

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"fugu/dataset"
	"fugu/estimate"
	"fugu/model"
	"fugu/sensitivity"
)

// Prior is what the request's model says of its components before anything is told of them: where each secret moves
// them, how they vary there, and how well the reference knows that. It reads the reference, and no protected row. nil:
// there is no model of all of them together, or a secret has no range of numbers.
func (r *Request) Prior(ctx context.Context, m *Quote) (*estimate.Prior, error) {
	var parts []*model.Moments
	var models []Model
	out, offset := &estimate.Prior{}, 0
	for _, c := range r.Cuts {
		if len(c.Aggregates) == 0 {
			continue
		}
		f, err := r.Model(ctx, c)
		if err != nil {
			return nil, err
		}
		width := len(f.Components)
		if width == 0 {
			continue
		}
		models, parts = append(models, f), append(parts, f.moments)

		// Percentiles and distinct values stand behind what has moments, which say nothing of them.
		known := width - len(f.widest)
		for k := range known {
			out.Of, out.Mean = append(out.Of, offset+k), append(out.Mean, m.Expected[offset+k])
		}
		offset += width
	}

	if len(out.Of) == 0 {
		return nil, nil
	}
	families, err := r.believed(ctx, models, parts)
	if families == nil || err != nil {
		return nil, err
	}
	t := r.Dataset.Find(r.Cuts[0].Table.Schema, r.Cuts[0].Table.Name)
	for i, psi := range t.Psi {
		l, ok := along(t, i, psi, families)
		if !ok || len(l.family.Mean(l.from)) != len(out.Of) {
			return nil, nil
		}
		out.Secrets = append(out.Secrets, l)
	}
	if len(out.Secrets) == 0 {
		return nil, nil
	}
	return out, nil
}

// believed are the families of all models together; none where nobody knows how they vary together.
func (r *Request) believed(ctx context.Context, models []Model, parts []*model.Moments) ([]sensitivity.Family, error) {
	if len(models) == 0 {
		return nil, nil
	}
	if len(models) == 1 && models[0].widest == nil {
		return models[0].Families(ctx)
	}
	for i, p := range parts {
		if p == nil || models[i].root != models[0].root {
			return nil, nil
		}
	}
	return r.jointFamilies(ctx, models[0].root, parts...)
}

// secretLine is the law of components along the values of one secret, over all of which its pairs lie: from the least
// to the greatest of those that the policy lists, or over its range.
type secretLine struct {
	family   sensitivity.Family
	from, to float64
	share    func(x float64) float64 // of Covariance, where the family does not know its own error
}

// along finds the line of a table's secret among families; false: its values are no range.
func along(t *dataset.Protected, secret int, psi model.Psi, families []sensitivity.Family) (secretLine, bool) {
	out := secretLine{from: math.Inf(1), to: math.Inf(-1)}
	for _, f := range families {
		if f.Secret() == psi.Name && out.family == nil {
			out.family = f
		}
	}
	for _, s := range psi.Spans {
		out.from, out.to = math.Min(out.from, s.From), math.Max(out.to, s.To)
	}

	// Given public statistics the reference's error is not worked out. It is no more than that of the class of which
	// the reference has the least, for a row of the table.
	out.share = func(x float64) float64 {
		sizes, rows := t.Totals[secret].Size, float64(t.Table.Rows)
		if len(sizes) != 2 {
			return rows / sizes[0]
		}
		return math.Max(rows*x/sizes[1], rows*(1-x)/sizes[0])
	}
	if t.Table.Reference == "" || psi.FromReference { // the policy says the law, or the rows are the reference's
		out.share = func(float64) float64 { return 0 }
	}
	return out, out.family != nil && out.from < out.to
}

// Range implements estimate.Secret.
func (l secretLine) Range() (from, to float64) { return l.from, l.to }

// Mean implements estimate.Secret.
func (l secretLine) Mean(x float64) []float64 { return l.family.Mean(x) }

// Covariance implements estimate.Secret.
func (l secretLine) Covariance(x float64) *mat.SymDense {
	c := l.family.Covariance(x)
	if f, ok := l.family.(interface {
		Estimation(x float64) sensitivity.Covariance
	}); ok {
		c = c.Plus(1, f.Estimation(x))
	} else {
		c = c.Plus(l.share(x), c)
	}
	if f, ok := l.family.(interface{ FewRows(x float64) []float64 }); ok {
		c = c.WithDiagonal(1, f.FewRows(x))
	}
	whole := c.Whole()
	return mat.NewSymDense(whole.Len(), whole.Blocks[0].Entries)
}
