package pipeline

import (
	"math"

	"fugu/mechanism"
	"fugu/planner"
	"fugu/privacy"
	"fugu/smooth"
	"fugu/sqlstate"
)

// reach bounds how far F moves, in Σ_k |x_k|/u_k, when so many rows of the cut's table are replaced by others, whatever
// both hold. It follows from the limits within which a row's contributions are taken:
//
//	count, sum   a row moves a component by at most s = max(high, 0) - min(low, 0); where cells are disjoint, a row
//	             is in at most one cell of a set, and moves the set by at most 2 max_k m_k/u_k, m = max(|low|, |high|)
//	avg          the whole range of its values; so many rows are in at most twice as many cells of a set
//
// Nothing bounds the others (PV004).
func (f *modelled) reach(c *planner.Bound, units []float64, rows int64) (float64, error) {
	type group struct{ aggregate, set int }
	type sums struct {
		all, most float64 // Σ s/u or Σ range/u; the greatest m/u or range/u
		cells     float64
		average   bool
	}
	groups := map[group]sums{}
	for k, comp := range f.components {
		agg := c.Aggregates[comp.Aggregate]
		g := groups[group{comp.Aggregate, c.Cells[comp.Cell].Set}]
		switch {
		case agg.Sampled != nil: // no function of sums
			return 0, unbounded(agg.Label)
		case agg.Linear():
			low, high := f.contribution(c, agg.Terms[0])
			g.all += (high - low) / units[k]
			g.most = math.Max(g.most, math.Max(high, -low)/units[k])
		case len(agg.Sums) == 2 && agg.Sums[0] == smooth.N && agg.Sums[1].Degree() == 1:
			span := f.span(c, agg.Terms[1], k) / units[k]
			g.all, g.most, g.average = g.all+span, math.Max(g.most, span), true
		default:
			return 0, unbounded(agg.Label)
		}
		g.cells++
		groups[group{comp.Aggregate, c.Cells[comp.Cell].Set}] = g
	}
	total, n := 0.0, float64(min(rows, c.Table.Root().Rows))
	for _, g := range groups {
		switch {
		case g.average && !c.Apart():
			total += g.all
		case g.average:
			total += math.Min(g.all, 2*n*g.most)
		case !c.Apart():
			total += n * g.all
		default:
			total += n * math.Min(g.all, 2*g.most)
		}
	}
	return total, nil
}

func unbounded(aggregate string) error {
	return sqlstate.New(sqlstate.ModelUnfit, "nothing bounds how far a few rows move %s", aggregate).
		WithHint("Ask for counts, sums and averages, and compute the rest from them.")
}

// contribution is what one row may add to the sum of a term, 0 among it: the row may be in another cell, or hold NULL.
func (f *modelled) contribution(c *planner.Bound, term int) (low, high float64) {
	low, high = 1, 1
	for _, i := range c.Terms[term].Factors {
		from, to := 0.0, 1.0
		if !c.Bases[i].Indicator {
			from, _ = f.limits[i].Low.Float64()
			to, _ = f.limits[i].High.Float64()
		}
		corners := []float64{low * from, low * to, high * from, high * to}
		low, high = corners[0], corners[0]
		for _, x := range corners {
			low, high = math.Min(low, x), math.Max(high, x)
		}
	}
	return math.Min(low, 0), math.Max(high, 0)
}

// span is the length of the range of an average's values, what stands in for one over no rows among them.
func (f *modelled) span(c *planner.Bound, term, component int) float64 {
	low, _ := f.typical[component].Float64()
	high := low
	for _, i := range c.Terms[term].Factors {
		if c.Bases[i].Indicator {
			continue
		}
		from, _ := f.limits[i].Low.Float64()
		to, _ := f.limits[i].High.Float64()
		if c.Joined() { // of the root's rows, some have none of the rows that are averaged
			from, to = math.Min(from, 0), math.Max(to, 0)
		}
		low, high = math.Min(low, from), math.Max(high, to)
	}
	return high - low
}

// relaxed is how far the policy lets the model be from the truth, for a statement that moves by w when the rows are
// replaced that it may be off by.
func (q *question) relaxed(w float64) *mechanism.Relaxed {
	within := q.policy.Privacy.Within
	if within == nil {
		return nil
	}
	budget := q.policy.Privacy.Budget
	out := &mechanism.Relaxed{Limit: privacy.Budget{Epsilon: budget.Epsilon, Delta: budget.Delta}}
	if within.Rows > 0 {
		out.Nearby = &privacy.Nearby{W: w, Lambda: within.Lambda}
	} else {
		a := within.Approximated()
		out.Approximated = &a
	}
	return out
}
