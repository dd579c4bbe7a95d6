package integration

import (
	"strings"
	"testing"

	"fugu/test/patient"
)

// The same units are the same cells, in whatever words and by whatever column they are asked for.
func TestDatesAlike(t *testing.T) {
	patient.Test(t)
	const year = "{from: 2024-01-01, to: 2024-12-31, by: "
	c := atMarket(t, year+"month}", year+"day}", year+"day}")
	for _, a := range []alike{
		{"months", []string{
			"SELECT date_trunc('month', day), count(*) FROM market.orders GROUP BY 1",
			"SELECT extract(month FROM day), count(*) FROM market.orders GROUP BY 1",
			"SELECT c.month, count(*) FROM market.orders o JOIN market.calendar c ON c.day = o.day GROUP BY 1",
		}, 12},
		{"months of times", []string{
			"SELECT extract(month FROM at), count(*) FROM market.orders GROUP BY 1",
			"SELECT date_part('month', at), count(*) FROM market.orders GROUP BY 1",
			"SELECT extract(MONTH FROM at::date), count(*) FROM market.orders GROUP BY 1",
			"SELECT date_trunc('month', at), count(*) FROM market.orders GROUP BY 1",
			"SELECT to_char(at, 'YYYY-MM'), count(*) FROM market.orders GROUP BY 1",
			"SELECT c.month, count(*) FROM market.orders o JOIN market.calendar c ON c.day = o.at::date GROUP BY 1",
		}, 12},
		{"months of some orders", []string{
			"SELECT date_trunc('month', at), count(*) FROM market.orders WHERE amount > 100 GROUP BY 1",
			"SELECT extract(month FROM at), count(*) FROM market.orders WHERE amount > 100 GROUP BY 1",
			"SELECT to_char(at, 'YYYY-MM'), count(*) FROM market.orders WHERE amount > 100 GROUP BY 1",
		}, 12},
	} {
		a.check(t, c)
	}
}

// unitKeys are keys made of times and numbers in units, with how many cells they have; 0: they are refused.
var unitKeys = []struct {
	key   string
	cells int // 0: refused
}{
	{"date_trunc('month', at)", 14},
	{"date_trunc('MONTH', at)::date", 14},
	{"to_char(at, 'YYYY-MM')", 14},
	{"to_char(at, 'Month YYYY')", 14},
	{"extract(year FROM at) * 100 + extract(quarter FROM at)", 5},
	{"date_trunc('quarter', at)", 5},
	{"extract(year FROM at)", 2},
	{"CASE WHEN at < '2024-06-10' THEN 'old' ELSE 'new' END", 2},
	{"at", 0}, {"at::date", 0}, {"date_trunc('week', at)", 0}, {"extract(day FROM at)", 0},
	{"to_char(at, 'YYYY-MM-DD')", 0}, {"to_char(at, 'IYYY')", 0},
	{"date_trunc('month', at + interval '1 day')", 0}, {"date_trunc('month', at::timestamp(0))", 0},

	{"date_trunc('week', day)", 53},
	{"extract(isoyear FROM day)", 2},
	{"day", 0}, {"date_trunc('month', day)", 0}, {"extract(year FROM day)", 0},

	{"(instant AT TIME ZONE 'UTC')::date", 366},
	{"date_trunc('day', instant)", 366},
	{"date_trunc('month', instant, 'utc')", 12},
	{"extract(isodow FROM instant)", 7},
	{"(instant AT TIME ZONE 'Europe/Berlin')::date", 0}, {"date_trunc('day', instant, 'Europe/Berlin')", 0},
	{"extract(hour FROM instant)", 0}, {"date_trunc('hour', instant)", 0},

	{"width_bucket(amount, 0, 200, 4)", 6},
	{"width_bucket(amount::float8, 200, 0, 4)", 6},
	{"width_bucket(amount * quantity, 0, 200, 4)::text", 6},
	{"width_bucket(quantity, 1, 5, 2)", 3},
	{"quantity / 2 * 2", 3},
	{"floor(quantity / 2.0) * 2", 3},
}

// A time in units answers what is the same all through each unit, and nothing finer.
func TestUnits(t *testing.T) {
	patient.Test(t)
	c := atMarket(t, "{from: 2023-11-15, to: 2024-12-31, by: month}", "{from: 2024-01-01, to: 2024-12-31, by: week}",
		"{from: 2024-01-01, to: 2024-12-31, by: day}")
	for _, test := range unitKeys {
		sql := "SELECT " + test.key + ", count(*) FROM market.orders GROUP BY 1"
		if test.cells > 0 {
			if x := explained(t, c, sql); x.Cuts[0].Cells != test.cells {
				t.Errorf("%s has %d groups, not %d", test.key, x.Cuts[0].Cells, test.cells)
			}
		} else if _, err := c.Exec(t.Context(), "EXPLAIN (PRIVACY) "+sql); code(err) != "PV003" {
			t.Errorf("%s: %v", test.key, err)
		}
	}

	// A threshold leaves out the units that it leaves nothing of.
	for where, cells := range map[string]int{"at >= '2024-03-15'": 10, "at < '2024-03-01'": 4,
		"at > '2024-02-10' AND at <= '2024-04-01'": 3, "extract(year FROM at) = 2024": 14} {
		if x := explained(t, c, "SELECT date_trunc('month', at), count(*) FROM market.orders WHERE "+where+
			" GROUP BY 1"); x.Cuts[0].Cells != cells {
			t.Errorf("where %s there are %d months, not %d", where, x.Cuts[0].Cells, cells)
		}
	}

	// The unit may be a parameter; whether it is one of those allowed is seen when it has a value.
	const prepared = "SELECT date_trunc($1, at), count(*) FROM market.orders GROUP BY 1"
	if got := rows(t, c, prepared, "month"); strings.Count(got, "\n") != 14 {
		t.Errorf("months by a parameter: %s", got)
	}
	if _, err := c.Exec(t.Context(), prepared, "day"); code(err) != "PV003" {
		t.Errorf("days by a parameter: %v", err)
	}
}
