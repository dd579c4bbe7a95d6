package model_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fugu/model"
	"fugu/planner"
	"fugu/sensitivity"
	"fugu/test/nightly"
	"fugu/test/pgcluster"
	"fugu/upstream"
)

// slopesAt are the secrets whose slopes are looked at, each at its value.
var slopesAt = []struct {
	secret int
	at     float64
	rows   float64 // of two rows more, one with s and one without, those that are in one class of the secret
}{{secretShare, .3, 1}, {secretMean, 140, 2}}

// slopesOf returns the slopes of those secrets, and how far a row that the reference has not may move them.
func slopesOf(m *model.Moments) (slopes [][]float64, bounds []sensitivity.Shift) {
	for _, s := range slopesAt {
		path := m.Paths(s.secret, psi)[0]
		slopes, bounds = append(slopes, path.Slope(s.at)), append(bounds, path.Unseen(s.at))
	}
	return slopes, bounds
}

// A row more in each class of the reference, wherever it falls, changes the slopes by no more than Unseen and Beside
// say, in whatever units the norms are taken; and Unseen is not much too large. Cells of one grouping set share the
// row, those of several sets and the aggregates of one cell all have it.
func TestARowMoreChangesTheSlopesByNoMore(t *testing.T) {
	if testing.Short() {
		t.Skip("takes longer than a save")
	}
	all, reader, table := people(t, 500)
	for name, sql := range map[string]string{
		"groups": "SELECT k, g, count(*), sum(x), sum(y) FROM people GROUP BY k, g",
		"sets":   "SELECT k, g, count(*), sum(x) FROM people GROUP BY GROUPING SETS ((k, g), (g), ())",
		"signs":  "SELECT g, sum(CASE WHEN x < 2 THEN -1 ELSE 1 END) FROM people GROUP BY g",
		"one":    "SELECT count(*), sum(x) FROM people WHERE x > 9",
		"mixed":  "SELECT count(*), sum(CASE WHEN x < 2 THEN -1 ELSE 1 END) FROM people WHERE x > 1",
	} {
		t.Run(name, func(t *testing.T) {
			_, m := measure(t, reader, table, sql)
			before, bounds := slopesOf(m)
			r := rand.New(rand.NewPCG(31, 32))
			reached := make([]float64, len(slopesAt))
			for range nightly.Or(60, 25) {
				var after [][]float64
				withTwoMore(t, r, all, func() {
					_, m := measure(t, reader, table, sql)
					after, _ = slopesOf(m)
				})
				for i, bound := range bounds {
					share := reach(t, r, before[i], after[i], bound, slopesAt[i].rows)
					reached[i] = math.Max(reached[i], share)
				}
			}

			t.Logf("rows reach %.2f of the bounds", reached)
			if slices.Min(reached) < .25 {
				t.Errorf("rows reach %.2f of the bounds only", reached)
			}
		})
	}
}

// withTwoMore runs f while the reference has a row more with s and one without. What is summed of them is the least or
// the greatest that it has.
func withTwoMore(t *testing.T, r *rand.Rand, all []person, f func()) {
	t.Helper()
	low, high := all[0], all[0]
	for _, p := range all {
		low.x, low.y = math.Min(low.x, p.x), math.Min(low.y, p.y)
		high.x, high.y = math.Max(high.x, p.x), math.Max(high.y, p.y)
	}

	c := pgcluster.Shared(t)
	for class := range 2 {
		p := person{s: class == 1, k: []string{"u", "v", "w"}[r.IntN(3)], g: []string{"a", "b"}[r.IntN(2)],
			x: low.x, y: low.y}
		if r.IntN(3) > 0 {
			p.x = high.x
		}
		if r.IntN(2) > 0 {
			p.y = high.y
		}
		// Its class has a row more: the mean of the secret is that of all rows, of which the reference has two more.
		insert := fmt.Sprintf("INSERT INTO people VALUES (%v,'%s','%s',%g,%g)", p.s, p.k, p.g, p.x, p.y)
		if err := c.Exec(t.Context(), "postgres", insert); err != nil {
			t.Fatal(err)
		}
	}
	f()

	const remove = "DELETE FROM people WHERE ctid IN (SELECT ctid FROM people ORDER BY ctid DESC LIMIT 2)"
	if err := c.Exec(t.Context(), "postgres", remove); err != nil {
		t.Fatal(err)
	}
}

// reach fails if slopes have changed by more than a bound allows so many rows, in the units of twenty draws, and
// returns the largest share of it that they reach by Norm1.
func reach(t *testing.T, r *rand.Rand, before, after []float64, bound sensitivity.Shift, rows float64) (share float64) {
	t.Helper()
	for draw := range 20 {
		scale := make([]float64, len(before))
		one, two := 0.0, 0.0
		for k := range scale {
			scale[k] = math.Exp(3 * r.NormFloat64())
			if draw == 0 {
				scale[k] = 1 + math.Abs(before[k])
			}
			v := (after[k] - before[k]) / scale[k]
			one, two = one+math.Abs(v), two+v*v
		}

		if most := rows * bound.Norm1(scale); one > most*(1+1e-9) {
			t.Fatalf("%g rows: the slopes change by %g, at most %g by Norm1", rows, one, most)
		}
		if most := rows * bound.Norm2(scale); math.Sqrt(two) > most*(1+1e-9) {
			t.Fatalf("%g rows: the slopes change by %g, at most %g by Norm2", rows, math.Sqrt(two), most)
		}
		share = math.Max(share, one/rows/bound.Norm1(scale))
	}
	return share
}

// unseenRows asks what rows a class has not shown may do to answers about people.
type unseenRows struct {
	*testing.T
	reader *upstream.Reader
	table  *planner.Table
}

// of returns by class of the secret how many rows cells share, and all that the rows may do.
func (u unseenRows) of(sql string) (rows []int, s sensitivity.Shift) {
	u.Helper()
	_, m := measure(u.T, u.reader, u.table, sql)
	shifts, err := m.Shifts(secretShare, psi, 0)
	if err != nil {
		u.Fatal(err)
	}
	for _, class := range shifts[0].Unseen {
		rows = append(rows, class.Rows)
	}
	return rows, shifts[0]
}

// expect holds the numbers of rows to those wanted.
func (u unseenRows) expect(what, sql string, want ...int) {
	u.Helper()
	if got, _ := u.of(sql); !slices.Equal(got, want) {
		u.Errorf("%s: %v unseen rows, want %v", what, got, want)
	}
}

// Disjoint cells share the rows that a class has not shown: one of them, and where cells were seen once and others
// never, as many as the lesser of both. Grouping sets do not share them, nor has a single cell anything to share.
func TestCellsShareUnseenRows(t *testing.T) {
	_, reader, table := people(t, 500)
	c := pgcluster.Shared(t)
	for _, g := range "cdefghij" {
		table.Domains["g"] = append(table.Domains["g"], planner.Value{Text: string(g)})
	}
	u := unseenRows{t, reader, table}

	// A class shows itself in one cell after another, and in one of them twice.
	const grouped = "SELECT g, count(*), sum(y) FROM people GROUP BY g"
	u.expect("two full cells and eight empty ones", grouped, 1, 1)
	for i, g := range "cde" {
		insert := fmt.Sprintf("INSERT INTO people VALUES (true, 'u', '%c', 5, 5)", g)
		if err := c.Exec(t.Context(), "postgres", insert); err != nil {
			t.Fatal(err)
		}
		u.expect("cells seen once", grouped, 1, i+1)
	}
	u.expect("of several sets each", "SELECT g, k, count(*) FROM people GROUP BY GROUPING SETS ((g), (k))", 1, 1, 3, 1)
	u.expect("no cell without a row", `SELECT g, count(*)
		FROM people WHERE g IN ('a', 'b', 'c', 'd', 'e') AND (s OR g < 'c') GROUP BY g`, 1, 1)
	u.expect("a FILTER beside, of which the class has no row", `SELECT g, count(*), count(*) FILTER (WHERE NOT s)
		FROM people WHERE g IN ('a', 'b', 'c', 'd', 'e') AND (s OR g < 'c') GROUP BY g`, 1, 1, 1)
	if err := c.Exec(t.Context(), "postgres", "INSERT INTO people VALUES (true, 'u', 'e', 6, 6)"); err != nil {
		t.Fatal(err)
	}
	u.expect("a cell seen twice", grouped, 1, 2)

	u.checkSigns(grouped)
	u.checkSingleCells()
}

// checkSigns holds what is said of signs to what is known: classes whose shares grow and shrink move a count in
// opposite ways; a sum of values of either sign says nothing of it.
func (u unseenRows) checkSigns(grouped string) {
	u.Helper()
	_, s := u.of(grouped)
	for i, class := range s.Unseen {
		for j, k := range class.At { // each cell has two components, those of a and b come first
			if want := k < 4 || i == 1 && k < 10; class.Shown[j] != want {
				u.Errorf("class %d: component %d of a cell that is shown: %v", i, k, class.Shown[j])
			}
		}
	}
	if s.Unseen[0].Sign != -1 || s.Unseen[1].Sign != 1 {
		u.Errorf("signs %d and %d of counts and of sums of what is not negative", s.Unseen[0].Sign, s.Unseen[1].Sign)
	}

	_, s = u.of("SELECT g, sum(CASE WHEN x < 2 THEN -1 ELSE 1 END) FROM people GROUP BY g")
	if s.Unseen[0].Sign != 0 {
		u.Errorf("a sign of %d of sums of either", s.Unseen[0].Sign)
	}
	_, s = u.of("SELECT g, avg(y) FROM people GROUP BY g")
	if len(s.Unseen) > 0 && s.Unseen[0].Sign != 0 {
		u.Errorf("a sign of %d of averages", s.Unseen[0].Sign)
	}
}

// checkSingleCells looks for the row that a single cell has not shown, which is in Beside alone; what it may do to a
// count is the same where an average stands beside it.
func (u unseenRows) checkSingleCells() {
	u.Helper()
	want := psi.Spans[0].Within * 500 * (1. / 304) // the other class has 900, and moves it back
	got, s := u.of("SELECT count(*) FROM people WHERE x > 1000")
	if len(got) > 0 || math.Abs(s.Beside[0]-want) > 1e-9 {
		u.Errorf("a single cell: %+v", s)
	}

	_, alone := u.of("SELECT count(*) FROM people WHERE x > 9")
	_, beside := u.of("SELECT avg(x), count(*) FROM people WHERE x > 9")
	as := func(v float64) bool { return math.Abs(v-alone.Beside[0]) <= 1e-9*v }
	if len(beside.Beside) != 2 || !slices.ContainsFunc(beside.Beside, as) {
		u.Errorf("a count moves by %g at most, beside an average by %g", alone.Beside, beside.Beside)
	}
}

// Cells of linked rows share none: a row of the root that was not seen may have rows in each of them.
func TestLinkedCellsShareNoUnseenRows(t *testing.T) {
	_, reader, _ := people(t, 500)
	root := linked(t)
	if err := pgcluster.Shared(t).Exec(t.Context(), "postgres", `DROP TABLE IF EXISTS root, visit;
		CREATE TABLE root (id int, s bool); CREATE TABLE visit (person int, kind text);
		INSERT INTO root SELECT i, i % 3 = 0 FROM generate_series(1, 200) AS i;
		INSERT INTO visit SELECT i, 'in' FROM generate_series(1, 100) AS i`); err != nil {
		t.Fatal(err)
	}

	cut, m := measureIn(t, reader, root, "SELECT kind, count(*) FROM visit GROUP BY kind")
	shifts, err := m.Shifts(0, model.Psi{Name: "s", Spans: psi.Spans}, 0)
	if err != nil || len(cut.Cells) != 2 || len(shifts[0].Unseen) > 0 || !(shifts[0].Beside[1] > 0) {
		t.Errorf("linked rows: %+v, %v", shifts, err)
	}
}
