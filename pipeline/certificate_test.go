package pipeline

import (
	"slices"
	"strings"
	"testing"

	"fugu/test/patient"
	"fugu/virtual"
)

// What a statement's certificates rest on: f_θ where it is known, translation where it is not or where the policy
// accepts no more; and they reach EXPLAIN (PRIVACY), the ledger and fugu.last_release.
func TestCertificatesTravel(t *testing.T) {
	patient.Test(t)
	assume := []string{"assume: [translation, gaussian]", "assume: [translation]"}
	full, bare := newHouse(t), newHouse(t, assume...)
	for sql, known := range map[string]bool{
		"SELECT education, count(*) FROM adult GROUP BY education":                         true,
		"SELECT sex, count(*), sum(age) FROM adult WHERE education_num > 9 GROUP BY sex":   true,
		"SELECT sex, avg(age) FROM adult GROUP BY sex":                                     true,
		"SELECT sex, count(*) FROM adult GROUP BY ROLLUP (sex)":                            true, // cells overlap
		"SELECT sex, avg(age), count(*) FROM adult GROUP BY ROLLUP (sex)":                  true,
		"SELECT (SELECT count(*) FROM adult), (SELECT count(*) FROM adult WHERE age > 40)": true, // two cuts
	} {
		want := "translation"
		travels(t, bare, sql, want)
		if known {
			want = "gaussian, translation"
		}
		travels(t, full, sql, want)
	}
}

// travels answers a statement, and looks for its certificates wherever they are told.
func travels(t *testing.T, h *house, sql, want string) {
	t.Helper()
	q, err := h.question(t, sql, nil, settings{})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	x, err := q.Explain(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	a, err := q.Answer(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}

	// In the ledger as it was explained.
	if a.Assumption != want || x.Assumption != want || len(a.Certificates) != 2 || len(x.Certificates) != 2 {
		t.Errorf("%s: assuming %q and %q, want %q: %+v", sql, a.Assumption, x.Assumption, want, a.Certificates)
		return
	}
	for i, c := range a.Certificates {
		y := x.Certificates[i]
		if c.Secret != y.Secret || c.Delta != y.Delta || c.Pair != y.Pair || c.Delta > .001 || c.Epsilon != 1 ||
			!(c.Estimation > 0) || c.Mechanism != a.Mechanism {
			t.Errorf("%s: stored %+v, explained %+v", sql, c, y)
		}
		if strings.Join(c.Assumptions, ", ") != want || (c.Pair != [2]float64{}) != (want != "translation") {
			t.Errorf("%s: %+v, want %s", sql, c, want)
		}
	}

	// In fugu.last_release and in the text of the explanation.
	told, err := q.Told(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	last := virtual.LastRelease(told)
	if v, ok := h.engine.snapshot.Load().VirtualTable("last_release"); !ok || len(last) == 0 ||
		len(last[0]) != len(v.Columns) {
		t.Errorf("%s: %d columns of %d: %v", sql, len(last[0]), len(v.Columns), last[0])
	} else if drawn := last[len(last)-1]; drawn[11].Null || drawn[12].Null != (want == "translation") ||
		drawn[13].Null {
		t.Errorf("%s: %v", sql, drawn)
	}
	if lines := strings.Join(x.Lines(), "\n"); strings.Count(lines, "Certificate for secret") != 2 ||
		strings.Contains(lines, "hardest pair") != (want != "translation") {
		t.Errorf("%s:\n%s", sql, lines)
	}
}

// Pairs far apart stay pairs: the noise is that of the wider one, not that of all between.
func TestPairsAreSpansOfTheirOwn(t *testing.T) {
	patient.Test(t)
	errors := map[string]float64{}
	for name, values := range map[string]string{
		"pairs": "pairs: [[0.10, 0.15], [0.55, 0.60]]",
		"one":   "pairs: [[0.10, 0.15]]",
		"range": "values: {from: 0.10, to: 0.60, within: 0.05}",
		"wide":  "pairs: [[0.10, 0.60]]",
	} {
		h := newHouse(t, "values: {from: 0.10, to: 0.60, within: 0.05}", values)
		spans := h.engine.snapshot.Load().Tables[0].Psi[0].Spans
		if n := len(spans); n != strings.Count(values, "], [")+1 {
			t.Errorf("%s: %d spans", values, n)
		}
		q, err := h.question(t, "SELECT avg(age) FROM adult", nil, settings{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := q.Measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		errors[name] = slices.Max(m.Calibration.SD)
	}
	if errors["pairs"] < errors["one"] || errors["pairs"] > 1.2*errors["range"] || errors["wide"] < 4*errors["pairs"] {
		t.Errorf("%v", errors)
	}
}
