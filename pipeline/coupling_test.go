package pipeline

import (
	"math"
	"slices"
	"strings"
	"testing"

	"fugu/sqlstate"
	"fugu/test/patient"
)

// Without any assumption statements are answered by bounds on coupled datasets: every mechanism, in every place that
// says so, with more noise than under translation, and within the statement's δ.
func TestAnswersWithoutAssumptions(t *testing.T) {
	patient.Test(t)
	const sql = "SELECT sex, count(*), avg(age), sum(hours_per_week) FROM adult WHERE age > 20 GROUP BY sex"
	for _, kind := range []string{"expm-laplace", "expm-gaussian", "directional"} {
		t.Run(kind, func(t *testing.T) {
			noise := map[string][]float64{}
			for _, assume := range []string{"[translation, gaussian]", "[]", "[gaussian]"} {
				h := newHouse(t, "[translation, gaussian]", assume, "mechanism: auto", "mechanism: "+kind)
				q, err := h.question(t, sql, nil, settings{confidence: defaultConfidence})
				if err != nil {
					t.Fatal(err)
				}
				x, err := q.Explain(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				want := "coupling"
				if assume == "[translation, gaussian]" {
					want = "gaussian, translation"
				}
				if x.Assumption != want || x.Mechanism != kind || !slices.ContainsFunc(x.Lines(), func(l string) bool {
					return strings.Contains(l, "assuming "+want) || want == "coupling" &&
						strings.Contains(l, "resting on coupled datasets alone")
				}) {
					t.Errorf("assume %s: %s, assuming %s\n%s", assume, x.Mechanism, x.Assumption,
						strings.Join(x.Lines(), "\n"))
				}
				a, err := q.Answer(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if a.Assumption != want || len(a.Losses) != 2 {
					t.Errorf("assume %s: the answer says %s, losses %v", assume, a.Assumption, a.Losses)
				}
				for secret, l := range x.Calibration.Losses { // what covariances add to the charge is another matter
					if d := l.DeltaAt(1); !(d <= 0.001) || want == "coupling" && !(l.Delta >= 0.001/64) {
						t.Errorf("assume %s: secret %s has δ(1) = %g of loss %+v", assume, secret, d, l)
					}
				}
				for _, n := range x.Noise {
					noise[assume] = append(noise[assume], n.SDMax)
				}
			}
			for k, sd := range noise["[]"] {
				if ratio := sd / noise["[translation, gaussian]"][k]; ratio < 1 || ratio > 30 ||
					sd != noise["[gaussian]"][k] {
					t.Errorf("noise %v", noise)
				}
			}
			t.Logf("noise %v", noise)
		})
	}
}

// What no coupling bounds is refused, and says what would have to be accepted.
func TestRefusedWithoutAssumptions(t *testing.T) {
	patient.Test(t)
	h := newHouse(t, "[translation, gaussian]", "[]", private, "mean: age\n    pairs: [[38, 40]]")
	_, err := h.explain(t, "SELECT count(*) FROM adult")
	if !sqlstate.Is(err, sqlstate.ModelUnfit) || !strings.Contains(err.Error(), "private_sector is a mean") {
		t.Errorf("a secret mean: %v", err)
	}
	h = newHouse(t, "[translation, gaussian]", "[]", "delta: 0.001", "delta: 0", "mechanism: auto",
		"mechanism: expm-laplace")
	if _, err = h.explain(t, "SELECT count(*) FROM adult"); !sqlstate.Is(err, sqlstate.ModelUnfit) {
		t.Errorf("delta 0: %v", err)
	}
	h = newHouse(t, "[translation, gaussian]", "[]", "mechanism: auto", "mechanism: wasserstein")
	if _, err = h.explain(t, "SELECT count(*) FROM adult WHERE age > 30"); !sqlstate.Is(err, sqlstate.ModelUnfit) ||
		!strings.Contains(err.Error(), "needs an assumption") {
		t.Errorf("a mechanism that hides no chance: %v", err)
	}
	h = newHouse(t, "[translation, gaussian]", "[]")
	if _, err = h.explain(t, "SELECT stddev(age) FROM adult"); !sqlstate.Is(err, sqlstate.ModelUnfit) {
		t.Errorf("second moments: %v", err)
	}
	if x, err := h.explain(t, "SELECT regr_avgy(age, hours_per_week), regr_avgx(age, hours_per_week), "+
		"regr_count(age, hours_per_week) FROM adult"); err != nil || x.Assumption != "coupling" ||
		!(x.Secrets[0].Norm1 > 0 && x.Secrets[0].Norm1 < 1e5) {
		t.Errorf("averages of pairs: %+v, %v", x.Secrets, err)
	}
	for _, secret := range []string{"categories: sex\n    values: {from: 0.2, to: 0.8, within: 0.05}",
		"about: distribution\n    proportion: workclass = 'Private'\n    pairs: [[0.68, 0.72]]"} {
		h = newHouse(t, "[translation, gaussian]", "[]", private, secret)
		x, err := h.explain(t, "SELECT education, count(*), avg(age) FROM adult WHERE education IN ('Bachelors', "+
			"'Masters') GROUP BY education")
		if err != nil || x.Assumption != "coupling" || math.IsInf(x.Secrets[1].Norm1, 0) {
			t.Errorf("%s: %+v, %v", secret, x.Secrets, err)
		}
	}
}
