package mechanism

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"fugu/privacy"
	"fugu/sensitivity"
)

// Noise of apgm hides every movement as long as a constraint's, whatever its direction, under every covariance: the
// least eigenvalue of their sum is enough. For one constraint none of it can be left out: with less along any line it
// is not. eigm does not promise that of covariances with other eigenvectors, which this would see: of 100 draws some 30
// show it, so that none does by chance with a probability below 1e-12.
func TestApgmHidesEveryDirection(t *testing.T) {
	short := 0
	rapid.Check(t, func(t *rapid.T) {
		m, kappa := rapid.IntRange(1, 5).Draw(t, "m"), rapid.Float64Range(.1, 2).Draw(t, "kappa")
		var cs []constraint
		for range rapid.IntRange(1, 4).Draw(t, "n") {
			move := rapid.SliceOfN(rapid.Float64Range(-2, 2), m, m).Draw(t, "move")
			cs = append(cs, constraint{move, symmetric(t, m)})
		}
		least := func(c constraint, lines [][]float64) float64 {
			var e mat.EigenSym
			if !e.Factorize(plusLines(c.cov, lines), false) {
				t.Fatal("no eigenvalues")
			}
			return e.Values(nil)[0]
		}

		lines, others := apgm(cs, kappa), eigm(cs, kappa)
		for _, c := range cs {
			want := floats.Dot(c.move, c.move) / (kappa * kappa)
			if got := least(c, lines); got < want*(1-1e-9)-1e-9 {
				t.Fatalf("the least variance is %g, not %g", got, want)
			}
			if least(c, others) < want*(1-1e-3)-1e-3 {
				short++
			}
		}

		if len(cs) == 1 && len(lines) > 0 {
			j := rapid.IntRange(0, len(lines)-1).Draw(t, "j")
			lines[j] = scaled(lines[j], .99)
			if want := floats.Dot(cs[0].move, cs[0].move) / (kappa * kappa); floats.Dot(lines[j], lines[j]) > 1e-3 &&
				least(cs[0], lines) >= want {
				t.Fatalf("with less along line %d there is still enough", j)
			}
		}
	})
	t.Logf("eigm was short of it %d times", short)
	if short == 0 {
		t.Error("eigm has enough in every direction, too: the check sees nothing")
	}
}

// One value: APGM is what DauM and the optimal mechanism are. Of vectors it is certified, and has about the error of
// EigM, which sees no direction of the movement either.
func TestApgm(t *testing.T) {
	r := Request{Budget: budget(.2, .001), Components: []Component{{Lattice: 1, Unit: 1}},
		Families: []sensitivity.Family{single{}}, Shifts: []sensitivity.Shift{{Secret: "s", Along: []float64{10},
			Beside: []float64{.1}}}}
	a, b := calibrated(t, Apgm, r), calibrated(t, OptimalGaussian, r)
	if math.Abs(a.SD[0]-b.SD[0]) > 1e-6*a.SD[0] {
		t.Errorf("apgm %g, optimal %g", a.SD[0], b.SD[0])
	}
	// No more than needed by noise alone, no less than if covariances were equal: variance is 100 to 120.
	kappa := privacy.Kappa(r.Budget)
	if least, most := math.Sqrt(100/kappa/kappa-120), 1.2*10/kappa; a.SD[0] < least || a.SD[0] > most {
		t.Errorf("apgm %g, between %g and %g", a.SD[0], least, most)
	}

	for _, epsilon := range []float64{.2, 1, 5} {
		r := income(epsilon, .001)
		a, b, least := calibrated(t, Apgm, r), calibrated(t, Eigm, r), calibrated(t, OptimalGaussian, r)
		t.Logf("ε = %g: apgm %.4g, eigm %.4g, optimal %.4g, δ %.3g", epsilon, math.Sqrt(a.Error), math.Sqrt(b.Error),
			math.Sqrt(least.Error), a.Certificates[0].Delta)
		if a.Error < least.Error || a.Error > 1.1*b.Error || !(a.Certificates[0].Delta <= .001) ||
			a.Certificates[0].Assumptions[0] != Gaussian {
			t.Errorf("ε = %g: apgm %g, eigm %g, optimal %g, %+v", epsilon, a.Error, b.Error, least.Error,
				a.Certificates)
		}
	}
}
