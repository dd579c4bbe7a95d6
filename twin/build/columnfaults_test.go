//go:build fuguhooks

package build_test

import (
	"testing"

	"fugu/internal/hook"
	"fugu/test/patient"
	"fugu/twin/build"
)

// The tests of columns find draws that are not fixed for a row: each copy then shows something else, and a twin that is
// made again another value, by which both say more of the row than its channel lets one say.
func TestFaultyColumnsAreFound(t *testing.T) {
	patient.Test(t)
	for name, fault := range map[string]*bool{"anew": &hook.TwinColumnsAnew, "place": &hook.TwinColumnsByPlace} {
		t.Run(name, func(t *testing.T) {
			planted(t, fault)
			w := personsWorld(t, "columns_"+name, 6)
			w.build(build.Options{})
			const copies = `SELECT count(DISTINCT (name, sex)) - count(DISTINCT name) FROM fugu_twin.people`
			if w.one(copies) == "0" {
				t.Error("copies of a row show the same")
			}
			first := w.rows()
			w.build(build.Options{New: true, Reason: "more rows"})
			differ := 0
			for key, row := range w.rows() {
				if other, ok := first[key]; ok && other != row {
					differ++
				}
			}
			if differ == 0 {
				t.Error("rows show the same in both twins")
			}
		})
	}
}

// A channel that is drawn from with half of its noise is not of the law: the test that compares them rejects it.
func TestOtherChannelIsNotFollowed(t *testing.T) {
	patient.Test(t)
	w := personsWorld(t, "columns_other", 7)
	w.build(build.Options{})
	matrix := w.matrix()
	for _, key := range []string{"sex  f", "sex  m"} {
		for value, p := range matrix[key] {
			matrix[key][value] = .5*p + .25
		}
	}
	p, n, _ := follow(matrix, w.showings())
	t.Logf("p = %.3g of %d values", p, n)
	if p > falseAlarm {
		t.Errorf("it passes: p = %g", p)
	}
}

// Draws by a number of the row alone rule out what is true, once its value, its law or the row itself is another.
func TestDrawsByRowAreFound(t *testing.T) {
	patient.Test(t)
	planted(t, &hook.TwinColumnsByRow)
	for name, p := range drawnAnew(t, "columns_byrow") {
		t.Logf("%s: p = %.3g", name, p)
		if p > falseAlarm {
			t.Errorf("%s: it passes: p = %g", name, p)
		}
	}
}
