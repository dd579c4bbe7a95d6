package quote

import (
	"context"
	"slices"

	"fugu/dataset"
	"fugu/mechanism"
	"fugu/model"
	"fugu/planner"
	"fugu/policy"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// Model finds a cut's model: the one that the policy declares, or the one that the reference shows.
func (r *Request) Model(ctx context.Context, c *planner.Bound) (Model, error) {
	t := r.Dataset.Find(c.Table.Schema, c.Table.Name)
	d, err := r.Dataset.DeclaredFor(c)
	if err != nil {
		return Model{}, err
	}

	// Samples of one statement's answers tell nothing of how other statements vary together with it: a policy that
	// declares a distribution by samples answers nothing else.
	switch only := r.Dataset.Only(c); {
	case only != d && only != nil:
		return Model{}, sqlstate.New(sqlstate.ModelUnfit, "the policy of dataset %s declares the distribution of one "+
			"statement about %s in place of how it shifts, and nothing says how this one varies together with it",
			r.Policy.Dataset, c.Table.Root()).
			WithHint("SELECT * FROM fugu.policy, and the policy's owner, say what can be asked.")
	case only != nil:
		return coupledModel(c, d), nil
	case d != nil:
		return r.declared(ctx, c, d)
	}

	if t.Table.Reference == "" {
		return Model{}, sqlstate.New(sqlstate.ModelUnfit, "the policy of dataset %s declares no model of this "+
			"statement, and no reference of %s", r.Policy.Dataset, t.Table).
			WithHint("SELECT * FROM fugu.policy, and the policy's owner, say what can be asked.")
	}
	return r.measured(ctx, c, t)
}

// measured makes a cut's model of what the reference of its table shows.
func (r *Request) measured(ctx context.Context, c *planner.Bound, t *dataset.Protected) (Model, error) {
	moments, err := model.Measure(ctx, r.Reference, c, t.Totals)
	if err != nil {
		return Model{}, err
	}
	if err := r.cover(c, moments); err != nil {
		return Model{}, err
	}

	// What is the same whatever the secret is a constant, and has no noise.
	exact, whole := constantValues(c), r.complete(c, moments)
	moments.Components = slices.DeleteFunc(moments.Components,
		func(k model.Component) bool { _, ok := exact[k]; return ok })
	out := Model{source: fromReference, Exact: exact, Components: moments.Components, limits: moments.Limits(),
		Inherent: inherent(t, moments), expected: moments.Reference()}
	if r.Dataset.Fitted[r.Policy].Has(c.Moments()) {
		out.source = fromArtifact
	}

	// If something about the table is public, all else is modelled given that.
	if t.Public != nil {
		if hasSampled(c) {
			return out, sqlstate.New(sqlstate.ModelUnfit, "statistics of %s are public, and percentiles and "+
				"distinct values have no model given them", t.Table).
				WithHint("Ask for counts, sums and averages over the table alone, without grouping sets.")
		}
		out.complete = whole
		return out, r.conditionOnPublic(ctx, t, c, moments, &out)
	}

	// The rest by how coupled datasets differ, or by quilts where the secret is a parameter of a network.
	out.root, out.moments = t, moments
	out.Families = func(ctx context.Context) ([]sensitivity.Family, error) { return r.jointFamilies(ctx, t, moments) }
	for k := range moments.Components {
		out.typical = append(out.typical, moments.Typical(k))
	}
	if t.Network != nil { // its quilts say what moves F
		if hasSampled(c) {
			return out, sqlstate.New(sqlstate.ModelUnfit, "secrets of %s are parameters of a network, and nothing "+
				"bounds how far its columns move percentiles and distinct values", t.Table).
				WithHint("Ask for counts, sums and averages.")
		}
		out.Families = func(context.Context) ([]sensitivity.Family, error) { return nil, nil }
		out.Lattice = moments.LatticeSteps(0, t.Psi[0])
		return out, nil
	}
	out.addRows(c, whole)
	if out.Shifts, out.Lattice, err = shiftsOf(t, moments, r.Budget); err != nil {
		return out, err
	}
	return out, r.addSampled(ctx, t, c, &out)
}

// cover widens the moments to every law that the reference may have been drawn from, if the policy promises that. It
// refuses what rests on more than the means of classes.
func (r *Request) cover(c *planner.Bound, moments *model.Moments) error {
	delta := r.Policy.Privacy.Estimation.Delta
	if delta == 0 {
		return nil
	}
	if hasSampled(c) {
		return sqlstate.New(sqlstate.ModelUnfit, "percentiles and distinct values rest on more of the reference than "+
			"means of classes, and the policy promises only how far these may be off").
			WithHint("Ask for counts, sums and averages; or the owner of the policy can leave out " +
				"privacy.estimation.delta.")
	}
	moments.Cover(float64(delta))
	return nil
}

// maxJoint bounds the components of cells that overlap whose joint moments are measured.
const maxJoint = 2000

// jointFamilies returns the distributions of F along the secrets of a table, or none if they are not known.
func (r *Request) jointFamilies(ctx context.Context, t *dataset.Protected,
	parts ...*model.Moments) ([]sensitivity.Family, error) {
	families := parts[0].Families

	// Components of several tables, or of cells that overlap, have one distribution together.
	joint := len(parts) > 1 || parts[0].Overlapping()
	if joint {
		width := 0
		for _, m := range parts {
			width += len(m.Components)
		}
		if width > maxJoint {
			return nil, nil
		}
		all, err := model.Join(ctx, r.Reference, parts...)
		if err != nil {
			return nil, err
		}
		families = all.Families
	}

	var out []sensitivity.Family
	for i, psi := range t.Psi {
		for _, f := range families(i, psi) {
			if joint && sensitivity.Effort(f) > mechanism.MaxEffort/5 {
				return nil, nil // cells that nearly all overlap
			}
			out = append(out, f)
		}
	}
	return out, nil
}

// families returns the distributions of F over all cuts along the secrets. There are none if they are not known, or if
// the policy does not accept that they are normal and shift.
func (r *Request) families(ctx context.Context, parts []Model) ([]sensitivity.Family, error) {
	if len(parts) == 0 || !r.Policy.Accepts(policy.Gaussian) || !r.Policy.Accepts(policy.Translation) {
		return nil, nil
	}
	if len(parts) == 1 {
		return parts[0].Families(ctx)
	}
	var moments []*model.Moments
	for _, p := range parts {
		if p.moments == nil || p.root != parts[0].root { // nobody knows how they vary together
			return nil, nil
		}
		moments = append(moments, p.moments)
	}
	return r.jointFamilies(ctx, parts[0].root, moments...)
}
