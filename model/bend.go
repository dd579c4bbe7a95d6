package model

import "math"

// jet bounds a function of p on an interval: its absolute value and those of its first two derivatives.
type jet [3]float64

func (f jet) times(g jet) jet {
	return jet{f[0] * g[0], f[1]*g[0] + f[0]*g[1], f[2]*g[0] + 2*f[1]*g[1] + f[0]*g[2]}
}

func (f jet) plus(g jet, w float64) jet {
	w = math.Abs(w)
	return jet{f[0] + w*g[0], f[1] + w*g[1], f[2] + w*g[2]}
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

// Bend implements sensitivity.Bent. What an entry f of the covariance leaves the straight line by is at most length²/8 ·
// sup|f”|; f is a sum of products of
//
//	∂φ/∂S                 the weight of a term in a component's linear form; of a count or sum 1. Terms are moved to an
//	                      origin near their mean in the middle, so that little cancels
//	E hhᵀ, shares, μ      affine in x
//	f_c                   affine in x
//
// whose derivatives are bounded one by one. A symmetric R lies between ±diag(ρ), ρ_k = Σ_l |R_kl| d_l/d_k, for all positive
// d [2|xy| ≤ x²d_l/d_k + y²d_k/d_l]; here 1/d are the standard deviations.
func (p *Path) Bend(a, b float64) []float64 {
	m, n, nt := p.m, p.m.rows(), p.m.terms
	length := b - a
	left, right := p.expected(a), p.expected(b)
	parts := make([][]part, len(m.Components))
	for i, k := range m.Components {
		parts[i] = m.parts(k, left, right, length)
	}
	variances := p.Covariance(a + length/2).Diagonal()
	most := 0.0
	for _, v := range variances {
		most = math.Max(most, v)
	}
	if most == 0 { // constants: rounding errors are all there is
		most = 1
	}
	d := make([]float64, len(variances))
	for k, v := range variances {
		d[k] = 1 / math.Sqrt(math.Max(v, 1e-12*most))
	}
	out := make([]float64, len(m.Components))
	shares := [2][]float64{p.shares(a), p.shares(b)}
	for i, k := range m.Components {
		for j, l := range m.Components {
			if k.Cell != l.Cell {
				continue
			}
			bent := 0.0
			for _, x := range parts[i] {
				for _, y := range parts[j] {
					bent += x.weight.times(y.weight).times(p.mixed(shares, length, func(class int) float64 { return p.c.product(class, nt, x.h, y.h) }))[2]
				}
			}
			out[i] += n * bent * d[j] / d[i]
		}
	}
	for _, low := range p.lows(shares, left, right, length) {
		u := make([]jet, len(parts)) // of each component's linear form of the vector
		var sum jet                  // Σ d·u
		for k := range parts {
			for _, x := range parts[k] {
				var from, to float64
				for _, h := range x.h {
					from, to = from+h.weight*low.from[h.term], to+h.weight*low.to[h.term]
				}
				u[k] = u[k].plus(x.weight.times(straight(from, to, length)), 1)
			}
			sum = sum.plus(u[k], d[k])
		}
		for k := range out {
			out[k] += n * low.weight.times(u[k]).times(sum)[2] / d[k]
		}
	}
	for k := range out {
		out[k] *= length * length / 8 * (1 + 1e-9)
		if math.IsNaN(out[k]) {
			out[k] = math.Inf(1)
		}
	}
	return out
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
