package model_test

import (
	"fmt"
	"testing"

	"fugu/test/pgcluster"
)

// What a row of the root adds to a group is kept within what the reference shows of that grouping set: of the visits of
// one person, two of a kind and four in all. A person with ten more of a kind, of whom the reference knows nothing,
// adds two and four.
func TestLimitsOfGroupingSets(t *testing.T) {
	_, reader, _ := people(t, 500)
	c := pgcluster.Shared(t)
	if err := c.Exec(t.Context(), "postgres", `DROP TABLE IF EXISTS root, visit;
		CREATE TABLE root AS SELECT i AS id, i % 3 = 0 AS s FROM generate_series(0, 199) i;
		CREATE TABLE visit AS SELECT i AS person, (ARRAY['in', 'out'])[1 + (i + v) % 2] AS kind
			FROM generate_series(0, 199) i, generate_series(1, i % 5) v`); err != nil {
		t.Fatal(err)
	}

	const sql = "SELECT kind, count(*) FROM visit GROUP BY GROUPING SETS ((kind), ())"
	b, m := measureIn(t, reader, linked(t), sql)
	limits := m.Limits()
	for set, keys := range b.Sets {
		most := []string{"4", "2"}[len(keys)]
		if of := limits[0].Sets[b.LimitSet(set)]; of.High.RatString() != most || of.Low.Sign() != 0 {
			t.Errorf("set %d has limits %s and %s, want 0 and %s", set, of.Low.RatString(), of.High.RatString(), most)
		}
	}

	if h := limits[0].High.RatString(); h != "4" {
		t.Errorf("of all sets it is %s", h)
	}

	if err := c.Exec(t.Context(), "postgres",
		"INSERT INTO visit SELECT 5, 'in' FROM generate_series(1, 10)"); err != nil {
		t.Fatal(err)
	}
	arguments, types := b.Arguments(limits)
	rows, err := reader.Query(t.Context(), b.Statistics(), arguments, types)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"in": 2, "out": 0, "": 4} // of person 5, who had no visit
	for i := range 200 {
		for v := 1; v <= i%5; v++ {
			want[[]string{"in", "out"}[(i+v)%2]]++
			want[""]++
		}
	}

	if len(rows) == 0 {
		t.Fatal("no rows")
	}
	for _, row := range rows {
		if got := row[2].Text; got != fmt.Sprint(want[row[0].Text]) {
			t.Errorf("%q of set %s has %s, want %d", row[0].Text, row[1].Text, got, want[row[0].Text])
		}
	}
}
