package model

import "math"

// Reference returns what F would be expected to be if the table's rows were like the reference's.
func (m *Moments) Reference() []float64 {
	mu := make([]float64, len(m.pooled))
	for i, v := range m.pooled {
		mu[i] = v / m.size
	}
	out := make([]float64, len(m.Components))
	for i, k := range m.Components {
		out[i] = m.value(k, mu)
	}
	return out
}

// Variances returns the greatest variance of each component under the model at the ends of the secret's paths, and for
// a Simplex at the reference's own shares: what sampling alone makes of it.
func (m *Moments) Variances(secret int, psi Psi) []float64 {
	out := make([]float64, len(m.Components))
	for _, p := range m.variations(secret, psi) {
		for _, x := range []float64{p.span.From, p.span.To} {
			c := p.Covariance(x)
			k := 0
			for _, b := range c.Blocks {
				for i := range b.Size {
					v := b.Entries[i*b.Size+i]
					for _, low := range c.Low {
						v += low.Weight * low.Vector[k] * low.Vector[k]
					}
					out[k] = math.Max(out[k], v)
					k++
				}
			}
		}
	}
	return out
}

func (m *Moments) variations(secret int, psi Psi) []*Path {
	if psi.Simplex == nil {
		return m.Paths(secret, psi)
	}
	c := &m.secrets[secret]
	return []*Path{{m: m, c: c, psi: psi, base: scaled(c.Size, 1/sumOf(c.Size)), along: make([]float64, len(c.Size))}}
}
