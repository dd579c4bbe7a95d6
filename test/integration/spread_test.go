package integration

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
)

// How far a value may be off stands beside it, as fugu.last_release says it, and costs nothing: the question is that of
// the values alone.
func TestSpreads(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{policy: estimatesPolicy})
	c := f.connect(t)

	const spent = "SELECT epsilon_spent FROM fugu.budget WHERE secret = 'high_income'"
	plain := "SELECT sex, avg(age) FROM adult GROUP BY sex ORDER BY sex"
	first := rowsOf(t, c, plain)
	before := rowsOf(t, c, spent)

	beside := "SELECT sex, avg(age), fugu_noise_sd(avg(age)), fugu_lower(avg(age)), fugu_upper(avg(age)) " +
		"FROM adult GROUP BY sex ORDER BY sex"
	spreadsAsTold(t, c, beside, first)

	// Wherever it stands, and also without the value.
	for sql, want := range map[string]string{
		"SELECT sex FROM adult GROUP BY sex HAVING fugu_noise_sd(avg(age)) > 1e9":                         "[]",
		"SELECT sex FROM adult GROUP BY sex ORDER BY fugu_upper(avg(age)) - fugu_noise_sd(avg(age)), sex": "",
		"SELECT s > 0 FROM (SELECT fugu_noise_sd(avg(age)) AS s FROM adult GROUP BY sex) x": "[[true] " +
			"[true]]",
		// two cuts that ask for the same share an answer, and what is asked of it
		`SELECT (a.m - b.low) > 0 FROM (SELECT sex, avg(age) AS m, fugu_noise_sd(avg(age)) FROM adult GROUP BY sex) a
			JOIN (SELECT sex, fugu_lower(avg(age)) AS low FROM adult GROUP BY sex) b USING (sex)`: "[[true] [true]]",
	} {
		if got := fmt.Sprint(rowsOf(t, c, sql)); want != "" && got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
	if after := rowsOf(t, c, spent); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("spent %v, and with spreads %v", before, after)
	}

	spreadsOfNoNoise(t, c)

	// Estimates have errors of their own.
	does(t, c, "SET fugu.answer = 'estimate'")
	rows := rowsOf(t, c, beside)
	for i, e := range rowsOf(t, c, "SELECT sd, lower, upper FROM fugu.estimate ORDER BY group_key") {
		if fmt.Sprint(rows[i][2:]) != fmt.Sprint(e) {
			t.Errorf("estimates %v beside %v", rows[i], e)
		}
	}
}

// spreadsAsTold checks that a statement shows the values of before, and beside each what fugu.last_release tells of it.
func spreadsAsTold(t *testing.T, c *pgx.Conn, beside string, before [][]any) {
	t.Helper()
	for _, confidence := range []string{"0.95", "0.5"} {
		does(t, c, "SET fugu.confidence = "+confidence)
		rows := rowsOf(t, c, beside)
		told := rowsOf(t, c, "SELECT noise_sd, noise_sd, lower, upper FROM fugu.last_release ORDER BY group_key")
		for i, row := range rows {
			if fmt.Sprint(row[1]) != fmt.Sprint(before[i][1]) || fmt.Sprint(row[2:]) != fmt.Sprint(told[i][1:]) {
				t.Errorf("at %s: %v beside %v, and told %v", confidence, row, before[i], told[i])
			}
			if sd, low, high := row[2].(float64), row[3].(float64), row[4].(float64); !(sd > 0 && low < high) {
				t.Errorf("at %s: %v", confidence, row)
			}
		}
	}
	does(t, c, "RESET fugu.confidence")
}

// spreadsOfNoNoise asks how far off is what everybody knows, and what is no aggregate.
func spreadsOfNoNoise(t *testing.T, c *pgx.Conn) {
	t.Helper()
	got := fmt.Sprint(rowsOf(t, c, "SELECT count(*), fugu_noise_sd(count(*)), fugu_upper(count(*)) FROM adult"))
	if !strings.HasSuffix(got, " 0 35222]]") {
		t.Errorf("of a public value: %s", got)
	}
	for _, sql := range []string{
		"SELECT fugu_noise_sd(age) FROM adult GROUP BY age",
		"SELECT fugu_lower(1), count(*) FROM adult",
		"SELECT fugu_lower(avg(age), 2) FROM adult",
		"SELECT fugu_noise_sd(mode() WITHIN GROUP (ORDER BY sex)) FROM adult",
	} {
		if _, err := c.Exec(t.Context(), sql); code(err) != "PV001" || pgError(err).Hint == "" ||
			pgError(err).Position == 0 {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// On a twin they are of fugu.sampling_error.
func TestSpreadsOfTwins(t *testing.T) {
	patient.Test(t)
	through, _ := serveClinic(t)
	c := connect(t, through)
	for _, call := range []string{"count(*) FILTER (WHERE age > 60)", "avg(cost)"} {
		row := rowsOf(t, c, fmt.Sprintf("SELECT %[1]s::float8, fugu.sampling_error(%[1]s), fugu_noise_sd(%[1]s), "+
			"fugu_lower(%[1]s), fugu_upper(%[1]s) FROM patients", call))[0]
		value, said, sd := row[0].(float64), row[1].(float64), row[2].(float64)
		low, high := row[3].(float64), row[4].(float64)

		// The deviation is rounded to four digits, and the ends outwards to about a hundredth of it.
		for _, half := range []float64{high - value, value - low} {
			if math.Abs(said/sd-1) > .0005 || sd == 0 || half < 1.9599*.9995*sd || half > (1.96*1.0005+.011)*sd {
				t.Errorf("%s: %v", call, row)
			}
		}
		for _, shown := range []float64{sd, low, high} {
			if text := strconv.FormatFloat(shown, 'f', -1, 64); len(strings.Trim(text, "0.")) > 9 {
				t.Errorf("%s has the digits %s", call, text)
			}
		}
	}
	if _, err := c.Exec(t.Context(), "SELECT fugu_noise_sd(max(age)) FROM patients"); code(err) != "PV001" {
		t.Error(err)
	}
	_, err := c.Exec(t.Context(), "SELECT fugu_upper(count(*)) FROM visits")
	if code(err) != "PV001" || !strings.Contains(err.Error(), "its rows go with those of another table") ||
		pgError(err).Hint == "" || pgError(err).Position == 0 {
		t.Errorf("of a linked table: %v", err)
	}
}

func does(t *testing.T, c *pgx.Conn, sql string) {
	t.Helper()
	if _, err := c.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func rowsOf(t *testing.T, c *pgx.Conn, sql string) (out [][]any) {
	t.Helper()
	rows, _ := c.Query(t.Context(), sql)
	out, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) ([]any, error) { return r.Values() })
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}
