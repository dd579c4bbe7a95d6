package model_test

import (
	"math"
	"testing"

	"fugu/model"
	"fugu/sqlstate"
	"fugu/test/pgcluster"
)

// The terms of a sum are what each row of the reference adds to it. A reference one row of which is in another place
// than when the policy was loaded is refused: that row's terms would be counted as another row's.
func TestTermsAreOfTheRowsThatWereThere(t *testing.T) {
	all, reader, table := people(t, 5000)
	places, err := model.ReadPlaces(t.Context(), reader, table)
	if err != nil {
		t.Fatal(err)
	}
	_, m := measure(t, reader, table, "SELECT sum(y) FROM people")
	terms, err := m.Terms(t.Context(), reader, places, m.Totals(0))
	if err != nil {
		t.Fatal(err)
	}
	got, want := 0., 0.
	for _, v := range terms.Combined([]float64{1}) {
		got += v
	}
	for _, p := range all {
		want += p.y
	}
	if terms.Rows() != len(all) || math.Abs(got-want) > 1e-9*want {
		t.Errorf("%d terms add up to %v, and %d rows to %v", terms.Rows(), got, len(all), want)
	}

	const moved = "UPDATE people SET y = y WHERE ctid = (SELECT min(ctid) FROM people)"
	if err := pgcluster.Shared(t).Exec(t.Context(), "postgres", moved); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Terms(t.Context(), reader, places, m.Totals(0)); !sqlstate.Is(err, sqlstate.ModelUnfit) {
		t.Errorf("a row is in another place, and its terms are taken: %v", err)
	}
}
