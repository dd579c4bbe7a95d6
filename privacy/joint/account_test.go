package joint

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"fugu/test/patient"
	_ "fugu/test/seeded" // what rapid draws is the same at every run
)

// drawSample draws a reference of about so many rows: a proportion "share", and the same as a parameter, "law"; three
// categories "kind", and a number "size". Rapid draws a seed for what is many values.
func drawSample(t *rapid.T) Sample {
	rows, rng := rapid.IntRange(40, 80).Draw(t, "rows"), drawRand(t)
	s := Sample{Rows: rows, Classes: map[string][]int16{}, Numbers: map[string][]float64{}}
	class := func(from, to int) (out []int16) {
		for r := range rows {
			c := from + rng.IntN(to+1-from)
			if r <= to { // none is empty
				c = r
			}
			out = append(out, int16(c))
		}
		return out
	}
	s.Classes["share"], s.Classes["law"], s.Classes["kind"] = class(0, 1), class(0, 1), class(-1, 2)
	for range rows {
		s.Numbers["size"] = append(s.Numbers["size"], rng.ExpFloat64())
	}
	return s
}

func drawRand(t *rapid.T) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
}

const (
	from   = .2
	to     = .7
	within = .1
)

var span = []Pair{{P: []float64{1 - from - within, from + within}, Q: []float64{1 - from, from}},
	{P: []float64{1 - to, to}, Q: []float64{1 - to + within, to - within}}}

var drawn = []Secret{
	{Name: "share", N: 500, Pairs: span},
	{Name: "law", N: 500, Distribution: true, Pairs: span},
	{Name: "kind", N: 300, Pairs: []Pair{{P: []float64{.3, .2, .4}, Q: []float64{.25, .3, .35}},
		{P: []float64{.5, .1, .1}, Q: []float64{.4, .1, .2}}}},
	{Name: "size", N: 400, Pairs: []Pair{{Move: .5}, {Move: -.2}}},
}

// drawRelease draws sparse terms that overlap with the history's, some of them repeated, or nearly.
func drawRelease(t *rapid.T, s Sample, history []Release) Release {
	var terms *Terms
	if len(history) > 0 && rapid.IntRange(0, 3).Draw(t, "again") == 0 {
		terms = drawAgain(t, s, history[rapid.IntRange(0, len(history)-1).Draw(t, "which")].Terms)
	} else {
		terms = drawTerms(t, s)
	}

	r := Release{Terms: terms, Hidden: map[string]bool{}}
	for range terms.width {
		r.Noise = append(r.Noise, rapid.Float64Range(.5, 50).Draw(t, "noise"))
	}
	for range rapid.IntRange(0, 2).Draw(t, "lines") {
		line := make([]float64, terms.width)
		for k := range line {
			line[k] = rapid.Float64Range(-9, 9).Draw(t, "line")
		}
		r.Lines = append(r.Lines, line)
	}

	if rapid.IntRange(0, 4).Draw(t, "some still") == 0 {
		for range terms.width {
			r.Still = append(r.Still, rapid.Bool().Draw(t, "still"))
		}
	}
	for _, x := range drawn {
		if rapid.IntRange(0, 4).Draw(t, "hidden") == 0 {
			r.Hidden[x.Name] = true
		}
	}
	return r
}

// drawAgain returns the same terms, or terms that differ in one row.
func drawAgain(t *rapid.T, s Sample, terms *Terms) *Terms {
	if !rapid.Bool().Draw(t, "nearly") {
		return terms
	}
	groups := append([]Group(nil), terms.groups...)
	groups[0].Cells = append([]int16(nil), groups[0].Cells...)
	groups[0].Cells[rapid.IntRange(0, s.Rows-1).Draw(t, "row")] = -1
	out, err := NewTerms(s.Rows, terms.width, groups)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func drawTerms(t *rapid.T, s Sample) *Terms {
	rng := drawRand(t)
	width := rapid.IntRange(1, 6).Draw(t, "width")
	var groups []Group
	for range rapid.IntRange(1, 2).Draw(t, "groups") {
		cells := rapid.IntRange(1, 4).Draw(t, "cells")
		g := Group{Cells: make([]int16, s.Rows)}
		for r := range g.Cells {
			g.Cells[r] = int16(rng.IntN(cells+1) - 1)
		}
		for range rapid.IntRange(1, 2).Draw(t, "columns") {
			c := Column{At: make([]int, cells)}
			for k := range c.At {
				c.At[k] = rapid.IntRange(0, width-1).Draw(t, "at")
			}
			if rapid.Bool().Draw(t, "sum") {
				for range s.Rows {
					c.Values = append(c.Values, rng.NormFloat64()*2+1)
				}
			}

			g.Columns = append(g.Columns, c)
		}
		groups = append(groups, g)
	}
	terms, err := NewTerms(s.Rows, width, groups)
	if err != nil {
		t.Fatal(err)
	}
	return terms
}

// Whatever is asked, the account is never below a slow one, nor more than 1e-6 above its greatest pair; before a
// release is part of it as afterwards.
func TestAgainstDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t)
		a, err := New(s, drawn)
		if err != nil {
			t.Fatal(err)
		}
		b := &slow{sample: s}
		for range rapid.IntRange(1, 6).Draw(t, "releases") {
			r := drawRelease(t, s, b.releases)
			trial, err := a.Trial(r)
			if err != nil {
				t.Fatal(err)
			}
			b.add(r)
			before := map[string]Cost{}
			for _, x := range drawn {
				before[x.Name] = trial.Cost(x.Name)
				got, want := trial.Cost(x.Name), Cost{}
				for _, p := range x.Pairs {
					want = want.max(b.cost(x, p))
				}
				// Where nothing differs, what is left is rounding.
				for i, v := range [][3]float64{{got.Kappa2, want.Kappa2, 1e-20}, {got.G, want.G, 1e-20},
					{got.Slope, want.Slope, 1e-10}} {
					if v[0] < v[1]-v[2] || v[0] > v[1]*(1+1e-6)+1e-12+v[2] {
						t.Fatalf("%s, part %d: %.17g, by the definitions %.17g", x.Name, i, v[0], v[1])
					}
				}
			}

			if err := trial.Commit(); err != nil {
				t.Fatal(err)
			}
			for _, x := range drawn {
				if got, want := a.Cost(x.Name), before[x.Name]; got != want {
					t.Fatalf("%s: %v after, %v before", x.Name, got, want)
				}
			}

			if trial.Commit() == nil {
				t.Fatal("a trial was committed twice")
			}
		}
	})
}

// No pair of the span, wide or narrow, costs more than the account says of its two extreme ones; nor, with the
// covariances as they are under both values, has it a greater δ than the certificate's, either way.
func TestWholeSpan(t *testing.T) {
	patient.Test(t)
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t)
		a, err := New(s, drawn)
		if err != nil {
			t.Fatal(err)
		}
		b := &slow{sample: s}
		for range 2 {
			r := drawRelease(t, s, b.releases)
			for k := range r.Noise {
				r.Noise[k] *= 20
			}
			b.add(r)
			if err := a.Append(r); err != nil {
				t.Fatal(err)
			}
		}

		laplace := [][]float64{nil, {.4}, {.1, .2}}[rapid.IntRange(0, 2).Draw(t, "laplace")]
		for _, x := range drawn[:2] {
			cost := a.Cost(x.Name)
			for range 3 {
				width := within * rapid.Float64Range(0, 1).Draw(t, "width")
				q := from + (to-from-width)*rapid.Float64Range(0, 1).Draw(t, "position")
				p := Pair{P: []float64{1 - q - width, q + width}, Q: []float64{1 - q, q}}
				if got := b.cost(x, p); got.Kappa2 > cost.Kappa2 || got.G > cost.G+1e-20 {
					t.Fatalf("%s: of %v %v, of the span %v", x.Name, p, got, cost)
				}
			}

			p := x.Pairs[rapid.IntRange(0, 1).Draw(t, "pair")]
			e := b.experiment(t, x, p, laplace)
			epsilon := []float64{.3, 1, 3}[rapid.IntRange(0, 2).Draw(t, "epsilon")]
			got, err := cost.Delta(epsilon, laplace, 0)
			if err != nil {
				t.Fatal(err)
			}
			if want := math.Max(e.Delta(epsilon).Low, e.Swapped().Delta(epsilon).Low); got < want {
				t.Fatalf("%s: δ(%g) = %g certified, and is %g", x.Name, epsilon, got, want)
			}
		}
	})
}
