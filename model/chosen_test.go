package model_test

import (
	"context"
	"slices"
	"testing"

	"fugu/model"
	"fugu/planner"
)

// asked counts what a reader is asked.
type asked struct {
	planner.Querier
	n int
}

func (a *asked) Query(ctx context.Context, sql string, params [][]byte, types []uint32) ([][]planner.Value, error) {
	a.n++
	return a.Querier.Query(ctx, sql, params, types)
}

// Rows that are alone with their values are counted right, and once for each set of columns, whatever the constants
// are.
func TestRowsAlone(t *testing.T) {
	rows, reader, table := fixture(t)
	type value struct {
		secret, null bool
		x            float64
	}
	groups := map[value]int{}
	for _, r := range rows {
		v := value{r.secret, r.null, r.x}
		if r.null {
			v.x = 0
		}
		groups[v]++
	}

	want := []float64{0, 0} // outside the predicate, inside
	for v, n := range groups {
		if n == 1 && v.secret {
			want[1]++
		} else if n == 1 {
			want[0]++
		}
	}

	if want[0]+want[1] == 0 {
		t.Fatal("no row is alone, and nothing is tested")
	}
	totals, err := model.CountClasses(t.Context(), reader, table)
	if err != nil {
		t.Fatal(err)
	}
	for i, constant := range []string{"12", "13", "14"} {
		b := bind(t, reader, table, "SELECT count(*) FROM ref WHERE x > "+constant)
		ref := &asked{Querier: reader}
		if _, err := model.Measure(t.Context(), ref, b, totals); err != nil {
			t.Fatal(err)
		}
		if most := 3 - 2*min(i, 1); ref.n != most { // the moments, and at first the rows alone, in all and by class
			t.Errorf("statement %d asked the reference %d times, want %d", i, ref.n, most)
		}
		got, err := b.Alone(t.Context(), ref, 0, chosen(t, reader, b, 1000).Choices[0].Apart)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v rows are alone in the classes, %v; want %v", got, err, want)
		}
	}
}

// A null test tells of a column whether it is NULL, and no more, so that few rows are alone; beside another condition
// on the column its values tell rows apart all the same.
func TestNullTestsTellNoValues(t *testing.T) {
	rows, reader, table := fixture(t)
	nulls := 0
	for _, r := range rows {
		if r.null {
			nulls++
		}
	}
	if nulls < 10 || nulls > len(rows)-10 {
		t.Fatalf("%d of %d rows are NULL, and nothing is tested", nulls, len(rows))
	}
	alone := func(sql string) []float64 {
		t.Helper()
		b := bind(t, reader, table, sql)
		n, err := b.Alone(t.Context(), reader, 0, chosen(t, reader, b, 1000).Choices[0].Apart)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, sql := range []string{"SELECT count(*) FROM ref WHERE x IS NULL",
		"SELECT count(*) FILTER (WHERE x::float8 IS NOT NULL) FROM ref",
		"SELECT x IS NULL, count(*) FROM ref GROUP BY 1"} {
		if got := alone(sql); slices.Max(got) > 0 {
			t.Errorf("%s: %v rows are alone by being NULL", sql, got)
		}
	}
	by := alone("SELECT count(*) FROM ref WHERE x > 12")
	for _, sql := range []string{"SELECT count(*) FROM ref WHERE x IS NULL OR x > 12",
		"SELECT count(*) FROM ref WHERE x + 1 IS NULL", "SELECT count(*) FROM ref WHERE nullif(x, 12) IS NULL"} {
		if got := alone(sql); !slices.Equal(got, by) {
			t.Errorf("%s: %v rows are alone, want %v", sql, got, by)
		}
	}
}

// A value is charged for the text that it depends on, and neither for what other values are of nor for other grouping
// sets' keys.
func TestTextsOfValues(t *testing.T) {
	_, reader, table := fixture(t)
	of := func(sql string) (nats []float64) {
		b := bind(t, reader, table, sql)
		of := chosen(t, reader, b, 1000)
		for cell := range b.Cells {
			for a := range b.Aggregates {
				nats = append(nats, of.Choices[of.Of(cell, a)].Nats)
			}
		}

		slices.Sort(nats)
		return nats
	}
	alone := of("SELECT count(*) FILTER (WHERE x > 12) FROM ref")[0]
	if alone <= 1 {
		t.Fatalf("a condition takes %g nats", alone)
	}
	if got := of("SELECT sum(x), count(*) FILTER (WHERE x > 12) FROM ref"); !slices.Equal(got, []float64{0, alone}) {
		t.Errorf("a sum and a filtered count take %v nats, want 0 and %g", got, alone)
	}
	if got := of("SELECT avg(x) FILTER (WHERE x > 12), sum(x) FILTER (WHERE x > 12) FROM ref"); !slices.Equal(got,
		[]float64{alone, alone}) {
		t.Errorf("two values of one condition take %v nats, want %g", got, alone)
	}

	total := of("SELECT sum(x) FROM ref")[0]
	sets := of("SELECT sum(x) FROM ref GROUP BY GROUPING SETS ((CASE WHEN x > 12 THEN true ELSE false END), ())")
	if sets[0] != total || sets[len(sets)-1] <= alone {
		t.Errorf("the values of two grouping sets take %v nats; the total %g alone", sets, total)
	}
}
