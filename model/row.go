package model

import (
	"math"
	"slices"

	"fugu/planner/aggregate"
)

// box is what one row's value of a base is taken to lie in: what the reference shows or the policy says, and at least a
// lattice step wide.
func (m *Moments) box(base int) (lo, hi float64) {
	s := m.bases[base]
	return s.min, math.Max(s.max, s.min+m.step(base))
}

// largest bounds |h| of a term over one row.
func (m *Moments) largest(term int) float64 {
	return m.largestOf(term, func(base int) extent { return m.bases[base].extent })
}

// largestIn does so in the group of a component.
func (m *Moments) largestIn(k Component, term int) float64 {
	set := m.limitSet(k)
	return m.largestOf(term, func(base int) extent { return m.within(base, set) })
}

func (m *Moments) largestOf(term int, of func(base int) extent) float64 {
	out := 1.0
	for _, i := range m.cut.Terms[term].Factors {
		if !m.cut.Bases[i].Indicator {
			e := of(i)
			out *= math.Max(math.Abs(e.min), math.Abs(e.max))
		}
	}
	return out
}

// extreme bounds |Σ w_j h_j| over one row, h the terms of the component: the values of a polynomial of second degree on
// the box of its arguments. Where many joined rows make one of the root's, each sum is on its own.
func (m *Moments) extreme(k Component, w []float64) float64 {
	a := m.aggregate(k)
	if m.cut.Joined() || a.Linear() {
		total := 0.0
		for j, t := range a.Terms {
			total += math.Abs(w[j]) * m.largestIn(k, t)
		}
		return total
	}

	// The sums of one row are powers and products of its one or two arguments.
	var q quadratic
	for j, sum := range a.Sums {
		q.w[sum] = w[j]
		for _, i := range m.cut.Terms[a.Terms[j]].Factors {
			if m.cut.Bases[i].Indicator {
				continue
			}
			switch sum {
			case aggregate.X:
				q.x[0], q.x[1] = m.box(i)
			case aggregate.Y:
				q.y[0], q.y[1] = m.box(i)
			}
		}
	}
	return q.largest()
}

// quadratic is the polynomial w_N + w_X x + w_Y y + w_XX x² + w_XY xy + w_YY y² on a box.
type quadratic struct {
	w    [6]float64 // by aggregate.Sum
	x, y [2]float64
}

func (q quadratic) at(x, y float64) float64 {
	w := q.w
	return w[aggregate.N] + w[aggregate.X]*x + w[aggregate.Y]*y + w[aggregate.XX]*x*x + w[aggregate.XY]*x*y +
		w[aggregate.YY]*y*y
}

// largest returns the largest |q| on the box: it is at a corner, where the derivative along an edge is 0, or where both
// are.
func (q quadratic) largest() float64 {
	out, w := 0.0, q.w
	try := func(x, y float64) {
		if !math.IsNaN(x) && !math.IsNaN(y) {
			x, y = math.Min(math.Max(x, q.x[0]), q.x[1]), math.Min(math.Max(y, q.y[0]), q.y[1])
			out = math.Max(out, math.Abs(q.at(x, y)))
		}
	}

	// The corners, the extremes along each edge, and the one inside.
	for _, x := range q.x {
		for _, y := range q.y {
			try(x, y)
			try(-(w[aggregate.X]+w[aggregate.XY]*y)/(2*w[aggregate.XX]), y)
			try(x, -(w[aggregate.Y]+w[aggregate.XY]*x)/(2*w[aggregate.YY]))
		}
	}

	det := 4*w[aggregate.XX]*w[aggregate.YY] - w[aggregate.XY]*w[aggregate.XY]
	x := (w[aggregate.XY]*w[aggregate.Y] - 2*w[aggregate.YY]*w[aggregate.X]) / det
	y := (w[aggregate.XY]*w[aggregate.X] - 2*w[aggregate.XX]*w[aggregate.Y]) / det
	try(x, y)
	return out
}

// extent bounds by how much h of a component that is a sum differs between two rows, of which one may be in another
// cell, where h is 0.
func (m *Moments) extent(k Component) float64 {
	low, high := m.reach(k)
	return high - low
}

// reach is what h of a component that is a sum lies between, 0 among it.
func (m *Moments) reach(k Component) (low, high float64) {
	t := m.aggregate(k).Terms[0]
	switch of := m.cut.Terms[t].Factors; {
	case len(of) == 1 && !m.cut.Bases[of[0]].Indicator:
		e := m.within(of[0], m.limitSet(k))
		low, high = e.min, e.max
	default:
		high = m.largestIn(k, t)
		if len(of) > 1 {
			low = -high
		}
	}
	return math.Min(0, low), math.Max(0, high)
}

// farthest bounds |Σ w h| over one row.
func (m *Moments) farthest(k Component, f []weighted) float64 {
	w := make([]float64, len(f))
	for j := range f {
		w[j] = f[j].weight
	}
	return m.extreme(k, w)
}

// widest is the most by which two averages can differ, whatever the rows.
func (m *Moments) widest(k Component) float64 {
	of := m.cut.Terms[m.aggregate(k).Terms[1]].Factors
	base := of[slices.IndexFunc(of, func(i int) bool { return !m.cut.Bases[i].Indicator })]
	if m.cut.Joined() {
		e := m.bases[base].extent
		e.widen(extent{})
		return e.max - e.min
	}
	low, high := m.box(base)
	return high - low
}

// spread bounds |x - φ y| for a row that adds x to the sum and y to the number of an average of size at most |φ|, which
// itself lies between such rows' values.
func (m *Moments) spread(k Component, phi float64) float64 {
	t := m.aggregate(k).Terms
	if m.cut.Joined() {
		return m.largest(t[1]) + m.largest(t[0])*math.Abs(phi)
	}
	return m.widest(k)
}

// step bounds the step of the lattice on which the values of a base lie: the mean of |x| over the reference rows with
// x ≠ 0. If every value is a multiple of a step, no nonzero one is smaller than it, and so neither is their mean.
func (m *Moments) step(base int) float64 {
	if m.cut.Bases[base].Indicator {
		return 1
	}
	return m.bases[base].abs / m.bases[base].nonzero
}
