package integration

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
)

// What is left out is said at the statement that lacks it, once in a session for each way; and a single row is in the
// sample or not, or in the table or not, without a word of it.
func TestTwinOmissionsAreTold(t *testing.T) {
	patient.Test(t)
	through, _ := serveClinic(t)
	const none = "no group of public.patients is shown: groups of fewer than 10 rows of the sample are left out"
	const above = "what is computed here from groups of public.patients is computed without those of fewer than 10 " +
		"rows of the sample"
	const null = "values of public.patients that fewer than 10 rows of the sample have are NULL"
	const least = "max(cost) of public.patients is of the values that at least 10 rows of the sample have"
	for sql, want := range map[string]string{
		"SELECT name, count(*) FROM patients GROUP BY name":                           none,
		"SELECT id, count(*) FROM patients WHERE id = 5 GROUP BY id":                  none,
		"SELECT id, count(*) FROM patients WHERE id = -5 GROUP BY id":                 none,
		"SELECT avg(n) FROM (SELECT age, count(*) AS n FROM patients GROUP BY age) x": above,
		"SELECT ward, sum(cost) FILTER (WHERE id < 5) FROM patients GROUP BY ward":    null,
		"SELECT count(*) FROM patients WHERE id = 5":                                  null,
		"SELECT ward, count(*), max(cost) FROM patients GROUP BY ward": least +
			", and there are none: it is NULL",
		"SELECT mode() WITHIN GROUP (ORDER BY ward) FROM patients":                "",
		"SELECT count(*) FROM patients WHERE id = -5":                             null,
		"SELECT ward, count(*), avg(cost) FROM patients GROUP BY ward":            "",
		"SELECT ward, count(*), fugu_noise_sd(count(*)) FROM patients GROUP BY 1": "",
		"SELECT max(round(cost, -2)) FROM patients": "max(round(cost, -2)) of public.patients is of the values that " +
			"at least 10 rows of the sample have",
		"EXPLAIN (PRIVACY) SELECT id, count(*) FROM patients GROUP BY id":    "",
		"SELECT ward, count(*) FROM patients GROUP BY 1 HAVING count(*) < 0": "",
	} {
		got := told(t, through, "", pgx.QueryExecModeExec, sql, sql)
		if rest := got[1:]; strings.Join(rest, "; ") != want {
			t.Errorf("%s: told %q, want %q", sql, rest, want)
		}
	}
	if got := told(t, through, "", pgx.QueryExecModeExec, "SET fugu.notices = off",
		"SELECT count(*) FROM patients WHERE id = 5"); len(got) > 0 {
		t.Errorf("told who wants to hear nothing: %q", got)
	}
}
