package setting

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"fugu/privacy"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s: %.6g, want %.6g", what, got, want)
	}
}

// With equal covariances the contour integral is Balle & Wang's closed form.
func TestDeltaOfEqualCovariances(t *testing.T) {
	p := Income.Between(.45, .55)
	p[0].Cov = p[1].Cov
	for _, epsilon := range []float64{.05, .2, 1, 5} {
		for _, scale := range []float64{.5, 3, 30} {
			n := Noise{Normal: Identity(5, scale)}
			s := Normals(n, 5)
			s.AddSym(s, p[0].Cov)
			var chol mat.Cholesky
			var x mat.VecDense
			d := mat.NewVecDense(5, p.Difference())
			if !chol.Factorize(s) || chol.SolveVecTo(&x, d) != nil {
				t.Fatal("not positive definite")
			}
			want := privacy.GaussianDelta(epsilon, math.Sqrt(mat.Dot(&x, d)))
			got, err := Delta(p, n, epsilon)
			if err != nil {
				t.Fatal(err)
			}
			above(t, got, want)
		}
	}
}

// above checks an upper bound that is meant to be close.
func above(t *testing.T, got, want float64) {
	t.Helper()
	if got < want-1e-15 || got > want*(1+3e-4)+1e-9 {
		t.Errorf("δ ≤ %.8g, want %.8g", got, want)
	}
}

// chi is δ of four normal values of variance r against variance 1, with the pure loss of other noise: the loss is
// -2 ln r + ½|x|²(1-1/r), and |x|² a χ² variable with four degrees of freedom under either law.
func chi(r, loss, epsilon float64) (first, second float64) {
	d := distuv.ChiSquared{K: 4}
	at := math.Max(0, (epsilon-loss+2*math.Log(r))/(.5*(1-1/r))) // of |x|²
	if r < 1 {
		return d.CDF(at / r), d.CDF(at)
	}
	return d.Survival(at / r), d.Survival(at)
}

func TestDeltaOfUnequalVariances(t *testing.T) {
	for _, r := range []float64{.5, .9, 1.1, 1.5} {
		for _, epsilon := range []float64{.05, .3, 1} {
			want := 0.0
			for _, order := range []float64{r, 1 / r} {
				a, b := chi(order, 0, epsilon)
				want = math.Max(want, a-math.Exp(epsilon)*b)
			}
			got, err := Delta(Pair{normal([]float64{0, 0, 0, 0}, r), normal([]float64{0, 0, 0, 0}, 1)}, Noise{},
				epsilon)
			if err != nil {
				t.Fatal(err)
			}
			above(t, got, want)
		}
	}
}

func normal(mean []float64, variance float64) Normal {
	cov := mat.NewSymDense(len(mean), nil)
	for k := range mean {
		cov.SetSym(k, k, variance)
	}
	return Normal{Mean: mean, Cov: cov}
}

// Laplace noise beside unequal variances: the bound is the δ of a Laplace shift of both components beside the normal
// values, here summed on a grid. The shifts are 1 and 0, so that one Laplace value and a χ² variable remain.
func TestDeltaOfLaplaceNoise(t *testing.T) {
	const epsilon, r, shift = .8, 1.4, 1.
	got, err := Delta(Pair{normal([]float64{shift, 0, 0, 0}, r), normal([]float64{0, 0, 0, 0}, 1)},
		Noise{Laplace: Identity(4, 1)}, epsilon)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for _, order := range []float64{r, 1 / r} { // a Laplace value is its own reflection
		sum, h := 0.0, 1e-3
		for y := -30 + h/2; y < 31; y += h {
			a, b := chi(order, math.Abs(y)-math.Abs(y-shift), epsilon)
			sum += h / 2 * (math.Exp(-math.Abs(y-shift))*a - math.Exp(epsilon-math.Abs(y))*b)
		}
		want = math.Max(want, sum)
	}
	above(t, got, want-1e-7)
}

// What the literature's own setting gives where the covariances differ, computed independently beforehand.
func TestTrueDeltaOfDaum(t *testing.T) {
	p := Income.Between(.45, .55)
	for epsilon, want := range map[float64]float64{.1: 7.1e-3, .2: 2.4e-3} {
		n, err := DaumGaussian.Noise(p, privacy.Budget{Epsilon: privacy.Epsilon(epsilon), Delta: .001})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Delta(p, n, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "δ", got, want, .06*want)
	}
}
