package falsify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"fugu/mechanism"
	"fugu/sensitivity"
)

// A parameter a is secret, and b is the same with probability .6. All 100 rows of their columns are what they say:
// nothing hides the parameters but the noise. Released are both columns' counts, the second, which only the quilt {b}
// keeps apart from a, in a unit so small that b can be read off it. The promise holds if what b tells of a, ln(.6/.4),
// is taken from ε; noise that forgets it is refuted.
func TestMarkovQuilt(t *testing.T) {
	t.Parallel()
	const n, same = 100, .6
	promise := budget(1, 0)
	network, err := sensitivity.NewNetwork([]sensitivity.Parameter{
		{Name: "a", Values: 2, Table: [][]float64{{.5, .5}}},
		{Name: "b", Values: 2, Parents: []int{0}, Table: [][]float64{{same, 1 - same}, {1 - same, same}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	quilt, err := network.BestQuilt(0, float64(promise.Epsilon), func(near []bool) float64 {
		if near[1] {
			return n + 1000*n // of b's column, in units
		}
		return n
	})
	if err != nil || !quilt.Quilt[1] || math.Abs(quilt.Influence-math.Log(same/(1-same))) > 1e-12 {
		t.Fatalf("%+v, %v", quilt, err)
	}
	for _, influence := range []float64{quilt.Influence, 0} {
		t.Run(fmt.Sprintf("influence %.3f", influence), func(t *testing.T) {
			q := quilt
			q.Influence = influence
			c, err := mechanism.Calibrate(t.Context(), mechanism.MarkovQuilt, mechanism.Request{Budget: promise,
				Quilts:     []sensitivity.Quilt{q},
				Components: []mechanism.Component{{Lattice: 1, Unit: 1}, {Lattice: .001, Unit: .001}}})
			if err != nil {
				t.Fatal(err)
			}
			scale := c.SD[0] / math.Sqrt2
			run(t, Trial{
				Sampler: func(theta float64, rng *rand.Rand) []float64 {
					b := theta
					if rng.Float64() >= same {
						b = 1 - theta
					}
					return Release(nil, c.Noise, []float64{n * theta, n * b}, rng)
				},
				Pairs: [][2]float64{{0, 1}}, Promise: promise, Train: 5000, Held: Effort(60_000), Seed: 5,
				Tests: []Test{Known("likelihood ratio", func(pair [2]float64, x []float64) float64 {
					r := (math.Abs(x[0]) - math.Abs(x[0]-n)) / scale // of 1 against 0
					if x[1] > n/2 {
						r += quilt.Influence
					} else {
						r -= quilt.Influence
					}
					return r * (pair[0] - pair[1])
				})},
			}, influence > 0)
		})
	}
}
