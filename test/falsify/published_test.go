package falsify

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"fugu/privacy"
	"fugu/test/setting"
)

// alarm bounds the probability that a trial refutes a promise that holds. The package runs fewer than 100 trials of
// such promises, so a false alarm in a run has probability below 1e-6.
const alarm = 1e-8

func budget(epsilon, delta float64) privacy.Budget {
	return privacy.Budget{Epsilon: privacy.Epsilon(epsilon), Delta: privacy.Delta(delta)}
}

// run runs a trial and says whether its finding is what the test expects.
func run(t *testing.T, trial Trial, holds bool) {
	t.Helper()
	trial.Alarm = alarm
	f := trial.Run()
	t.Logf("promised (%g, %g): %v", trial.Promise.Epsilon, trial.Promise.Delta, f)
	if f.Refutes(trial.Promise) == holds {
		t.Errorf("expected the promise to hold: %v", holds)
	}
}

var both = [][2]float64{{.45, .55}}

// setting is the paper's setting with F exactly as its mechanisms assume: normal, with the covariance pooled over the
// pair.
func translated() setting.Pair {
	p := setting.Income.Between(.45, .55)
	pooled := p.Pooled()
	p[0].Cov, p[1].Cov = pooled, pooled
	return p
}

// noise calibrates a published mechanism.
func noise(t *testing.T, m setting.Mechanism, p setting.Pair, b privacy.Budget) setting.Noise {
	t.Helper()
	n, err := m.Noise(p, b)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// normals samples F under the pair's first value at θ = .45 and its second at .55, and adds the noise.
func normals(p setting.Pair, n setting.Noise) Sampler {
	roots := [2][][]float64{setting.Root(p[0].Cov), setting.Root(p[1].Cov)}
	return func(theta float64, rng *rand.Rand) []float64 {
		i := 0
		if theta == .55 {
			i = 1
		}
		x := append([]float64(nil), p[i].Mean...)
		setting.Draw(x, setting.Noise{Normal: roots[i]}, rng)
		setting.Draw(x, n, rng)
		return x
	}
}

// densities is the likelihood ratio of normals for noise without more than one Laplace value.
func densities(t *testing.T, p setting.Pair, n setting.Noise) Test {
	t.Helper()
	var of [2]Density
	for i := range p {
		var along []float64
		if len(n.Laplace) == 1 {
			along = n.Laplace[0]
		}
		var cov mat.SymDense
		cov.AddSym(p[i].Cov, setting.Normals(n, len(p[i].Mean)))
		var err error
		if of[i], err = Normals(p[i].Mean, &cov, along); err != nil {
			t.Fatal(err)
		}
	}
	return Ratio(func(theta float64) Density {
		if theta == .55 {
			return of[1]
		}
		return of[0]
	})
}

func half(n setting.Noise) setting.Noise {
	for _, vectors := range [][][]float64{n.Laplace, n.Normal} {
		for _, v := range vectors {
			floats.Scale(.5, v)
		}
	}
	return n
}

// Each mechanism keeps its promise where its assumptions are true, and half its noise does not. Where c = √(2
// ln(1.25/δ)) has slack, half the noise needs ε = 1.28 in place of .9 only, which takes half a million transcripts to
// see.
func TestPublishedMechanisms(t *testing.T) {
	t.Parallel()
	p := translated()
	constant := translated() // for mechanisms that do not count the randomness of the data
	for i := range constant {
		constant[i].Cov = mat.NewSymDense(len(along), nil)
	}
	for i, test := range []struct {
		mechanism setting.Mechanism
		promise   privacy.Budget
		f         setting.Pair
		held      int
	}{
		{setting.DirmLaplace, budget(1, 0), p, 60_000},
		{setting.ExpmGaussian, budget(.9, .001), constant, 300_000},
		{setting.EigmGaussian, budget(.9, .001), p, 700_000},
		{setting.DaumGaussian, budget(.9, .001), p, 500_000},
		{setting.OptimalGaussian, budget(1, .001), p, 150_000},
	} {
		for _, holds := range []bool{true, false} {
			n, name := noise(t, test.mechanism, p, test.promise), " full"
			if !holds {
				n, name = half(n), " half"
			}
			t.Run(test.mechanism.Name+name, func(t *testing.T) {
				run(t, Trial{Sampler: normals(test.f, n), Pairs: both, Promise: test.promise, Train: 30_000,
					Held: Effort(test.held), Seed: uint64(i),
					Tests: []Test{densities(t, test.f, n)}}, holds)
			})
		}
	}
}

// Under translation the worst F is a constant: then the density of independent Laplace noise is known as well.
func TestExpmLaplace(t *testing.T) {
	t.Parallel()
	p := translated()
	promise := budget(1, 0)
	for name, share := range map[string]float64{"full": 1, "half": .5} {
		t.Run(name, func(t *testing.T) {
			n := noise(t, setting.ExpmLaplace, p, promise)
			if share < 1 {
				n = half(n)
			}
			b := n.Laplace[0][0]
			scale := []float64{b, b, b, b, b}
			run(t, Trial{
				Sampler: func(theta float64, rng *rand.Rand) []float64 {
					x := append([]float64(nil), at(p, theta).Mean...)
					setting.Draw(x, n, rng)
					return x
				},
				Pairs: both, Promise: promise, Train: 20_000, Held: Effort(50_000), Seed: 11,
				Tests: []Test{Ratio(func(theta float64) Density { return Laplaces(at(p, theta).Mean, scale) }),
					Logistic(false)},
			}, share == 1)
		})
	}
}

func at(p setting.Pair, theta float64) setting.Normal {
	if theta == .55 {
		return p[1]
	}
	return p[0]
}

// The covariances of the 100-record setting differ between the two values. DauM, calibrated with c and the pooled
// covariance, has a true δ of 7.1e-3 where it promises 1e-3: c's slack hides the difference at larger noise only.
func TestPooledCovariance(t *testing.T) {
	t.Parallel()
	p, promise := setting.Income.Between(.45, .55), budget(.1, .001)
	for _, test := range []struct {
		mechanism setting.Mechanism
		held      int
		holds     bool
	}{{setting.DaumGaussian, 500_000, false}, {setting.ExpmGaussian, 100_000, true}} {
		t.Run(test.mechanism.Name, func(t *testing.T) {
			n := noise(t, test.mechanism, p, promise)
			run(t, Trial{Sampler: normals(p, n), Pairs: both, Promise: promise, Train: test.held / 4,
				Held: Effort(test.held), Seed: 3,
				Tests: []Test{densities(t, p, n)}}, test.holds)
		})
	}
}

// F moves by at most 1 along each of three directions, in any combination. Laplace noise in the directions needs the L1
// norm of the movement; the published scale, Δ_{E,2}/ε for each direction [Chen & Ohrimenko, after Theorem 4.3], is √3
// times too small.
func TestSeveralDirections(t *testing.T) {
	t.Parallel()
	promise := budget(1, 0)
	for _, test := range []struct {
		name  string
		scale float64
		holds bool
	}{{"L1", 3, true}, {"L2", math.Sqrt(3), false}} {
		t.Run(test.name, func(t *testing.T) {
			n := setting.Noise{Laplace: setting.Identity(3, test.scale)}
			mean := func(theta float64) []float64 { return []float64{theta, theta, theta} }
			scale := []float64{test.scale, test.scale, test.scale}
			run(t, Trial{
				Sampler: func(theta float64, rng *rand.Rand) []float64 {
					x := mean(theta)
					setting.Draw(x, n, rng)
					return x
				},
				Pairs: [][2]float64{{0, 1}}, Promise: promise, Train: 20_000, Held: Effort(50_000), Seed: 4,
				Tests: []Test{Ratio(func(theta float64) Density { return Laplaces(mean(theta), scale) }),
					Logistic(false)},
			}, test.holds)
		})
	}
}

// Inherent randomness may be counted once. Two statistics with the same large randomness are each released as they are,
// and each alone keeps (.9, .01) [Chen & Ohrimenko, Theorem 4.4]; their difference has no randomness left. Noise of
// their own keeps what it promises of both together.
func TestInherentRandomnessCountsOnce(t *testing.T) {
	t.Parallel()
	kappa := privacy.Kappa(budget(.9, .01))
	for _, test := range []struct {
		name          string
		shared, noise float64 // sd
		promise       privacy.Budget
		holds         bool
	}{
		{"inherent", 1 / kappa, 0, budget(.9, .01), false},
		{"inherent, ten times the promise", 1 / kappa, 0, budget(5, .01), false},
		{"noise", 1 / kappa, math.Sqrt2 / kappa, budget(.9, .01), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			run(t, Trial{
				Sampler: func(theta float64, rng *rand.Rand) []float64 {
					s := test.shared * rng.NormFloat64()
					return []float64{s + theta + test.noise*rng.NormFloat64(), s - theta + test.noise*rng.NormFloat64()}
				},
				Pairs: [][2]float64{{0, 1}}, Promise: test.promise, Train: 4000, Held: Effort(20_000), Seed: 5,
				Tests: []Test{Logistic(false)},
			}, test.holds)
		})
	}
}

// normal is a normal distribution of independent components.
func normal(mean []float64, variance float64) setting.Normal {
	cov := mat.NewSymDense(len(mean), nil)
	for k := range mean {
		cov.SetSym(k, k, variance)
	}
	return setting.Normal{Mean: mean, Cov: cov}
}

func round(x []float64, unit float64) []float64 {
	for k := range x {
		x[k] = math.Round(x[k]/unit) * unit
	}
	return x
}
