package pipeline

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

// given conditions a cut's model on what is public of its table.
func (q *question) given(ctx context.Context, t *dataset.Protected, c *planner.Bound, moments *model.Moments, out *modelled) error {
	out.source += ", given what is public"
	out.given, out.normal = true, true
	maps.Copy(out.exact, t.Public.Exact(c))
	moments.Components = slices.DeleteFunc(moments.Components, func(k model.Component) bool { _, ok := out.exact[k]; return ok })
	out.components, out.shifts, out.typical = moments.Components, nil, nil
	n := len(moments.Components)
	out.inherent, out.lattice, out.expected = make([]float64, n), make([]float64, n), moments.Reference()
	for k := range n {
		out.typical = append(out.typical, moments.Typical(k))
	}
	if n == 0 {
		out.families = func(context.Context) ([]sensitivity.Family, error) { return nil, nil }
		return nil
	}
	out.sums = t.Public.Sums(c, moments.Components)
	known, err := t.Known(ctx, q.reference())
	if err != nil {
		return err
	}
	g, err := moments.Given(ctx, q.reference(), known)
	if errors.Is(err, model.ErrPublic) {
		return sqlstate.New(sqlstate.ModelUnfit, "statistics of %s are public, and the statement has no model given them", t.Table).
			WithHint("Ask for counts, sums and averages over the table alone, without grouping sets.")
	} else if err != nil {
		return err
	}
	out.families = func(context.Context) (out []sensitivity.Family, err error) {
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
		s, sd, err := g.Shifts(i, psi, t.Policy.Privacy.Estimation)
		if err != nil {
			return unsupported(t, psi.Name, err)
		}
		out.shifts = append(out.shifts, s...)
		for k, step := range moments.LatticeSteps(i, psi) {
			out.lattice[k] = max(out.lattice[k], step)
			out.inherent[k] = max(out.inherent[k], sd[k])
		}
	}
	return nil
}

// unsupported is the error of a statement that the reference cannot speak of.
func unsupported(t *dataset.Protected, secret string, cause error) error {
	return sqlstate.New(sqlstate.ModelUnfit, "the reference of %s cannot support the statement at every value of secret %s", t.Table, secret).
		WithHint("Select more rows in WHERE, or group by fewer columns.").Because(cause)
}
