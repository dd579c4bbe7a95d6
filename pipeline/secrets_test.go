package pipeline

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"fugu/explain"
	"fugu/sqlstate"
	"fugu/test/patient"
	"fugu/wire"
)

// private is the second secret of the example, in whose place the tests put others.
const private = "proportion: workclass = 'Private'\n    pairs: [[0.68, 0.72]]"

func (h *house) explain(t *testing.T, sql string) (explain.Explanation, error) {
	t.Helper()
	q, err := h.question(t, sql, nil, settings{confidence: defaultConfidence})
	if err != nil {
		return explain.Explanation{}, err
	}
	return q.Explain(t.Context())
}

// Every form of secret is modelled together with a proportion, moves F, and has its own place in the explanation and in
// fugu.policy.
func TestSecretsOfEveryForm(t *testing.T) {
	patient.Test(t)
	const sql = "SELECT %[1]s, count(*), avg(age), sum(hours_per_week) FROM adult WHERE age > 20 GROUP BY %[1]s"
	for name, c := range map[string]struct {
		secret string
		policy string // from, to and within in fugu.policy
	}{
		"mean": {"mean: age * 2\n    values: {from: 70, to: 90, within: 2}", "70 90 2"},
		"mean of a distribution": {"about: distribution\n    mean: coalesce(hours_per_week, 0)\n    pairs: [[38, 42]]",
			"38 42 4"},
		"categories":      {"categories: sex\n    values: {from: 0.2, to: 0.8, within: 0.05}", "0.2 0.8 0.05"},
		"many categories": {"categories: relationship\n    values: {within: 0.02}", "0 1 0.02"},
		"vectors": {"categories: sex\n    pairs: [[{Female: 0.3, Male: 0.7}, {Female: 0.4, Male: 0.6}]]",
			"NULL NULL NULL"},
		"distribution": {"about: distribution\n    proportion: sex = 'Male'\n    pairs: [[0.6, 0.7]]",
			"0.6 0.7 0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, private, c.secret,
				"sex: [Female, Male]", "sex: [Female, Male]\n      relationship: reference")
			key := "relationship"
			if name == "many categories" {
				key = "education"
			}
			x, err := h.explain(t, fmt.Sprintf(sql, key))
			if name == "many categories" {
				if !sqlstate.Is(err, sqlstate.ModelUnfit) {
					t.Errorf("averages of groups that may have no row: %v", err)
				}
				x, err = h.explain(t, "SELECT education, count(*), sum(age) FROM adult GROUP BY education")
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(x.Secrets) != 2 || x.Secrets[1].Secret != "private_sector" || !(x.Secrets[1].Norm1 > 0) ||
				math.IsInf(x.Secrets[1].Norm1, 0) {
				t.Errorf("secrets %+v", x.Secrets)
			}
			if x.Mechanism == "" || len(x.Cost) != 2 || !(x.Cost[1].Cost > 0) {
				t.Errorf("mechanism %q, cost %+v", x.Mechanism, x.Cost)
			}
			if text := strings.Join(x.Lines(), "\n"); strings.Count(text, "Secret private_sector:") != 1 {
				t.Errorf("explanation\n%s", text)
			}
			if got := h.protectedValues(t); got != c.policy {
				t.Errorf("fugu.policy has %s, want %s", got, c.policy)
			}
		})
	}
}

// protectedValues is what fugu.policy tells of the values of the second secret.
func (h *house) protectedValues(t *testing.T) string {
	t.Helper()
	s := &statement{session: &session{engine: h.engine, user: "alice"}, snapshot: h.engine.snapshot.Load()}
	rows, err := s.virtualRows(t.Context(), wire.Binding{}, "policy")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, v := range rows[1][4:] {
		if v.Null {
			v.Text = "NULL"
		}
		out = append(out, v.Text)
	}
	return strings.Join(out, " ")
}

// Weights change which values the noise favours; standard errors widen it.
func TestWeightsAndEstimation(t *testing.T) {
	patient.Test(t)
	const sql = "SELECT count(*), avg(age), sum(capital_gain) FROM adult WHERE sex = 'Male'"
	sd := map[string][]float64{}
	for name, line := range map[string]string{"sampling": "", "absolute": "weights: absolute",
		"relative": "weights: relative", "estimation": "estimation: 3"} {
		x, err := newHouse(t, "mechanism: auto", "mechanism: expm-gaussian\n  "+line).explain(t, sql)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range x.Noise {
			sd[name] = append(sd[name], n.SDMax)
		}
	}
	equal := func(a, b float64) bool { return math.Abs(a-b) < 1e-6*(a+b) }
	if a := sd["absolute"]; !equal(a[0], a[1]) || !equal(a[1], a[2]) {
		t.Errorf("absolute weights give %v", a)
	}
	if r := sd["relative"]; equal(r[0], r[1]) || equal(sd["sampling"][1]/sd["sampling"][2], r[1]/r[2]) {
		t.Errorf("relative weights give %v, sampling %v", r, sd["sampling"])
	}
	for k := range sd["estimation"] {
		if sd["estimation"][k] <= 1.001*sd["sampling"][k] {
			t.Errorf("three standard errors give %v, none %v", sd["estimation"], sd["sampling"])
		}
	}
}

// Statements whose cells overlap, or of several cuts over one table, have a joint distribution, and so a certificate
// that does not rest on the covariances being equal. Very many cells rest on translation.
func TestJointStatementsAreCertified(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	for sql, want := range map[string]string{
		"SELECT sex, count(*) FROM adult GROUP BY sex":          "gaussian, translation",
		"SELECT sex, count(*) FROM adult GROUP BY ROLLUP (sex)": "gaussian, translation",
		"SELECT (SELECT count(*) FROM adult WHERE age > 40), c FROM (SELECT sex, count(*) AS c FROM adult GROUP BY " +
			"sex) AS q": "gaussian, " +
			"translation",
		"SELECT (SELECT count(*) FROM adult WHERE age > 40), c FROM (SELECT age, count(*) AS c FROM adult GROUP BY " +
			"age) AS q": "gaussian, " +
			"translation",
		"SELECT count(*) FROM (SELECT age, education, count(*) FROM adult WHERE sex = 'Male' GROUP BY 1, 2) AS m, " +
			"(SELECT age, education, count(*) FROM adult WHERE sex = 'Female' GROUP BY 1, 2) AS f": "translation",
		"SELECT (SELECT avg(hours_per_week) FROM adult WHERE age > 40), c FROM (SELECT sex, count(*) AS c FROM " +
			"adult GROUP BY sex) AS q": "gaussian, " +
			"translation",
	} {
		x, err := h.explain(t, sql)
		if err != nil || x.Assumption != want || len(x.Certificates) != 2 {
			t.Errorf("%s: assuming %s, %d certificates, %v; want %s", sql, x.Assumption, len(x.Certificates), err, want)
		}
	}
}
