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

// straight is the jet of a function that is affine between its values at the two ends of an interval of the given
// length.
func straight(a, b, length float64) jet {
	return jet{math.Max(math.Abs(a), math.Abs(b)), math.Abs(b-a) / length, 0}
}

// part is one summand of a component's linear form Σ weight(p)·h: h is a combination of the cell's terms.
type part struct {
	weight jet
	h      []weighted
}

// Bend implements sensitivity.Bent. What an entry f of the covariance leaves the straight line by is at most length²/8
// · sup|f″|; f is a sum of products of
//
//	∂φ/∂S                 the weight of a term in a component's linear form; of a count or sum 1. Terms are moved to
//	                      an origin near their mean in the middle, so that little cancels
//	E hhᵀ, shares, μ      affine in x
//	f_c                   affine in x
//
// whose derivatives are bounded one by one. A symmetric R lies between ±diag(ρ), ρ_k = Σ_l |R_kl| d_l/d_k, for all
// positive d [2|xy| ≤ x²d_l/d_k + y²d_k/d_l]; 1/d are the scales that the caller names, or without any the standard
// deviations.
//
// Of components that have rows in common E hhᵀ stands for the covariance of a class: what a class's rows have alike
// varies with nothing, which must not be left to two large bounds that would have to cancel. For as its standard
// deviation is 0, it would count without end. All others vary together through the rank-one terms alone.
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
func (p *Path) Bend(a, b float64) func(scale []float64) []float64 {
	left, right := p.expected(a), p.expected(b)
	shares := [2][]float64{p.shares(a), p.shares(b)}
	parts := p.forms(left, right, b-a)
	out := bending{n: p.m.rows(), length: b - a, together: p.bendsWithin(parts, shares, b-a)}
	out.across = p.bendsAcross(parts, p.lows(shares, left, right, b-a), p.expected((a+b)/2), b-a)
	return out.bound(func() []float64 { return p.Covariance((a + b) / 2).Diagonal() })
}

// Bend implements sensitivity.Bent. It is Path's, with the entries between cells that overlap beside those within a
// cell.
func (f *jointPath) Bend(a, b float64) func(scale []float64) []float64 {
	out := bending{n: f.paths[0].m.rows(), length: b - a}
	shares := [2][]float64{f.paths[0].shares(a), f.paths[0].shares(b)}
	var parts [][]part // of the components of all
	var offsets []int
	for _, p := range f.paths {
		left, right := p.expected(a), p.expected(b)
		own := p.forms(left, right, b-a)
		offsets = append(offsets, len(parts))
		for _, e := range p.bendsWithin(own, shares, b-a) {
			out.together = append(out.together, bent{len(parts) + e.row, len(parts) + e.col, e.bend})
		}
		for l, of := range p.bendsAcross(own, p.lows(shares, left, right, b-a), p.expected((a+b)/2), b-a) {
			if len(parts) == 0 {
				out.across = append(out.across, across{weight: of.weight})
			}
			all := &out.across[l]
			all.average = append(all.average, of.average...)
			all.u, all.centred = append(all.u, of.u...), append(all.centred, of.centred...)
		}

		parts = append(parts, own...)
	}

	// Components whose cells overlap have covariances that bend as well, across what was measured together.
	for _, c := range f.joint.cross {
		p, q := f.paths[c.a], f.paths[c.b]
		for _, pair := range c.meet {
			i, j := pair[0], pair[1]
			product := func(class int, g, h []weighted) float64 {
				at := overlap{p.m.Components[i].Cell, q.m.Components[j].Cell, class}
				return c.product(f.secret, at, g, h, p.m.terms, q.m.terms)
			}
			k, l := offsets[c.a]+i, offsets[c.b]+j
			v := couple{p, q, i, j, parts[k], parts[l], product}.bend(shares, b-a)
			out.together = append(out.together, bent{k, l, v}, bent{l, k, v})
		}
	}
	return out.bound(func() []float64 { return f.Covariance((a + b) / 2).Diagonal() })
}

// bending bounds the second derivatives of all entries of a covariance, per row of the table.
type bending struct {
	n, length float64
	together  []bent   // of each component with itself and with all that have rows in common with it, in both orders
	across    []across // all others
}

// bound returns ρ by scales; variances are the components', asked for where no scales are named. Where a scale is
// infinite the component has no part in the form: it bends nothing else, and its own ρ is of no matter.
func (x bending) bound(variances func() []float64) func(scale []float64) []float64 {
	return func(scale []float64) []float64 {
		d := make([]float64, len(scale))
		for k, v := range scale {
			d[k] = 1 / v
		}
		if scale == nil {
			d = precisions(variances())
		}

		// ρ_k = Σ_l |R_kl| d_l/d_k, see Bend.
		out := make([]float64, len(d))
		for _, e := range x.together {
			if d[e.row] == 0 || d[e.col] == 0 {
				continue
			}
			out[e.row] += x.n * e.bend * d[e.col] / d[e.row]
		}

		for _, l := range x.across {
			l.add(out, d, x.n, x.together)
		}
		for k := range out {
			out[k] *= x.length * x.length / 8 * (1 + 1e-9)
			if d[k] == 0 || math.IsNaN(out[k]) {
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

// forms are the linear forms of all components between two values, where a row's terms have the expectations from and
// to.
func (p *Path) forms(from, to []float64, length float64) [][]part {
	out := make([][]part, len(p.m.Components))
	for i, k := range p.m.Components {
		out[i] = p.m.parts(k, from, to, length)
	}
	return out
}

// bendsWithin bounds the entries of components of one cell.
func (p *Path) bendsWithin(parts [][]part, shares [2][]float64, length float64) []bent {
	cells := map[int][]int{}
	for i, k := range p.m.Components {
		cells[k.Cell] = append(cells[k.Cell], i)
	}
	product := func(class int, g, h []weighted) float64 { return p.c.product(class, p.m.terms, g, h) }
	var out []bent
	for i, k := range p.m.Components {
		for _, j := range cells[k.Cell] {
			out = append(out, bent{i, j, couple{p, p, i, j, parts[i], parts[j], product}.bend(shares, length)})
		}
	}
	return out
}

// across is what a rank-one term adds between components without rows in common: the jets of each component's linear
// form of its vector; and centred, of that vector less r, which is what others are beside an average.
type across struct {
	weight     jet
	average    []bool
	u, centred []jet
}

// bendsAcross bounds what the rank-one terms add.
func (p *Path) bendsAcross(parts [][]part, lows []low, middle []float64, length float64) []across {
	var out []across
	for _, low := range lows {
		l := across{low.weight, make([]bool, len(parts)), make([]jet, len(parts)), make([]jet, len(parts))}
		for i := range parts {
			l.average[i] = p.average(i)
			for _, x := range parts[i] {
				from, to, r := value(x.h, low.from), value(x.h, low.to), value(x.h, middle)
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

// add adds the term's share of ρ, but for what components have in common with those that are together.
func (l across) add(rho, d []float64, n float64, together []bent) {
	var all total
	own, number := make([]total, len(rho)), make([]int, len(rho))
	for i := range l.u {
		if d[i] != 0 {
			all.take(l, i, d[i])
		}
	}

	// What two components bend together is counted where they are together, and not here.
	for _, e := range together {
		if number[e.row]++; d[e.row] != 0 && d[e.col] != 0 {
			own[e.row].take(l, e.col, d[e.col])
		}
	}

	for i, u := range l.u {
		if d[i] == 0 || number[i] == len(rho) { // nothing is left, and rounding errors are no bend
			continue
		}
		averages := all.averages.without(own[i].averages)
		var rest jet
		if l.average[i] {
			rest = u.times(averages.plus(all.centred.without(own[i].centred), 1))
		} else {
			rest = l.centred[i].times(averages).plus(u.times(all.others.without(own[i].others)), 1)
		}

		rho[i] += n * l.weight.times(rest)[2] / d[i]
	}
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
			share := straight(shares[0][c], shares[1][c], length)
			out = append(out, low{share.times(p.factor(c, shares, length)), mean, mean})
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

// parts returns the linear form of a component between two values, where a row's terms have the expectations from and
// to.
func (m *Moments) parts(k Component, from, to []float64, length float64) []part {
	at := m.at(k)
	weights, moved, undefined := m.aggregate(k).Weights(m.sums(k, from), m.sums(k, to))
	var out []part
	for i, w := range weights {
		x := part{weight: jet{w[0], w[1] / length, w[2] / length / length}}
		if undefined != nil { // nothing bounds it, and so it has to be covered by what is infinite
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
