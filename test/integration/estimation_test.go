package integration

import (
	"fmt"
	"strings"
	"testing"

	"fugu/sqlstate"
	"fugu/test/patient"
)

// misleading promises epsilon for every law that the reference may have been drawn from.
var misleading = []string{"mechanism: auto", "mechanism: auto\n  estimation: {delta: 1e-6}"}

// A policy that promises what the reference may be off by has more noise, says so in EXPLAIN (PRIVACY) and with each
// release, reserves the chance of its budget, and refuses what it cannot promise.
func TestEstimationInPsql(t *testing.T) {
	patient.Test(t)
	const noise = `SELECT 'noise ' || round(max(noise_sd)::numeric) FROM fugu.last_release;` + "\n"
	const asked = "SELECT sex, count(*) FROM adult GROUP BY sex;\n" + noise +
		"SELECT education, count(*) FROM adult GROUP BY education;\n" + noise +
		"SELECT count(*) FROM adult WHERE hours_per_week > 40;\n" + noise +
		"SELECT sex, avg(age) FROM adult GROUP BY sex;\n" + noise +
		"SELECT sum(age) FROM adult WHERE sex = 'Female';\n" + noise
	sds := map[bool][]string{}
	for _, promised := range []bool{false, true} {
		o := options{}
		if promised {
			o.policy = misleading
		}
		f := serve(t, o)
		out, err := f.psql(t, asked+`
EXPLAIN (PRIVACY) SELECT sex, count(*) FROM adult GROUP BY sex;
SELECT 'assumes ' || string_agg(DISTINCT assumption, '; ') FROM fugu.last_release;
SELECT 'reserved ' || (0.01 - max(delta_total::numeric)) FROM fugu.budget;
`)
		if err != nil {
			t.Error(err)
		}
		for _, line := range strings.Split(out, "\n") {
			if strings.HasPrefix(line, "noise ") {
				sds[promised] = append(sds[promised], line)
			}
		}
		for _, want := range []string{"Estimation: the noise covers every law that the reference may have been " +
			"drawn from, but for a chance of 1e-06", ", sampled reference\n", "reserved 0.000001"} {
			if got := strings.Contains(out, want); got != promised {
				t.Errorf("promised %v: %q is %v in\n%s", promised, want, got, out)
			}
		}
		if !promised {
			continue
		}
		c := f.connect(t)
		for _, sql := range []string{"SELECT stddev(age) FROM adult WHERE sex = 'Male'",
			"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM adult",
			"SELECT count(DISTINCT age) FROM adult"} {
			if _, err := c.Exec(t.Context(), sql); code(err) != string(sqlstate.ModelUnfit) {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
	t.Logf("%q taken for the truth, %q promised", sds[false], sds[true])
	if len(sds[true]) != 5 || len(sds[false]) != 5 {
		t.Fatalf("noise of %d and %d statements", len(sds[true]), len(sds[false]))
	}
	for i := range sds[true] {
		var more, less float64
		if _, err := fmt.Sscanf(sds[true][i]+" "+sds[false][i], "noise %g noise %g", &more, &less); err != nil {
			t.Fatal(err)
		}
		if !(more > less) {
			t.Errorf("statement %d: noise %g promised, %g taken for the truth", i, more, less)
		}
	}
}
