package integration

import (
	"fmt"
	"math"
	"strings"
	gosync "sync" // peer_test.go has a message of that name
	"testing"

	"fugu/test/patient"
)

// Figure 1 of Chen & Ohrimenko as a policy: a sum that is 1, 2, 3 or 100, with the probabilities of the paper's two
// distributions under the two values of a secret.
const figurePolicy = `version: 1
dataset: figure
database: figure
tables:
  payments: {rows: 1000}
secrets:
  fraud: {table: payments, proportion: fraud, pairs: [[0.1, 0.2]]}
privacy: {epsilon: 1, delta: 0.1, mechanism: %s, budget: {epsilon: 2.5, delta: 0.8}}
declared:
  largest:
    statement: SELECT sum(large) FROM payments
    secrets:
      fraud:
        values: [0.1, 0.2]
        samples: [[1, 2, 3, 100], [1, 2, 3, 100]]
        weights: [[6, 2, 0, 2], [4, 3, 2, 1]]
`

const figureSQL = `
CREATE TABLE payments (id int PRIMARY KEY, fraud bool NOT NULL, large int NOT NULL);
INSERT INTO payments SELECT i, i <= 100, CASE WHEN i = 7 THEN 2 ELSE 0 END FROM generate_series(1, 1000) AS i;
GRANT SELECT ON payments TO fugu_reader;`

var figure gosync.Once

// serveFigure serves the example with the policy's mechanism.
func serveFigure(t *testing.T, mechanism string) *fugu {
	t.Helper()
	return serveOnFigure(t, fmt.Sprintf(figurePolicy, mechanism))
}

// serveOnFigure serves the example's table under some policy.
func serveOnFigure(t *testing.T, policy string) *fugu {
	t.Helper()
	c := adultDatabase(t).cluster
	figure.Do(func() {
		for _, step := range [][2]string{{"postgres", "CREATE DATABASE figure"}, {"figure", figureSQL}} {
			if err := c.Exec(t.Context(), step[0], step[1]); err != nil {
				t.Fatal(err)
			}
		}
	})
	return serve(t, options{guest: c.DSN("fugu_guest", "figure"), reader: c.DSN("fugu_reader", "figure"),
		policyText: policy})
}

// The paper's numbers through psql: noise of scale 97 for all of the distributions, and of scale 1 for all but a
// probability of .1, with no assumption beyond the samples.
func TestFigureOfWassersteinThroughPsql(t *testing.T) {
	patient.Test(t)

	// The answers are within 20 scales of a value that the sum can have, but for e^-20 each: with two answers of one
	// value that is 4e-9.
	for _, m := range []struct {
		mechanism string
		scale     float64
		delta     string
	}{{"wasserstein", 97, "0"}, {"approximate-wasserstein", 1, "0.1"}, {"auto", 1, "0.1"}} {
		f := serveFigure(t, m.mechanism)
		out, err := f.psql(t, `
SELECT 'sum ' || sum(large) FROM payments;
SELECT 'sd ' || noise_sd FROM fugu.last_release;
SELECT concat_ws(' ', 'price', round(epsilon::numeric, 6), delta, secret, assumption) FROM fugu.last_release;
EXPLAIN (PRIVACY) SELECT sum(large) FROM payments;
`, "PGDATABASE=figure")
		if err != nil {
			t.Fatalf("%s: %v\n%s", m.mechanism, err, out)
		}
		t.Logf("%s: psql says\n%s", m.mechanism, out)
		out = "\n" + out
		if sd := valueBehind(t, out, "sd "); math.Abs(sd/m.scale-math.Sqrt2) > .005 {
			t.Errorf("%s: noise of standard deviation %v, not √2·%v", m.mechanism, sd, m.scale)
		}
		if sum := valueBehind(t, out, "sum "); math.Abs(sum-2) > 20*m.scale {
			t.Errorf("%s: %v, and the sum is 2", m.mechanism, sum)
		}
		if !strings.Contains(out, "\nprice 1.000000 "+m.delta+" fraud coupling\n") {
			t.Errorf("%s: psql does not say the price", m.mechanism)
		}
	}
}

// concentratedPolicy says of the same sum where its mean is, and how far from it it can be.
const concentratedPolicy = `version: 1
dataset: figure
database: figure
tables:
  payments: {rows: 1000}
secrets:
  fraud: {table: payments, proportion: fraud, pairs: [[0.1, 0.2]]}
privacy: {epsilon: 1, delta: %s, mechanism: %s, budget: {epsilon: 2, delta: 0.5}}
declared:
  largest:
    statement: SELECT sum(large) FROM payments
    secrets:
      fraud: {values: [0.1, 0.2], means: [[2], [4]], concentrated: {within: 3, but_for: %s}}
`

// Chen & Ohrimenko's theorem 3.3 through psql: means 2 apart, and each sum within 3 of its mean, are noise of scale 2 +
// 2·3; a chance β that one is not costs 2β of delta, and none is needed where there is none. What there is no room for
// is not served.
func TestConcentratedThroughPsql(t *testing.T) {
	patient.Test(t)

	// An answer is within 20 scales of the sum but for e^-20.
	for _, m := range []struct{ delta, mechanism, butFor, price string }{
		{"0.1", "approximate-wasserstein", "0.05", "0.1"}, {"0.1", "auto", "0.05", "0.1"},
		{"0", "wasserstein", "0", "0"},
	} {
		f := serveOnFigure(t, fmt.Sprintf(concentratedPolicy, m.delta, m.mechanism, m.butFor))
		out, err := f.psql(t, `
SELECT 'sum ' || sum(large) FROM payments;
SELECT 'sd ' || noise_sd FROM fugu.last_release;
SELECT concat_ws(' ', 'price', round(epsilon::numeric, 6), delta, secret, assumption) FROM fugu.last_release;
EXPLAIN (PRIVACY) SELECT sum(large) FROM payments;
SELECT count(*) FILTER (WHERE fraud) FROM payments;
`, "PGDATABASE=figure")
		t.Logf("%s: %v, psql says\n%s", m.mechanism, err, out)
		out = "\n" + out
		if sd := valueBehind(t, out, "sd "); math.Abs(sd/8-math.Sqrt2) > .005 {
			t.Errorf("%s: noise of standard deviation %v, not √2·8", m.mechanism, sd)
		}
		if sum := valueBehind(t, out, "sum "); math.Abs(sum-2) > 20*8 {
			t.Errorf("%s: %v, and the sum is 2", m.mechanism, sum)
		}
		for _, want := range []string{"\nprice 1.000000 " + m.price + " fraud coupling\n",
			"values under the two values of a pair of fraud can be coupled within 8",
			"nothing says how this one varies together with it"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: psql does not say %q", m.mechanism, want)
			}
		}
	}
}

// What is answered beside the statement of the samples, and what its answers cost together. Losses of one statement add
// up, as one coupling serves all of its answers, whatever epsilon a session sets; nothing says so of another statement.
func TestOnlyTheStatementOfSamples(t *testing.T) {
	patient.Test(t)
	f := serveFigure(t, "approximate-wasserstein")
	for _, c := range [][2]string{
		{"SELECT sum(large) FROM payments WHERE fraud", "PV004"},
		{"SELECT fraud, sum(large) FROM payments GROUP BY fraud", "PV003"},
		{"SELECT avg(large) FROM payments", "PV004"},
		{"SELECT sum(large), count(*) FILTER (WHERE fraud) FROM payments", "PV004"},
		{"SELECT count(*) FILTER (WHERE fraud) FROM payments", "PV004"},
		{"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY large) FROM payments", "PV004"},
		// The coupling is the policy's: it fails with a probability that these have no room for.
		{"SET fugu.mechanism = 'wasserstein'; SELECT sum(large) FROM payments", "22023"},
		{"SET fugu.mechanism = 'expm-gaussian'; SELECT sum(large) FROM payments", "22023"},
		{"SET fugu.delta = 0.05; SELECT sum(large) FROM payments", "22023"},
		{"SET fugu.mechanism = 'daum'; SELECT sum(large) FROM payments", "PV004"},
	} {
		out, _ := f.psql(t, `\set VERBOSITY sqlstate`+"\n"+c[0], "PGDATABASE=figure")
		if !strings.Contains(out, c[1]) {
			t.Errorf("%s: psql says %q, not %s", c[0], out, c[1])
		}
	}

	// Three answers at 1, 1 and .5, one of them as it was: a budget of 2.5 is not enough for a fourth.
	out, _ := f.psql(t, `\set VERBOSITY sqlstate
SELECT 1 + sum(large) FROM payments;
SELECT sum(large) - 1 FROM payments AS p ORDER BY 1;
SET fugu.epsilon = 0.9;
SELECT sum(large) FROM payments;
SET fugu.epsilon = 0.5;
SELECT sum(large) FROM payments;
SELECT 'spent ' || round(max(epsilon_spent)::numeric, 2) FROM fugu.budget;
SET fugu.epsilon = 0.4;
SELECT sum(large) FROM payments;
`, "PGDATABASE=figure")
	t.Logf("psql says\n%s", out)
	if !strings.Contains(out, "spent 2.40\n") || !strings.Contains(out, "PV002") {
		t.Errorf("psql says\n%s", out)
	}
}
