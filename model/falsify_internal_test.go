package model

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"fugu/mechanism"
	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/test/falsify"
)

// Releases of a percentile and of a number of distinct values, from datasets that are drawn anew each time, under the
// ends of a secret's range: noise for W keeps the promise, and noise for half of W does not. A finding against a
// promise that holds has probability 1e-8 for each mechanism.
func TestSampledReleasesKeepThePromise(t *testing.T) {
	const failure = 1e-5
	promise := privacy.Budget{Epsilon: .5, Delta: .001}
	// Of the two classes the one has the value 0 alone, the other the value 1: the median jumps from the one to the
	// other between the shares .45 and .55.
	median := setting{rows: 400, pair: [2]float64{.45, .55}, laws: [2]law{{1, 0}, {0, 1}},
		of: func(counts []int) float64 { return percentile(counts, .5, false) }}
	median.width = func(psi Psi) float64 {
		return newQuantile(psi, 400, .5, 0, 1, [][]valued{{{0, 5000}}, {{1, 5000}}}, []float64{5000, 5000},
			failure).width(failure)
	}

	// One class has one value, the other twenty of its own, and half of 200 rows at most.
	alike, varied := make(law, 21), make(law, 21)
	alike[0] = 1
	for v := 1; v <= 20; v++ {
		varied[v] = .05
	}
	distinct := setting{rows: 200, pair: [2]float64{0, .5}, laws: [2]law{alike, varied},
		of: func(counts []int) float64 { return distinctOf(counts)[0] }}
	distinct.width = func(psi Psi) float64 {
		v := newVariety(psi, 200, make([]float64, 21), true, [][]float64{alike.exact(5000), varied.exact(5000)},
			[]float64{5000, 5000}, failure)
		return v.moved(failure).count(true)
	}
	for name, s := range map[string]setting{"median": median, "count distinct": distinct} {
		psi := Psi{Spans: []sensitivity.Span{{From: s.pair[0], To: s.pair[1], Within: s.pair[1] - s.pair[0]}}}
		w := s.width(psi)
		for _, kind := range []mechanism.Kind{mechanism.ExpmLaplace, mechanism.ApproximateWasserstein,
			mechanism.ExpmGaussian, mechanism.Directional} {
			for _, share := range []float64{1, .5} {
				t.Run(fmt.Sprintf("%s, %s for %g of W", name, kind, share), func(t *testing.T) {
					t.Parallel()
					moved := sensitivity.Shift{Secret: "s"}.With([]float64{share * w}, 2*failure)
					c, err := mechanism.Calibrate(t.Context(), kind, mechanism.Request{Budget: promise,
						Shifts:     []sensitivity.Shift{moved},
						Components: []mechanism.Component{{Lattice: .1, Unit: w}}})
					if err != nil {
						t.Fatal(err)
					}
					urns := [2]urn{s.laws[0].urn(), s.laws[1].urn()}
					found := falsify.Trial{Pairs: [][2]float64{s.pair}, Promise: promise,
						Tests: []falsify.Test{falsify.Logistic(false)},
						Train: 6000, Held: falsify.Effort(40000), Alarm: 1e-8, Seed: 1,
						Sampler: func(p float64, rng *rand.Rand) []float64 {
							counts, _ := datasets(rng, urns, len(s.laws[0]), s.rows, p, p, false)
							return falsify.Release(nil, c.Noise, []float64{s.of(counts)}, rng)
						}}.Run()
					t.Logf("W = %g, noise sd %.3g: %v", w, c.SD[0], found)
					if found.Refutes(promise) == (share == 1) {
						t.Errorf("expected the promise to hold: %v; assumption %s", share == 1, c.Assumption)
					}
					if c.Assumption != mechanism.Coupling || c.Losses["s"].Delta < 2*failure {
						t.Errorf("it rests on %s, with %+v", c.Assumption, c.Losses)
					}
				})
			}
		}
	}
}

// setting is a statistic of datasets of two classes.
type setting struct {
	rows  int
	pair  [2]float64
	laws  [2]law
	of    func(counts []int) float64
	width func(Psi) float64
}
