package mechanism

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"fugu/privacy"
	"fugu/sensitivity"
)

// skewed is how much more δ a release of normal noise has than its certificate says, which takes F for normal: to the
// second order of Edgeworth's series along w = S⁻¹Δ, by which the means of a pair are told apart, S the covariance of F
// with the noise. In every other direction the laws of a pair have one mean, and what their shapes do there is of the
// second order as well (docs/theory/calibration.md). 0 where the shape of F is not known; +Inf where S has no inverse.
//
// It is worked out at the pairs at both ends of the span, and in its middle: shapes are straight lines in the secret's
// value, but for how w turns.
func (r Request) skewed(n Noise, f sensitivity.Family) float64 {
	shaped, ok := f.(sensitivity.Shaped)
	if !ok || n.hasLaplace() {
		return 0
	}
	sp := f.Span()
	last := math.Max(sp.From, sp.To-sp.Within)
	noise := n.release(r.shiftsOf(f.Secret()), f.Covariance(sp.From)).Gaussian

	most := 0.0
	for _, low := range []float64{sp.From, (sp.From + last) / 2, last} {
		high := math.Min(sp.To, low+sp.Within)
		most = math.Max(most, r.skewedBetween(shaped, noise, high, low))
	}
	return most
}

// skewedBetween is skewed for one pair.
func (r Request) skewedBetween(f sensitivity.Shaped, noise sensitivity.Covariance, high, low float64) float64 {
	first, second := f.Covariance(high).Plus(1, noise), f.Covariance(low).Plus(1, noise)
	above, below := f.Mean(high), f.Mean(low)
	move := make([]float64, len(above))
	for k, v := range above {
		move[k] = v - below[k]
	}

	// The direction w, of the mean of both covariances: half of their sum.
	w, err := first.Plus(1, second).Solve(move)
	if err != nil {
		return math.Inf(1)
	}
	floats.Scale(2, w)
	kappa := math.Sqrt(math.Max(0, floats.Dot(w, move)))
	if kappa == 0 {
		return 0
	}

	shapes, sd := [2]privacy.Shape{}, [2]float64{}
	for i, x := range []float64{high, low} {
		third, fourth, known := f.Cumulants(x, w)
		if !known {
			return 0
		}
		variance := [2]sensitivity.Covariance{first, second}[i].Form(w)
		sd[i] = math.Sqrt(variance)
		shapes[i] = privacy.Shape{Skewness: third / math.Pow(sd[i], 3), Kurtosis: fourth / (variance * variance)}
	}

	return privacy.SkewedDelta(float64(r.Budget.Epsilon), kappa, sd[0]/sd[1], shapes[0], shapes[1])
}

// hasLaplace reports whether any of the noise is Laplace.
func (n Noise) hasLaplace() bool {
	for _, c := range n.cells {
		if c.laplace > 0 {
			return true
		}
	}
	for _, d := range n.directions {
		if d.scale > 0 {
			return true
		}
	}
	return false
}
