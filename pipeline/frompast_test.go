package pipeline

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fugu/account/memory"
	"fugu/answer"
	"fugu/ledger"
	"fugu/privacy"
	"fugu/quote"
	"fugu/test/patient"
)

// newPast is a house that answers from the past up to an error.
func newPast(t *testing.T, tolerance string, edits ...string) *house {
	t.Helper()
	return newHouse(t, append([]string{"budget: {epsilon: 20, delta: 0.01, per: dataset}", "error: " + tolerance + "\n  budget: {epsilon: 20, delta: 0.01, per: dataset}"}, edits...)...)
}

// told answers a statement, and returns what it cost everybody by secret.
func (h *house) told(t *testing.T, sql string, set settings) (ledger.Answer, float64) {
	t.Helper()
	q, err := h.question(t, sql, nil, set)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	before := h.spent(t, ledger.Everybody)
	a, err := q.Answer(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return a, h.spent(t, ledger.Everybody) - before
}

// spent is a sum of what a scope has spent of all secrets, by which it can be told whether it spent more.
func (h *house) spent(t *testing.T, scope string) (sum float64) {
	t.Helper()
	accounts, err := h.engine.desk.Ledger.Spent(t.Context(), "adult", scope)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range accounts {
		sum += a.Loss.Pure + a.Loss.Kappa2 + a.Loss.Delta + float64(a.Releases)
	}
	return sum
}

// truth is what each component would be without noise, by column and group.
func (h *house) truth(t *testing.T, keys []string, sql string, m *quote.Quote) []float64 {
	t.Helper()
	rows, err := h.engine.desk.Reader.Query(t.Context(), sql, nil, nil)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	found := map[string]map[string]float64{}
	columns := []string{}
	for _, l := range m.Labels {
		if !slices.Contains(columns, l.Column) {
			columns = append(columns, l.Column)
		}
	}
	for _, r := range rows {
		var group []string
		for i, k := range keys {
			group = append(group, k+"="+r[i].Text)
		}
		slices.Sort(group)
		name := strings.Join(group, ", ")
		found[name] = map[string]float64{}
		for i, c := range columns {
			v, _ := new(big.Rat).SetString(r[len(keys)+i].Text)
			found[name][c], _ = v.Float64()
		}
	}
	out := make([]float64, len(m.Labels))
	for k, l := range m.Labels {
		out[k] = found[l.Group][l.Column]
	}
	return out
}

// Random sequences of statements: what is answered from the past costs nothing, is what its weights make of the values that
// were given before, digit for digit, and the same weights make of the values without noise exactly what was asked for.
func TestRandomSequencesFromThePast(t *testing.T) {
	patient.Test(t)
	h := newPast(t, "100000%")
	r := rand.New(rand.NewPCG(7, 7))
	type known struct {
		truth    []float64
		released []string
	}
	answers := map[int64]known{}
	derived, drawn := 0, 0
	filters := []string{"", "", "sex = 'Male'", "sex IN ('Female', 'Male')", "education LIKE '%th'", "education IN ('Masters', 'Doctorate', 'Bachelors')",
		"workclass = 'Private'", "workclass = 'Private' AND sex = 'Female'", "sex = 'Male' OR education = 'HS-grad'"}
	for range 40 {
		var keys []string
		for _, k := range []string{"education", "sex"} {
			if r.IntN(2) == 0 {
				keys = append(keys, k)
			}
		}
		sql := "SELECT " + strings.Join(append(slices.Clone(keys), "count(*)"), ", ") + " FROM adult"
		if f := filters[r.IntN(len(filters))]; f != "" {
			sql += " WHERE " + f
		}
		if len(keys) > 0 {
			sql += " GROUP BY " + strings.Join(keys, ", ")
		}
		set := settings{epsilon: []privacy.Epsilon{.2, .4, .6}[r.IntN(3)]}
		q, err := h.question(t, sql, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		_, stored, err := h.engine.desk.Ledger.Find(t.Context(), q.Key)
		if err != nil {
			t.Fatal(err)
		}
		m, err := q.Measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p, err := q.Estimate(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		a, cost := h.told(t, sql, set)
		truth := h.truth(t, keys, strings.Replace(sql, "FROM adult", "FROM public.adult", 1), m)
		var values []string
		for _, c := range a.Cells {
			values = append(values, c.Value)
		}
		if a.Mechanism != ledger.Derived {
			if p != nil && !stored {
				t.Errorf("%s: drawn afresh, though it can be computed", sql)
			}
			answers[a.ID] = known{truth, values}
			drawn++
			continue
		}
		derived++
		if cost != 0 || len(a.Losses) != 2 {
			t.Errorf("%s: costs %v, %v", sql, cost, a.Losses)
		}
		if again, _ := h.told(t, sql, set); again.ID != a.ID || !reflect.DeepEqual(again.Cells, a.Cells) {
			t.Errorf("%s: another answer when asked again", sql)
		}
		if p == nil || stored {
			continue // it was asked before
		}
		for k, e := range p.Of {
			without, sum := 0.0, new(big.Rat)
			for _, s := range e.Of {
				of := answers[p.Answer(s.Release)]
				without += s.Weight * of.truth[s.Component]
				v, _ := new(big.Rat).SetString(of.released[s.Component])
				sum.Add(sum, v.Mul(v, new(big.Rat).SetFloat64(s.Weight)))
			}
			if math.Abs(without-truth[k]) > 1e-4 {
				t.Errorf("%s: %s: weights make %v of the true values, and the truth is %v", sql, m.Labels[k].Group, without, truth[k])
			}
			if want := sum.FloatString(0); values[k] != want {
				t.Errorf("%s: %s is %s, and the values given before make %s", sql, m.Labels[k].Group, values[k], want)
			}
			if c := a.Cells[k]; c.SD < e.Error.SD() || c.Upper-c.Lower < 2*c.SD {
				t.Errorf("%s: %+v", sql, c)
			}
		}
	}
	if derived < 10 || drawn < 5 {
		t.Errorf("%d computed, %d drawn: the test shows little", derived, drawn)
	}
}

// The error that is claimed is the error that is seen: n = 600 ledgers, in each the counts by sex and education, and from
// them those by sex, and by education where sex is not asked. The squares of errors in units of their claimed sd have mean 1,
// and a variance below 5 each: six standard errors of the mean of n are .55. One draw of 600 that takes the mean there by
// itself is |z| > 18, for Laplace noise 600·e^-25. So the false alarm is below 1e-6.
func TestErrorFromThePastIsAsClaimed(t *testing.T) {
	patient.Test(t)
	if testing.Short() {
		t.Skip("600 ledgers")
	}
	const n = 600
	h := newPast(t, "1000%")
	const cells, margin, part = "SELECT sex, education, count(*) FROM adult GROUP BY sex, education", "SELECT sex, count(*) FROM adult GROUP BY sex",
		"SELECT count(*) FROM adult WHERE education = 'Masters'"
	var squares [3]float64
	var truth []float64
	dir := t.TempDir()
	for i := range n {
		l, err := ledger.Open(t.Context(), "sqlite:"+filepath.Join(dir, fmt.Sprint(i)), ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		h.engine.desk = &answer.Desk{Ledger: memory.Of(l), Reader: h.engine.desk.Reader,
			Searches: h.engine.desk.Searches}
		_, _ = h.told(t, cells, settings{})
		a, _ := h.told(t, margin, settings{})
		b, _ := h.told(t, part, settings{})
		if a.Mechanism != ledger.Derived || b.Mechanism != ledger.Derived {
			t.Fatal("drawn afresh")
		}
		if truth == nil {
			q, _ := h.question(t, margin, nil, settings{})
			m, _ := q.Measure(t.Context())
			truth = h.truth(t, []string{"sex"}, "SELECT sex, count(*) FROM public.adult GROUP BY sex", m)
			q, _ = h.question(t, part, nil, settings{})
			m, _ = q.Measure(t.Context())
			truth = append(truth, h.truth(t, nil, "SELECT count(*) FROM public.adult WHERE education = 'Masters'", m)...)
		}
		for k, c := range append(slices.Clone(a.Cells), b.Cells...) {
			v, _ := new(big.Rat).SetString(c.Value)
			x, _ := v.Float64()
			z := (x - truth[k]) / c.SD
			squares[k] += z * z
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for k, s := range squares {
		if s/n < .45 || s/n > 1.55 {
			t.Errorf("value %d: mean square %v of what is claimed", k, s/n)
		}
	}
}
