package privacy

import (
	"math"
	"testing"
)

// To the first order two laws of one width and skewness γ have φ(ε/κ-κ/2)·|γ|ε/3 of δ more than normal ones, whichever
// way they are skewed; normal ones have nothing more, and as much as is known of them.
func TestSkewToTheFirstOrder(t *testing.T) {
	for _, epsilon := range []float64{.2, 1, 3} {
		for _, kappa := range []float64{epsilon / 3.5, epsilon / 2, epsilon / 1.5} {
			const gamma = 1e-4
			at := epsilon/kappa - kappa/2
			want := math.Exp(-at*at/2) / math.Sqrt(2*math.Pi) * gamma * epsilon / 3
			for _, s := range []float64{gamma, -gamma} {
				got := SkewedDelta(epsilon, kappa, 1, Shape{Skewness: s}, Shape{Skewness: s})
				got /= leftOut + leftOutSkewed*gamma
				if math.Abs(got-want) > .02*want {
					t.Errorf("ε = %g, κ = %g, γ = %g: %v more, not %v", epsilon, kappa, s, got, want)
				}
			}

			if more := SkewedDelta(epsilon, kappa, 1.1, Shape{}, Shape{}); more != 0 {
				t.Errorf("normal laws have %v more", more)
			}
			plain, ok := shapedDeltas(epsilon, kappa, 1, Shape{}, Shape{})
			if want := GaussianDelta(epsilon, kappa); !ok || math.Abs(plain[0]-want) > 1e-5 ||
				math.Abs(plain[1]-want) > 1e-5 {
				t.Errorf("ε = %g, κ = %g: normal laws have %v, not %v", epsilon, kappa, plain, want)
			}
		}
	}
}

// A κ' for skewed laws is enough at every ε up to the limit, and about |γ|ε/3 more than κ where they are hardly skewed;
// laws of which the series says nothing have none.
func TestSkewedKappa(t *testing.T) {
	const limit, kappa, gamma = 2., .7, .01
	shape := Shape{Skewness: gamma}
	more := SkewedKappa(limit, kappa, shape)
	if off := more - kappa - gamma*limit/3; off < 0 || off > .5*gamma*limit/3 {
		t.Errorf("κ' is %v, where about %v is expected", more, kappa+gamma*limit/3)
	}
	for epsilon := .1; epsilon <= limit; epsilon += .1 {
		want := GaussianDelta(epsilon, kappa) + SkewedDelta(epsilon, kappa, 1, shape, shape)
		if got := GaussianDelta(epsilon, more); got < want*(1-1e-3) {
			t.Errorf("ε = %g: δ is %v by κ', and %v for the laws", epsilon, got, want)
		}
	}

	if k := SkewedKappa(limit, kappa, Shape{}); k < kappa || k > kappa*(1+1e-9) {
		t.Errorf("κ' of normal laws is %v", k)
	}
	for _, s := range []Shape{{Skewness: 2}, {Kurtosis: 3}} {
		if k := SkewedKappa(limit, kappa, s); !math.IsInf(k, 1) {
			t.Errorf("%+v: κ' is %v", s, k)
		}
		if d := SkewedDelta(1, .4, 1, s, s); !math.IsInf(d, 1) {
			t.Errorf("%+v: δ is %v more", s, d)
		}
	}
}

// A law of a shape has the moments that the shape says, to the second order of its skewness and the first of its
// kurtosis: it adds up to 1, about a mean of 0, with a variance of 1, the third moment γ and the fourth 3+τ.
func TestShapeIsOfItsMoments(t *testing.T) {
	const gamma, tau = 2e-3, 1e-4
	for _, c := range []struct {
		shape Shape
		room  float64 // for the orders that are left out: γ³, γτ and τ², each times at most 1e3 in these moments
	}{
		{Shape{}, 1e-10}, {Shape{Skewness: gamma}, 1e-5}, {Shape{Skewness: -gamma}, 1e-5}, {Shape{Kurtosis: tau}, 1e-5},
		{Shape{Skewness: gamma, Kurtosis: -tau}, 1e-5},
	} {
		var moments [5]float64
		for x := -farOut + fineness/2; x < farOut; x += fineness {
			p := fineness * math.Exp(c.shape.logDensity(x)) / math.Sqrt(2*math.Pi)
			for k := range moments {
				moments[k] += p * math.Pow(x, float64(k))
			}
		}
		for k, want := range [5]float64{1, 0, 1, c.shape.Skewness, 3 + c.shape.Kurtosis} {
			if math.Abs(moments[k]-want) > c.room {
				t.Errorf("%+v: moment %d is %v, not %v", c.shape, k, moments[k], want)
			}
		}
	}
}
