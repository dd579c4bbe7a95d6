package sensitivity

import (
	"errors"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// bowed is an affine family with a parabola on top of its variances: 4x(1-x)·bow, of second derivative -8·bow.
type bowed struct {
	affine
	bow  []float64
	lies float64 // Bend says this part of the truth
}

func (f bowed) Affine() bool { return false }
func (f bowed) Covariance(x float64) Covariance {
	return f.affine.Covariance(x).WithDiagonal(4*x*(1-x), f.bow)
}
func (f bowed) Bend(a, b float64) func([]float64) []float64 {
	var out []float64
	for _, v := range f.bow {
		out = append(out, f.lies*v*(b-a)*(b-a))
	}
	return func([]float64) []float64 { return out }
}

// For random families that bend, 60 random pairs of each stay within the certificate, both orders; where there is
// nothing but the bend, a family that denies it is found out.
func TestCertificateOfBentFamilies(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	certified, exceeded := 0, 0
	const families = 10
	for i := range families {
		f := bowed{affine: family(r, []int{1, 2, 1}), lies: 1}
		f.span = Span{.1, .6, .15}
		if i%2 == 0 { // nothing but the bend, around the top of the parabola
			f.at1 = f.at0
			f.span = Span{.2, .8, .6}
		}

		for range 4 {
			f.bow = append(f.bow, 2+2*r.Float64())
		}
		floor := ones(4, 3)
		n := Covariance{Blocks: zero(f.at0).Blocks}.WithDiagonal(1, floor)
		release := Release{Laplace: []float64{.4}, Beside: ones(4, .01), Gaussian: n, Floor: floor}
		b := budgetOf(.7, .9)
		worst := 0.0
		for range 60 {
			p, q := pairOf(r, f.span)
			e := experiment(t, release.Laplace, 1e-4*4/3, &Pair{P: f.Covariance(p).Plus(1, n),
				Q: f.Covariance(q).Plus(1, n)})
			worst = max(worst, e.Delta(.7).Low, e.Swapped().Delta(.7).Low)
		}

		c, err := Certify(f, release, b)
		switch {
		case errors.Is(err, ErrUncertified):
		case err != nil:
			t.Fatal(err)
		case worst > c.Delta:
			t.Errorf("a pair has δ = %g, certified %g", worst, c.Delta)
		default:
			certified++
		}

		f.lies = 1e-6
		if c, err := Certify(f, release, b); i%2 == 0 && err == nil && worst > c.Delta {
			exceeded++
		}
	}
	if certified < families-2 || exceeded < 2 {
		t.Errorf("%d certified, %d found out", certified, exceeded)
	}
}

// A slope counts as the two coordinates that it is of do: N(0,e^y) and N(0,e^-y) against N(0,1), on the real axis and
// far off it, where the logarithm of many of them leaves its principal branch.
func TestSlopesAreTheirCoordinates(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 4))
	for _, n := range []int{1, 3, 12} {
		var slopes []slope
		var p, q []float64
		for range n {
			noise := 1 + r.Float64()
			rho := noise * .6 * r.Float64()
			y := math.Log((noise + rho) / (noise - rho))
			slopes = append(slopes, slopeOf(rho, noise))
			p, q = append(p, math.Exp(y), math.Exp(-y)), append(q, 1, 1)
		}
		pair := experiment(t, nil, 0, &Pair{P: variances(p...), Q: variances(q...)})
		for range 200 {
			s := complex(.25*r.Float64(), 40*r.Float64()*float64(r.IntN(2)))
			got, ok := (&Experiment{slopes: slopes}).smooth(s)
			want, okPair := pair.smooth(s)
			if ok != okPair || ok && cmplx.Abs(got-want) > 1e-9*(1+cmplx.Abs(want)) {
				t.Fatalf("%d slopes at %g: %g, %v, and their coordinates %g, %v", n, s, got, ok, want, okPair)
			}
		}
	}
}

func TestBendRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	for name, bow := range map[string][]float64{"NaN": {1, math.NaN()}, "negative": {1, -1},
		"infinite": {1, math.Inf(1)}, "length": {1}} {
		f := bowed{affine: family(r, []int{1, 1}), bow: []float64{1, 1}, lies: 1}
		if c, err := Certify(bentBy{f, bow}, Release{Laplace: []float64{.1}, Gaussian: variances(1, 1),
			Floor: ones(2, 1)}, budgetOf(2, .5)); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
		if c, err := ScaleCost(bentBy{f, bow}, ones(2, 1)); err == nil {
			t.Errorf("%s: cost %g", name, c)
		}
	}
	// More than the noise can take in asks for more noise.
	f := bowed{affine: family(r, []int{1, 1}), bow: []float64{1, 1}, lies: 1e6}
	if _, err := Certify(f, Release{Laplace: []float64{.1}, Gaussian: variances(1, 1), Floor: ones(2, 1)},
		budgetOf(2, .5)); !errors.Is(err, ErrUncertified) {
		t.Error(err)
	}
}

// bentBy is a family whose Bend is given.
type bentBy struct {
	bowed
	bend []float64
}

func (f bentBy) Bend(_, _ float64) func([]float64) []float64 {
	return func([]float64) []float64 { return f.bend }
}

// Laplace noise over a family that bends: no log ratio of densities at any pair is above the cost.
func TestScaleCostOfBentFamilies(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 1))
	for range 40 {
		f := bowed{affine: affine{span: Span{.1, .6, .3}, at0: variances(1 + r.Float64()),
			at1: variances(1 + r.Float64())}, bow: []float64{3}, lies: 1}
		b := 1 + 3*r.Float64()
		cost, err := ScaleCost(f, []float64{b})
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			p, q := pairOf(r, f.span)
			for x := 0.0; x < 40; x += .1 {
				if d := math.Abs(logConvolved(x, f.Covariance(p).Diagonal()[0], b) - logConvolved(x,
					f.Covariance(q).Diagonal()[0], b)); d > cost {
					t.Fatalf("log ratio %g, cost %g", d, cost)
				}
			}
		}
	}
}
