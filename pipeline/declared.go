package pipeline

import (
	"context"
	"math"
	"math/big"
	"slices"

	"fugu/dataset"
	"fugu/model"
	"fugu/planner"
	"fugu/planner/aggregate"
	"fugu/sensitivity"
)

// declared is the model of a cut as the policy declares it. Only the bounds of rows and the steps of lattices, of which
// the policy says nothing, are the reference's, if there is one.
func (q *question) declared(ctx context.Context, c *planner.Bound, d *dataset.Declared) (modelled, error) {
	t := q.snapshot.Find(c.Table.Schema, c.Table.Name)
	n := len(d.Components)
	out := modelled{source: fromPolicy, components: d.Components, inherent: make([]float64, n), expected: make([]float64, n), lattice: make([]float64, n)}
	for i, l := range d.Laws {
		for _, span := range t.Psi[i].Spans {
			s, err := dataset.LawShift(l, span)
			if err != nil {
				return out, err
			}
			out.shifts = append(out.shifts, s)
		}
		for v := range l.Values {
			for k := range n {
				out.inherent[k] = math.Max(out.inherent[k], math.Sqrt(l.Covariances[v][k][k]))
				out.expected[k] += l.Means[v][k] / float64(len(l.Values)*len(d.Laws))
			}
		}
	}
	for k, comp := range d.Components {
		x := new(big.Rat)
		agg := c.Aggregates[comp.Aggregate]
		if !agg.Extensive {
			x.SetFloat64(out.expected[k])
		}
		out.typical = append(out.typical, x)
		switch {
		case agg.Linear() && agg.Sums[0] == aggregate.N:
			out.lattice[k] = 1
		case out.inherent[k] > 0:
			out.lattice[k] = out.inherent[k]
		default:
			out.lattice[k] = 1
		}
	}
	out.families = func(context.Context) (out []sensitivity.Family, err error) {
		for i, l := range d.Laws {
			for _, span := range t.Psi[i].Spans {
				out = append(out, dataset.LawFamily{Law: l, At: span})
			}
		}
		return out, nil
	}
	if t.Table.Reference == "" {
		out.limits = unlimited(c)
		return out, nil
	}
	moments, err := model.Measure(ctx, q.reference(), c, t.Totals)
	if err != nil {
		return out, err
	}
	out.limits = moments.Limits()
	steps := make([]float64, len(moments.Components))
	for i, psi := range t.Psi {
		for k, step := range moments.LatticeSteps(i, psi) {
			steps[k] = math.Max(steps[k], step)
		}
	}
	for k, comp := range d.Components {
		if i := slices.Index(moments.Components, comp); i >= 0 {
			out.lattice[k] = steps[i]
		}
	}
	return out, nil
}

// unlimited are bounds that hold for every value of a base's type but the far ends of numeric; what the policy says of a
// column counts.
func unlimited(c *planner.Bound) []planner.Limit {
	out := make([]planner.Limit, len(c.Bases))
	for i, t := range c.Bases {
		bits := uint(62 * max(1, t.Degree()))
		low, high := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(-1), bits)), new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), bits))
		if t.Low != "" {
			low.SetString(t.Low)
			high.SetString(t.High)
		}
		out[i] = planner.Limit{Low: low, High: high}
	}
	return out
}
