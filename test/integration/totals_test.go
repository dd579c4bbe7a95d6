package integration

import (
	"fmt"
	"strings"
	"testing"

	"fugu/test/patient"
)

// Groups that are all rows add up to the number of rows, which is public: through psql, by every key, with every
// mechanism, in grouping sets and beside other values. Noisy counts that nothing binds do not, but with a probability
// of a few in a hundred for each of fifteen sums. Groups that a condition or the key's domain leaves out are no part of
// all rows, and are not taken for them.
func TestGroupsAddUpToRows(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{policy: []string{"education: reference", "education: reference\n      race: reference",
		"budget: {epsilon: 20, delta: 0.01", "budget: {epsilon: 2000, delta: 0.9"}})
	var script strings.Builder
	for _, mechanism := range []string{"auto", "expm-laplace", "expm-gaussian", "directional"} {
		fmt.Fprintf(&script, "SET fugu.mechanism = '%s';\n", mechanism)
		for _, key := range []string{"race", "sex", "education"} {
			fmt.Fprintf(&script, "SELECT '%s %s ' || sum(n) FROM "+
				"(SELECT %[2]s, count(*) AS n FROM adult GROUP BY 1) AS x;\n", mechanism, key)
		}
	}
	out, err := f.psql(t, script.String()+`RESET fugu.mechanism;
SELECT 'sets ' || string_agg(DISTINCT s::text, ' ') FROM (SELECT sum(n) AS s FROM
  (SELECT race, sex, grouping(race, sex) AS g, count(*) AS n FROM adult
    GROUP BY GROUPING SETS ((race), (sex), (race, sex))) AS x GROUP BY g) AS y;
SELECT 'beside ' || sum(n) FROM (SELECT sex, count(*) AS n, avg(age) FROM adult GROUP BY 1) AS x;
SELECT 'women ' || sum(n) FROM (SELECT race, count(*) AS n FROM adult WHERE sex = 'Female' GROUP BY 1) AS x;
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, mechanism := range []string{"auto", "expm-laplace", "expm-gaussian", "directional"} {
		for _, key := range []string{"race", "sex", "education"} {
			if want := fmt.Sprintf("%s %s 35222\n", mechanism, key); !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
	}
	for _, want := range []string{"sets 35222\n", "beside 35222\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if !strings.Contains(out, "women ") || strings.Contains(out, "women 35222") {
		t.Errorf("women are all rows in\n%s", out)
	}
}

// A domain that leaves out groups of the reference leaves out rows: what is in its groups is not all of them.
func TestGroupsOfSomeRows(t *testing.T) {
	f := serve(t, options{policy: []string{"education: reference", "education: [Bachelors, Masters, Doctorate]"}})
	c, _ := f.noticing(t)
	// They have 8,100 rows, and noise of at most 800 in their sum, so that a false alarm has a probability of 3e-7.
	sum := 0.0
	for _, n := range cellsOf(t, c, "SELECT education, count(*)::float8 FROM adult GROUP BY education") {
		sum += n
	}
	if sum > 20_000 || sum < 0 {
		t.Errorf("three groups of sixteen have %v rows", sum)
	}
}
