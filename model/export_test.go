package model

import "fugu/sensitivity"

// EdgeBounds are the bounds of each component's derivative as rows move from class i to class j, without what the
// reference cannot resolve.
func (m *Moments) EdgeBounds(secret int, s *Simplex, i, j int) (low, high []float64) {
	c := &m.secrets[secret]
	along := make([]float64, len(c.Size))
	along[i], along[j] = -1, 1
	for _, k := range m.Components {
		a, b := c.edge(m, k, s, c.mix(along))
		low, high = append(low, a), append(high, b)
	}
	return low, high
}

// GivenSlopes bounds the derivative of each component's mean given the public statistics, without any errors.
func (g *Given) GivenSlopes(secret int, psi Psi) (low, high []float64, err error) {
	k, err := g.public.along(secret, psi, 0)
	if err != nil {
		return nil, nil, err
	}
	low, high = g.slopes(secret, k)
	return low, high, nil
}

// Resolution bounds how much one reference row more in each class would change each component's slope at x.
func (p *Path) Resolution(x float64) []float64 {
	out := make([]float64, len(p.m.Components))
	for _, class := range p.unseen(x) {
		for k, u := range class {
			out[k] += u.own + u.rest
		}
	}
	return out
}

// Unseen bounds what reference rows more would change the slopes at x by.
func (p *Path) Unseen(x float64) sensitivity.Shift {
	s := sensitivity.Shift{Along: make([]float64, len(p.m.Components))}
	s.Beside, s.Unseen = p.m.disjoint(p.c, p.unseen(x), p.signs())
	return s
}

// Class are the moments of the terms in a class of a secret.
func (m *Moments) Class(secret, class int) (mean, second []float64) {
	return m.secrets[secret].mean[class], m.secrets[secret].second[class]
}

// Cross are the moments of the terms with the number whose mean is secret.
func (m *Moments) Cross(secret int) []float64 { return m.secrets[secret].cross }

// Pooled are the sums of the terms over the whole reference.
func (m *Moments) Pooled() []float64 { return m.pooled }

// Base says how large the values of a base are.
func (m *Moments) Base(i int) (abs, nonzero, least, greatest float64) {
	b := m.bases[i]
	return b.abs, b.nonzero, b.min, b.max
}

// Redrawn gives the moments of another reference: rows by their classes and cells, -1 for none, and the value of the
// one column that the bases are made of.
func (m *Moments) Redrawn(secret int, class, cell []int, x []float64) *Moments {
	out, nt := *m, m.terms
	out.secrets = append([]classes(nil), m.secrets...)
	c := &out.secrets[secret]
	c.Size, c.mean, c.second = make([]float64, len(c.Size)), nil, nil
	for range c.Size {
		c.mean = append(c.mean, make([]float64, len(m.cut.Cells)*nt))
		c.second = append(c.second, make([]float64, len(m.cut.Cells)*nt*nt))
	}
	h := make([]float64, nt)
	for i := range class {
		for t := range h {
			h[t] = 1
			for _, base := range m.cut.Terms[t].Factors {
				if !m.cut.Bases[base].Indicator {
					h[t] *= x[i]
				}
			}
		}
		c.Size[class[i]]++
		if cell[i] < 0 {
			continue
		}
		for t, v := range h {
			c.mean[class[i]][cell[i]*nt+t] += v
			for u, w := range h {
				c.second[class[i]][(cell[i]*nt+t)*nt+u] += v * w
			}
		}
	}
	for j, size := range c.Size {
		scale(c.mean[j], 1/size)
		scale(c.second[j], 1/size)
	}
	return &out
}
