package joint

import (
	"math"

	"fugu/privacy"
)

// skewedKappa is κ of all releases with a new one, where what the shared rows' sum is besides normal is counted: to the
// second order of Edgeworth's series along w = S⁻¹Delta, the direction by which the two values of a pair are told apart
// (privacy.SkewedKappa). Both tables share these rows, so that their sum has one shape under both values.
func (a *Account) skewedKappa(m *moments, p *pair, c *charge, r Release) float64 {
	kappa := math.Sqrt(c.kappa2)
	if a.epsilon == 0 || kappa == 0 {
		return kappa
	}

	// What each row of the reference adds along w, over all releases.
	w := p.direction(c)
	added := make([]float64, a.rows)
	for i, terms := range a.stack {
		terms.combine(w[a.first[i]:], added)
	}
	r.Terms.combine(w[len(a.noise):], added)
	if m.number != nil { // given the mean, what its regression leaves
		product := 0.0
		for row, v := range added {
			product += v * m.number[row]
		}
		for row := range added {
			added[row] -= product / (float64(a.rows) * m.spread) * m.number[row]
		}
	}

	third, fourth := m.cumulants(p.shared, added)
	return privacy.SkewedKappa(a.epsilon, kappa,
		privacy.Shape{Skewness: third / math.Pow(kappa, 3), Kurtosis: fourth / math.Pow(kappa, 4)})
}

// direction is w = S⁻¹Delta, which is L⁻ᵀ of what L⁻¹ has made of Delta.
func (p *pair) direction(c *charge) []float64 {
	rows := append(p.factor.rows[:len(p.factor.rows):len(p.factor.rows)], c.factor...)
	w := append(p.white[:len(p.white):len(p.white)], c.white...)
	w = append([]float64(nil), w...)
	for i := len(rows) - 1; i >= 0; i-- {
		w[i] /= rows[i][i]
		for k, v := range rows[i][:i] {
			w[k] -= v * w[i]
		}
	}
	for i := range w {
		if i < len(p.scale) {
			w[i] /= p.scale[i]
		} else {
			w[i] /= c.scale[i-len(p.scale)]
		}
	}
	return w
}

// cumulants are the third and the fourth of a sum over so many rows of each class, of which a row has these values.
func (m *moments) cumulants(rows, values []float64) (third, fourth float64) {
	means := make([]float64, len(rows))
	for r, v := range values {
		if c := m.class[r]; c > 0 {
			means[c-1] += v / m.rows[c-1]
		}
	}

	// Within a class rows are drawn independently, so that cumulants of the sum add up over its rows.
	squares, thirds, fourths := make([]float64, len(rows)), make([]float64, len(rows)), make([]float64, len(rows))
	for r, v := range values {
		c := m.class[r] - 1
		if c < 0 {
			continue
		}
		d := v - means[c]
		squares[c] += d * d / m.rows[c]
		thirds[c] += d * d * d / m.rows[c]
		fourths[c] += d * d * d * d / m.rows[c]
	}

	for c, n := range rows {
		third, fourth = third+n*thirds[c], fourth+n*(fourths[c]-3*squares[c]*squares[c])
	}
	return third, fourth
}
