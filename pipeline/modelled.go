package pipeline

import (
	"context"
	"math"
	"math/big"
	"slices"

	"fugu/dataset"
	"fugu/mechanism"
	"fugu/model"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// Where the model of a cut is from, as EXPLAIN (PRIVACY) says it.
const (
	fromReference = "reference"
	fromArtifact  = "prepared"
	fromPolicy    = "declared"
)

// modelled is the model of one cut's F, and what follows from it for noise. Lists have an entry for each component.
type modelled struct {
	source     string
	components []model.Component
	limits     []planner.Limit // of the cut's bases
	shifts     []sensitivity.Shift
	lattice    []float64
	inherent   []float64 // the largest standard deviation over the secrets
	expected   []float64
	typical    []*big.Rat // what stands in where no protected row is in a cell

	exact   map[model.Component]planner.Value // what is public, and so no part of F
	given   bool                              // the model is one given public statistics of the table
	sums    []mechanism.Sum                   // what F's components add up to
	root    *dataset.Protected
	moments *model.Moments // nil: F has another model than these
	// families are f_θ along the values of each secret; asked for where they are needed.
	families func(context.Context) ([]sensitivity.Family, error)

	// normal: the model rests on F being normal together with what is public.
	normal bool
	// widest are the bounds of the last components, those that are bounded on coupled datasets; apart says it for people.
	widest []float64
	apart  []string
}

// model finds a cut's model: the policy's own, or the reference's.
func (q *question) model(ctx context.Context, c *planner.Bound) (modelled, error) {
	t := q.snapshot.Find(c.Table.Schema, c.Table.Name)
	if d, err := q.snapshot.DeclaredFor(c); err != nil {
		return modelled{}, err
	} else if d != nil {
		return q.declared(ctx, c, d)
	}
	if t.Table.Reference == "" {
		return modelled{}, sqlstate.New(sqlstate.ModelUnfit, "the policy of dataset %s declares no model of this statement, and no reference of %s", q.policy.Dataset, t.Table).
			WithHint("SELECT * FROM fugu.policy, and the policy's owner, say what can be asked.")
	}
	moments, err := model.Measure(ctx, q.reference(), c, t.Totals)
	if err != nil {
		return modelled{}, err
	}
	exact := constantValues(c)
	moments.Components = slices.DeleteFunc(moments.Components, func(k model.Component) bool { _, ok := exact[k]; return ok })
	out := modelled{source: fromReference, exact: exact, components: moments.Components, limits: moments.Limits(), inherent: inherent(t, moments), expected: moments.Reference()}
	if q.snapshot.Fitted[q.policy].Has(c.Moments()) {
		out.source = fromArtifact
	}
	if t.Public != nil {
		if sampled(c) {
			return out, sqlstate.New(sqlstate.ModelUnfit, "statistics of %s are public, and percentiles and distinct values have no model given them", t.Table).
				WithHint("Ask for counts, sums and averages over the table alone, without grouping sets.")
		}
		return out, q.given(ctx, t, c, moments, &out)
	}
	out.root, out.moments = t, moments
	out.families = func(ctx context.Context) ([]sensitivity.Family, error) { return q.joint(ctx, t, moments) }
	for k := range moments.Components {
		out.typical = append(out.typical, moments.Typical(k))
	}
	if t.Network != nil { // its quilts say what moves F
		if sampled(c) {
			return out, sqlstate.New(sqlstate.ModelUnfit, "secrets of %s are parameters of a network, and nothing bounds how far its columns move percentiles and distinct values", t.Table).
				WithHint("Ask for counts, sums and averages.")
		}
		out.families = func(context.Context) ([]sensitivity.Family, error) { return nil, nil }
		out.lattice = moments.LatticeSteps(0, t.Psi[0])
		return out, nil
	}
	if out.shifts, out.lattice, err = shiftsOf(t, moments, q.budget); err != nil {
		return out, err
	}
	return out, q.sampled(ctx, t, c, &out)
}

// constantValues are the components whose value follows from the policy and the statement, whatever the tables hold. They
// take no part in F, where a constant would only be one thing more to hide.
func constantValues(c *planner.Bound) map[model.Component]planner.Value {
	out := map[model.Component]planner.Value{}
	for cell := range c.Cells {
		for a := range c.Aggregates {
			if v, ok := c.Constant(cell, a); ok {
				out[model.Component{Cell: cell, Aggregate: a}] = v
			}
		}
	}
	return out
}

// units are what counts as one of each component's error, by the policy's weights.
func (m *modelled) units(w policy.Weights, epsilon privacy.Epsilon) []float64 {
	out, moved := make([]float64, len(m.components)), m.moved()
	for k := range out {
		switch w {
		case policy.AbsoluteWeights, policy.TotalWeights:
			out[k] = 1
		case policy.RelativeWeights:
			out[k] = math.Max(math.Abs(m.expected[k]), m.lattice[k])
		default:
			// So a sum of incomes and an average of ages, a large group and a small one, weigh alike. Noise is never much less
			// than how far the secrets move a value, and is measured by that where it is more than what sampling makes of it: a
			// count of the secret itself, which sampling leaves alone, would otherwise be all that counts.
			out[k] = math.Hypot(math.Hypot(m.inherent[k], m.lattice[k]), moved[k]/float64(epsilon))
		}
	}
	return out
}

// valueBlocks numbers the values of one aggregate in one set of groups alike: what a statement for them alone would ask. Under
// weights that say what a value's error counts, all of F is one.
type valueBlocks struct {
	apart bool
	known map[[3]int]int
}

func (b valueBlocks) number(cut, set, aggregate int) int {
	if !b.apart {
		return 0
	}
	of := [3]int{cut, set, aggregate}
	if _, ok := b.known[of]; !ok {
		b.known[of] = len(b.known)
	}
	return b.known[of]
}

// moved bounds how far a secret moves each component.
func (m *modelled) moved() []float64 {
	out := make([]float64, len(m.components))
	for _, s := range m.shifts {
		for k, beside := range s.Box() {
			out[k] = math.Max(out[k], math.Abs(s.Along[k])+beside)
		}
	}
	return out
}

// maxJoint bounds the components of cells that overlap whose joint moments are measured.
const maxJoint = 2000

// joint are the distributions of F along the secrets of a table; none where they are not known.
func (q *question) joint(ctx context.Context, t *dataset.Protected, parts ...*model.Moments) ([]sensitivity.Family, error) {
	families := parts[0].Families
	joint := len(parts) > 1 || parts[0].Overlapping()
	if joint {
		width := 0
		for _, m := range parts {
			width += len(m.Components)
		}
		if width > maxJoint {
			return nil, nil
		}
		all, err := model.Join(ctx, q.reference(), parts...)
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

// families are the distributions of F, of all cuts, along the secrets; none where they are not known or the policy does
// not accept that they are normal and shift.
func (q *question) families(ctx context.Context, parts []modelled) ([]sensitivity.Family, error) {
	if len(parts) == 0 || !q.policy.Accepts(policy.Gaussian) || !q.policy.Accepts(policy.Translation) {
		return nil, nil
	}
	if len(parts) == 1 {
		return parts[0].families(ctx)
	}
	var moments []*model.Moments
	for _, p := range parts {
		if p.moments == nil || p.root != parts[0].root { // nobody knows how they vary together
			return nil, nil
		}
		moments = append(moments, p.moments)
	}
	return q.joint(ctx, parts[0].root, moments...)
}
