package quote

import (
	"math"

	"fugu/mechanism"
	"fugu/model"
	"fugu/planner"
	"fugu/planner/aggregate"
	"fugu/privacy"
	"fugu/sqlstate"
)

// displaced is how far rows that the policy lets its model be off by may move the components of one cut or more.
type displaced struct {
	moves    []float64 // u_k·W_g of each component k, g its group
	total    float64   // Σ_g W_g
	groups   int
	averages int // how many averages are bounded but for a failure
}

func (d *displaced) add(o displaced) {
	d.moves = append(d.moves, o.moves...)
	d.total, d.groups, d.averages = d.total+o.total, d.groups+o.groups, d.averages+o.averages
}

// group is what has a W of its own. sparse separates the averages over so few rows that nothing but their range bounds
// them from the others of their set: what these need is a thousand times as much.
type group struct {
	aggregate, set int
	sparse         bool
}

// reach bounds how far F moves when so many rows of the cut's table are replaced by others, whatever both hold: in each
// group g of components, which have noise of their own, by W_g in Σ_k |x_k|/u_k. It follows from the limits within
// which a row's contributions are taken, and for averages from the rows that they are over at least:
//
//	count, sum   a row moves a component by at most s = max(high, 0) - min(low, 0)
//	avg          with a of its N rows removed and b added it moves by at most range·max(a,b)/(N-a+max(a,b)), and so by
//	             range/N for each, where N is above the number of rows replaced; by its range otherwise
//
// Where rows stand for themselves, one is in at most one cell of a set: it leaves one and enters one, which is twice
// the most that it moves any of them, however many there are. Nothing bounds the other functions (PV004).
//
// For avg let M rows be common to both tables, of mean A. Then M + b(m_b - A)/(M+b) of the one less the same of the
// other is at most c((high - A) + (A - low)) with c = max(a,b)/(M+max(a,b)), as b/(M+b) grows with b; and M + a = N.
func (f *Model) reach(c *planner.Bound, units []float64, rows int64, unlikely float64) (displaced, error) {
	type sums struct {
		all   float64 // Σ of how far so many rows move each component, were they all its own; in the end W
		most  float64 // how far one row moves any at most
		whole float64 // Σ of the ranges of averages
	}

	out := displaced{moves: make([]float64, len(f.Components))}
	groups, of := map[group]sums{}, make([]group, len(f.Components))
	var order []group
	n := float64(min(rows, c.Table.Root().Rows))

	// First each component by itself, then each group: what several cells of it can move is bounded together, too.
	for k, comp := range f.Components {
		agg := c.Aggregates[comp.Aggregate]
		in := group{aggregate: comp.Aggregate, set: c.Cells[comp.Cell].Set}
		var all, most, whole float64
		switch {
		case agg.Sampled != nil: // no function of sums
			return out, unbounded(agg.Label)
		case agg.Linear():
			low, high := f.contribution(c, agg.Terms[0])
			all, most, whole = n*(high-low)/units[k], math.Max(high, -low)/units[k], math.Inf(1)
		case len(agg.Sums) == 2 && agg.Sums[0] == aggregate.N && agg.Sums[1].Degree() == 1:
			whole = f.span(c, agg.Terms[1], k) / units[k]
			all, most = whole, whole
			if least := f.fewest(comp, unlikely); least > n {
				out.averages++
				all, most = math.Min(whole, n*whole/least), whole/least
			} else {
				in.sparse = true
			}
		default:
			return out, unbounded(agg.Label)
		}
		g, seen := groups[in]
		if !seen {
			order = append(order, in)
		}
		groups[in], of[k] = sums{g.all + all, math.Max(g.most, most), g.whole + whole}, in
	}
	out.groups = len(groups)

	// Groups add up in one order: in another the last digits would be others, and the noise with them.
	for _, in := range order {
		g := groups[in]
		g.all = math.Min(g.all, g.whole)
		if c.Disjoint() {
			g.all = math.Min(g.all, 2*n*g.most)
		}
		groups[in], out.total = g, out.total+g.all
	}

	for k, in := range of {
		out.moves[k] = units[k] * math.Max(groups[in].all, unmoved)
	}
	return out, nil
}

// unmoved is the least W of a group, so that its noise has a scale.
const unmoved = 1e-9

// fewest bounds from below how many rows an average is over; 0 where the model does not say.
func (f *Model) fewest(k model.Component, unlikely float64) float64 {
	if f.moments == nil || f.root == nil {
		return 0
	}
	return f.moments.Fewest(k, f.root.Psi, unlikely)
}

func unbounded(aggregate string) error {
	return sqlstate.New(sqlstate.ModelUnfit, "nothing bounds how far a few rows move %s", aggregate).
		WithHint("Ask for counts, sums and averages, and compute the rest from them.")
}

// contribution is what one row may add to the sum of a term, 0 among it: the row may be in another cell, or hold NULL.
func (f *Model) contribution(c *planner.Bound, term int) (low, high float64) {
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
func (f *Model) span(c *planner.Bound, term, component int) float64 {
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

// failing is what the bound on one average takes of a statement's δ, as a share of it.
const failing = 1.0 / (1 << 30)

// unlikely is the u of Moments.Fewest at which a failure costs that share: (1 + e^E) e^-u, E the ε of all answers
// together.
func (r *Request) unlikely() float64 {
	limit := float64(r.Policy.Privacy.Budget.Epsilon)
	return limit + math.Log1p(math.Exp(-limit)) - math.Log(failing*float64(r.Budget.Delta))
}

// relaxed is how far the policy lets the model be from the truth, for a statement that moves so far when the rows are
// replaced that it may be off by. Each group of components has as much of λ as any other: so none has noise for what
// only another one moves by.
func (r *Request) relaxed(of displaced) *mechanism.Relaxed {
	within := r.Policy.Privacy.Within
	if within == nil {
		return nil
	}
	budget := r.Policy.Privacy.Budget
	out := &mechanism.Relaxed{Limit: privacy.Budget{Epsilon: budget.Epsilon, Delta: budget.Delta}}
	if within.Rows > 0 {
		out.Nearby = &privacy.Nearby{W: 1, Lambda: within.Lambda,
			Failure: float64(of.averages) * failing * float64(r.Budget.Delta)}
		for _, v := range of.moves {
			out.Reach = append(out.Reach, v*float64(of.groups))
		}
	} else {
		a := within.Approximated()
		out.Approximated = &a
	}
	return out
}
