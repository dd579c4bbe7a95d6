package model

import "math"

// influence is how the slope of a component along a direction depends on the mean of h over each class: through a
// functional of one row's terms, and how large that is at most.
type influence struct {
	functional []weighted // of the terms of one row
	most       float64
}

// mixture is a place on a path: the shares of the classes and their direction, and what a row's terms are expected to
// be and how that moves.
type mixture struct{ p, along, mu, d []float64 }

func (c *classes) mixture(p, along []float64) mixture {
	return mixture{p, along, c.mix(p), c.mix(along)}
}

// influences returns the influence of each class on the slope of component k, where the classes have the shares p and
// the direction is along. With S' = n Σ along_c m_c the slope is φ'(S)·S', and m_c moves it by
//
//	n (along_c φ'(S) + p_c φ''(S) S').
func (c *classes) influences(m *Moments, k Component, at mixture) []influence {
	gradient, change := m.gradient(k, at.mu, at.d)
	out := make([]influence, len(at.p))
	for j := range out {
		for i, g := range gradient {
			w := m.rows() * (at.along[j]*g.weight + at.p[j]*change[i].weight)
			out[j].functional = append(out[j].functional, weighted{g.term, w})
		}
		out[j].most = m.farthest(k, out[j].functional)
	}
	return out
}

// deviation estimates the standard error of the slope of a component: class means of N_c independent rows have the
// covariance C_c/N_c.
func (c *classes) deviation(m *Moments, k Component, at mixture) float64 {
	total := 0.0
	for j, f := range c.influences(m, k, at) {
		total += math.Max(0, c.variance(j, m.terms, f.functional)) / c.Size[j]
	}
	return math.Sqrt(total)
}

// regression is what is missed of a slope by a regression on g.
type regression struct {
	unseen
	deviation float64
}

// regressed says what the reference's N rows miss of a component's slope in the mean of g. Through its gradient the
// slope is that of one linear functional f of a row's terms. One row more changes it by at most |g - ḡ| |f - f̄ - β(g -
// ḡ)| / (N Var g), where f is 0 if the row is in another cell; its standard error is √(Var(f - βg) / (N Var g)), the
// usual one where residuals do not depend on g. That the gradient is taken at estimates too adds to the standard error.
func (p *Path) regressed(k Component, x float64) regression {
	m, c := p.m, p.c
	reach := math.Max(c.Max-c.Mean, c.Mean-c.Min)
	gradient, change := m.gradient(k, p.expected(x), p.moving())
	f, moved := make([]weighted, len(gradient)), make([]weighted, len(gradient))
	for j, g := range gradient {
		f[j], moved[j] = weighted{g.term, m.rows() * g.weight}, weighted{g.term, m.rows() * change[j].weight}
	}
	beta, mean := 0.0, 0.0
	for _, w := range f {
		beta += w.weight * p.beta[w.term]
		mean += w.weight * c.mean[0][w.term]
	}

	// What the regression leaves is the residual's variance.
	left := math.Max(0, c.variance(0, m.terms, f)-beta*beta*c.Variance)
	sxx := c.Size[0] * c.Variance
	return regression{
		unseen: unseen{own: reach * m.farthest(k, f) / sxx, rest: reach * (math.Abs(mean) +
			math.Abs(beta)*reach) / sxx},
		deviation: math.Sqrt(left/sxx) + math.Sqrt(math.Max(0, c.variance(0, m.terms, moved))/c.Size[0]),
	}
}

// Deviation estimates the standard error of each component's slope at x.
func (p *Path) Deviation(x float64) []float64 {
	out := make([]float64, len(p.m.Components))
	at := p.c.mixture(p.shares(x), p.along)
	for i, k := range p.m.Components {
		if p.beta != nil {
			out[i] = p.regressed(k, x).deviation
		} else {
			out[i] = p.c.deviation(p.m, k, at)
		}
	}
	return out
}
