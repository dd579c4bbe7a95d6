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

// Two components that vary together, unequally: at no x is the log ratio of their joint densities more than the cost,
// and where one has far less noise than the other the cost is small, as what they have in common is nearly hidden by
// the latter.
func TestScaleCostOfCorrelation(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	covariance := func(v0, v1, c float64) Covariance {
		return Covariance{Blocks: []Block{{2, []float64{v0, c, c, v1}}}}
	}
	within := 0.0 // of the cost, what some pair needs, at most
	for range 12 {
		v0, v1 := 1+4*r.Float64(), 1+4*r.Float64()
		c := math.Sqrt(v0*v1) * .9
		f := affine{span: Span{.1, .6, .5}, at0: covariance(v0, v1, -c*r.Float64()),
			at1: covariance(v0, v1, c*r.Float64())}
		b := []float64{.5 + 2*r.Float64(), .5 + 20*r.Float64()}
		cost, err := ScaleCost(f, b)
		if err != nil {
			t.Fatal(err)
		}
		p, q := f.Covariance(.6), f.Covariance(.1)
		for range 60 {
			x, y := 20*(r.Float64()-.5), 40*(r.Float64()-.5)
			ratio := math.Abs(logConvolvedTwo(x, y, p, b) - logConvolvedTwo(x, y, q, b))
			if ratio > cost*(1+1e-6) {
				t.Fatalf("the log ratio at %g, %g is %g, the cost %g", x, y, ratio, cost)
			}
			within = math.Max(within, ratio/cost)
		}
	}

	if within < .3 {
		t.Errorf("no pair needs more than %g of the cost", within)
	}
	f := affine{span: Span{.1, .6, .1}, at0: covariance(1000, 1000, 0), at1: covariance(1000, 1000, 500)}
	if cost, err := ScaleCost(f, []float64{5, 1000}); err != nil || cost > .0101 {
		t.Errorf("cost %g, %v", cost, err)
	}
}

// logConvolvedTwo is the log density at (x, y) of N(0,c) plus independent Laplace noise: over the values of the first
// component, the second given it as logConvolved has it.
func logConvolvedTwo(x, y float64, c Covariance, b []float64) float64 {
	v, w, u := c.At(0, 0), c.At(1, 1), c.At(0, 1)
	sum, most := 0.0, math.Inf(-1)
	const steps = 4000
	sd := math.Sqrt(v)
	for _, first := range []bool{true, false} {
		for i := range steps {
			z := sd * 10 * (2*(float64(i)+.5)/steps - 1)
			ln := -z*z/2/v - math.Abs(x-z)/b[0] + logConvolved(y-u/v*z, w-u*u/v, b[1])
			if first {
				most = math.Max(most, ln)
			} else {
				sum += math.Exp(ln - most)
			}
		}
	}
	return most + math.Log(sum*20/steps) - math.Log(math.Sqrt(2*math.Pi)) - math.Log(2*b[0])
}
