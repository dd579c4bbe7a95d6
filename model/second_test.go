package model_test

import (
	"math"
	"testing"

	"fugu/model"
	"fugu/sqlstate"
)

// flat are the rows of pairs with a group d, in which x is the same in every row, and y in none.
func flat() []pair {
	rows := pairs()
	for i := range rows {
		if i%3 == 0 {
			rows[i].g, rows[i].x, rows[i].null = "d", 7, true
		}
	}
	return append(rows, pair{g: "z", x: 1000}, pair{g: "z", x: 1001}) // of which the table has 3.3
}

// What the reference cannot speak of is left out, in the cell where it cannot.
func TestWhatSecondMomentsNeed(t *testing.T) {
	rows := flat()
	reader, table := reference(t, rows)
	cut, m := measure(t, reader, table, "SELECT g, count(*), avg(x), stddev(x), corr(y, x), regr_count(y, x), "+
		"regr_sxx(y, x), regr_avgx(y, x) FROM ref GROUP BY g")
	got := map[string]string{}
	for k, c := range m.Components {
		key := cut.Cells[c.Cell].Keys[0].Text
		got[key] += cut.Aggregates[c.Aggregate].Name + " "
		v, _ := m.Typical(k).Float64()
		in := rows[:0:0]
		for _, r := range rows {
			if r.g == key {
				in = append(in, r)
			}
		}

		switch name := cut.Aggregates[c.Aggregate].Name; name {
		case "count", "regr_count", "regr_sxx":
			if v != 0 {
				t.Errorf("%s of no rows is %g", name, v)
			}
		default:
			// The sample's own, but for the number of rows: n/600 times those of the reference.
			if want := direct(name, in); math.Abs(v-want) > 2e-3*math.Abs(want) {
				t.Errorf("%s is typically %g, want %g", name, v, want)
			}
		}
	}

	all := "avg corr count regr_avgx regr_count regr_sxx stddev_samp "
	want := map[string]string{"a": all, "b": all, "d": "avg count regr_count "}
	for g, names := range want {
		if got[g] != names {
			t.Errorf("group %s has %q, want %q", g, got[g], names)
		}
	}
}

// Where the reference can never speak of it, the statement is refused, with what to do.
func TestWhatSecondMomentsRefuse(t *testing.T) {
	reader, table := reference(t, flat())
	totals, err := model.CountClasses(t.Context(), reader, table)
	if err != nil {
		t.Fatal(err)
	}
	const few = "Select more rows in WHERE, or group by fewer columns. From values that lie close together, subtract " +
		"a constant."
	for sql, hint := range map[string]string{
		"SELECT stddev(x) FROM ref WHERE g = 'd'":                          few,
		"SELECT corr(y, x) FROM ref WHERE g = 'd'":                         "Select more rows in WHERE.",
		"SELECT stddev(x + 100000) FROM ref":                               "Subtract a constant near their mean.",
		"SELECT regr_slope(y + 100000, x) FROM ref":                        "Subtract a constant near their mean.",
		"SELECT var_pop(x) FROM ref WHERE x BETWEEN 20 AND 30 AND g = 'a'": "",
		"SELECT var_pop(x) FROM ref WHERE x > 500":                         few,
	} {
		_, err := model.Measure(t.Context(), reader, bind(t, reader, table, sql), totals)
		switch {
		case hint == "" && err != nil:
			t.Errorf("%s: %v", sql, err)
		case hint != "" && (!sqlstate.Is(err, sqlstate.ModelUnfit) || sqlstate.As(err).Hint != hint):
			t.Errorf("%s: %v", sql, err)
		}
	}
}
