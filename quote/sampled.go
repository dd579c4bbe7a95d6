package quote

import (
	"context"
	"fmt"
	"math"
	"slices"

	"fugu/dataset"
	"fugu/model"
	"fugu/planner"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// hasSampled reports whether a cut has aggregates that are no functions of sums.
func hasSampled(c *planner.Bound) bool {
	return slices.ContainsFunc(c.Aggregates, func(a planner.Aggregate) bool { return a.Sampled != nil })
}

// addSampled adds those aggregates of a cut that are no functions of sums to the model of the others. How far they move
// is a bound on coupled datasets, whatever the policy assumes of the rest.
func (r *Request) addSampled(ctx context.Context, t *dataset.Protected, c *planner.Bound, out *Model) error {
	if !hasSampled(c) {
		return nil
	}
	s, err := model.MeasureSampled(ctx, r.Reference, c, t.Totals, out.limits)
	if err != nil || len(s.Components) == 0 {
		return err
	}

	// Every secret moves them by a bound of its own, and all bounds may fail with this probability.
	failure := chance * float64(r.Budget.Delta)
	widest := make([]float64, len(s.Components))
	for i, psi := range t.Psi {
		for a, agg := range c.Aggregates {
			if agg.Sampled == nil {
				continue
			}
			if err := out.moments.Trusted(i, a); err != nil {
				return err
			}
		}

		// Without a bound there is no model, and the statement is refused.
		beside, err := s.Apart(ctx, i, psi, failure)
		if ctx.Err() != nil {
			return sqlstate.Canceled(ctx.Err())
		} else if sqlstate.Is(err, sqlstate.ModelUnfit) {
			return err
		} else if err != nil {
			return unsupported(t, psi.Name, err)
		}

		for k, shift := range out.Shifts {
			if shift.Secret == psi.Name {
				out.Shifts[k] = shift.With(beside, failure)
			}
		}
		for k, w := range beside {
			widest[k] = math.Max(widest[k], w)
		}
	}

	// They stand behind the components that are functions of sums.
	out.Components = append(slices.Clone(out.Components), s.Components...)
	out.expected, out.Inherent, out.Lattice = append(out.expected, s.Expected...), append(out.Inherent, s.Inherent...),
		append(out.Lattice, s.Lattice...)
	out.widest = widest
	out.typical = append(out.typical, s.Typical...)

	// Nobody knows how they vary together, and so nothing is certified of them.
	out.Families = func(context.Context) ([]sensitivity.Family, error) { return nil, nil }
	out.coupling = append(out.coupling, couplingLines(c, s, widest, failure)...)
	return nil
}

// couplingLines say of each aggregate how far coupled datasets are apart in it: at most widest of its components, but
// for the probability failure.
func couplingLines(c *planner.Bound, s *model.Sampled, widest []float64, failure float64) (lines []string) {
	for a, agg := range c.Aggregates {
		most := -1.0
		for k, comp := range s.Components {
			if comp.Aggregate == a {
				most = math.Max(most, widest[k])
			}
		}
		if most >= 0 {
			line := fmt.Sprintf("%s differs by at most %s between coupled datasets, but for a probability of %s, "+
				"half of it that the reference misleads", agg.Label, Short(most), Short(failure))
			if !agg.Sampled.Percentile() && agg.Sampled.Domain == nil {
				line += "; group_by in the policy could name its values, and so narrow it"
			}
			lines = append(lines, line)
		}
	}
	return lines
}
