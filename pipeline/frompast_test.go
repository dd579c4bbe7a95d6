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
	"fugu/reuse"
	"fugu/test/nightly"
	"fugu/test/patient"
)

// newPast is a house that answers from the past up to an error.
func newPast(t *testing.T, tolerance string, edits ...string) *house {
	t.Helper()
	const budget = "budget: {epsilon: 20, delta: 0.01, per: dataset}"
	return newHouse(t, append([]string{budget, "error: " + tolerance + "\n  " + budget}, edits...)...)
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

// sequence is a house of which statements are asked one after the other, and what it drew.
type sequence struct {
	*house
	answers        map[int64]drawn
	derived, fresh int // answers that were computed, and that were drawn
}

// drawn is an answer of the sequence with noise: its components as they are and as they were given.
type drawn struct {
	truth    []float64
	released []string
}

// Random sequences of statements: what is answered from the past costs nothing, is what its weights make of the values
// that were given before, digit for digit, and the same weights make of the values without noise exactly what was asked
// for.
func TestRandomSequencesFromThePast(t *testing.T) {
	patient.Test(t)
	s := sequence{house: newPast(t, "100000%"), answers: map[int64]drawn{}}
	r := rand.New(rand.NewPCG(7, 7))
	for range 40 {
		sql, keys := randomCount(r)
		s.next(t, sql, keys, settings{epsilon: []privacy.Epsilon{.2, .4, .6}[r.IntN(3)]})
	}
	if s.derived < 10 || s.fresh < 5 {
		t.Errorf("%d computed, %d drawn: the test shows little", s.derived, s.fresh)
	}
}

// randomCount is a statement that counts rows of a few kinds, and what it groups them by.
func randomCount(r *rand.Rand) (sql string, keys []string) {
	filters := []string{"", "", "sex = 'Male'", "sex IN ('Female', 'Male')", "education LIKE '%th'",
		"education IN ('Masters', 'Doctorate', 'Bachelors')", "workclass = 'Private'",
		"workclass = 'Private' AND sex = 'Female'", "sex = 'Male' OR education = 'HS-grad'"}
	for _, k := range []string{"education", "sex"} {
		if r.IntN(2) == 0 {
			keys = append(keys, k)
		}
	}
	sql = "SELECT " + strings.Join(append(slices.Clone(keys), "count(*)"), ", ") + " FROM adult"
	if f := filters[r.IntN(len(filters))]; f != "" {
		sql += " WHERE " + f
	}
	if len(keys) > 0 {
		sql += " GROUP BY " + strings.Join(keys, ", ")
	}
	return sql, keys
}

// next asks a statement, and holds its answer against those before it.
func (s *sequence) next(t *testing.T, sql string, keys []string, set settings) {
	t.Helper()
	// What the past makes of it is worked out before it is asked: the answer would be of the past itself.
	q, m := s.measured(t, sql, set)
	_, stored, err := s.engine.desk.Ledger.Find(t.Context(), q.Key)
	if err != nil {
		t.Fatal(err)
	}
	p, err := q.FromPast(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	a, cost := s.told(t, sql, set)
	truth := s.truth(t, keys, strings.Replace(sql, "FROM adult", "FROM public.adult", 1), m)

	if a.Mechanism != ledger.Derived {
		if p != nil && !stored {
			t.Errorf("%s: drawn afresh, though it can be computed", sql)
		}
		var values []string
		for _, c := range a.Cells {
			values = append(values, c.Value)
		}
		s.answers[a.ID] = drawn{truth, values}
		s.fresh++
		return
	}

	s.derived++
	if cost != 0 || len(a.Losses) != 2 {
		t.Errorf("%s: costs %v, %v", sql, cost, a.Losses)
	}
	if again, _ := s.told(t, sql, set); again.ID != a.ID || !reflect.DeepEqual(again.Cells, a.Cells) {
		t.Errorf("%s: another answer when asked again", sql)
	}
	if p == nil || stored {
		return // it was asked before
	}
	s.weighs(t, sql, p, a, truth)
}

// weighs holds an answer against what its weights make of those that it was computed from, with their noise and
// without.
func (s *sequence) weighs(t *testing.T, sql string, p *reuse.Estimates, a ledger.Answer, truth []float64) {
	t.Helper()
	for k, e := range p.Of {
		without, sum := 0.0, new(big.Rat)
		for _, share := range e.Of {
			of := s.answers[p.Answer(share.Release)]
			without += share.Weight * of.truth[share.Component]
			v, _ := new(big.Rat).SetString(of.released[share.Component])
			sum.Add(sum, v.Mul(v, new(big.Rat).SetFloat64(share.Weight)))
		}
		c := a.Cells[k]
		if math.Abs(without-truth[k]) > 1e-4 {
			t.Errorf("%s: %s: weights make %v of the true values, and the truth is %v", sql, c.GroupKey, without,
				truth[k])
		}
		if want := sum.FloatString(0); c.Value != want {
			t.Errorf("%s: %s is %s, and the values given before make %s", sql, c.GroupKey, c.Value, want)
		}
		if c.SD < e.Error.SD() || c.Upper-c.Lower < 2*c.SD {
			t.Errorf("%s: %+v", sql, c)
		}
	}
}

// The error that is claimed is the error that is seen: n = 300 ledgers, by night 600, in each the counts by sex and
// education, and from them those by sex, and by education where sex is not asked. The squares of errors in units of
// their claimed sd have mean 1, and a variance below 5 each: six standard errors of the mean of n are .77, by night
// .55. One draw of n that takes the mean there by itself is |z| > 15, for Laplace noise 300·e^-21. So the false alarm
// is below 1e-6.
func TestErrorFromThePastIsAsClaimed(t *testing.T) {
	patient.Test(t)
	if testing.Short() {
		t.Skip("300 ledgers")
	}
	n := nightly.Or(600, 300)
	h := newPast(t, "1000%")
	const part = "SELECT count(*) FROM adult WHERE education = 'Masters'"
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
		_, _ = h.told(t, byBoth, settings{})
		a, _ := h.told(t, bySex, settings{})
		b, _ := h.told(t, part, settings{})
		if a.Mechanism != ledger.Derived || b.Mechanism != ledger.Derived {
			t.Fatal("drawn afresh")
		}
		if truth == nil {
			_, m := h.measured(t, bySex, settings{})
			truth = h.truth(t, []string{"sex"}, strings.Replace(bySex, "adult", "public.adult", 1), m)
			_, m = h.measured(t, part, settings{})
			truth = append(truth, h.truth(t, nil, strings.Replace(part, "adult", "public.adult", 1), m)...)
		}

		// Errors in units of what is claimed.
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
	far := 6 * math.Sqrt(5/float64(n))
	for k, s := range squares {
		if mean := s / float64(n); math.Abs(mean-1) > far {
			t.Errorf("value %d: mean square %v of what is claimed", k, mean)
		}
	}
}
