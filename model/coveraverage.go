package model

import (
	"math"
	"strconv"
)

// averageOff bounds how far the slope of an average lies outside of [low, high] under a law within the radius (Cover);
// most is the greatest slope that an average can have. With a constant φ near the average, c a row's number and u = x -
// φc,
//
//	φ(p) = φ + U/C,  U = Σ p_c u_c, C = Σ p_c c_c,  dφ(p) = (dU - (U/C) dC)/C,
//
// where each class mean lies in an interval. The constant is written with three digits, and is part of the text.
func (m *Moments) averageOff(c *classes, k Component, l direction, low, high, most float64) float64 {
	low, high = math.Min(low, high), math.Max(low, high)
	far := most + math.Max(math.Abs(low), math.Abs(high)) // whatever the slope is
	sum, count, _ := m.quotient(k)
	middle := c.mix(scaled(c.Size, 1/sumOf(c.Size)))
	if middle[count] <= 0 || math.IsNaN(low) || math.IsNaN(high) {
		return far
	}

	text := strconv.FormatFloat(middle[sum]/middle[count], 'g', 3, 64)
	phi, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return far
	}
	t := m.odds(c, k) + m.cut.Named(k.Cell)
	counts := m.intervals(c, k, []weighted{{count, 1}}, t)
	rests := m.intervals(c, k, []weighted{{sum, 1}, {count, -phi}}, t+spelled(phi))
	for i := range counts.low {
		counts.low[i] = math.Max(0, counts.low[i])
	}

	off := 0.0
	for _, shares := range l.pieces {
		number := counts.mixed(shares)
		if number.min <= 0 {
			return far
		}
		rate := counts.along(l.along).times(rests.mixed(shares).over(number))
		slope := rests.along(l.along).minus(rate).over(number)
		off = math.Max(off, math.Max(slope.max-high, low-slope.min))
	}
	return math.Min(off, far)
}

// intervals are bounds of a functional's mean in each class.
type intervals struct{ low, high []float64 }

// intervals bounds the class means of a functional of a component's terms, but for a chance of e^-t each.
func (m *Moments) intervals(c *classes, k Component, f []weighted, t float64) (out intervals) {
	extent := 2 * m.farthest(k, m.asAverage(k, f))
	for class, mean := range c.means(f) {
		off := c.bernstein(m, class, f, extent, t)
		out.low, out.high = append(out.low, mean-off), append(out.high, mean+off)
	}
	return out
}

// asAverage gives a functional a weight for each of the terms of an average, in their order.
func (m *Moments) asAverage(k Component, f []weighted) []weighted {
	var out []weighted
	for _, at := range m.at(k) {
		w := weighted{term: at}
		for _, g := range f {
			if g.term == at {
				w.weight = g.weight
			}
		}
		out = append(out, w)
	}
	return out
}

// mixed bounds Σ p_c v_c over vectors of shares.
func (v intervals) mixed(shares mix) extent {
	low, _ := shares(v.low)
	_, high := shares(v.high)
	return extent{low, high}
}

// along bounds Σ a_c v_c for a direction.
func (v intervals) along(along []float64) (out extent) {
	for c, a := range along {
		x := extent{v.low[c], v.high[c]}.times(extent{a, a})
		out.min, out.max = out.min+x.min, out.max+x.max
	}
	return out
}

func (e extent) minus(o extent) extent { return extent{e.min - o.max, e.max - o.min} }

func (e extent) times(o extent) extent {
	a, b, c, d := e.min*o.min, e.min*o.max, e.max*o.min, e.max*o.max
	return extent{math.Min(math.Min(a, b), math.Min(c, d)), math.Max(math.Max(a, b), math.Max(c, d))}
}

// over divides by what is positive.
func (e extent) over(o extent) extent { return e.times(extent{1 / o.max, 1 / o.min}) }
