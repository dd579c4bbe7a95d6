package mechanism

import (
	"math"
	"slices"

	"fugu/privacy"
)

const (
	// apart is the least ratio of two Laplace scales in one component for which the partial fractions of twoSided are
	// well conditioned (their weights stay below 1e5 for any number of scales).
	apart = 1.1
	// narrowest is the least Laplace scale, as a share of the Gaussian σ beside it, that laplaceGaussian can evaluate.
	narrowest = 1e-3
)

// HalfWidth returns half the width of the interval around the released value of component k, in F's units, that holds
// the noiseless F_k with at least the given probability, all rounding included. It is +Inf when confidence is not
// strictly between 0 and 1. It depends on the calibration only.
func (n Noise) HalfWidth(k int, confidence float64) float64 {
	if !(confidence > 0 && confidence < 1) {
		return math.Inf(1)
	}
	c := n.cells[k]
	g := step(c.exponent)
	scales, sigma := n.law(k)
	rounding := 2*g + math.Pow10(-c.digits)/2
	for _, d := range n.directions {
		if w := math.Abs(d.weights[k]); w > 0 && d.scale == 0 {
			rounding += g * (1 + w)
		}
	}

	// What rounding takes from a public total is shared out in proportion to the noise, and then to whole units.
	if p, place := n.planeOf(k); p != nil {
		total := 0.0
		for _, sd := range p.sd {
			total += sd * sd
		}
		share := p.sd[place] * p.sd[place] / total
		rounding += math.Pow10(-c.digits) * (1 + share*float64(len(p.of))/2)
	}

	// A discrete part is a continuous one moved by at most a step; rounding F to the grid moves it by half of one.
	return halfWidth(scales, sigma, confidence, g) + rounding + g*float64(len(scales))
}

// halfWidth is where twoSided falls to 1-confidence, from above. resolution is a length that does not matter. It sorts
// and widens the scales.
func halfWidth(scales []float64, sigma, confidence, resolution float64) float64 {
	// Widening a symmetric unimodal part only widens the sum [Birnbaum, "On Random Variables with Comparable
	// Peakedness", 1948], so scales may be moved apart, upwards, for the sake of the arithmetic.
	slices.Sort(scales)
	least := narrowest * sigma
	for i := range scales {
		scales[i] = math.Max(scales[i], least)
		least = apart * scales[i]
	}

	lo, hi := 0.0, sigma+resolution
	for _, b := range scales {
		hi += b
	}
	for twoSided(hi, scales, sigma) > 1-confidence {
		lo, hi = hi, 2*hi
	}
	for range 50 {
		mid := lo + (hi-lo)/2
		if twoSided(mid, scales, sigma) > 1-confidence {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// twoSided returns Pr(|L_1 + … + L_n + G| > x), x ≥ 0, for independent L_i ~ Laplace(b_i), distinct, and G ~ N(0,σ²).
// The characteristic function Π 1/(1+b_i²t²) of the sum of Laplaces is Σ w_i/(1+b_i²t²), w_i = Π_{j≠i}
// b_i²/(b_i²-b_j²): a signed mixture of the Laplaces alone.
func twoSided(x float64, scales []float64, sigma float64) float64 {
	if len(scales) == 0 {
		return 2 * math.Exp(privacy.LogPhi(-x/sigma))
	}
	var p float64
	for i, b := range scales {
		w := 1.0
		for j, o := range scales {
			if j != i {
				w /= (1 - o/b) * (1 + o/b)
			}
		}
		p += w * laplaceGaussian(x, b, sigma)
	}
	return math.Min(1, math.Max(0, p))
}

// laplaceGaussian returns Pr(|L + G| > x) for L ~ Laplace(b), G ~ N(0,σ²), x ≥ 0:
//
//	2Φ(-x/σ) + e^(σ²/2b²) (e^(-x/b) Φ(x/σ - σ/b) - e^(x/b) Φ(-x/σ - σ/b)),
//
// by integrating the tail of L against the density of G. Exponents are summed before they are exponentiated.
func laplaceGaussian(x, b, sigma float64) float64 {
	if sigma == 0 {
		return math.Exp(-x / b)
	}
	s, z := sigma/b, x/sigma
	return 2*math.Exp(privacy.LogPhi(-z)) +
		math.Exp(s*s/2-x/b+privacy.LogPhi(z-s)) - math.Exp(s*s/2+x/b+privacy.LogPhi(-z-s))
}
