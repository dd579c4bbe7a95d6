package integration

import (
	"math"
	"testing"

	"fugu/test/patient"
)

// fugu.sampling_error is what docs/twin.md says, on twins with rows shown and without, and as far as the twin is from
// the table, so far is it said to be.
func TestSamplingError(t *testing.T) {
	patient.Test(t)
	through, direct := serveClinic(t)
	c, d := connect(t, through), overTwins(t, direct)
	const rate = `(SELECT max(sqrt(greatest(w - 1, 0) + (w - floor(w)) * (1 - w + floor(w)) / greatest(w, 1)))
	  FROM (SELECT told::float8 / taken AS w FROM (SELECT unnest(told) AS told, unnest(taken) AS taken FROM "fugu twins"
	    WHERE table_name = 'patients') x) y)`
	for call, formula := range map[string]string{
		"count(*)": "sqrt(count(*))", "count(*) FILTER (WHERE age > 60)": "sqrt(count(*) FILTER (WHERE age > 60))",
		"count(weight)": "sqrt(count(weight))",
		"sum(cost)":     "sqrt(sum(cost::float8 ^ 2))",
		"sum(age) FILTER (WHERE insured)": "sqrt(sum(age::float8 ^ 2) " +
			"FILTER (WHERE insured))",
		"avg(cost)": "stddev_samp(cost)::float8 / sqrt(count(cost))", "avg(weight)": "stddev_samp(weight) / " +
			"sqrt(count(weight))",
	} {
		var got, want float64
		if err := c.QueryRow(t.Context(), "SELECT sampling_error FROM (SELECT fugu.sampling_error("+call+
			") FROM patients) x").Scan(&got); err != nil {
			t.Errorf("%s: %v", call, err)
		}
		if err := d.QueryRow(t.Context(), "SELECT "+formula+" * "+rate+" FROM patients").Scan(&want); err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(got-want) <= 1e-9*want) || want == 0 {
			t.Errorf("%s: %v, want %v", call, got, want)
		}
	}
	for sql, want := range map[string]string{
		"SELECT fugu.sampling_error(max(age)) FROM patients": "PV001", "SELECT fugu.sampling_error(count(DISTINCT " +
			"age)) FROM patients": "PV001", "SELECT fugu.sampling_error(age) FROM patients": "PV001",
		"SELECT fugu.sampling_error(count(*)) FROM visits": "PV001",
		"SELECT fugu.sampling_error(count(*)) FROM wards":  "PV001", "SELECT fugu.sampling_error(count(*)) " +
			"FROM patients p, wards w": "PV001",
	} {
		if _, err := c.Exec(t.Context(), sql); code(err) != want || pgError(err).Hint == "" ||
			pgError(err).Position == 0 {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}

	// 59 groups of 100 patients each by the cents of their costs, 35 of them smokers in every one: as the noise of the
	// share moves rows between the classes, and their sum is public, it leaves what is expected of a group at 100. The
	// error that is told is of the class with the greatest, so that the mean of 59 squares is between .45 and 1 as
	// expected: above 3 and below .1 it is with a probability of less than 1e-10 (chi-square, 59 degrees).
	const groups = "SELECT cost % 1 AS g, count(*), fugu.sampling_error(count(*)) FROM patients " +
		"WHERE cost % 1 BETWEEN .01 AND .59 GROUP BY g"
	rows, err := c.Query(t.Context(), groups)
	if err != nil {
		t.Fatal(err)
	}
	var squares float64
	n := 0
	for rows.Next() {
		var told int
		var group, sd float64
		if err := rows.Scan(&group, &told, &sd); err != nil {
			t.Fatal(err)
		}
		n++
		squares += math.Pow((float64(told)-100)/sd, 2)
	}
	if rows.Err() != nil || n != 59 || !(squares/59 > .1 && squares/59 < 3) {
		t.Errorf("%d groups, mean square %v, %v", n, squares/59, rows.Err())
	}
	t.Logf("mean square of the errors in their standard deviations: %.3f", squares/59)

	_, shown, _ := serveCensus(t)
	var sd, root float64
	if err := connect(t, shown).QueryRow(t.Context(), "SELECT fugu.sampling_error(count(*)), sqrt(count(*)) * "+
		"(SELECT max(count_error) FROM fugu.twin) FROM adult WHERE sex = 'Male'").Scan(&sd, &root); err != nil ||
		math.Abs(sd-root) > 1e-6*root {
		t.Errorf("on a twin whose rows are shown: %v, want %v, %v", sd, root, err)
	}
}
