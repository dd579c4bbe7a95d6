package history

import (
	"math"
	"testing"

	"fugu/privacy"
	"fugu/sensitivity"
)

// Where covariances are the same, the certificate is hardly more than the exact δ.
func TestCertificateOfShifts(t *testing.T) {
	for _, c := range []struct {
		kappa2  float64
		laplace []float64
		factor  float64
	}{
		{.04, nil, 1.001}, {1, nil, 1.001}, {9, nil, 1.001}, {100, nil, 1.001},
		{.1, []float64{.5}, 2.2}, {.5, []float64{.2, .1, .3}, 2.2}, {0, []float64{.5, .5}, 6},
	} {
		e, err := sensitivity.NewExperiment(c.laplace, c.kappa2, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, delta := range []float64{.01, 1e-4, 1e-7, 1e-10} {
			epsilon := e.EpsilonAt(delta)
			exact := e.Delta(epsilon)
			got, err := Cost{Kappa2: c.kappa2}.Delta(epsilon, c.laplace, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got < exact.Low || got > c.factor*exact.High {
				t.Errorf("κ² = %g, Laplace %v: δ(%g) = %g certified, exactly %g", c.kappa2, c.laplace, epsilon, got, exact)
			}
		}
	}
	if got, _ := (Cost{Kappa2: 1}).Delta(2, nil, .01); math.Abs(got-.01-privacy.GaussianDelta(2, 1)) > 1e-4 {
		t.Errorf("δ = %g with a failure of .01", got)
	}
	for _, c := range []Cost{{Kappa2: math.NaN()}, {G: -1}, {Slope: math.NaN()}} {
		if d, err := c.Delta(1, nil, 0); err == nil || d != 1 {
			t.Errorf("%v: %g, %v", c, d, err)
		}
	}
	if d, err := unknown.Delta(1, nil, 0); d != 1 {
		t.Errorf("an infinite cost has δ = %g, %v", d, err)
	}
}

// Many coordinates that differ a little each tell apart more than few that differ much at small ε, though never more by their
// moments: a certificate that took the few in the place of the many as an experiment would be wrong, and this one is not.
func TestFewDoNotDominateMany(t *testing.T) {
	const total, most, epsilon = 1., 1., .2
	many, few := 400, 1
	pairs := func(count int) *sensitivity.Experiment { // two coordinates each, e^y and e^-y
		y := 2 * math.Asinh(math.Sqrt(total/float64(count))/2)
		p, q := sensitivity.Covariance{}, sensitivity.Covariance{}
		for range count {
			for _, v := range []float64{math.Exp(y), math.Exp(-y)} {
				p.Blocks = append(p.Blocks, sensitivity.Block{Size: 1, Entries: []float64{v}})
				q.Blocks = append(q.Blocks, sensitivity.Block{Size: 1, Entries: []float64{1}})
			}
		}
		e, err := sensitivity.NewExperiment(nil, 0, &sensitivity.Pair{P: p, Q: q})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	a, b := pairs(many).Delta(epsilon), pairs(few).Delta(epsilon)
	if !(a.Low > b.High) {
		t.Errorf("of many δ = %g, of few %g", a, b)
	}
	if got := tail(epsilon, 0, nil, total, most); got < a.High {
		t.Errorf("certified %g, of many %g", got, a)
	}
}
