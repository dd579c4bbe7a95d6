package main

import (
	"strings"
	"testing"

	"fugu/test/patient"
)

const claims = `declared:
  ages:
    statement: SELECT avg(age) FROM adult
    secrets:
      high_income: {values: [0.10, 0.60], means: [[36], [41]], covariances: [[[0.02]], [[0.02]]]}
      private_sector: {values: [0.68, 0.72], means: [[38], [38.5]], covariances: [[[0.02]], [[0.02]]]}
public:
  sexes:
    statement: SELECT sex, count(*) FROM adult GROUP BY sex
    values: {count(*) at sex=Female: 11741, count(*) at sex=Male: 23481}
analysts:`

// What the policy claims is printed by check, and answered by serve: the public numbers as they stand, their parts so
// that they add up to them.
func TestClaims(t *testing.T) {
	patient.Test(t)
	path := setting(t, "analysts:", claims)
	code, stdout, stderr := invoke(t, "check", "-c", path)
	for _, word := range []string{"the model of ages is declared", "SELECT avg(age) FROM adult",
		"high_income at [0.1 0.6]", "everybody knows sexes", "count(*) at sex=Male = 23481"} {
		if code != 0 || !strings.Contains(stdout, word) {
			t.Errorf("check: exit %d without %q: %s%s", code, word, stdout, stderr)
		}
	}
	c, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	conn := c.connect(t)
	var exact, parts string
	if err := conn.QueryRow(t.Context(), "SELECT string_agg(sex || n, ',' ORDER BY sex) "+
		"FROM (SELECT sex, count(*) AS n FROM adult GROUP BY sex) AS q").Scan(&exact); err != nil ||
		exact != "Female11741,Male23481" {
		t.Errorf("%q, %v", exact, err)
	}
	var releases int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM fugu.releases").Scan(&releases); err != nil ||
		releases != 0 {
		t.Errorf("%d releases of what is public: %v", releases, err)
	}
	const grouped = "SELECT string_agg(sex || n, ',' ORDER BY sex) FROM (SELECT sex, sum(n) AS n " +
		"FROM (SELECT sex, education, count(*) AS n FROM adult GROUP BY sex, education) AS q GROUP BY sex) AS r"
	if err := conn.QueryRow(t.Context(), grouped).Scan(&parts); err != nil || parts != exact {
		t.Errorf("the parts add up to %q, %v", parts, err)
	}
	var assumption string
	if err := conn.QueryRow(t.Context(), "SELECT DISTINCT assumption FROM fugu.last_release").Scan(
		&assumption); err != nil || !strings.Contains(assumption, "gaussian") {
		t.Errorf("the answer rests on %q, %v", assumption, err)
	}
	rows, err := conn.Query(t.Context(), "EXPLAIN (PRIVACY) SELECT avg(age) FROM adult")
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		text = append(text, line)
	}
	if joined := strings.Join(text, "\n"); !strings.Contains(joined, "Model: declared") {
		t.Error(joined)
	}
}
