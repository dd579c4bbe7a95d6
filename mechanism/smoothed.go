package mechanism

import "math"

// The normal noise that a Laplace value is taken to have besides: the larger of these shares of its own scale's square
// and of what the component varies by.
const (
	smoothedOfScale  = 0x1p-20
	smoothedOfSpread = 0x1p-26
	smoothedMost     = 0x1p-14 // of its own scale's square: beyond, it has none
)

// Smoothed returns the variance of the normal noise of each component of its own, in F's units, for an account of what
// all releases tell by their covariances; spread is what each component varies by. Components with Laplace noise b have
// none. But noise of variance ηb² more would change nothing that counts: with U ~ N(0,η) the density of the sum is that
// of Laplace noise times
//
//	E e^(|x|-|x-U|)/b,  between exp(-√(2η/π)) and exp(√(2η/π) + η/2)
//
// everywhere, by |U| and Jensen's inequality on the one side, and E e^|U| ≤ e^(η/2)(1+√(2η/π)) on the other. So what is
// released is, under both values of every pair, within a factor of e^±Close of one with this noise, and of one with
// continuous noise (laplaceDeviation). Where η would have to be more than smoothedMost, for arithmetic's sake, the
// variance is 0. Noise along directions and for a relaxed model stands for nothing: it may be told to everybody.
func (n Noise) Smoothed(spread []float64) (variance []float64, close float64) {
	for k, c := range n.cells {
		if c.sigma > 0 {
			sd := math.Ldexp(float64(c.sigma), c.exponent)
			variance = append(variance, sd*sd)
			continue
		}
		scale := math.Ldexp(float64(c.laplace), c.exponent)
		v := math.Max(smoothedOfScale*scale*scale, smoothedOfSpread*spread[k]*spread[k])
		eta := v / (scale * scale)
		if eta > smoothedMost {
			variance = append(variance, 0)
			continue
		}
		variance = append(variance, v)
		close += math.Sqrt(2*eta/math.Pi) + eta/2 + laplaceDeviation(float64(c.laplace)).Pure
	}
	return variance, close
}
