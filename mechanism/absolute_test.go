package mechanism

import (
	"math"
	"testing"
)

// Mean is the integral of the tail that intervals are computed from, of every shape of noise; and atZero its derivative
// by the variance of the normal part.
func TestMeanIsTheIntegralOfTheTail(t *testing.T) {
	for _, n := range []Noise{
		{cells: []cell{{exponent: -20, laplace: 1 << 28}}},
		{cells: []cell{{exponent: -20, sigma: 1 << 28}}},
		{cells: []cell{{exponent: -20, sigma: 1 << 28, extra: 1 << 27}}},
		{cells: []cell{{exponent: -20, sigma: 1 << 28}},
			directions: []direction{{scale: 3 << 27, weights: []float64{-1.5}},
				{scale: 1 << 26, weights: []float64{.4}}, {sigma: 1 << 27, weights: []float64{2}}}},
		{cells: []cell{{exponent: -20, sigma: 1 << 28}},
			directions: []direction{{scale: 1 << 28, weights: []float64{1e-5}}}},
		{cells: []cell{{exponent: -20, sigma: 1 << 20}},
			directions: []direction{{scale: 1 << 28, weights: []float64{1}}}},
	} {
		scales, sigma := n.law(0)
		const parts = 200_000
		top := 60 * n.sd(0)
		tail := (1 + twoSided(top, scales, sigma)) / 2 // trapezoids
		for i := 1; i < parts; i++ {
			tail += twoSided(top*float64(i)/parts, scales, sigma)
		}
		if want, got := tail*top/parts, n.Mean(0); math.Abs(got-want) > 1e-5*want {
			t.Errorf("%+v: E|noise| = %.8g, the tail's integral is %.8g", n, got, want)
		}
		if sigma == 0 {
			continue
		}
		h := 1e-4 * sigma * sigma
		slope := (meanAbsolute(scales, math.Sqrt(sigma*sigma+h)) - meanAbsolute(scales,
			math.Sqrt(sigma*sigma-h))) / (2 * h)
		if got := atZero(scales, sigma); math.Abs(got-slope) > 1e-4*slope {
			t.Errorf("%+v: a density of %g at 0, and E|noise| has the slope %g", n, got, slope)
		}
	}

	// Two equal scales have no partial fractions; moved apart they are 2% larger at most: E|L+L'| = 3b/2.
	if got := meanAbsolute([]float64{8, 8}, 0); got < 12 || got > 12*1.02 {
		t.Errorf("two equal Laplace values: %g, not 12", got)
	}
}

// What an Absolute request makes small is Σ E|noise|: less than what squares leave of it, by a mechanism that is
// certified all the same.
func TestAbsoluteErrorIsMadeSmall(t *testing.T) {
	for _, m := range []int{2, 16, 100} {
		r := wide(m).request(2000, 6000, budget(1, .001))
		for k := range r.Components {
			r.Components[k].Unit = 1
		}
		absolute := r
		absolute.Absolute = true
		sum := func(c Calibration) (out float64) {
			for k := range c.SD {
				out += c.Noise.Mean(k)
			}
			return out
		}

		squares, means := calibrated(t, Directional, r), calibrated(t, Directional, absolute)
		if got := sum(means); math.Abs(got-means.Error) > 1e-9*got || got > sum(squares)*1.01 || m == 100 &&
			got > .97*sum(squares) {
			t.Errorf("%d cells: Σ E|noise| = %g, error %g; where squares are made small %g", m, got, means.Error,
				sum(squares))
		}

		t.Logf("%d cells: Σ E|noise| = %.5g, where squares are made small %.5g", m, sum(means), sum(squares))
		for _, c := range means.Certificates {
			if !(c.Delta <= .001) || len(c.Assumptions) != 2 {
				t.Errorf("%d cells: %+v", m, c)
			}
		}
	}
}
