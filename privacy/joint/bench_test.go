package joint

import (
	"math/rand/v2"
	"testing"
)

// grouped is a release of a count in each of so many cells, of the rows that a random condition holds for.
func grouped(rng *rand.Rand, rows, cells int, key []int16) Release {
	c := make([]int16, rows)
	for r := range c {
		c[r] = -1
		if rng.Float64() < .8 {
			c[r] = key[r]
		}
	}

	at := make([]int, cells)
	for k := range at {
		at[k] = k
	}
	terms, err := NewTerms(rows, cells, []Group{{Cells: c, Columns: []Column{{At: at}}}})
	if err != nil {
		panic(err)
	}
	r := Release{Terms: terms, Noise: make([]float64, cells)}
	for k := range r.Noise {
		r.Noise[k] = 100
	}
	return r
}

// BenchmarkCharge200x20 is a trial after 200 releases of 20 cells each, over 10,000 rows of reference: of a secret with
// one pair, and with the two of a span.
func BenchmarkCharge200x20(b *testing.B) {
	low, high := []float64{.75, .25}, []float64{.7, .3}
	b.Run("pair", func(b *testing.B) { charges(b, Pair{P: high, Q: low}) })
	b.Run("span", func(b *testing.B) {
		charges(b, Pair{P: high, Q: low}, Pair{P: []float64{.4, .6}, Q: []float64{.45, .55}})
	})
}

func charges(b *testing.B, pairs ...Pair) {
	const rows, cells, before = 10_000, 20, 200
	rng := rand.New(rand.NewPCG(1, 2))
	s := Sample{Rows: rows, Classes: map[string][]int16{"s": make([]int16, rows)}}
	keys := make([][]int16, 5)
	for k := range keys {
		keys[k] = make([]int16, rows)
	}
	for r := range rows {
		if rng.Float64() < .24 {
			s.Classes["s"][r] = 1
		}
		for k := range keys {
			keys[k][r] = int16(rng.IntN(cells))
		}
	}

	a, err := New(s, []Secret{{Name: "s", N: 35_000, Pairs: pairs}})
	if err != nil {
		b.Fatal(err)
	}
	for i := range before {
		if err := a.Append(grouped(rng, rows, cells, keys[i%len(keys)])); err != nil {
			b.Fatal(err)
		}
	}

	next := grouped(rng, rows, cells, keys[0])
	for b.Loop() {
		if _, err := a.Trial(next); err != nil {
			b.Fatal(err)
		}
	}
}
