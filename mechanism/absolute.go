package mechanism

import (
	"math"
	"slices"
)

// meanApart is the least ratio of two Laplace scales in one component with which mixed sums are evaluated.
const meanApart = 1.02

// Mean returns E|noise| of component k before publication rounding, in F's units.
func (n Noise) Mean(k int) float64 {
	if p, place := n.planeOf(k); p != nil && p.drawn {
		return p.mean[place]
	}
	return meanAbsolute(n.law(k))
}

// law returns the scales of the Laplace values whose sum is the noise of component k with a normal one, and the σ of
// that. Of Laplace noise that is drawn on a plane of more than two components it is the law before that, which is
// wider: given that all adds up to zero, the density of one is that multiplied by the density of the others' sum, which
// falls with the distance from zero. Of two it is exact: both are one number, at both their rates.
func (n Noise) law(k int) (scales []float64, sigma float64) {
	c := n.cells[k]
	g := step(c.exponent)
	sigma = float64(c.sigma) * g
	own := float64(c.laplace) * g

	// Noise on a plane has the spread that being on it has left.
	if p, place := n.planeOf(k); p != nil {
		switch {
		case !p.drawn:
			sigma = p.sd[place]
		case len(p.of) == 2:
			own = p.sd[place] / math.Sqrt2
		}
	}

	// Of what is added along directions a component has its part.
	for _, b := range []float64{own, float64(c.extra) * g} {
		if b > 0 {
			scales = append(scales, b)
		}
	}
	for _, d := range n.directions {
		switch w := math.Abs(d.weights[k]); {
		case w > 0 && d.scale > 0:
			scales = append(scales, float64(d.scale)*w*g)
		case w > 0:
			sigma = math.Hypot(sigma, float64(d.sigma)*w*g)
		}
	}
	return scales, sigma
}

// meanAbsolute returns E|ΣL_i + G| for independent L_i ~ Laplace(b_i) and G ~ N(0,σ²). One L has
//
//	E|L+G| = σ√(2/π) + b·erfcx(σ/√2b),   erfcx(x) = e^(x²) erfc(x),
//
// from E|X| = (2/π) ∫ (1-φ(t))/t² dt over t > 0 with φ(t) = e^(-σ²t²/2)/(1+b²t²).
func meanAbsolute(scales []float64, sigma float64) float64 {
	return sigma*math.Sqrt(2/math.Pi) + mixed(scales, func(b float64) float64 { return b * erfcx(sigma/b/math.Sqrt2) })
}

// atZero returns the density of ΣL_i + G at 0, which is the derivative of meanAbsolute by σ² [of both sides of
// E|X+√s·Z| the derivative by s is half of ∂²/∂x², and |x|” = 2δ(x)]. One L has erfcx(σ/√2b)/2b.
func atZero(scales []float64, sigma float64) float64 {
	if len(scales) == 0 {
		return 1 / (math.Sqrt(2*math.Pi) * sigma)
	}
	return mixed(scales, func(b float64) float64 { return erfcx(sigma/b/math.Sqrt2) / (2 * b) })
}

// mixed is Σ w_i f(b_i) of the weights with which the law of ΣL_i is a signed mixture of the laws of single ones (see
// twoSided). Scales that are nearly equal are moved apart, upwards, by up to 2%: for the sake of the arithmetic.
func mixed(scales []float64, f func(b float64) float64) float64 {
	scales = slices.Clone(scales)
	slices.Sort(scales)
	total := 0.0
	for i := range scales {
		if i > 0 {
			scales[i] = math.Max(scales[i], meanApart*scales[i-1])
		}
	}
	for i, b := range scales {
		w := 1.0
		for j, o := range scales {
			if j != i {
				w /= (1 - o/b) * (1 + o/b)
			}
		}
		total += w * f(b)
	}
	return total
}

// erfcx returns e^(x²) erfc(x) for x ≥ 0, to a relative 1e-7: beyond 20 by the first terms of its asymptotic series.
func erfcx(x float64) float64 {
	if x < 20 {
		return math.Exp(x*x) * math.Erfc(x)
	}
	return (1 - 1/(2*x*x) + 3/(4*x*x*x*x)) / (x * math.Sqrt(math.Pi))
}
