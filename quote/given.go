package quote

import (
	"context"
	"errors"
	"maps"
	"slices"

	"fugu/dataset"
	"fugu/model"
	"fugu/planner"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// conditionOnPublic conditions a cut's model on what is public of its table.
func (r *Request) conditionOnPublic(ctx context.Context, t *dataset.Protected, c *planner.Bound, moments *model.Moments,
	out *Model) error {
	out.source += ", given what is public"
	out.given, out.normal = true, true

	// What follows from what is public is exact, and no component any more.
	maps.Copy(out.Exact, t.Public.Exact(c))
	moments.Components = slices.DeleteFunc(moments.Components,
		func(k model.Component) bool { _, ok := out.Exact[k]; return ok })
	out.Components, out.Shifts, out.typical = moments.Components, nil, nil
	n := len(moments.Components)
	out.Inherent, out.Lattice, out.expected = make([]float64, n), make([]float64, n), moments.Reference()
	for k := range n {
		out.typical = append(out.typical, moments.Typical(k))
	}
	if n == 0 {
		out.Families = func(context.Context) ([]sensitivity.Family, error) { return nil, nil }
		return nil
	}

	// The rest vary and move as they do given the public statistics.
	out.sums = t.Public.Sums(c, moments.Components)
	out.addRows(c, out.complete)
	known, err := t.Known(ctx, r.Reference)
	if err != nil {
		return err
	}
	g, err := moments.Given(ctx, r.Reference, known)
	if errors.Is(err, model.ErrPublic) {
		return sqlstate.New(sqlstate.ModelUnfit, "statistics of %s are public, and the statement has no model given "+
			"them", t.Table).
			WithHint("Ask for counts, sums and averages over the table alone, without grouping sets.")
	} else if err != nil {
		return err
	}

	out.Families = func(context.Context) (out []sensitivity.Family, err error) {
		for i, psi := range t.Psi {
			f, err := g.Families(i, psi)
			if err != nil {
				return nil, err
			}
			out = append(out, f...)
		}
		return out, nil
	}

	for i, psi := range t.Psi {
		s, sd, err := g.Shifts(i, psi, t.Policy.Privacy.Estimation.Errors)
		if err != nil {
			return unsupported(t, psi.Name, err)
		}
		out.Shifts = append(out.Shifts, s...)
		for k, step := range moments.LatticeSteps(i, psi) {
			out.Lattice[k] = max(out.Lattice[k], step)
			out.Inherent[k] = max(out.Inherent[k], sd[k])
		}
	}
	return nil
}
