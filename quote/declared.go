package quote

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

// declared is the model of a cut as the policy declares it. The policy says nothing about the bounds of rows and the
// steps of lattices: these come from the reference, if there is one.
func (r *Request) declared(ctx context.Context, c *planner.Bound, d *dataset.Declared) (Model, error) {
	t := r.Dataset.Find(c.Table.Schema, c.Table.Name)
	out, err := lawModel(d, t)
	if err != nil {
		return out, err
	}
	for k, comp := range d.Components {
		agg := c.Aggregates[comp.Aggregate]
		x := new(big.Rat)
		if !agg.Extensive { // of an average over no rows something has to stand in
			x.SetFloat64(out.expected[k])
		}
		out.typical = append(out.typical, x)
		out.Lattice[k] = 1
		if isCount := agg.Linear() && agg.Sums[0] == aggregate.N; !isCount && out.Inherent[k] > 0 {
			out.Lattice[k] = out.Inherent[k]
		}
	}
	if t.Table.Reference == "" {
		out.limits = unlimited(c)
		return out, nil
	}

	// The reference knows the bounds, and finer lattices than a standard deviation.
	moments, err := model.Measure(ctx, r.Reference, c, t.Totals)
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
			out.Lattice[k] = steps[i]
		}
	}
	return out, nil
}

// lawModel is what declared laws say of the components: how far the secrets move them, and how they vary.
func lawModel(d *dataset.Declared, t *dataset.Protected) (Model, error) {
	n := len(d.Components)
	out := Model{source: fromPolicy, Components: d.Components,
		Inherent: make([]float64, n), expected: make([]float64, n), Lattice: make([]float64, n)}

	var families []sensitivity.Family
	for i, l := range d.Laws {
		for _, span := range t.Psi[i].Spans {
			s, err := dataset.LawShift(l, span)
			if err != nil {
				return out, err
			}
			out.Shifts = append(out.Shifts, s)
			families = append(families, dataset.LawFamily{Law: l, At: span})
		}

		// A component varies as much as under the worst value of any secret; what is expected of it is their mean.
		for v := range l.Values {
			for k := range n {
				out.Inherent[k] = math.Max(out.Inherent[k], math.Sqrt(l.Covariances[v][k][k]))
				out.expected[k] += l.Means[v][k] / float64(len(l.Values)*len(d.Laws))
			}
		}
	}

	out.Families = func(context.Context) ([]sensitivity.Family, error) { return families, nil }
	return out, nil
}

// unlimited are bounds that hold for every value of a base's type but the far ends of numeric; what the policy says of
// a column counts.
func unlimited(c *planner.Bound) []planner.Limit {
	out := make([]planner.Limit, len(c.Bases))
	for i, t := range c.Bases {
		bits := uint(62 * max(1, t.Degree()))
		low := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(-1), bits))
		high := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), bits))
		if t.Low != "" {
			low.SetString(t.Low)
			high.SetString(t.High)
		}
		out[i] = planner.Limit{Low: low, High: high}
	}
	return out
}
