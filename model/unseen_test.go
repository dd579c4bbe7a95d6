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
	"fugu/test/pgcluster"
)

// A row more in each class of the reference, wherever it falls, changes the slopes by no more than Unseen and Beside
// say, in whatever units the norms are taken; and Unseen is not much too large. Cells of one grouping set share the
// row, those of several sets and the aggregates of one cell all have it.
func TestARowMoreChangesTheSlopesByNoMore(t *testing.T) {
	if testing.Short() {
		t.Skip("takes longer than a save")
	}
	all, reader, table := people(t, 500)
	c := pgcluster.Shared(t)
	secrets := []struct {
		secret int
		at     float64
	}{{secretShare, .3}, {secretMean, 140}}
	for name, sql := range map[string]string{
		"groups": "SELECT k, g, count(*), sum(x), sum(y) FROM people GROUP BY k, g",
		"sets":   "SELECT k, g, count(*), sum(x) FROM people GROUP BY GROUPING SETS ((k, g), (g), ())",
		"signs":  "SELECT g, sum(CASE WHEN x < 2 THEN -1 ELSE 1 END) FROM people GROUP BY g",
		"one":    "SELECT count(*), sum(x) FROM people WHERE x > 9",
		"mixed":  "SELECT count(*), sum(CASE WHEN x < 2 THEN -1 ELSE 1 END) FROM people WHERE x > 1",
	} {
		t.Run(name, func(t *testing.T) {
			slopes := func() (out [][]float64) {
				_, m := measure(t, reader, table, sql)
				for _, s := range secrets {
					out = append(out, m.Paths(s.secret, psi)[0].Slope(s.at))
				}
				return out
			}
			before := slopes()
			_, m := measure(t, reader, table, sql)
			var bounds []sensitivity.Shift
			for _, s := range secrets {
				bounds = append(bounds, m.Paths(s.secret, psi)[0].Unseen(s.at))
			}
			low, high := all[0], all[0]
			for _, p := range all {
				low.x, high.x, low.y, high.y = math.Min(low.x, p.x), math.Max(high.x, p.x), math.Min(low.y, p.y),
					math.Max(high.y, p.y)
			}
			r := rand.New(rand.NewPCG(31, 32))
			reached := make([]float64, len(secrets))
			for range 60 {
				for class := range 2 {
					p := person{s: class == 1, k: []string{"u", "v", "w"}[r.IntN(3)], g: []string{"a", "b"}[r.IntN(2)],
						x: low.x, y: low.y}
					if r.IntN(3) > 0 {
						p.x = high.x
					}
					if r.IntN(2) > 0 {
						p.y = high.y
					}
					// Its class has a row more: the mean of the secret is that of all rows, of which the reference has
					// two more.
					if err := c.Exec(t.Context(), "postgres", fmt.Sprintf("INSERT INTO people VALUES "+
						"(%v,'%s','%s',%g,%g)", p.s, p.k, p.g, p.x, p.y)); err != nil {
						t.Fatal(err)
					}
				}
				after := slopes()
				if err := c.Exec(t.Context(), "postgres", "DELETE FROM people WHERE ctid IN (SELECT ctid FROM people "+
					"ORDER BY ctid DESC LIMIT 2)"); err != nil {
					t.Fatal(err)
				}
				for i, bound := range bounds {
					rows := 1.0
					if secrets[i].secret == secretMean { // of which both are in the one class
						rows = 2
					}
					for draw := range 20 {
						scale := make([]float64, len(before[i]))
						one, two := 0.0, 0.0
						for k := range scale {
							scale[k] = math.Exp(3 * r.NormFloat64())
							if draw == 0 {
								scale[k] = 1 + math.Abs(before[i][k])
							}
							v := (after[i][k] - before[i][k]) / scale[k]
							one, two = one+math.Abs(v), two+v*v
						}
						if most := rows * bound.Norm1(scale); one > most*(1+1e-9) {
							t.Fatalf("%v: the slopes change by %g, at most %g by Norm1", secrets[i], one, most)
						}
						if most := rows * bound.Norm2(scale); math.Sqrt(two) > most*(1+1e-9) {
							t.Fatalf("%v: the slopes change by %g, at most %g by Norm2", secrets[i], math.Sqrt(two),
								most)
						}
						reached[i] = math.Max(reached[i], one/rows/bound.Norm1(scale))
					}
				}
			}
			t.Logf("rows reach %.2f of the bounds", reached)
			if slices.Min(reached) < .25 {
				t.Errorf("rows reach %.2f of the bounds only", reached)
			}
		})
	}
}

// Disjoint cells share the rows that a class has not shown: one of them, and where cells were seen once and others
// never, as many as the lesser of both. Grouping sets do not share them, nor do linked rows, nor has a single cell
// anything to share.
func TestCellsShareUnseenRows(t *testing.T) {
	_, reader, table := people(t, 500)
	c := pgcluster.Shared(t)
	for _, g := range "cdefghij" {
		table.Domains["g"] = append(table.Domains["g"], planner.Value{Text: string(g)})
	}
	rows := func(sql string) (out []int, s sensitivity.Shift) {
		_, m := measure(t, reader, table, sql)
		shifts, err := m.Shifts(secretShare, psi, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range shifts[0].Unseen {
			out = append(out, u.Rows)
		}
		return out, shifts[0]
	}
	expect := func(what, sql string, want ...int) {
		t.Helper()
		if got, _ := rows(sql); !slices.Equal(got, want) {
			t.Errorf("%s: %v unseen rows, want %v", what, got, want)
		}
	}
	const grouped = "SELECT g, count(*), sum(y) FROM people GROUP BY g"
	expect("two full cells and eight empty ones", grouped, 1, 1)
	for i, g := range "cde" {
		if err := c.Exec(t.Context(), "postgres", fmt.Sprintf("INSERT INTO people VALUES (true, 'u', '%c', 5, 5)",
			g)); err != nil {
			t.Fatal(err)
		}
		expect("cells seen once", grouped, 1, i+1)
	}
	expect("of several sets each", "SELECT g, k, count(*) FROM people GROUP BY GROUPING SETS ((g), (k))", 1, 1, 3, 1)
	expect("no cell without a row", "SELECT g, count(*) FROM people WHERE g IN ('a', 'b', 'c', 'd', 'e') AND (s "+
		"OR g < 'c') GROUP BY g", 1, 1)
	expect("a FILTER beside, of which the class has no row", `SELECT g, count(*), count(*) FILTER (WHERE NOT s)
		FROM people WHERE g IN ('a', 'b', 'c', 'd', 'e') AND (s OR g < 'c') GROUP BY g`, 1, 1, 1)
	if err := c.Exec(t.Context(), "postgres", "INSERT INTO people VALUES (true, 'u', 'e', 6, 6)"); err != nil {
		t.Fatal(err)
	}
	expect("a cell seen twice", grouped, 1, 2)

	// Classes whose shares grow and shrink move a count in opposite ways; a sum of values of either sign says nothing
	// of it.
	_, s := rows("SELECT g, count(*), sum(y) FROM people GROUP BY g")
	for i, u := range s.Unseen {
		for j, k := range u.At { // each cell has two components, those of a and b come first
			if want := k < 4 || i == 1 && k < 10; u.Shown[j] != want {
				t.Errorf("class %d: component %d of a cell that is shown: %v", i, k, u.Shown[j])
			}
		}
	}
	if s.Unseen[0].Sign != -1 || s.Unseen[1].Sign != 1 {
		t.Errorf("signs %d and %d of counts and of sums of what is not negative", s.Unseen[0].Sign, s.Unseen[1].Sign)
	}
	if _, s := rows("SELECT g, sum(CASE WHEN x < 2 THEN -1 ELSE 1 END) FROM people GROUP BY g"); s.Unseen[0].Sign != 0 {
		t.Errorf("a sign of %d of sums of either", s.Unseen[0].Sign)
	}
	if _, s := rows("SELECT g, avg(y) FROM people GROUP BY g"); len(s.Unseen) > 0 && s.Unseen[0].Sign != 0 {
		t.Errorf("a sign of %d of averages", s.Unseen[0].Sign)
	}
	want := psi.Spans[0].Within * 500 * (1. / 304) // the other class has 900, and moves it back
	if got, s := rows("SELECT count(*) FROM people WHERE x > 1000"); len(got) > 0 || math.Abs(s.Beside[0]-want) > 1e-9 {
		t.Errorf("a single cell: %+v", s)
	}
	_, alone := rows("SELECT count(*) FROM people WHERE x > 9")
	_, beside := rows("SELECT avg(x), count(*) FROM people WHERE x > 9")
	as := func(v float64) bool { return math.Abs(v-alone.Beside[0]) <= 1e-9*v }
	if len(beside.Beside) != 2 || !slices.ContainsFunc(beside.Beside, as) {
		t.Errorf("a count moves by %g at most, beside an average by %g", alone.Beside, beside.Beside)
	}
	root := linked(t)
	if err := c.Exec(t.Context(), "postgres", `DROP TABLE IF EXISTS root, visit;
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
