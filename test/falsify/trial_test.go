package falsify

import (
	"math"
	"math/rand/v2"
	"testing"
)

// response is randomised response: the value itself with probability p, else the other. It needs exactly ln(p/(1-p)).
func response(p float64) Sampler {
	return func(theta float64, rng *rand.Rand) []float64 {
		if rng.Float64() < p {
			return []float64{theta}
		}
		return []float64{1 - theta}
	}
}

var itself = Known("itself", func(pair [2]float64, x []float64) float64 {
	if x[0] == pair[0] {
		return 1
	}
	return -1
})

// The bound comes close to what is needed, from below, in either order of the pair.
func TestBoundOfRandomisedResponse(t *testing.T) {
	for _, tests := range [][]Test{{itself}, {Logistic(false)}, {Logistic(true)}} {
		f := Trial{Sampler: response(.75), Pairs: [][2]float64{{0, 1}}, Promise: budget(1, 0), Tests: tests,
			Train: 2000, Held: 40_000, Alarm: alarm, Seed: 1}.Run()
		if f.Epsilon > math.Log(3) || f.Epsilon < math.Log(3)-.1 {
			t.Errorf("%v, needed are %.3f", f, math.Log(3))
		}
	}
}

// A sum of ε and δ: the value itself is told with probability δ, else it is randomised response.
func TestDeltaIsExcused(t *testing.T) {
	const delta = .05
	tell := func(theta float64, rng *rand.Rand) []float64 {
		if rng.Float64() < delta {
			return []float64{10 * (2*theta - 1)}
		}
		return response(.75)(theta, rng)
	}
	score := Known("tells", func(pair [2]float64, x []float64) float64 {
		return (2*pair[0] - 1) * (2*x[0] - 1)
	})
	for _, test := range []struct {
		delta float64
		holds bool
	}{{delta, true}, {0, false}} {
		run(t, Trial{Sampler: tell, Pairs: [][2]float64{{0, 1}}, Promise: budget(math.Log(3), test.delta),
			Tests: []Test{score},
			Train: 2000, Held: 40_000, Seed: 2}, test.holds)
	}
}

// Promises that are just true are refuted no more often than stated: of 1000 trials at 5% at most 77 are, which a
// probability of 5% exceeds with chance 1e-4; the seed is fixed. Clopper-Pearson bounds are conservative, and here a
// finding must be wrong in both probabilities together, so that far fewer are.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	refuted := 0
	for i := range 1000 {
		trial := Trial{Sampler: response(.75), Pairs: [][2]float64{{0, 1}}, Promise: budget(math.Log(3), 0),
			Tests: []Test{itself},
			Train: 20, Held: 300, Alarm: .05, Seed: uint64(i)}
		if trial.Run().Refutes(trial.Promise) {
			refuted++
		}
	}
	if refuted > 77 {
		t.Errorf("%d of 1000", refuted)
	}
	t.Logf("%d of 1000 trials refute a true promise at 5%%", refuted)
}
