package model

import (
	"math"
	"slices"
)

// averageOff bounds how far the slope of an average lies outside of [low, high] under a law within the radius (Cover);
// most is the greatest slope that an average can have. With c_c the share of class c that is in the cell and a_c the
// mean of x there, φ = Σ p_c c_c a_c/C, C = Σ p_c c_c, is a mixture of the a_c, and along shares that move by v_c
//
//	dφ = Σ_{c<d} (v_c p_d - v_d p_c) (a_c - a_d)/(A_c A_d),   A_c = Σ_e p_e c_e/c_c,
//
// where each c_c and a_c lies in an interval. Given how many rows of the class are in the cell, these are a sample of
// their own, of which a_c is the mean.
func (m *Moments) averageOff(c *classes, k Component, l direction, low, high, most float64) float64 {
	low, high = math.Min(low, high), math.Max(low, high)
	far := most + math.Max(math.Abs(low), math.Abs(high)) // whatever the slope is
	_, count, _ := m.quotient(k)
	if math.IsNaN(low) || math.IsNaN(high) || !m.cut.Single(count-k.Cell*m.terms) {
		return far // of rows that count more often the quotient is no mean
	}

	shares, means := m.inCell(c, k)
	off := 0.0
	for _, p := range l.pieces {
		slope, ok := mixtureSlope(shares, means, l.along, p)
		if !ok {
			return far
		}
		off = math.Max(off, math.Max(slope.max-high, low-slope.min))
	}
	return math.Min(off, far)
}

// inCell bounds, of each class, the share of its rows that is in an average's cell, and the mean there.
func (m *Moments) inCell(c *classes, k Component) (shares, means []extent) {
	sum, count, _ := m.quotient(k)
	t, picked := m.named(c, k)
	one, x := []weighted{{count, 1}}, []weighted{{sum, 1}}
	least, most := m.box(m.averaged(k))
	for class, n := range c.Size {
		share := c.mean[class][count]
		off := drawing{n, share, c.variance(class, m.terms, one), 0, 1}.off(t, picked)
		shares = append(shares, extent{math.Max(0, share-off), math.Min(1, share+off)})

		// Without rows in the cell the mean is anywhere between the bounds.
		mean := extent{least, most}
		if share > 0 {
			a := c.mean[class][sum] / share
			square := c.product(class, m.terms, x, x) / share
			off := drawing{n * share, a, square - a*a, least, most}.off(t, picked)
			mean = extent{math.Max(least, a-off), math.Min(most, a+off)}
		}
		means = append(means, mean)
	}
	return shares, means
}

// averaged is the base whose mean an average is.
func (m *Moments) averaged(k Component) int {
	of := m.cut.Terms[m.aggregate(k).Terms[1]].Factors
	return of[slices.IndexFunc(of, func(i int) bool { return !m.cut.Bases[i].Indicator })]
}

// mixtureSlope bounds dφ over the shares of a piece; not ok where a weight may be infinite.
func mixtureSlope(cells, means []extent, along []float64, shares mix) (slope extent, ok bool) {
	k := len(cells)
	// The range of each weight over the piece, one at a time.
	p := make([]extent, k)
	for c := range p {
		unit := make([]float64, k)
		unit[c] = 1
		p[c].min, p[c].max = shares(unit)
	}

	// By pairs of cells: a share that moves turns weight from one to the other.
	for c := range k {
		for d := c + 1; d < k; d++ {
			turn := p[d].times(extent{along[c], along[c]}).minus(p[c].times(extent{along[d], along[d]}))
			if turn == (extent{}) {
				continue
			}

			weights := relative(p, cells, c).times(relative(p, cells, d))
			if !(weights.min > 0) {
				return slope, false
			}
			apart := means[c].minus(means[d])
			step := turn.times(apart).times(extent{1 / weights.max, 1 / weights.min})
			slope.min, slope.max = slope.min+step.min, slope.max+step.max
		}
	}

	return slope, !math.IsNaN(slope.min) && !math.IsNaN(slope.max)
}

// relative bounds A_c = p_c + Σ_e≠c p_e c_e/c_c, all of whose parts are at least 0; above, it may be infinite.
func relative(p, cells []extent, c int) extent {
	out := p[c]
	for e := range cells {
		if e == c || p[e].max == 0 {
			continue
		}
		out.min += p[e].min * cells[e].min / cells[c].max
		if cells[c].min > 0 {
			out.max += p[e].max * cells[e].max / cells[c].min
		} else {
			out.max = math.Inf(1)
		}
	}
	return out
}

func (e extent) minus(o extent) extent { return extent{e.min - o.max, e.max - o.min} }

func (e extent) times(o extent) extent {
	a, b, c, d := e.min*o.min, e.min*o.max, e.max*o.min, e.max*o.max
	return extent{math.Min(math.Min(a, b), math.Min(c, d)), math.Max(math.Max(a, b), math.Max(c, d))}
}
