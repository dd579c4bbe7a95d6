package model

import (
	"math"

	"fugu/sensitivity"
)

// Path is f_θ along a line of values x of one secret: the shares of its classes are base + x·along, and of a secret
// mean the expectations of a row's terms move by beta for each unit. It implements sensitivity.Family. With class means
// m_c and second moments M_c of the terms h, shares p_c, n rows of which class c has N_c in the reference:
//
//	E Σh    n μ, μ = Σ p_c m_c                                   [the law of total expectation]
//	Cov Σh  n Σ p_c f_c (M_c - m_c m_cᵀ)                         the table's own shares: n p_c rows of each class
//	        n (Σ p_c M_c - μ μᵀ)                                 shares of a distribution: rows are independent
//	        f_c = 1, or 1 - n p_c/N_c if rows are drawn from the reference without replacement
//
// Of the mean a of a number g, where rows are jointly normal [Zhang, Ohrimenko & Cummings, section 4.1]:
//
//	E Σh    n (m + β (a - E g)), β = Cov(h, g)/Var(g)
//	Cov Σh  n f (M - m mᵀ - Var(g) β βᵀ)                         given the table's own mean
//	        n (M - m mᵀ)                                         the mean of a distribution
type Path struct {
	m           *Moments
	c           *classes
	psi         Psi
	span        sensitivity.Span
	base, along []float64
	beta        []float64 // nil: not a mean
}

// Secret returns the secret's name.
func (p *Path) Secret() string { return p.psi.Name }

// Span returns the pairs of the line.
func (p *Path) Span() sensitivity.Span { return p.span }

func (p *Path) shares(x float64) []float64 {
	out := make([]float64, len(p.base))
	for c := range out {
		out[c] = p.base[c] + x*p.along[c]
	}
	return out
}

// expected returns μ at x, in the cell × term layout.
func (p *Path) expected(x float64) []float64 {
	mu := p.c.mix(p.shares(x))
	for i, b := range p.beta {
		mu[i] += b * (x - p.c.Mean)
	}
	return mu
}

// moving returns dμ/dx.
func (p *Path) moving() []float64 {
	if p.beta != nil {
		return p.beta
	}
	return p.c.mix(p.along)
}

// Mean returns E F at x.
func (p *Path) Mean(x float64) []float64 {
	mu := p.expected(x)
	out := make([]float64, len(p.m.Components))
	for i, k := range p.m.Components {
		out[i] = p.m.value(k, mu)
	}
	return out
}

// Slope returns d E F / dx at x: the gradient of φ along d E S / dx.
func (p *Path) Slope(x float64) []float64 {
	mu, d := p.expected(x), p.moving()
	out := make([]float64, len(p.m.Components))
	for i, k := range p.m.Components {
		gradient, _ := p.m.gradient(k, mu, d)
		for _, g := range gradient {
			out[i] += p.m.rows() * g.weight * d[g.term]
		}
	}
	return out
}

// Slopes bounds d E F / dx for every x of the span: lo ≤ slope ≤ hi for each component; NaN where φ is not defined for
// every x as far as can be told.
func (p *Path) Slopes() (lo, hi []float64) {
	m := p.m
	from, to := p.expected(p.span.From), p.expected(p.span.To)
	lo, hi = make([]float64, len(m.Components)), make([]float64, len(m.Components))
	for i, k := range m.Components {
		a, b, err := m.aggregate(k).Slope(m.sums(k, from), m.sums(k, to))
		if lo[i], hi[i] = a/(p.span.To-p.span.From), b/(p.span.To-p.span.From); err != nil {
			lo[i], hi[i] = math.NaN(), math.NaN()
		}
	}
	return lo, hi
}

// Affine reports whether the covariance is affine in x: not where functions other than sums, whose gradients move, are
// among the components, nor where it is quadratic in the shares.
func (p *Path) Affine() bool {
	for _, k := range p.m.Components {
		if p.m.total(k) < 0 {
			return false
		}
	}
	return p.beta != nil || !p.psi.Distribution && !p.psi.FromReference
}

// Covariance returns Cov F at x, carried to other functions than sums by the delta method.
func (p *Path) Covariance(x float64) sensitivity.Covariance { return whole(p.covariance(x)) }

// whole writes the rank-one terms into the block where there is but one: what is constant then shows as such, and does
// not have to cancel later.
func whole(c sensitivity.Covariance) sensitivity.Covariance {
	if len(c.Blocks) != 1 {
		return c
	}
	return c.Whole()
}

// covariance is Covariance as one block for each cell and the rank-one terms of the classes.
func (p *Path) covariance(x float64) sensitivity.Covariance {
	weight, gradients := p.weights(x), p.gradients(x)
	out := sensitivity.Covariance{Blocks: p.blocks(weight, gradients)}
	switch {
	case p.beta != nil:
		out.Low = append(out.Low, lowRank(-weight[0], p.c.mean[0], gradients))
		if !p.psi.Distribution {
			out.Low = append(out.Low, lowRank(-weight[0]*p.c.Variance, p.beta, gradients))
		}
	case p.psi.Distribution:
		out.Low = append(out.Low, lowRank(-p.m.rows(), p.expected(x), gradients))
	default:
		for c, w := range weight {
			out.Low = append(out.Low, lowRank(-w, p.c.mean[c], gradients))
		}
	}
	return out
}

// lowRank is a vector of the terms' layout, carried to the components by their gradients, with a weight.
func lowRank(weight float64, v []float64, gradients [][]weighted) sensitivity.RankOne {
	r := sensitivity.RankOne{Weight: weight, Vector: make([]float64, len(gradients))}
	for i, g := range gradients {
		for _, w := range g {
			r.Vector[i] += w.weight * v[w.term]
		}
	}
	return r
}

// blocks are the second moments of the components of each cell, where those of a row's terms count by a weight for
// each class.
func (p *Path) blocks(weight []float64, gradients [][]weighted) (out []sensitivity.Block) {
	m, nt := p.m, p.m.terms
	for from := 0; from < len(m.Components); {
		to := from
		for to < len(m.Components) && m.Components[to].Cell == m.Components[from].Cell {
			to++
		}

		// Components of one cell share its rows; all others vary together through the classes' means alone.
		b := sensitivity.Block{Size: to - from, Entries: make([]float64, (to-from)*(to-from))}
		for i := range b.Size {
			for j := i; j < b.Size; j++ {
				for c, w := range weight {
					b.Entries[i*b.Size+j] += w * p.c.product(c, nt, gradients[from+i], gradients[from+j])
				}
				b.Entries[j*b.Size+i] = b.Entries[i*b.Size+j] // to the last bit, of which differences may be made
			}
		}

		out = append(out, b)
		from = to
	}
	return out
}

// weights returns what the second moments of each class count in the covariance at x.
func (p *Path) weights(x float64) []float64 {
	n := p.m.rows()
	out := p.shares(x)
	for c, share := range out {
		out[c] = n * share
		if p.psi.FromReference {
			out[c] *= math.Max(0, 1-n*share/p.c.Size[c])
		}
	}
	return out
}

// gradients returns the derivatives of the components by the sums of terms at x.
func (p *Path) gradients(x float64) [][]weighted {
	mu := p.expected(x)
	still := make([]float64, len(mu))
	out := make([][]weighted, len(p.m.Components))
	for i, k := range p.m.Components {
		out[i], _ = p.m.gradient(k, mu, still)
	}
	return out
}

// Paths are the lines of values that the secret's pairs lie on: one for each of Spans, one for each pair of Vectors,
// none for a Simplex.
func (m *Moments) Paths(secret int, psi Psi) []*Path {
	c := &m.secrets[secret]
	p := Path{m: m, c: c, psi: psi}
	switch {
	case psi.Simplex != nil:
		return nil
	case psi.Vectors != nil:
		var out []*Path
		for _, v := range psi.Vectors {
			q := p
			q.span, q.base, q.along = sensitivity.Span{From: 0, To: 1, Within: 1}, v[0], make([]float64, len(v[0]))
			for i := range q.along {
				q.along[i] = v[1][i] - v[0][i]
			}
			out = append(out, &q)
		}

		return out
	case c.cross != nil:
		p.base, p.along = []float64{1}, []float64{0}
		p.beta = make([]float64, len(c.cross))
		for i := range p.beta {
			p.beta[i] = (c.cross[i] - c.mean[0][i]*c.Mean) / c.Variance
		}
	default:
		p.base, p.along = []float64{1, 0}, []float64{-1, 1}
	}

	// A span is one line, whatever is on it.
	var out []*Path
	for _, span := range psi.Spans {
		q := p
		q.span = span
		out = append(out, &q)
	}
	return out
}
