package main

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"fugu/channel"
)

// The chance that a bit leaks more than ε is the integral of the density over all y of which the definition says that
// they do, on a grid of 4e-4 standard deviations; near is no less than any share of the ball has.
func TestGaussianFails(t *testing.T) {
	const step = 4e-4
	for _, sd := range []float64{.7, 1.5} {
		for _, share := range []float64{.5, .3, .02} {
			for _, epsilon := range []float64{.05, .3, .69, 2} {
				want := 0.
				for y := -1 - 9*sd; y < 1+9*sd; y += step * sd {
					a, b := distuv.Normal{Mu: -1, Sigma: sd}.Prob(y), distuv.Normal{Mu: 1, Sigma: sd}.Prob(y)
					if shown := share*a + (1-share)*b; math.Log(math.Max(a, b)/shown) > epsilon {
						want += step * sd * shown
					}
				}
				got := gaussianFails(sd, epsilon, share)
				if math.Abs(got-want) > 1e-3 {
					t.Errorf("sd %g, share %g, ε %g: %v, integrated %v", sd, share, epsilon, got, want)
				}
				if near := gaussianFailsNear(sd, epsilon, share, .03); near < got-1e-6 ||
					near < gaussianFails(sd, epsilon, share+.014)-1e-4 {
					t.Errorf("sd %g, share %g, ε %g: %v near, %v there", sd, share, epsilon, near, got)
				}
			}
		}
	}
}

// Equation 70 gives the noise back.
func TestPlainFails(t *testing.T) {
	for _, epsilon := range []float64{.5, 2, 4} {
		for _, delta := range []float64{.3, 1e-3, 1e-9} {
			f := math.Erfcinv(delta)
			sd := math.Sqrt2 * (f + math.Sqrt(f*f+epsilon)) / epsilon
			if got := plainFails(sd, epsilon); math.Abs(got/delta-1) > 1e-6 {
				t.Errorf("ε %g: δ = %v, not %v", epsilon, got, delta)
			}
		}
	}
}

// No random law is worse than the worst, and that is within Theorem 4's bound, in both examples of figure 2.
func TestOutputRatioIsBounded(t *testing.T) {
	singular, uniform, err := singularChannel(10, 5)
	if err != nil {
		t.Fatal(err)
	}
	if got := singular.Capacity(channel.Ball{Center: uniform}); math.Abs(got-math.Ln2) > 1e-9 {
		t.Errorf("a 5-singular channel of 10 leaks %v, not ln 2", got)
	}
	f := outputRatio("x", "", singular, uniform, math.Ln2)
	byCurve := map[string]map[float64]float64{}
	for _, c := range f.curves {
		byCurve[c.name] = map[float64]float64{}
		for _, p := range c.points {
			byCurve[c.name][p.X] = p.Y
		}
	}
	seen := 0
	for x, v := range byCurve["most of 10,000 random laws"] {
		seen++
		if worst, drawn := byCurve["worst law"][x]; drawn && v > worst+1e-9 {
			t.Errorf("at %v a random law has %v, and the worst %v", x, v, worst)
		}
	}
	for x, v := range byCurve["Theorem 4"] {
		if worst := byCurve["worst law"][x]; worst > v+1e-9 {
			t.Errorf("at %v the worst law has %v, and the bound is %v", x, worst, v)
		}
	}
	if seen < 10 {
		t.Errorf("random laws at %d distances", seen)
	}
}
