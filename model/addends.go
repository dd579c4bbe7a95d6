package model

import "math"

// Addends says of component k what it is made of: fixed sums T_i over the rows, for each part of each path of each
// secret's values in which a pair can lie. With a_i = ∂φ/∂S_i of the sums S_i that Bend has, ā_i that in the middle of
// the part,
//
//	F_k = T_0 + Σ_i (a_i - ā_i) S_i, T_0 = Σ_i ā_i S_i                                 [the delta method]
//
// and an entry is the greatest |∂F_k/∂T|·sd(T) in the part, first T_0's, in F's units; +Inf where it is not known. Of a
// count or sum T_0 is all there is.
//
// What F_k varies by changes with the secret for two reasons: rows do, and so does a. The T know the first alone.
// Whoever is told T_i + Z_i, Var Z_i = v_i, Σ (∂F_k/∂T_i)² v_i ≤ v at every value, is told no less, to the first order
// of the delta method, than who is told F_k with noise of variance v.
//
// A range of vectors, which has no paths, has no entry.
func (m *Moments) Addends(k int, psi []Psi) (out [][]float64) {
	for secret, s := range psi {
		for _, p := range m.Paths(secret, s) {
			from, to, within := p.span.From, p.span.To, p.span.Within
			if m.total(m.Components[k]) >= 0 { // a does not move
				within = to - from
			}
			for a := from; a == from || a+within < to; a += within { // a pair lies in two neighbours
				out = append(out, p.addends(m.Components[k], a, math.Min(a+2*within, to)))
			}
		}
	}
	return out
}

// addends are Addends between two values.
func (p *Path) addends(k Component, from, to float64) []float64 {
	greatest := func(by float64, form []weighted) float64 {
		// The variance is a straight line between the ends, or not used.
		variance := math.Max(p.variation(form, from), p.variation(form, to))
		sd := by * math.Sqrt(variance)
		switch {
		case by == 0:
			return 0
		case math.IsNaN(sd):
			return math.Inf(1)
		}

		return sd
	}
	mu := p.expected((from + to) / 2)
	middle, _ := p.m.gradient(k, mu, make([]float64, len(mu)))
	out := []float64{greatest(1, middle)}
	for _, x := range p.m.parts(k, p.expected(from), p.expected(to), to-from) {
		out = append(out, greatest(x.weight[1]*(to-from)/2, x.h))
	}
	return out
}

// variation is the variance of the sum over all rows of a linear form of their terms at x.
func (p *Path) variation(form []weighted, x float64) float64 {
	v := 0.0
	for class, w := range p.weights(x) {
		mean := value(form, p.c.mean[class])
		v += w * (p.c.product(class, p.m.terms, form, form) - mean*mean)
	}
	if p.beta == nil && p.psi.Distribution { // rows have their classes by chance
		mean, second := 0.0, 0.0
		for class, share := range p.shares(x) {
			m := value(form, p.c.mean[class])
			mean, second = mean+share*m, second+share*m*m
		}
		v += p.m.rows() * (second - mean*mean)
	}
	return math.Max(0, v)
}
