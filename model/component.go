package model

import (
	"math/big"
)

// sums returns E S of the sums that a component is a function of, where a row's terms have the expectations mu.
func (m *Moments) sums(k Component, mu []float64) []float64 {
	var out []float64
	for _, i := range m.at(k) {
		out = append(out, m.rows()*mu[i])
	}
	return out
}

// value returns the component's expectation: φ(E S), which is exact for counts and sums, and the delta method's for the
// rest; NaN where it is undefined.
func (m *Moments) value(k Component, mu []float64) float64 {
	return m.aggregate(k).Value(m.sums(k, mu))
}

// gradient returns the derivatives of a component by its sums, and how they change as the expectations of a row's terms
// move by d.
func (m *Moments) gradient(k Component, mu, d []float64) (gradient, change []weighted) {
	g, c := m.aggregate(k).Gradient(m.sums(k, mu), m.sums(k, d))
	for j, t := range m.at(k) {
		gradient, change = append(gradient, weighted{t, g[j]}), append(change, weighted{t, c[j]})
	}
	return gradient, change
}

// Typical returns what stands in for component k where the protected rows give it no value: 0 for counts and sums, and
// for the rest the reference's, which is public.
func (m *Moments) Typical(k int) *big.Rat {
	c := m.Components[k]
	if m.aggregate(c).Extensive {
		return new(big.Rat)
	}
	return new(big.Rat).SetFloat64(m.aggregate(c).Value(m.all(c)))
}
