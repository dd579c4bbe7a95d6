//go:build fuguhooks

package model_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fugu/internal/hook"
	"fugu/model"
	"fugu/sensitivity"
	"fugu/test/pgcluster"
	"fugu/upstream"
)

// hundred is how many kinds of visits there are in the law of TestKindsThatNobodyOfTheReferenceHas.
const hundred = 100

// guest is a row of the root with the kinds of its visits; a kind may stand there several times.
type guest struct {
	s     bool
	kinds []int
}

// drawGuest draws one. With the secret property they have visits of two kinds of a hundred, of each one or two; without
// it one in ten has a visit, so that a guest counts once at most.
func drawGuest(r *rand.Rand, s bool) guest {
	g := guest{s: s}
	switch {
	case s:
		for range 2 {
			kind := r.IntN(hundred)
			for range 1 + r.IntN(2) {
				g.kinds = append(g.kinds, kind)
			}
		}
	case r.IntN(10) == 0:
		g.kinds = []int{r.IntN(hundred)}
	}
	return g
}

// Somebody who knows the reference counts visits of the kinds that nobody with the secret property has there. Nearly
// everybody is alone with the list of their kinds, so that it was safe to take these lists for what tells rows apart;
// it is enough to ask how many have a kind that nobody else has. Over 40 references the secret moves the count by no
// more, on average, than is hidden. Everything is drawn from fixed seeds.
func TestKindsThatNobodyOfTheReferenceHas(t *testing.T) {
	defended, moves := fittedKinds(t)
	hook.Unlooked = true
	defer func() { hook.Unlooked = false }()
	open, _ := fittedKinds(t)
	t.Logf("the count moves by %.2f on average; %.2f is hidden, and %.2f without the defence", moves, defended, open)
	if open > moves/3 {
		t.Errorf("%.2f of %.2f is hidden with the defence off: it is no test of it", open, moves)
	}
	if defended < moves {
		t.Errorf("%.2f is hidden of a movement by %.2f", defended, moves)
	}
	if defended > 1.7*moves {
		t.Errorf("%.2f is hidden of a movement by %.2f: by lists of kinds it would be as much", defended, moves)
	}
}

// fittedKinds is what is hidden of such a statement, and by how much the secret moves it, over the references.
func fittedKinds(t *testing.T) (hidden, moves float64) {
	t.Helper()
	const references = 40
	_, reader, _ := people(t, 500)
	for seed := range uint64(references) {
		r := rand.New(rand.NewPCG(seed, 26))
		var guests []guest
		seen := map[int]bool{}
		for i := range 260 {
			g := drawGuest(r, i < 60)
			for _, k := range g.kinds {
				seen[k] = seen[k] || g.s
			}
			guests = append(guests, g)
		}
		invite(t, guests)

		chosen := map[int]bool{}
		for k := range hundred {
			if !seen[k] {
				chosen[k] = true
			}
		}
		m, shift := countKinds(t, reader, chosen)
		high, _ := m.Limits()[0].High.Float64()
		hidden += (math.Abs(shift.Along[0]) + shift.Box()[0]) / references
		moves += 500 * psi.Spans[0].Within * meanMovement(r, chosen, high) / references
	}
	return hidden, moves
}

// invite makes guests the reference.
func invite(t *testing.T, guests []guest) {
	t.Helper()
	var roots, visits []string
	for i, g := range guests {
		roots = append(roots, fmt.Sprintf("(%d,%t)", i, g.s))
		for _, k := range g.kinds {
			visits = append(visits, fmt.Sprintf("(%d,'%d')", i, k))
		}
	}
	sql := "DROP TABLE IF EXISTS root, visit; CREATE TABLE root (id int, s bool); INSERT INTO root VALUES " +
		strings.Join(roots, ",") + "; CREATE TABLE visit (person int, kind text); INSERT INTO visit VALUES " +
		strings.Join(visits, ",")
	if err := pgcluster.Shared(t).Exec(t.Context(), "postgres", sql); err != nil {
		t.Fatal(err)
	}
}

// countKinds measures the number of visits of some kinds.
func countKinds(t *testing.T, reader *upstream.Reader, kinds map[int]bool) (*model.Moments, sensitivity.Shift) {
	t.Helper()
	var list []string
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		list = append(list, fmt.Sprintf("'%d'", k))
	}
	_, m := measureIn(t, reader, linked(t),
		"SELECT count(*) FROM visit WHERE kind IN ("+strings.Join(list, ",")+")")
	shifts, err := m.Shifts(0, model.Psi{Name: "s", Spans: psi.Spans}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return m, shifts[0]
}

// Where there are more kinds than a single table could have with nobody alone, sums over a row's visits can be fitted
// to the errors of every row by itself, though hardly anybody has a kind alone: as many standard errors are hidden as
// lists of kinds ask for. Of few kinds, which all have, none are.
func TestManyKindsFitEveryRow(t *testing.T) {
	_, reader, _ := people(t, 500)
	errors := func(kinds int) float64 {
		r := rand.New(rand.NewPCG(1, 27))
		chosen := map[int]bool{}
		for k := 0; k < kinds; k += 2 {
			chosen[k] = true
		}
		var guests []guest
		for i := range 200 {
			g := guest{s: i < 60}
			for range 8 {
				g.kinds = append(g.kinds, r.IntN(kinds))
			}
			guests = append(guests, g)
		}
		invite(t, guests)
		_, shift := countKinds(t, reader, chosen)
		return shift.Beside[0] / shift.Error[0]
	}
	if few, many := errors(10), errors(120); few > 2 || many < 9 {
		t.Errorf("beside the direction there are %.1f standard errors of few kinds, and %.1f of many", few, many)
	}
}

// meanMovement is by how much the mean of one row changes with the property, as 20,000 draws of each kind show it.
func meanMovement(r *rand.Rand, chosen map[int]bool, high float64) float64 {
	const draws = 20000
	mean := map[bool]float64{}
	for _, s := range []bool{false, true} {
		for range draws {
			counted := 0.0
			for _, k := range drawGuest(r, s).kinds {
				if chosen[k] {
					counted++
				}
			}
			mean[s] += math.Min(counted, high) / draws
		}
	}
	return math.Abs(mean[true] - mean[false])
}
