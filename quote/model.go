package quote

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"fugu/dataset"
	"fugu/mechanism"
	"fugu/model"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/sensitivity"
)

// Where the model of a cut is from, as EXPLAIN (PRIVACY) says it.
const (
	fromReference = "reference"
	fromArtifact  = "prepared"
	fromPolicy    = "declared"
)

// Model is the model of one cut's F, and what follows from it for noise. Lists have an entry for each component.
type Model struct {
	source     string
	Components []model.Component
	limits     []planner.Limit // of the cut's bases
	Shifts     []sensitivity.Shift
	Lattice    []float64
	Inherent   []float64 // the largest standard deviation over the secrets
	expected   []float64
	typical    []*big.Rat // what stands in where no protected row is in a cell

	Exact map[model.Component]planner.Value // what is public, and so no part of F
	given bool                              // the model is one given public statistics of the table
	sums  []mechanism.Sum                   // what F's components add up to

	complete map[countedRows]bool // which counts are of all rows, together
	root     *dataset.Protected
	moments  *model.Moments // nil: F has another model than these
	// Families are f_θ along the values of each secret; asked for where they are needed.
	Families func(context.Context) ([]sensitivity.Family, error)

	// samples is how close the distributions are that a policy declares by samples or concentration; nil: others.
	samples []sensitivity.Close

	// normal: the model rests on F being normal together with what is public.
	normal bool
	// widest are the bounds of the last components, those that are bounded on coupled datasets; coupling says it
	// for people.
	widest   []float64
	coupling []string
}

// Combine says what rows are like that have the same classes of all secrets of the model's table; it may ask for
// another scan of the reference. It is nil of a model that is not made of class moments alone, and says nothing of
// percentiles and distinct values, which stand behind all other components.
func (m *Model) Combine(ctx context.Context, reference planner.Querier) (*model.Combined, error) {
	if m.moments == nil || m.given {
		return nil, nil
	}
	return m.moments.Combine(ctx, reference)
}

// part is one cut: its model, and the units of its components.
type part struct {
	cut   *planner.Bound
	model Model
	units []float64
}

// describe says within which bounds each row's contribution to a cut is taken.
func (m *Model) describe(c *planner.Bound) []string {
	var out []string
	for i, t := range c.Bases {
		if t.Indicator {
			continue
		}

		// Where a bound is from says how far it can be trusted.
		source := "seen in the reference"
		switch {
		case t.Low != "":
			source = "declared by the policy"
		case c.Table.Reference == "" || m.samples != nil:
			source = "whole numbers of 63 bits are"
		}

		what := t.Label
		if c.Joined() {
			what += " of one row of " + c.Table.String()
		}
		low, _ := m.limits[i].Low.Float64()
		high, _ := m.limits[i].High.Float64()
		out = append(out, fmt.Sprintf("%s in [%s, %s], as %s", what, Short(low), Short(high), source))
	}
	return out
}

// units are what counts as one of each component's error, by the policy's weights.
func (m *Model) units(w policy.Weights, epsilon privacy.Epsilon) []float64 {
	out, moved := make([]float64, len(m.Components)), m.moved()
	for k := range out {
		switch w {
		case policy.AbsoluteWeights, policy.TotalWeights:
			out[k] = 1
		case policy.RelativeWeights:
			out[k] = math.Max(math.Abs(m.expected[k]), m.Lattice[k])
		default:
			// So a sum of incomes and an average of ages, a large group and a small one, weigh alike. Noise is never
			// much less than how far the secrets move a value, and is measured by that where it is more than what
			// sampling makes of it: a count of the secret itself, which sampling leaves alone, would otherwise be all
			// that counts.
			out[k] = math.Hypot(math.Hypot(m.Inherent[k], m.Lattice[k]), moved[k]/float64(epsilon))
		}
	}
	return out
}

// moved bounds how far a secret moves each component.
func (m *Model) moved() []float64 {
	out := make([]float64, len(m.Components))
	for _, s := range m.Shifts {
		for k, beside := range s.Box() {
			out[k] = math.Max(out[k], math.Abs(s.Along[k])+beside)
		}
	}
	return out
}

// Short writes a number for people.
func Short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
