package integration

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// Statements that were prepared before a reload go on where the policy is what it was, and cost what they would if they
// were prepared again. What the reload forbids is forbidden for them, too, and where the policy is another one, or a
// name may mean something else by now, they are refused.
func TestPreparedBeforeReload(t *testing.T) {
	f := serve(t, options{})
	c := f.connect(t)
	const masked = "SELECT reltuples::int FROM pg_class WHERE relname = 'adult'"
	for name, sql := range map[string]string{"p": "SELECT count(*) FROM adult WHERE age > $1::int", "m": masked} {
		if _, err := c.Prepare(t.Context(), name, sql); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(age int) (n int64, err error) {
		err = c.QueryRow(t.Context(), "p", age).Scan(&n)
		return n, err
	}
	first, err := answer(40)
	if err != nil {
		t.Fatal(err)
	}
	before := rows(t, c, "m")

	// The same policy, then one with another budget, under which all is planned anew.
	for _, edits := range [][]string{nil, {"epsilon: 20", "epsilon: 19"}} {
		f.reload(t, edits...)
		if again, err := answer(40); err != nil || again != first {
			t.Errorf("%q: %d, then %d, %v", edits, first, again, err)
		}
		if again := rows(t, c, "m"); again != before {
			t.Errorf("%q: %s, then %s", edits, before, again)
		}
		if _, err := answer(50 + len(edits)); err != nil {
			t.Error(err)
		}
	}
	if _, n := spent(t, c); n != 3 {
		t.Errorf("%d releases", n)
	}

	f.reload(t, "analysts: [alice, bob]", "analysts: [bob]")
	if _, err := answer(40); code(err) != "PV003" {
		t.Errorf("of who may ask no more: %v", err)
	}
	f.reload(t, "within: 0.05", "within: 0.04")
	for _, sql := range []string{"m"} {
		if _, err := c.Exec(t.Context(), sql, pgx.QueryExecModeCacheStatement); code(err) != "0A000" {
			t.Errorf("%s under another policy: %v", sql, err)
		}
	}
	f.reload(t)
	if _, err := c.Exec(t.Context(), "CREATE TEMP TABLE adult (age int)"); err != nil {
		t.Fatal(err)
	}
	f.reload(t)
	if _, err := answer(40); code(err) != "0A000" {
		t.Errorf("where its name means something else: %v", err)
	}
}
