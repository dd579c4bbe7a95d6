package pipeline

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"fugu/account"
	"fugu/ledger"
	"fugu/mechanism"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/test/patient"
	"fugu/test/pgcluster"
	"fugu/wire"
)

// identified is the statement whose identity is asked for.
const identified = "SELECT sex, avg(age), count(*) FROM adult WHERE education_num > $1 GROUP BY sex"

func (h *house) key(t *testing.T, sql string, b *wire.Binding, set settings) ledger.Key {
	t.Helper()
	q, err := h.question(t, sql, b, set)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return q.Key
}

// What asks the same has one identity, however it is written.
func TestIdentity(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	const base = identified
	ten, plain := binding(0, "10"), settings{}
	want := h.key(t, base, ten, plain)
	for _, sql := range []string{
		base,
		"select  sex,\n avg(age), count(*) -- again\n from public.adult where education_num > $1 group by 1;",
		"SELECT a.sex, avg(a.age) AS mean, count(*) FROM adult AS a WHERE (a.education_num > $1) GROUP BY a.sex",
		base + " HAVING count(*) > 100",
		base + " ORDER BY 2 DESC LIMIT 1",
		"SELECT x.* FROM (" + base + ") AS x, country WHERE name = 'Cuba'",
	} {
		if got := h.key(t, sql, ten, plain); got != want {
			t.Errorf("another key for %s", sql)
		}
	}
	if got := h.key(t, strings.Replace(base, "$1", "10", 1), nil, plain); got != want {
		t.Error("another key for a constant in the place of the parameter")
	}
	for name, b := range map[string]*wire.Binding{
		"binary": binding(1, "\x00\x00\x00\x0a"), "a sign": binding(0, "+10"), "zeros": binding(0, "010"),
		"spaces": binding(0, " 10"),
	} {
		q, err := h.question(t, base, b, plain)
		if err != nil && name != "binary" {
			continue // refused is as good
		}
		if err != nil || q.Key != want {
			t.Errorf("%s: another key for the same value, %v", name, err)
		}
	}
	same := settings{epsilon: 1, delta: 0.001, deltaSet: true, confidence: 0.5, notices: true}
	if got := h.key(t, base, ten, same); got != want {
		t.Error("another key for settings that say what stands already, or are about the client's output alone")
	}
}

// What asks something else, or of something else, has an identity of its own.
func TestIdentitiesApart(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	const base = identified
	ten, plain := binding(0, "10"), settings{}
	different := map[string]ledger.Key{"base": h.key(t, base, ten, plain)}
	add := func(name string, h *house, sql string, b *wire.Binding, set settings) {
		t.Helper()
		k := h.key(t, sql, b, set)
		for other, o := range different {
			if o == k {
				t.Errorf("%s has the key of %s", name, other)
			}
		}
		different[name] = k
	}
	add("another parameter", h, base, binding(0, "11"), plain)
	add("NULL", h, base, &wire.Binding{Values: [][]byte{nil}}, plain)
	add("another column", h, strings.Replace(base, "avg(age)", "avg(capital_gain)", 1), ten, plain)
	add("another function", h, strings.Replace(base, "avg(age)", "sum(age)", 1), ten, plain)
	add("another filter", h, strings.Replace(base, ">", ">=", 1), ten, plain)
	add("no groups", h, "SELECT avg(age), count(*) FROM adult WHERE education_num > $1", ten, plain)
	add("less epsilon", h, base, ten, settings{epsilon: 0.5})
	add("less delta", h, base, ten, settings{delta: 1e-6, deltaSet: true})
	add("another mechanism", h, base, ten, settings{mechanism: mechanism.ExpmLaplace})
	add("another policy", newHouse(t, "within: 0.05", "within: 0.04"), base, ten, plain)
	add("another public domain", newHouse(t, "[Female, Male]", "[Female, Male, Other]"), base, ten, plain)
}

// What the ledger has stored is believed only where it fits the statement.
func TestArraysRefuseWhatDoesNotFit(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	q, err := h.question(t, "SELECT sex, count(*) FROM adult GROUP BY sex", nil, settings{})
	if err != nil {
		t.Fatal(err)
	}
	good, err := q.Answer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	arrays, err := q.Arrays(t.Context(), good)
	if err != nil || len(arrays) != 2 || string(arrays[0]) != `{"Female","Male"}` ||
		strings.Count(string(arrays[1]), ",") != 1 {
		t.Fatalf("%s, %v", arrays, err)
	}
	var s quote.Stored
	if err := json.Unmarshal(good.Bytes, &s); err != nil {
		t.Fatal(err)
	}
	encode := func(change func(*quote.Stored)) []byte {
		c := quote.Stored{Index: slices.Clone(s.Index), Release: slices.Clone(s.Release)}
		change(&c)
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, bytes := range map[string][]byte{
		"nothing":            nil,
		"no JSON":            []byte("x"),
		"no cells":           encode(func(s *quote.Stored) { s.Index = nil }),
		"too few cells":      encode(func(s *quote.Stored) { s.Index = s.Index[:1] }),
		"too many cells":     encode(func(s *quote.Stored) { s.Index = append(s.Index, 0) }),
		"a component beyond": encode(func(s *quote.Stored) { s.Index[1] = 2 }),
		"no release":         encode(func(s *quote.Stored) { s.Release = nil }),
		"a broken release":   encode(func(s *quote.Stored) { s.Release = s.Release[:len(s.Release)-1] }),
	} {
		bad := good
		bad.Bytes = bytes
		if got, err := q.Arrays(t.Context(), bad); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
	// Where the model has no value there is NULL.
	null := good
	null.Bytes = encode(func(s *quote.Stored) { s.Index[1] = -1 })
	if got, err := q.Arrays(t.Context(), null); err != nil || !strings.HasSuffix(string(got[1]), `,NULL}`) {
		t.Errorf("%s, %v", got, err)
	}
}

// A statement with several cuts has one answer, one price, and its values in the order of the cuts.
func TestSeveralCuts(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	q, err := h.question(t, "SELECT (SELECT count(*) FROM adult WHERE sex = 'Male'), x.a FROM (SELECT sex, avg(age) "+
		"AS a FROM adult GROUP BY sex) AS x", nil, settings{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := q.Answer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	arrays, err := q.Arrays(t.Context(), a)
	if err != nil || len(arrays) != 3 {
		t.Fatalf("%s, %v", arrays, err)
	}
	var columns []string
	for _, c := range a.Cells {
		columns = append(columns, c.Column+" "+c.GroupKey)
	}
	slices.Sort(columns)
	if want := []string{"avg(age) sex=Female", "avg(age) sex=Male", "count(*) "}; !slices.Equal(columns, want) {
		t.Errorf("cells are %q", columns)
	}
	again, err := q.Answer(t.Context())
	if err != nil || again.ID != a.ID || again.Fresh || string(again.Bytes) != string(a.Bytes) {
		t.Errorf("asked again: %+v, %v", again, err)
	}
	accounts, err := account.Balances(t.Context(), h.engine.desk.Ledger, q.Request.Policy, h.user)
	if err != nil || len(accounts) != 2 || accounts[0].Releases != 1 || accounts[0].Spent > 1 || accounts[1].Spent > 1 {
		t.Errorf("%+v, %v", accounts, err)
	}
}

// Everybody pays for an answer once; with accounts of users, each who is told it does besides, and has the same one.
func TestWhoPays(t *testing.T) {
	patient.Test(t)
	for per, want := range map[string][]float64{"dataset": {1, 1, 1}, "user": {1, 1, 1}} {
		h := newHouse(t, "per: dataset", "per: "+per)
		var bytes []string
		for i, user := range []string{"alice", "bob", "alice"} {
			h.user = user
			q, err := h.question(t, "SELECT count(*) FROM adult WHERE income = '>50K'", nil, settings{})
			if err != nil {
				t.Fatal(err)
			}
			a, err := q.Answer(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			bytes = append(bytes, string(a.Bytes))
			accounts, err := account.Balances(t.Context(), h.engine.desk.Ledger, q.Request.Policy, user)
			if err != nil || accounts[0].Spent < want[i]*0.95 || accounts[0].Spent > want[i]*1.01 {
				t.Errorf("per %s: %s has spent %+v, %v", per, user, accounts, err)
			}
		}
		if bytes[0] != bytes[1] || bytes[0] != bytes[2] {
			t.Errorf("per %s: different answers", per)
		}
		scopes, err := h.engine.desk.Ledger.Scopes(t.Context(), "adult")
		if want := map[string][]string{"dataset": {""}, "user": {"", "alice", "bob"}}[per]; err != nil ||
			!slices.Equal(scopes, want) {
			t.Errorf("per %s: scopes %q, %v", per, scopes, err)
		}
	}
}

// Rows that fail cost what an answer costs, once, and are told in the same words when asked again.
func TestRowFailure(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	c := pgcluster.Shared(t)
	if err := c.Exec(t.Context(), "adult", "ALTER TABLE adult ENABLE ROW LEVEL SECURITY; CREATE POLICY failing ON "+
		"adult USING (1 / (age - 39) > -9)"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Exec(t.Context(), "adult", "ALTER TABLE adult DISABLE ROW LEVEL SECURITY; DROP POLICY failing "+
			"ON adult"); err != nil {
			t.Error(err)
		}
	}()
	for range 2 {
		q, err := h.question(t, "SELECT avg(age) FROM adult", nil, settings{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Answer(t.Context()); !sqlstate.Is(err, sqlstate.StatisticsFailed) {
			t.Fatal(err)
		}
		accounts, err := account.Balances(t.Context(), h.engine.desk.Ledger, q.Request.Policy, h.user)
		if err != nil || accounts[0].Releases != 1 || accounts[0].Spent < 0.95 || accounts[0].Spent > 1.01 {
			t.Errorf("%+v, %v", accounts, err)
		}
	}
}

// OFFSET of a subquery below a cut has to be 0, however it is sent, and then changes nothing.
func TestZeroOffset(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	plain, err := h.question(t, "SELECT count(*) FROM adult", nil, settings{})
	if err != nil {
		t.Fatal(err)
	}
	const sql = "SELECT count(*) FROM (SELECT age FROM adult OFFSET $1) x"
	for _, b := range []*wire.Binding{binding(0, "0"), binding(1, "\x00\x00\x00\x00\x00\x00\x00\x00")} {
		if q, err := h.question(t, sql, b, settings{}); err != nil || q.Key != plain.Key {
			t.Errorf("%+v: %v, or another key", b, err)
		}
	}
	null := binding(0, "")
	null.Values[0] = nil
	for _, b := range []*wire.Binding{binding(0, "1"), binding(0, "-1"),
		binding(1, "\x00\x00\x00\x00\x00\x00\x00\x01"), null} {
		if _, err := h.question(t, sql, b, settings{}); !sqlstate.Is(err, sqlstate.NotAnswerable) || sqlstate.As(err).
			Position != 52 {
			t.Errorf("%+v: %v at %d", b, err, sqlstate.As(err).Position)
		}
	}
}

func TestTextParam(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	for _, c := range []struct {
		b    wire.Binding
		code sqlstate.Code
	}{
		{wire.Binding{}, sqlstate.UndefinedParameter},
		{*binding(0, "ten"), sqlstate.InvalidTextRepr},
		{*binding(1, "10"), sqlstate.InvalidTextRepr},
		{*binding(1, ""), sqlstate.InvalidTextRepr},
		{*binding(0, "99999999999999999999"), sqlstate.InvalidTextRepr},
		{*binding(7, "10"), sqlstate.InvalidTextRepr},
	} {
		_, err := h.question(t, "SELECT count(*) FROM adult WHERE age > $1", &c.b, settings{})
		if !sqlstate.Is(err, c.code) {
			t.Errorf("%+v: %v, want %s", c.b, err, c.code)
		} else if shown := sqlstate.As(err); c.code == sqlstate.InvalidTextRepr &&
			strings.Contains(shown.Message+shown.Detail, "ten") {
			t.Errorf("%v repeats the value", shown)
		}
	}
}
