package sensitivity

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"fugu/privacy"
)

// logConvolved is the log density at x of N(0,v) plus Laplace noise of scale b.
func logConvolved(x, v, b float64) float64 {
	s := math.Sqrt(v)
	up := -x/b + privacy.LogPhi(x/s-s/b)
	down := x/b + privacy.LogPhi(-x/s-s/b)
	return v/2/b/b - math.Log(2*b) + math.Max(up, down) + math.Log1p(math.Exp(-math.Abs(up-down)))
}

// One component, or several independent ones: the log ratio of the densities is never more than the cost, at any x, for
// any pair, in either order; and the cost is no more than a few times what the worst pair needs.
func TestScaleCost(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for range 50 {
		m := 1 + r.IntN(3)
		f := affine{span: Span{.1, .6, .05 + .45*r.Float64()}}
		var v0, v1, b []float64
		for range m {
			v0, v1, b = append(v0, .1+5*r.Float64()), append(v1, .1+5*r.Float64()), append(b, .5+8*r.Float64())
		}
		f.at0, f.at1 = variances(v0...), variances(v1...)
		cost, err := ScaleCost(f, b)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i := range 40 {
			p, q := pairOf(r, f.span)
			if i == 0 { // as wide as may be, at the small end
				p, q = f.span.From+f.span.Within, f.span.From
			}
			at := func(x float64, k int) float64 { return (1-x)*v0[k] + x*v1[k] }
			var up, down float64 // components are independent: their largest ratios add up
			for k := range m {
				most, least := math.Inf(-1), math.Inf(1)
				for x := 0.0; x < 60; x += .1 {
					d := logConvolved(x, at(p, k), b[k]) - logConvolved(x, at(q, k), b[k])
					most, least = math.Max(most, d), math.Min(least, d)
				}
				up, down = up+most, down-least
			}
			worst = math.Max(worst, math.Max(up, down))
		}
		if worst > cost {
			t.Fatalf("the log ratio is up to %g, the cost %g", worst, cost)
		}
		if cost > 1e-3 && cost > 60*worst+.5 {
			t.Errorf("cost %g, log ratio up to %g", cost, worst)
		}
	}
}

// A rank-one term costs what its variances cost at most, and a pair that does not differ nothing.
func TestScaleCostOfLowRank(t *testing.T) {
	f := affine{span: Span{.1, .6, .1}, at0: variances(3, 3), at1: variances(3, 3)}
	f.at1.Low = []RankOne{{1, []float64{1, 2}}}
	low, err := ScaleCost(f, []float64{1, 1})
	f.at1 = variances(4, 7)
	diagonal, err2 := ScaleCost(f, []float64{1, 1})
	f.at1 = f.at0
	none, err3 := ScaleCost(f, []float64{1, 1})
	if err := errors.Join(err, err2, err3); err != nil || math.Abs(low-diagonal) > 1e-9 || diagonal < .5 || none != 0 {
		t.Errorf("%g, %g, %g, %v", low, diagonal, none, err)
	}
	f.crooked = true
	if _, err := ScaleCost(f, []float64{1, 1}); !errors.Is(err, ErrNotAffine) {
		t.Error(err)
	}
	f.crooked = false
	for _, b := range [][]float64{{1}, {0, 1}, {math.NaN(), 1}} {
		f.at1 = variances(4, 7)
		if c, err := ScaleCost(f, b); err == nil {
			t.Errorf("scales %v cost %g", b, c)
		}
	}
}
