package planner_test

import (
	"strings"
	"testing"

	"fugu/test/pgcluster"
)

// Thresholds between the units of a calendar tell the days of a unit from each other no more than the unit does, and
// take less to write; days in no unit are told apart by themselves. Wherever a day of a unit is told from another one,
// so are all.
func TestThresholdsBetweenUnits(t *testing.T) {
	w := newWorld(t)
	days := `TRUNCATE other_reference; INSERT INTO other_reference (x, day) SELECT 1, d::date FROM unnest('{2024-01-03,
		2024-01-20, 2024-02-05, 2024-02-29, 2023-12-05, 2023-12-06, 2024-03-01, NULL}'::text[]) AS u(d)`
	if err := pgcluster.Shared(t).Exec(t.Context(), "postgres", days); err != nil {
		t.Fatal(err)
	}
	const units, all = 6, 8 // January, February, three days in no unit, NULL
	described := func(where string) (values, nats float64) {
		sql := "SELECT x, count(*) FROM other WHERE " + where + " GROUP BY x"
		if strings.HasPrefix(where, "SELECT") {
			sql = where
		}
		b := w.bind(t, sql)
		chosen, err := b.Chosen(t.Context(), w.reader, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if values, err = b.Distinct(t.Context(), w.reader, chosen.Choices[0].Apart); err != nil {
			t.Fatal(err)
		}
		return values, chosen.Choices[0].Nats
	}
	_, least := described("day >= '2024-02-01'")
	const of, by = "SELECT x, ", " GROUP BY x"
	for where, want := range map[string]float64{
		"day >= '2024-02-01'":                                                                       units,
		"day > '2024-01-31'":                                                                        units,
		"day < timestamp '2024-02-01 00:00'":                                                        units,
		"'2024-01-01' <= day":                                                                       units,
		"day >= '2024-01-01' AND day < '2024-02-01'":                                                units,
		"day BETWEEN '2024-02-01' AND '2024-02-29'":                                                 units,
		"day < '2024-03-01' AND x > 1":                                                              units,
		"day <= '2024-02-01'":                                                                       all,
		"day < timestamp '2024-02-01 12:00'":                                                        all,
		"day >= '2024-02-01' AND day < '2024-02-20'":                                                all,
		"day BETWEEN '2024-01-05' AND '2024-02-10'":                                                 all,
		"day = '2024-02-01'":                                                                        all,
		"day >= '2024-02-01' AND day <> '2024-02-07'":                                               all,
		"day >= '2024-02-01' OR day = '2024-01-03'":                                                 all,
		"day >= '2024-02-01' AND day - 3 < date '2024-02-10'":                                       all,
		"day >= '2024-02-01' OR x > 1":                                                              all,
		"NOT (day >= '2024-02-01' AND x > 1)":                                                       all,
		"CASE WHEN day < '2024-02-01' THEN x > 1 ELSE x < 1 END":                                    units,
		of + "count(*) FILTER (WHERE day >= '2024-02-01') FROM other" + by:                          units,
		of + "sum(CASE WHEN day < '2024-02-01' THEN 2 ELSE 1 END) FROM other" + by:                  units,
		of + "count(*) FILTER (WHERE day >= '2024-02-02') FROM other" + by:                          all,
		of + "count(*) FILTER (WHERE day >= '2024-02-02') FROM other WHERE day < '2024-03-01'" + by: all,
		of + "sum(CASE WHEN day < '2024-02-01' THEN 2 END) FILTER (WHERE day <> '2024-02-05') FROM other" + by: all,
	} {
		values, nats := described(where)
		if values != want {
			t.Errorf("%s: %g values are told apart, want %g", where, values, want)
		}
		if want == all && nats <= least {
			t.Errorf("%s takes %g nats, where a threshold between units takes %g", where, nats, least)
		}
	}
}
