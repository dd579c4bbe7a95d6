package integration

import (
	"math"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
	"fugu/twin"
)

// registered is what the list of builds, to which d is connected, says of the two classes of a table's twin.
func registered(t *testing.T, d *pgx.Conn, table string) (told, taken []int64, noise []float64) {
	t.Helper()
	const list = `SELECT told, taken, noise FROM "fugu twins" WHERE table_name = $1`
	err := d.QueryRow(t.Context(), list, table).Scan(&told, &taken, &noise)
	if err != nil || len(noise) != 2 || noise[0] < 1 {
		t.Fatalf("told %v, taken %v, noise %v, %v", told, taken, noise, err)
	}
	return told, taken, noise
}

// fugu.sampling_error is what package twin derives, on twins with rows shown and without: of groups that the secret
// makes, and of those that cut across it.
func TestSamplingError(t *testing.T) {
	patient.Test(t)
	through, direct := serveClinic(t)
	c, d := connect(t, through), overTwins(t, direct)
	told, taken, noise := registered(t, d, "patients")
	for _, v := range []struct{ call, filter, part string }{
		{"count(*) FILTER (WHERE age > 60)", "age > 60", "1"},
		{"count(weight)", "weight IS NOT NULL", "1"},
		{"count(*) FILTER (WHERE smoker)", "smoker", "1"},
		{"sum(cost) FILTER (WHERE NOT smoker)", "NOT smoker", "cost"},
		{"sum(cost)", "true", "cost"}, {"sum(age) FILTER (WHERE insured)", "insured", "age"},
		{"avg(cost)", "true", "(cost - (SELECT avg(cost) FROM patients)) / (SELECT count(*) FROM patients)"},
		{"avg(weight)", "true", "(weight - (SELECT avg(weight) FROM patients)) / (SELECT count(weight) FROM patients)"},
	} {
		var got float64
		sql := "SELECT sampling_error FROM (SELECT fugu.sampling_error(" + v.call + ") FROM patients) x"
		if err := c.QueryRow(t.Context(), sql).Scan(&got); err != nil {
			t.Errorf("%s: %v", v.call, err)
		}
		parts := make([]twin.Part, 2)
		for i, class := range []string{"smoker", "NOT smoker"} {
			sql := "SELECT coalesce(sum(p), 0), coalesce(sum(p * p), 0) FROM (SELECT (" + v.part +
				")::float8 AS p FROM patients WHERE " + v.filter + " AND " + class + ") x"
			if err := d.QueryRow(t.Context(), sql).Scan(&parts[i].Sum, &parts[i].Squares); err != nil {
				t.Fatal(err)
			}
		}
		said := twin.DeviationOf(told, taken, noise, 2, parts)
		// An average divides squares by one row less.
		if !(math.Abs(got-said.Both()) <= 1e-3*got) || got == 0 || said.Noise == 0 {
			t.Errorf("%s: %v, want %v of %+v", v.call, got, said.Both(), said)
		}
		t.Logf("%-36s ±%.4g: drawing %.4g, noise %.4g", v.call, got, said.Drawing, said.Noise)
	}
	samplingErrorsRefused(t, c)
	samplingErrorsOfGroups(t, c)
	var all float64
	err := c.QueryRow(t.Context(), "SELECT fugu.sampling_error(count(*)) FROM patients").Scan(&all)
	if err != nil || all > 1e-3 { // the root of a difference of squares, but for rounding
		t.Errorf("of all rows, whose number is public: %v, %v", all, err)
	}
}

// samplingErrorsRefused asks for errors of what has none, which is refused with what to write.
func samplingErrorsRefused(t *testing.T, c *pgx.Conn) {
	t.Helper()
	for sql, want := range map[string]string{
		"SELECT fugu.sampling_error(max(age)) FROM patients":            "PV001",
		"SELECT fugu.sampling_error(count(DISTINCT age)) FROM patients": "PV001",
		"SELECT fugu.sampling_error(age) FROM patients":                 "PV001",
		"SELECT fugu.sampling_error(count(*)) FROM visits":              "PV001",
		"SELECT fugu.sampling_error(count(*)) FROM wards":               "PV001",
		"SELECT fugu.sampling_error(count(*)) FROM patients p, wards w": "PV001",
	} {
		_, err := c.Exec(t.Context(), sql)
		if code(err) != want || pgError(err).Hint == "" || pgError(err).Position == 0 {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
}

// samplingErrorsOfGroups compares errors that were made with those that are expected.
func samplingErrorsOfGroups(t *testing.T, c *pgx.Conn) {
	t.Helper()
	// 59 groups of 100 patients each by the cents of their costs, 35 of them smokers in every one: as the noise of the
	// share moves rows between the classes, and their sum is public, it leaves what is expected of a group at 100. The
	// mean of 59 squares of errors in their standard deviations is 1 as expected: above 3 and below .3 it is with a
	// probability of less than 1e-6 (chi-square, 59 degrees: 3.4e-14 and 2e-9).
	const groups = `SELECT cost % 1 AS g, count(*), fugu.sampling_error(count(*)) FROM patients
		WHERE cost % 1 BETWEEN .01 AND .59 GROUP BY g`
	rows, err := c.Query(t.Context(), groups)
	if err != nil {
		t.Fatal(err)
	}
	var squares float64
	n := 0
	for rows.Next() {
		var count int
		var group, sd float64
		if err := rows.Scan(&group, &count, &sd); err != nil {
			t.Fatal(err)
		}
		n++
		squares += math.Pow((float64(count)-100)/sd, 2)
	}
	if rows.Err() != nil || n != 59 || !(squares/59 > .3 && squares/59 < 3) {
		t.Errorf("%d groups, mean square %v, %v", n, squares/59, rows.Err())
	}
	t.Logf("mean square of the errors in their standard deviations: %.3f", squares/59)
}

// On a twin whose rows are shown the count of a class is off by the noise on the secret alone, which fugu.twin and
// EXPLAIN (PRIVACY) tell.
func TestSamplingErrorOfAClass(t *testing.T) {
	patient.Test(t)
	_, shown, _ := serveCensus(t)
	c := connect(t, shown)
	var sd, told, across, drawing float64
	const filtered = `SELECT fugu.sampling_error(count(*)) FILTER (WHERE true), 0 FROM adult`
	err := c.QueryRow(t.Context(), filtered).Scan(&sd, &told)
	if code(err) != "PV001" {
		t.Errorf("FILTER of the error itself: %v, want PV001", err)
	}
	const made = `SELECT fugu.sampling_error(count(*)), (SELECT told_error FROM fugu.twin ORDER BY class DESC LIMIT 1)
		FROM adult WHERE income = '>50K'`
	err = c.QueryRow(t.Context(), made).Scan(&sd, &told)
	if err != nil || math.Abs(sd-told) > 1e-6*told || told < 100 {
		t.Errorf("of a class: %v, want %v, %v", sd, told, err)
	}

	// Where the columns do not say of which class a row is, the noise is bounded.
	var bound [4]float64
	const bounded = `SELECT fugu.sampling_error(count(*)), fugu.sampling_error(sum(old)), fugu.sampling_error(avg(old)),
		(SELECT fugu.sampling_error(avg(age)) FROM adult WHERE income = '>50K')
		FROM adult AS a(old) WHERE income = '>50K'`
	if err := c.QueryRow(t.Context(), bounded).Scan(&bound[0], &bound[1], &bound[2], &bound[3]); err != nil ||
		!(bound[0] >= sd && bound[0] < 2*sd && bound[1] > 30*bound[0] && bound[2] >= bound[3]) {
		t.Errorf("bounds %v, of which the first is %v or more, %v", bound, sd, err)
	}
	const cut = `SELECT fugu.sampling_error(count(*)), sqrt(count(*)) * (SELECT max(count_error) FROM fugu.twin)
		FROM adult WHERE sex = 'Male'`
	if err := c.QueryRow(t.Context(), cut).Scan(&across, &drawing); err != nil || !(across > drawing/4 && across < sd) {
		t.Errorf("across the classes: %v, of which drawing %v at most, %v", across, drawing, err)
	}
}
