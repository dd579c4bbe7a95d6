package sensitivity

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"fugu/privacy"
)

// normalDelta is δ(ε) of N(d,v) against N(0,w), from the two points where the densities' ratio is e^ε.
func normalDelta(d, v, w, epsilon float64) float64 {
	p, q := distuv.Normal{Mu: d, Sigma: math.Sqrt(v)}, distuv.Normal{Sigma: math.Sqrt(w)}
	// ln p/q - ε = a x² + b x + c
	a, b, c := 1/(2*w)-1/(2*v), d/v, -d*d/(2*v)+math.Log(w/v)/2-epsilon
	within := func(low, high float64) float64 {
		return math.Max(0, p.CDF(high)-p.CDF(low)-math.Exp(epsilon)*(q.CDF(high)-q.CDF(low)))
	}
	disc := b*b - 4*a*c
	inf := math.Inf(1)
	switch {
	case math.Abs(a) < 1e-12*(1/v+1/w):
		if b == 0 {
			return 0
		}
		x := -c / b
		return math.Max(within(-inf, x), within(x, inf))
	case disc <= 0:
		if a > 0 {
			return within(-inf, inf)
		}
		return 0
	}

	x, y := (-b-math.Sqrt(disc))/(2*a), (-b+math.Sqrt(disc))/(2*a)
	if x > y {
		x, y = y, x
	}
	if a < 0 {
		return within(x, y)
	}
	return within(-inf, x) + within(y, inf)
}

// With the movement of the mean inside the Gaussian pair, the bound covers the exact δ of every pair of the continuum
// in both orders, and is what the worst of them has but for the boxes' excess length.
func TestMovementInsideThePair(t *testing.T) {
	tight, loosest := 0, 0.0
	rapid.Check(t, func(t *rapid.T) {
		v0, v1 := rapid.Float64Range(1, 4).Draw(t, "Σ_0"), rapid.Float64Range(1, 4).Draw(t, "Σ_1")
		slope := rapid.Float64Range(-20, 20).Draw(t, "slope")
		noise := rapid.Float64Range(.2, 3).Draw(t, "noise")
		f := affine{span: Span{From: rapid.Float64Range(0, .4).Draw(t, "from")}, slope: []float64{slope},
			at0: Covariance{Blocks: []Block{{1, []float64{v0}}}}, at1: Covariance{Blocks: []Block{{1, []float64{v1}}}}}
		f.span.To = f.span.From + rapid.Float64Range(.1, .6).Draw(t, "length")
		f.span.Within = (f.span.To - f.span.From) * rapid.Float64Range(.2, 1).Draw(t, "within")
		r := Release{Along: []float64{slope * f.span.Within},
			Gaussian: Covariance{Blocks: []Block{{1, []float64{noise}}}}, Floor: []float64{noise}}
		epsilon := rapid.Float64Range(.1, 3).Draw(t, "ε")
		worst := 0.0
		const n = 24
		for i := range n + 1 {
			for j := range n + 1 {
				q := f.span.From + (f.span.To-f.span.From)*float64(i)/n
				p := math.Min(f.span.To, q+f.span.Within*float64(j)/n)
				vp, vq := v0+p*(v1-v0)+noise, v0+q*(v1-v0)+noise
				worst = math.Max(worst, math.Max(normalDelta((p-q)*slope, vp, vq, epsilon),
					normalDelta((q-p)*slope, vq, vp, epsilon)))
			}
		}

		c, err := Certify(f, r, privacy.Budget{Epsilon: privacy.Epsilon(epsilon), Delta: .999999})
		if errors.Is(err, ErrUncertified) && worst > .99 {
			return // more than the budget, nearly
		}
		if err != nil {
			t.Fatal(err)
		}
		if c.Delta < worst*(1-1e-6)-1e-12 {
			t.Fatalf("δ = %g, a pair has %g", c.Delta, worst)
		}
		if worst > 1e-6 && worst < .1 {
			tight++
			loosest = math.Max(loosest, c.Delta/worst)
		}
	})

	if tight < 10 && !testing.Short() || loosest > 2.5 { // fewer are drawn where time is short
		t.Errorf("%d bounds, up to %g of the worst pair", tight, loosest)
	}
	t.Logf("%d bounds are at most %.3g of the worst pair", tight, loosest)
}

// bent is a family whose mean is no straight line: then the movement is hidden by a part set aside.
type bent struct{ affine }

func (f bent) Mean(x float64) []float64 {
	out := f.affine.Mean(x)
	out[0] += 3 * (x - f.span.From) * (x - f.span.To)
	return out
}

func TestMovementOffTheLineIsSetAside(t *testing.T) {
	v := []float64{2, 3}
	block := func(a float64) Covariance { return Covariance{Blocks: []Block{{2, []float64{a, .1, .1, a}}}} }
	f := affine{span: Span{.2, .6, .1}, at0: block(10), at1: block(11), slope: []float64{20, 30}}
	r := Release{Along: v, Gaussian: Covariance{Blocks: []Block{{2, []float64{9, 0, 0, 9}}}}, Floor: []float64{9, 9}}
	for name, test := range map[string]struct {
		family Family
		along  []float64
		inside bool
	}{
		"straight":       {f, v, true},
		"the other way":  {f, []float64{-2, -3}, true},
		"one way each":   {f, []float64{2, -3}, false},
		"longer":         {f, []float64{2.1, 3.15}, false},
		"another":        {f, []float64{3, 2}, false},
		"bent":           {bent{f}, v, false},
		"not a movement": {f, []float64{0, 0}, false},
	} {
		r.Along = test.along
		s, err := newSearch(test.family, r, privacy.Budget{Epsilon: 1, Delta: .1})
		if err != nil {
			t.Fatal(err)
		}
		if aside := s.share.along > 0; s.inside != test.inside || aside == test.inside && name != "not a movement" {
			t.Errorf("%s: inside %v, set aside %v", name, s.inside, aside)
		}
	}

	r.Along = v
	straight, err := Certify(f, r, privacy.Budget{Epsilon: 1, Delta: .5})
	if err != nil {
		t.Fatal(err)
	}
	other, err := Certify(bent{f}, r, privacy.Budget{Epsilon: 1, Delta: .5})
	if err != nil && !errors.Is(err, ErrUncertified) {
		t.Fatal(err)
	}
	if err == nil && other.Delta < straight.Delta {
		t.Errorf("set aside %g, inside %g", other.Delta, straight.Delta)
	}
}
