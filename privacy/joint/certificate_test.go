package joint

import (
	"math"
	"testing"

	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/test/patient"
)

// Where covariances are the same, the certificate is hardly more than the exact δ.
func TestCertificateOfShifts(t *testing.T) {
	patient.Test(t)
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
				t.Errorf("κ² = %g, Laplace %v: δ(%g) = %g certified, exactly %g", c.kappa2, c.laplace, epsilon, got,
					exact)
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

	for _, c := range []struct {
		epsilon, failure float64
		laplace          []float64
	}{
		{epsilon: 0}, {epsilon: -1}, {epsilon: math.NaN()}, {epsilon: math.Inf(1)}, {epsilon: 1, failure: -.001},
		{epsilon: 1, failure: 1.001}, {epsilon: 1, failure: math.NaN()}, {epsilon: 1, laplace: []float64{.1, -.1}},
		{epsilon: 1, laplace: []float64{math.NaN()}}, {epsilon: 1, laplace: []float64{math.Inf(1)}},
	} {
		if d, err := (Cost{Kappa2: 1}).Delta(c.epsilon, c.laplace, c.failure); err == nil || d != 1 {
			t.Errorf("%+v: %g, %v", c, d, err)
		}
	}

	if d, err := unknown.Delta(1, nil, 0); d != 1 {
		t.Errorf("an infinite cost has δ = %g, %v", d, err)
	}
}

// Coordinates in pairs, e^y and e^-y, the sum of whose (2 sinh(y/2))² is total for each sign, are certified at no less
// than they tell, be they few or many. Many that differ a little each tell more at small ε than few that differ much,
// though never by their moments: a certificate that took the few for an experiment in the place of the many would be
// wrong.
func TestFewDoNotDominateMany(t *testing.T) {
	patient.Test(t)
	exact := func(total float64, count int) *sensitivity.Experiment {
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

	for _, c := range []struct {
		total   float64
		count   int
		epsilon float64
	}{{1, 1, .2}, {1, 1, 3}, {1, 400, .2}, {1, 400, 3}, {8, 4, 1}, {8, 80, 1}, {.1, 5, .1}, {.1, 5, 2}} {
		for _, most := range []float64{c.total / float64(c.count), c.total} {
			if got, want := tail(c.epsilon, 0, nil, 2*c.total, most),
				exact(c.total, c.count).Delta(c.epsilon).Low; got < want {
				t.Errorf("%+v, each at most %g: certified %g, is %g", c, most, got, want)
			}
		}
	}

	if a, b := exact(1, 400).Delta(.2), exact(1, 1).Delta(.2); !(a.Low > b.High) {
		t.Errorf("of many δ = %g, of few %g", a, b)
	}
}

// The moment of the loss of a coordinate N(0,e^y) against N(0,1) is what its integral is, and infinite where that is:
// where the tail e^(-x²e^-y/2) grows as fast as e^(sL) falls, from s = 1/(e^y-1) on.
func TestCoordinatesHaveTheirMoment(t *testing.T) {
	for _, y := range []float64{.01, .3, 1.5} {
		u, edge := math.Pow(2*math.Sinh(y/2), 2), 1/math.Expm1(y)
		for _, part := range []float64{.01, .3, .9} {
			s, step, moment := part*edge, 0., 0.
			sd := math.Sqrt(math.Exp(y) / (1 - part)) // of e^(sL) times the density: what is integrated is about normal
			step = sd / 50
			for x := -12 * sd; x < 12*sd; x += step {
				loss := -y/2 + x*x/2*(1-math.Exp(-y))
				moment += step * math.Exp(s*loss-y/2-x*x/2*math.Exp(-y)) / math.Sqrt(2*math.Pi)
			}
			for _, count := range []float64{1, 7} {
				want := count * math.Log(moment)
				if got := coordinatesMoment(s, count*u, u); math.Abs(got-want) > 1e-6*want {
					t.Errorf("y = %g, s = %g, %g times: %g, want %g", y, s, count, got, want)
				}
			}
		}
		for _, part := range []float64{1.001, 1.5, 100} {
			if got := coordinatesMoment(part*edge, u, u); !math.IsInf(got, 1) {
				t.Errorf("y = %g, s = %g: the moment is not %g", y, part*edge, got)
			}
		}
	}
}
