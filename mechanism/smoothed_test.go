package mechanism

import (
	"math"
	"testing"
)

// Laplace noise with the normal noise that an account of covariances takes it to have besides has nowhere another
// density by more than Close says; with half of it, it would.
func TestSmoothedNoiseIsClose(t *testing.T) {
	n := Noise{cells: []cell{{laplace: 1 << 28, exponent: -20}}}
	for _, spread := range []float64{0, 1, 1e4} {
		variance, bound := n.Smoothed([]float64{spread})
		scale := math.Ldexp(1, 8)
		if variance[0] < smoothedOfScale*scale*scale || variance[0] < smoothedOfSpread*spread*spread {
			t.Errorf("spread %g: a variance of %g", spread, variance[0])
		}
		sd := math.Sqrt(variance[0]) / scale
		most := 0.0
		for x := 0.0; x < 8*sd+8; x += math.Max(sd, .01) / 4 {
			most = math.Max(most, math.Abs(math.Log(smoothedRatio(x, sd))))
		}
		if most > bound || most < bound/3 {
			t.Errorf("spread %g: the logarithm of the densities' ratio is up to %g, and %g is claimed", spread, most,
				bound)
		}
	}

	if variance, bound := n.Smoothed([]float64{1e8}); variance[0] != 0 || bound != 0 {
		t.Errorf("of noise far below what varies a variance of %g, close by %g", variance[0], bound)
	}
	normal := Noise{cells: []cell{{sigma: 1 << 29, exponent: -28}}}
	if variance, bound := normal.Smoothed([]float64{1e9}); variance[0] != 4 || bound != 0 {
		t.Errorf("of normal noise a variance of %g, close by %g", variance[0], bound)
	}
}

// smoothedRatio is E e^(|x|-|x-U|), U ~ N(0,sd²), by the trapezoidal rule.
func smoothedRatio(x, sd float64) float64 {
	const steps = 4000
	sum := 0.0
	for i := range steps + 1 {
		z := -10 + 20*float64(i)/steps
		sum += math.Exp(math.Abs(x)-math.Abs(x-sd*z)-z*z/2) * 20 / steps / math.Sqrt(2*math.Pi)
	}
	return sum
}
