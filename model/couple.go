package model

import "math"

// couple is two components that have rows in common, the i-th of p and the j-th of q, with their linear forms. product
// is E (g·h)(g'·h) in a class, of forms of the one's terms and of the other's.
type couple struct {
	p, q        *Path
	i, j        int
	left, right []part
	product     func(class int, g, h []weighted) float64
}

// bend bounds the second derivative of what the two components have in common: the covariance of one row's terms. For
// an average and a count or sum there are two bounds, with t and without, and the lesser is taken.
func (c couple) bend(shares [2][]float64, length float64) float64 {
	v := c.less(0, shares, length)
	product := func(class int, g, h []weighted) float64 { return c.product(class, h, g) }
	turned := couple{c.q, c.p, c.j, c.i, c.right, c.left, product}
	for _, c := range []couple{c, turned} {
		if c.p.average(c.i) && c.q.m.total(c.q.m.Components[c.j]) >= 0 {
			v = math.Min(v, c.less(c.common(shares), shares, length))
		}
	}
	return v
}

// less gives such a bound, with t taken off the means of the first component if that is an average. It adds up the
// covariances within the classes, and what the form of the secret brings in beside them.
//
//	E hhᵀ - μμᵀ = Σ_c p_c C_c + Σ_{c<d} p_c p_d (m_c - m_d)(m_c - m_d)ᵀ           of a distribution of shares
func (c couple) less(t float64, shares [2][]float64, length float64) float64 {
	p, q := c.p.c, c.q.c
	psi, bent := c.p.psi, 0.0
	for _, x := range c.left {
		for _, y := range c.right {
			common := c.p.mixed(shares, length, func(class int) float64 {
				return c.product(class, x.h, y.h) - value(x.h, p.mean[class])*(value(y.h, q.mean[class])+t)
			})

			// The covariance of a mixture of classes is more than the mixture of their covariances. What that adds
			// depends on what the secret is.
			switch {
			case c.p.beta != nil && !psi.Distribution:
				variance := p.Variance * value(x.h, c.p.beta) * value(y.h, c.q.beta)
				common = common.plus(c.p.factor(0, shares, length), variance)
			case c.p.beta == nil && psi.Distribution:
				for i := range shares[0] {
					of := straight(shares[0][i], shares[1][i], length)
					for j := range i {
						both := of.times(straight(shares[0][j], shares[1][j], length))
						apart := value(x.h, p.mean[i]) - value(x.h, p.mean[j])
						common = common.plus(both, apart*(value(y.h, q.mean[i])-value(y.h, q.mean[j])))
					}
				}
			}

			bent += x.weight.times(y.weight).times(common)[2]
		}
	}
	return bent
}

// common returns t, Cov(N, h)/E N within the classes half way: N are the rows that the first one, an average, is over,
// and h is the second one, a sum.
func (c couple) common(shares [2][]float64) float64 {
	_, count, _ := c.p.m.quotient(c.p.m.Components[c.i])
	n, h := []weighted{{count, 1}}, c.right[0].h
	var covariance, mean float64
	for class := range shares[0] {
		share := (shares[0][class] + shares[1][class]) / 2
		of := value(n, c.p.c.mean[class])
		covariance += share * (c.product(class, n, h) - of*value(h, c.q.c.mean[class]))
		mean += share * of
	}
	if !(mean > 0) {
		return 0
	}
	return covariance / mean
}

// average reports whether g(x)·Σ p_c m_c = 0 for the linear form g of a component, and the classes' moments count by
// p_c.
func (p *Path) average(component int) bool {
	_, _, ok := p.m.quotient(p.m.Components[component])
	return ok && p.beta == nil && !p.psi.FromReference
}
