package mechanism

import (
	"math"
	"slices"
	"testing"

	"fugu/privacy"
	"fugu/privacy/rowsum"
	"fugu/sensitivity"
)

// extremes lists the extreme points of the sum of the sets in which no component is negative.
func extremes(m int, list []sensitivity.Unseen) [][]float64 {
	out := [][]float64{make([]float64, m)}
	for _, u := range list {
		cells := slices.Compact(slices.Clone(u.Cell))
		var next [][]float64
		for mask := range 1 << len(cells) {
			move, rows := make([]float64, m), 0
			for i, c := range cells {
				if mask>>i&1 == 0 {
					continue
				}
				rows++
				for j, k := range u.At {
					if u.Cell[j] == c {
						move[k] += u.Size[j]
					}
				}
			}

			if rows != min(u.Rows, len(cells)) {
				continue
			}
			for _, v := range out {
				sum := slices.Clone(v)
				for k := range sum {
					sum[k] += move[k]
				}
				next = append(next, sum)
			}
		}

		out = next
	}
	return out
}

// thinned makes what is beside the directions smaller.
func thinned(s sensitivity.Shift, by float64) sensitivity.Shift {
	s.Beside, s.Unseen = slices.Clone(s.Beside), slices.Clone(s.Unseen)
	for k := range s.Beside {
		s.Beside[k] *= by
	}
	for i := range s.Unseen {
		s.Unseen[i].Size = slices.Clone(s.Unseen[i].Size)
		for k := range s.Unseen[i].Size {
			s.Unseen[i].Size[k] *= by
		}
	}
	return s
}

// boxed takes every cell to hold unseen rows of its own.
func boxed(r Request) Request {
	r.Shifts = slices.Clone(r.Shifts)
	for i, s := range r.Shifts {
		r.Shifts[i].Beside, r.Shifts[i].Unseen = s.Box(), nil
	}
	return r
}

// Rows that are shared by the cells take less noise than rows in each, the more so the more cells there are; and what
// is saved is no more than the norm is smaller by.
func TestSharedRowsTakeLessNoise(t *testing.T) {
	for m, most := range map[int]float64{1: 1.001, 16: .8, 100: .5} {
		r := wide(m).request(2000, 6000, budget(1, .001))
		if m == 1 {
			r.Families = nil // a count of all
		}
		for _, kind := range []Kind{ExpmLaplace, ExpmGaussian, Directional} {
			shared, each := calibrated(t, kind, r), calibrated(t, kind, boxed(r))
			if shared.Error > each.Error*1.001 || kind == Directional && shared.Error > most*each.Error {
				t.Errorf("%s, %d cells: error %.4g, with rows in each %.4g", kind, m, shared.Error, each.Error)
			}
			t.Logf("%s, %d cells: error %.4g, with rows in each %.4g", kind, m, shared.Error, each.Error)
		}
	}
}

// A secret that moves F by a row that was not seen, and in no other way: the noise in whichever cell it is in hides it
// as well as the budget says, by the exact law of a normal shift; and no cell has much more noise than it takes, as all
// are alike.
func TestNoiseForOneRow(t *testing.T) {
	const m, size = 50, 3.
	u := sensitivity.Unseen{Rows: 1}
	r := Request{Budget: budget(1, 1e-5)}
	for k := range m {
		u.At, u.Cell, u.Size = append(u.At, k), append(u.Cell, k), append(u.Size, size)
		r.Components = append(r.Components, Component{Lattice: 1, Unit: 1, Integer: true})
	}

	r.Shifts = []sensitivity.Shift{{Secret: "s", Along: make([]float64, m), Beside: make([]float64, m),
		Unseen: []sensitivity.Unseen{u}}}
	want := size / privacy.Kappa(r.Budget)
	for _, kind := range []Kind{ExpmGaussian, Directional} {
		c := calibrated(t, kind, r)
		for k, sd := range c.SD {
			if sd < want || sd > 1.02*want {
				t.Errorf("%s: component %d has sd %g, one row takes %g", kind, k, sd, want)
			}
		}
	}

	c := calibrated(t, ExpmLaplace, r)
	for k, sd := range c.SD {
		if b := sd / math.Sqrt2; b < size || b > 1.001*size {
			t.Errorf("%s: component %d has scale %g, one row takes %g", c.Kind, k, b, size)
		}
	}
}

func TestUnseenThatFitsNoRequest(t *testing.T) {
	for name, spoil := range map[string]func(*sensitivity.Unseen){
		"no rows":   func(u *sensitivity.Unseen) { u.Rows = 0 },
		"component": func(u *sensitivity.Unseen) { u.At[0] = 9 },
		"too much":  func(u *sensitivity.Unseen) { u.Size[0] = 1e101 },
	} {
		r := wide(4).request(8000, 24_000, budget(1, .001))
		spoil(&r.Shifts[0].Unseen[0])
		if c, err := Calibrate(t.Context(), Auto, r); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// The certificate of a given noise counts unseen rows: its δ is no less than the exact one of two normal distributions
// of which one has a row more in a cell, whichever cell, and would be without them.
func TestCertificateCountsUnseenRows(t *testing.T) {
	f := wide(6)
	r := f.request(300, 900, budget(1, .5))
	r.Shifts[0] = thinned(r.Shifts[0], 2)
	floor := make([]float64, len(f.in))
	var noise sensitivity.Covariance
	for k := range floor {
		floor[k] = 30
		noise.Blocks = append(noise.Blocks, sensitivity.Block{Size: 1, Entries: []float64{30 * 30}})
	}

	n := gaussian(floor, nil)
	n.directions = append(n.directions, newDirection(r.Shifts[0], n.cells, .5))
	c, _, err := r.certified(n, f, rowsum.AllPairs)
	if err != nil {
		t.Fatal(err)
	}
	bare := r
	bare.Shifts = []sensitivity.Shift{thinned(r.Shifts[0], 0)}
	without, _, err := bare.certified(n, f, rowsum.AllPairs)
	if err != nil {
		t.Fatal(err)
	}

	worst := 0.0
	for _, row := range extremes(len(floor), r.Shifts[0].Unseen) {
		for _, q := range []float64{.1, .3, .55} {
			// y takes a share of the movement along the direction, all of which it hides; the rest is a row.
			e, err := sensitivity.NewExperiment([]float64{.5}, 0,
				&sensitivity.Pair{P: f.Covariance(q+.05).Plus(1, noise), Q: f.Covariance(q).Plus(1, noise), Mean: row})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range []*sensitivity.Experiment{e, e.Swapped()} {
				worst = math.Max(worst, x.Delta(1).Low)
			}
		}
	}

	t.Logf("δ = %.3g, of the worst row %.3g, without unseen rows %.3g", c.Delta, worst, without.Delta)
	if c.Delta < worst {
		t.Errorf("certified δ = %g, of the worst row %g", c.Delta, worst)
	}
	if without.Delta > .5*worst {
		t.Errorf("δ = %g without unseen rows, %g with them: the test has no teeth", without.Delta, worst)
	}

	// Of several movements any may be the pair's.
	other := thinned(r.Shifts[0], .5)
	if got := n.release([]sensitivity.Shift{r.Shifts[0], other}, f.Covariance(.1)); len(got.Unseen) != 2 ||
		got.Unseen[0][0].Size[1] != 2*got.Unseen[1][0].Size[1] {
		t.Errorf("%+v", got.Unseen)
	}
}

// Laplace noise in single components hides the unseen rows of each by itself.
func TestOwnNoiseHidesUnseenRows(t *testing.T) {
	f := wide(6)
	r := f.request(300, 900, budget(1, .5))
	r.Shifts[0] = thinned(r.Shifts[0], 2)
	own := calibrated(t, ExpmLaplace, r).Noise
	got := own.release(r.Shifts, f.Covariance(.1))
	for k, box := range r.Shifts[0].Box() {
		b := math.Ldexp(float64(own.cells[k].laplace), own.cells[k].exponent)
		if want := (box + math.Abs(r.Shifts[0].Along[k])) / b; len(got.Unseen[0]) > 0 || got.Laplace[k] < want ||
			got.Laplace[k] > want*(1+1e-6) {
			t.Errorf("component %d: a loss of %g, want %g", k, got.Laplace[k], want)
		}
	}
}

// What cells that are not shown and those that are have of κ² = 1 adds up to all of it over the rows that they can
// hold together, is no more for one that is not shown than for one that is, and has the least error of all such shares.
func TestSharesOfCells(t *testing.T) {
	for _, rows := range []int{2, 3, 10} {
		for _, squares := range [][2]float64{{1, 1}, {3, 50}, {.2, 900}, {50, 3}, {7, 0}} {
			others, times := float64(rows-1), share(rows, squares)
			x, y := 1/times[0], 1/times[1]
			if all := others*x + y; math.Abs(all-1) > 1e-12 || x > y {
				t.Errorf("%d rows, %v: shares of %v and %v add up to %v", rows, squares, x, y, all)
			}
			wrong := func(x float64) float64 { return squares[0]/x + squares[1]/(1-others*x) }
			for part := .01; part < 1; part += .01 {
				if other := part / float64(rows); wrong(other) < wrong(x)*(1-1e-12) {
					t.Errorf("%d rows, %v: an error of %v at %v, and %v at %v", rows, squares, wrong(x), x,
						wrong(other), other)
				}
			}
		}
	}
}

// Of one row at most, or of cells that are all shown, each cell has all of κ².
func TestSharesOfOneRow(t *testing.T) {
	for _, c := range []struct {
		rows    int
		squares [2]float64
	}{{1, [2]float64{3, 5}}, {4, [2]float64{0, 5}}} {
		if got := share(c.rows, c.squares); got != [2]float64{1, 1} {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
