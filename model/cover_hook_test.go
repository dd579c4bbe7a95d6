//go:build fuguhooks

package model_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fugu/internal/hook"
	"fugu/model"
)

// Who knows the reference asks for the rows inside the predicate whose x none of its own has: the reference shows no
// movement, and most of the class moves. The text has to say which values these are, and is paid for; where texts are
// not paid for, the promise fails for every reference. 20 references at a delta of 1e-8 miss with a chance of 2e-7 at
// most.
func TestCoverHoldsForWhoKnowsTheReference(t *testing.T) {
	const n, delta, values = 20, 1e-8, 600
	_, reader, table := people(t, 250)
	totals, err := model.CountClasses(t.Context(), reader, table)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 16))
	missed := map[bool]int{}
	for range n {
		// The law: 150 rows inside the predicate and 450 outside, x uniform in both.
		seen := map[int]bool{}
		var class, cell []int
		x := make([]float64, 600)
		for i := range x {
			v := r.IntN(values)
			if x[i] = float64(v); i < 150 {
				class, seen[v] = append(class, 1), true
			} else {
				class = append(class, 0)
			}
			cell = append(cell, -1) // no row of the reference is selected
		}
		var chosen []string
		for v := range values {
			if !seen[v] {
				chosen = append(chosen, fmt.Sprint(v))
			}
		}
		b := bind(t, reader, table, "SELECT count(*) FROM people WHERE s AND x IN ("+strings.Join(chosen, ", ")+")")
		m, err := model.Measure(t.Context(), reader, b, totals)
		if err != nil {
			t.Fatal(err)
		}
		m = m.Redrawn(secretShare, class, cell, x)
		m.Cover(delta)

		moved := []float64{250 * .05 * float64(len(chosen)) / values}
		for _, hook.UnpaidTexts = range []bool{false, true} {
			s, err := m.Shifts(secretShare, share, 0)
			if err != nil {
				t.Fatal(err)
			}
			if !covers(s[0], moved) {
				missed[hook.UnpaidTexts]++
			}
		}
		hook.UnpaidTexts = false
	}
	if missed[false] > 0 {
		t.Errorf("%d of %d chosen statements move farther than is promised", missed[false], n)
	}
	if missed[true] < n {
		t.Errorf("where texts are not paid for %d of %d chosen statements are covered: nothing is tested",
			n-missed[true],
			n)
	}
}
