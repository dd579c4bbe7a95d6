package model

import (
	"math"
	"slices"
)

// jet bounds a function of p on an interval: its absolute value and those of its first two derivatives.
type jet [3]float64

func (f jet) times(g jet) jet {
	return jet{f[0] * g[0], f[1]*g[0] + f[0]*g[1], f[2]*g[0] + 2*f[1]*g[1] + f[0]*g[2]}
}

func (f jet) plus(g jet, w float64) jet {
	w = math.Abs(w)
	return jet{f[0] + w*g[0], f[1] + w*g[1], f[2] + w*g[2]}
}

// without is f less g, a part of its sum; what rounding may have lost of f is left in it.
func (f jet) without(g jet) jet {
	const rounding = 1e-13
	for i := range f {
		f[i] = math.Max(0, f[i]-g[i]) + rounding*f[i]
	}
	return f
}

// straight is the jet of a function that is affine between its values at the two ends of an interval of the given length.
func straight(a, b, length float64) jet {
	return jet{math.Max(math.Abs(a), math.Abs(b)), math.Abs(b-a) / length, 0}
}

// part is one summand of a component's linear form Σ weight(p)·h: h is a combination of the cell's terms.
type part struct {
	weight jet
	h      []weighted
}

// Bend implements sensitivity.Bent. What an entry f of the covariance leaves the straight line by is at most length²/8
// · sup|f”|; f is a sum of products of
//
//	∂φ/∂S                 the weight of a term in a component's linear form; of a count or sum 1. Terms are moved to an
//	                      origin near their mean in the middle, so that little cancels
//	E hhᵀ, shares, μ      affine in x
//	f_c                   affine in x
//
// whose derivatives are bounded one by one.
//
// Within a cell, E hhᵀ stands for the covariance of a class: what a class's rows have alike varies with nothing, which
// must not be left to two large bounds that would have to cancel. For as its standard deviation is 0, it would count
// without end.
//
// An average k has g_k(x)·μ(x) = 0 for its linear form g_k at every x, as it stays what it is if all sums are doubled
// [Euler]. With μ = Σ_c p_c m_c any fixed r and t may come off what it is multiplied with:
//
//	Σ_c p_c (g_k·m_c)(g_l·m_c)     =  Σ_c p_c (g_k·m_c)(g_l·(m_c - r))
//	Σ_c p_c Cov_c(g_k·h, h_l)      =  Σ_c p_c (Cov_c(g_k·h, h_l) - t g_k·m_c)
//
// and (g_k·μ)(g_l·μ) = 0. With r = μ half way what is left of a count or sum l is how its classes differ, and with t =
// Cov(N, h_l)/E N how what it has in common with the average's own rows does: hardly anything where a secret hardly
// moves them.
//
// A symmetric R lies between ±diag(ρ), ρ_k = Σ_l |R_kl| d_l/d_k, for all positive d [2|xy| ≤ x²d_l/d_k + y²d_k/d_l];
// 1/d are the scales that the caller names, or without any the standard deviations.
func (p *Path) Bend(a, b float64) func(scale []float64) []float64 {
	m, n := p.m, p.m.rows()
	length := b - a
	left, right := p.expected(a), p.expected(b)
	parts := make([][]part, len(m.Components))
	for i, k := range m.Components {
		parts[i] = m.parts(k, left, right, length)
	}
	shares := [2][]float64{p.shares(a), p.shares(b)}
	within := p.bendsWithin(parts, shares, length)
	across := p.bendsAcross(parts, p.lows(shares, left, right, length), p.expected(a+length/2), length)
	return func(scale []float64) []float64 {
		d := make([]float64, len(m.Components))
		for k, v := range scale {
			d[k] = 1 / v
		}
		if scale == nil {
			d = precisions(p.Covariance(a + length/2).Diagonal())
		}
		out := make([]float64, len(m.Components))
		for _, e := range within {
			out[e.row] += n * e.bend * d[e.col] / d[e.row]
		}
		for _, l := range across {
			l.add(out, d, n, m.Components)
		}
		for k := range out {
			out[k] *= length * length / 8 * (1 + 1e-9)
			if math.IsNaN(out[k]) {
				out[k] = math.Inf(1)
			}
		}
		return out
	}
}

// precisions are one over the standard deviations.
func precisions(variances []float64) []float64 {
	most := slices.Max(variances)
	if !(most > 0) { // constants: rounding errors are all there is
		most = 1
	}
	out := make([]float64, len(variances))
	for k, v := range variances {
		out[k] = 1 / math.Sqrt(math.Max(v, 1e-12*most))
	}
	return out
}

// bent is a bound on the second derivative of one entry of the covariance.
type bent struct {
	row, col int
	bend     float64
}

// bendsWithin bounds the entries of components of one cell.
func (p *Path) bendsWithin(parts [][]part, shares [2][]float64, length float64) []bent {
	cells := map[int][]int{}
	for i, k := range p.m.Components {
		cells[k.Cell] = append(cells[k.Cell], i)
	}
	var out []bent
	for i, k := range p.m.Components {
		for _, j := range cells[k.Cell] {
			v := p.bentWithin(parts[i], parts[j], 0, shares, length)
			for _, pair := range [][2]int{{i, j}, {j, i}} {
				if average, sum := pair[0], pair[1]; p.average(average) && p.m.total(p.m.Components[sum]) >= 0 {
					t := p.common(average, parts[sum][0].h, shares)
					v = math.Min(v, p.bentWithin(parts[average], parts[sum], t, shares, length))
				}
			}
			if v != 0 {
				out = append(out, bent{i, j, v})
			}
		}
	}
	return out
}

// average reports whether g(x)·Σ p_c m_c = 0 for the linear form g of a component, and the classes' moments count by
// p_c.
func (p *Path) average(component int) bool {
	_, _, ok := p.m.quotient(p.m.Components[component])
	return ok && p.beta == nil && !p.psi.FromReference
}

// common returns t, Cov(N, h)/E N within the classes half way: N are the rows that an average is over, and h is a sum.
func (p *Path) common(average int, h []weighted, shares [2][]float64) float64 {
	_, count, _ := p.m.quotient(p.m.Components[average])
	n := []weighted{{count, 1}}
	var covariance, mean float64
	for c, m := range p.c.mean {
		share := (shares[0][c] + shares[1][c]) / 2
		covariance += share * (p.c.product(c, p.m.terms, n, h) - value(n, m)*value(h, m))
		mean += share * value(n, m)
	}
	if !(mean > 0) {
		return 0
	}
	return covariance / mean
}

// across is what a rank-one term adds between cells: the jets of each component's linear form of its vector; and
// centred, of that vector less r, which is what others are beside an average.
type across struct {
	weight     jet
	u, centred []jet
	average    []bool
}

// bendsAcross bounds the entries of components of different cells. These have no row in common: they vary together through
// the rank-one terms alone.
func (p *Path) bendsAcross(parts [][]part, lows []low, middle []float64, length float64) []across {
	components := p.m.Components
	if !slices.ContainsFunc(components, func(k Component) bool { return k.Cell != components[0].Cell }) {
		return nil
	}
	var out []across
	for _, low := range lows {
		l := across{low.weight, make([]jet, len(parts)), make([]jet, len(parts)), make([]bool, len(parts))}
		for i := range parts {
			l.average[i] = p.average(i)
			for _, x := range parts[i] {
				from, to := value(x.h, low.from), value(x.h, low.to)
				r := value(x.h, middle)
				l.u[i] = l.u[i].plus(x.weight.times(straight(from, to, length)), 1)
				l.centred[i] = l.centred[i].plus(x.weight.times(straight(from-r, to-r, length)), 1)
			}
		}
		out = append(out, l)
	}
	return out
}

// total is Σ d·u over components: of averages, and of the others as they are and centred.
type total struct{ averages, others, centred jet }

func (t *total) take(l across, i int, d float64) {
	if l.average[i] {
		t.averages = t.averages.plus(l.u[i], d)
		return
	}
	t.others, t.centred = t.others.plus(l.u[i], d), t.centred.plus(l.centred[i], d)
}

// add adds the term's share of ρ.
func (l across) add(rho, d []float64, n float64, components []Component) {
	var all total
	own := map[int]*total{}
	for i, k := range components {
		if own[k.Cell] == nil {
			own[k.Cell] = &total{}
		}
		all.take(l, i, d[i])
		own[k.Cell].take(l, i, d[i])
	}
	for i, k := range components {
		in := own[k.Cell]
		averages := all.averages.without(in.averages)
		var bend jet
		if l.average[i] {
			bend = l.u[i].times(averages.plus(all.centred.without(in.centred), 1))
		} else {
			bend = l.centred[i].times(averages).plus(l.u[i].times(all.others.without(in.others)), 1)
		}
		rho[i] += n * l.weight.times(bend)[2] / d[i]
	}
}

// bentWithin bounds the second derivative of what two summands' components of one cell have in common in the covariance
// of one row's terms: the classes' covariances, and what each form of secret has beside them.
//
//	E hhᵀ - μμᵀ = Σ_c p_c C_c + Σ_{c<d} p_c p_d (m_c - m_d)(m_c - m_d)ᵀ           of a distribution of shares
//
// Where t is not 0, the left ones are an average's, of whose means t comes off.
func (p *Path) bentWithin(left, right []part, t float64, shares [2][]float64, length float64) float64 {
	c, nt := p.c, p.m.terms
	bent := 0.0
	for _, x := range left {
		for _, y := range right {
			common := p.mixed(shares, length, func(class int) float64 {
				return c.product(class, nt, x.h, y.h) - value(x.h, c.mean[class])*(value(y.h, c.mean[class])+t)
			})
			switch {
			case p.beta != nil && !p.psi.Distribution:
				common = common.plus(p.factor(0, shares, length), c.Variance*value(x.h, p.beta)*value(y.h, p.beta))
			case p.beta == nil && p.psi.Distribution:
				for i, from := range c.mean {
					for j, to := range c.mean[:i] {
						both := straight(shares[0][i], shares[1][i], length).times(straight(shares[0][j], shares[1][j], length))
						common = common.plus(both, (value(x.h, from)-value(x.h, to))*(value(y.h, from)-value(y.h, to)))
					}
				}
			}
			bent += x.weight.times(y.weight).times(common)[2]
		}
	}
	return bent
}

// value is a linear form of a vector in the cell × term layout.
func value(form []weighted, of []float64) float64 {
	total := 0.0
	for _, w := range form {
		total += w.weight * of[w.term]
	}
	return total
}

// low is a rank-one term of the covariance of one row's terms, whose vector moves along a line.
type low struct {
	weight   jet
	from, to []float64
}

// lows are the rank-one terms between two values, as Covariance has them.
func (p *Path) lows(shares [2][]float64, from, to []float64, length float64) []low {
	one := jet{1, 0, 0}
	var out []low
	switch {
	case p.beta != nil:
		w := p.factor(0, shares, length)
		out = append(out, low{w, p.c.mean[0], p.c.mean[0]})
		if !p.psi.Distribution {
			out = append(out, low{w.times(jet{p.c.Variance, 0, 0}), p.beta, p.beta})
		}
	case p.psi.Distribution:
		out = append(out, low{one, from, to})
	default:
		for c, mean := range p.c.mean {
			out = append(out, low{straight(shares[0][c], shares[1][c], length).times(p.factor(c, shares, length)), mean, mean})
		}
	}
	return out
}

// factor is f_c, for rows that are drawn from the reference.
func (p *Path) factor(class int, shares [2][]float64, length float64) jet {
	if !p.psi.FromReference {
		return jet{1, 0, 0}
	}
	f := func(share float64) float64 { return math.Max(0, 1-p.m.rows()*share/p.c.Size[class]) }
	return straight(f(shares[0][class]), f(shares[1][class]), length)
}

// mixed is Σ p_c f_c of a quantity of the classes.
func (p *Path) mixed(shares [2][]float64, length float64, of func(class int) float64) jet {
	if !p.psi.FromReference { // affine: what cancels between classes cancels here
		var from, to float64
		for c := range p.c.Size {
			v := of(c)
			from, to = from+shares[0][c]*v, to+shares[1][c]*v
		}
		return straight(from, to, length)
	}
	var sum jet
	for c := range p.c.Size {
		sum = sum.plus(straight(shares[0][c], shares[1][c], length).times(p.factor(c, shares, length)), of(c))
	}
	return sum
}

// parts returns the linear form of a component between two values, where a row's terms have the expectations from and to.
func (m *Moments) parts(k Component, from, to []float64, length float64) []part {
	at := m.at(k)
	weights, moved, ok := m.aggregate(k).Weights(m.sums(k, from), m.sums(k, to))
	var out []part
	for i, w := range weights {
		x := part{weight: jet{w[0], w[1] / length, w[2] / length / length}}
		if !ok {
			x.weight = jet{math.Inf(1), math.Inf(1), math.Inf(1)}
		}
		for j, t := range at {
			if v := moved[i][j]; v != 0 {
				x.h = append(x.h, weighted{t, v})
			}
		}
		out = append(out, x)
	}
	return out
}
