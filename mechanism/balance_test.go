package mechanism

import (
	"fmt"
	"math"
	"testing"

	"fugu/privacy"
	"fugu/sensitivity"
)

// beside is a request of two blocks that need noise of other kinds: one value that a secret moves by a thousand, in a
// unit of what sampling makes of it, and the groups of a count that it hardly moves.
func beside(groups int) Request {
	r := Request{Budget: budget(1, .001), Components: []Component{{Lattice: 1, Unit: 3000}}}
	s := sensitivity.Shift{Secret: "s", Along: []float64{1000}, Beside: []float64{0}}
	u := sensitivity.Unseen{Rows: 1, At: []int{0}, Cell: []int{-1}, Size: []float64{1}}
	v := sensitivity.Unseen{Rows: 1}
	for k := range groups {
		r.Components = append(r.Components, Component{Lattice: 1, Unit: 1 + float64(k%3), Block: 1})
		s.Along, s.Beside = append(s.Along, .1), append(s.Beside, .01)
		v.At, v.Cell, v.Size = append(v.At, k+1), append(v.Cell, k), append(v.Size, 2)
	}
	s.Unseen = []sensitivity.Unseen{u, v}
	r.Shifts = []sensitivity.Shift{s}
	return r
}

// louder is how many times the noise of any block is what it would be if it were the whole statement, as the root of
// the mean square in units.
func louder(t *testing.T, r Request, blocks [][]int) float64 {
	t.Helper()
	together, most := calibrated(t, Auto, r), 0.0
	for _, at := range blocks {
		part := r.part(t.Context().Err, at)
		alone, sum := calibrated(t, Auto, part), 0.0
		for i, k := range at {
			sd := together.SD[k] / part.Components[i].Unit
			sum += sd * sd
		}
		most = math.Max(most, math.Sqrt(sum/alone.Error))
	}
	return most
}

// Two blocks have at most about twice the noise that each has alone. If they are taken for one, the units decide, and
// one of them has far more.
func TestBlocksAreBalanced(t *testing.T) {
	for _, groups := range []int{1, 4, 30} {
		r := beside(groups)
		blocks := r.blocks()
		if len(blocks) != 2 {
			t.Fatalf("%d blocks", len(blocks))
		}
		balanced := louder(t, r, blocks)
		for k := range r.Components {
			r.Components[k].Block = 0
		}
		apart := louder(t, r, blocks)
		t.Logf("%d groups: %.3g times what each has alone, %.3g if they are taken for one", groups, balanced, apart)
		if balanced > 2.38 { // 2^(1+1/4): see docs/theory/calibration.md
			t.Errorf("%d groups: noise is %.3g times what it is alone", groups, balanced)
		}
		if groups > 1 && apart < 2.5 {
			t.Errorf("%d groups: without blocks noise is %.3g times what it is alone, and nothing was to be repaired",
				groups, apart)
		}
	}
}

// How far the model may be off is in the units of the request, and no less because blocks have others.
func TestBalanceKeepsTheReachOfAModel(t *testing.T) {
	r := beside(4)
	r.Relaxed = &Relaxed{Nearby: &privacy.Nearby{W: 3, Lambda: .1}, Limit: budget(10, .1)}
	r, err := r.tightened()
	if err != nil {
		t.Fatal(err)
	}
	balanced, err := r.balanced(t.Context().Err)
	if err != nil {
		t.Fatal(err)
	}
	changed := false
	for k := range r.Components {
		changed = changed || balanced.Components[k].Unit != r.Components[k].Unit
		if balanced.reach(k) != r.reach(k) {
			t.Errorf("component %d: a reach of %g, and %g asked for", k, balanced.reach(k), r.reach(k))
		}
	}

	if !changed {
		t.Error("no unit has changed")
	}
}

// The norm of blocks' errors is between the largest and as many times that as its root says; of one block it is its
// error.
func TestBlockSum(t *testing.T) {
	for _, each := range [][]float64{{3}, {0, 0}, {2, 2}, {1, 5, .1}, {math.Inf(1), 1}} {
		got, most := blockSum{each}.total(), 0.0
		for _, v := range each {
			most = math.Max(most, v)
		}
		if got < most || got > most*math.Pow(float64(len(each)), 1.0/blockNorm)*(1+1e-12) {
			t.Errorf("%v: %g", each, got)
		}
	}
}

// The same request as one block, and as several of which each is searched for by itself first.
func BenchmarkBlocks(b *testing.B) {
	for _, m := range []int{16, 100, 1000} {
		for _, blocks := range []int{1, 2, 4} {
			r := wide(m).request(8000, 24_000, budget(1, .001))
			for k := range r.Components {
				r.Components[k].Block = k % blocks
			}
			b.Run(fmt.Sprintf("%d values/%d", m, blocks), func(b *testing.B) {
				for b.Loop() {
					calibrated(b, Auto, r)
				}
			})
		}
	}
}
