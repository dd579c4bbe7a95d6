package integration

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
)

// spent is what fugu.budget says of the secret that has lost most.
func spent(t testing.TB, c *pgx.Conn) (epsilon float64, releases int) {
	t.Helper()
	if err := c.QueryRow(t.Context(), "SELECT max(epsilon_spent), max(releases) FROM fugu.budget").Scan(&epsilon,
		&releases); err != nil {
		t.Fatal(err)
	}
	return epsilon, releases
}

// rows runs sql and returns all its cells as text.
func rows(t testing.TB, c *pgx.Conn, sql string, args ...any) string {
	t.Helper()
	r, err := c.Query(t.Context(), sql, append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, args...)...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer r.Close()
	out := ""
	for r.Next() {
		out += fmt.Sprintf("%q\n", r.RawValues())
	}
	if r.Err() != nil {
		t.Fatalf("%s: %v", sql, r.Err())
	}
	return out
}

// The same statement with the same parameters has the same answer, at no cost: in another spelling below the cut,
// under another HAVING, in text and in binary, in another session, for another user, and after a restart.
func TestSameStatementSameAnswer(t *testing.T) {
	patient.Test(t)
	file := filepath.Join(t.TempDir(), "fugu.db")
	db := adultDatabase(t)
	f, err := start(t.Context(), db, t.TempDir(), options{ledger: file})
	if err != nil {
		t.Fatal(err)
	}
	alice := f.connect(t)
	const sql = "SELECT education, avg(age), count(*) FROM adult WHERE sex = $1 GROUP BY education ORDER BY education"
	first := rows(t, alice, sql, "Male")
	cost, _ := spent(t, alice)
	if cost <= 0 {
		t.Fatal("the first answer cost nothing")
	}
	check := func(who string, c *pgx.Conn) {
		t.Helper()
		for _, again := range []string{sql,
			"select x.education, AVG( x.age ), COUNT(*) from public.adult as x where (x.sex = $1) group by 1 order " +
				"by education",
			"SELECT education, avg(age), count(*) FROM adult WHERE sex = $1 GROUP BY education HAVING $1 <> '' " +
				"ORDER BY 1"} {
			if got := rows(t, c, again, "Male"); got != first {
				t.Errorf("%s: another answer to %s:\n%s\n%s", who, again, got, first)
			}
		}
		if now, n := spent(t, c); now != cost || n != 1 {
			t.Errorf("%s: epsilon %g after %d releases, was %g", who, now, n, cost)
		}
	}
	check("the same session", alice)
	check("another session", f.connect(t))
	check("another user", connect(t, f.dsn("bob")))
	if other := rows(t, alice, sql, "Female"); other == first {
		t.Error("another parameter has the same answer")
	}
	cost2, n := spent(t, alice)
	if cost2 <= cost || n != 2 {
		t.Errorf("another parameter cost nothing: %g, %g, %d releases", cost, cost2, n)
	}
	_ = alice.Close(context.Background())
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	f, err = start(t.Context(), db, t.TempDir(), options{ledger: file})
	if err != nil {
		t.Fatal(err)
	}
	defer f.stop()
	c := f.connect(t)
	if got := rows(t, c, sql, "Male"); got != first {
		t.Errorf("after a restart the answer is another:\n%s\n%s", got, first)
	}
	if now, n := spent(t, c); now != cost2 || n != 2 {
		t.Errorf("after a restart: epsilon %g after %d releases, was %g", now, n, cost2)
	}
}

// A budget that does not cover a statement is PV002, which says what is left; stored answers stay free, and a smaller
// epsilon may still fit.
func TestBudgetExhausted(t *testing.T) {
	d := &countingDialer{}
	f := serve(t, options{policy: []string{"budget: {epsilon: 20, delta: 0.01", "budget: {epsilon: 2.5, delta: 0.01"},
		dialReader: d.dial})
	c := f.connect(t)
	first := rows(t, c, "SELECT count(*) FROM adult WHERE income = '>50K' AND age > 10")
	rows(t, c, "SELECT count(*) FROM adult WHERE income = '>50K' AND age > 11")
	_, err := c.Exec(t.Context(), "SELECT count(*) FROM adult WHERE income = '>50K' AND age > 12")
	pe := pgError(err)
	if pe == nil || pe.Code != "PV002" || !contains(pe.Message, "epsilon 0.5 is left") || pe.Hint == "" {
		t.Fatalf("got %v", err)
	}
	// Refused for its price, a statement has not been read from the protected table, and costs nothing.
	before := d.sent.Load()
	for range 3 {
		if _, err := c.Exec(t.Context(), "SELECT count(*) FROM adult WHERE income = '>50K' AND age > 12"); code(
			err) != "PV002" {
			t.Fatalf("got %v", err)
		}
	}
	if sent := d.sent.Load() - before; sent != 0 {
		t.Errorf("the reader sent %d bytes for a statement that the budget does not cover", sent)
	}
	if again := rows(t, c, "SELECT count(*) FROM adult WHERE income = '>50K' AND age > 10"); again != first {
		t.Error("the stored answer is gone")
	}
	rows(t, c, "SET fugu.epsilon = 0.4")
	rows(t, c, "SELECT count(*) FROM adult WHERE income = '>50K' AND age > 12")
	rows(t, c, "SET fugu.epsilon = 0.2")
	if _, err := c.Exec(t.Context(), "SELECT count(*) FROM adult WHERE income = '>50K' AND age > 13"); code(
		err) != "PV002" {
		t.Errorf("got %v", err)
	}
}

// failRows makes reading the protected table fail on some row, with a row-level security policy: no statement of a
// client's can do that.
func failRows(t *testing.T, condition string) {
	t.Helper()
	c := adultDatabase(t).cluster
	stop := func() {
		if err := c.Exec(context.WithoutCancel(t.Context()), "adult", "ALTER TABLE adult DISABLE ROW LEVEL SECURITY; "+
			"DROP POLICY IF EXISTS failing ON adult"); err != nil {
			t.Error(err)
		}
	}
	stop()
	if err := c.Exec(t.Context(), "adult", "ALTER TABLE adult ENABLE ROW LEVEL SECURITY; CREATE POLICY failing "+
		"ON adult USING ("+condition+")"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
}

// A row error is PV005 without PostgreSQL's text; it is charged, and stored like an answer.
func TestRowErrorIsChargedWithoutDetail(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	c := f.connect(t)
	told := map[string]bool{}
	for i, failing := range []string{"1 / (age - 39) > -9", "workclass::int > 0", "age * 2000000000 > 0"} {
		failRows(t, failing)
		before, n := spent(t, c)
		for range 2 {
			_, err := c.Exec(t.Context(), fmt.Sprintf("SELECT count(*) FROM adult WHERE age > %d", i))
			pe := pgError(err)
			if pe == nil || pe.Code != "PV005" {
				t.Fatalf("%s: %v", failing, err)
			}
			told[fmt.Sprint(*pe)] = true
		}
		after, m := spent(t, c)
		if after < before+0.7 || m != n+1 { // what noise of a lattice step costs
			t.Errorf("%d: epsilon %g, then %g; %d, then %d releases", i, before, after, n, m)
		}
	}
	if len(told) != 1 {
		t.Errorf("the error depends on its reason: %v", told)
	}
}

// What fails on rows in PostgreSQL is answered, as if the rows had no value: an error would tell that there are such
// rows.
func TestRowsCannotFail(t *testing.T) {
	patient.Test(t)
	c := serve(t, options{}).connect(t)
	for _, sql := range []string{
		"SELECT count(*) FROM adult WHERE 1 / (age - 39) > 0",
		"SELECT count(workclass::int) FROM adult",
		"SELECT avg(age * 2000000000) FROM adult",
	} {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// Errors that the text or the parameters alone decide cost nothing.
func TestMistakesAreFree(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	c := f.connect(t)
	for sql, want := range map[string]string{
		"SELECT nope FROM adult GROUP BY sex":                                   "42703",
		"SELECT count(*) FROM adult WHERE age = 'x'":                            "22P02",
		"SELECT count(*) FROM adult WHERE age LIKE 'x'":                         "42883",
		"SELECT sum(sex) FROM adult":                                            "42883",
		"SELECT sex, nosuch(count(*)) FROM adult GROUP BY sex":                  "42883",
		"SELECT race, count(*) FROM adult GROUP BY race":                        "PV003",
		"SELECT sum(age) FROM adult WHERE age > 1000":                           "PV004",
		"SELECT count(*) FRM adult":                                             "42601",
		"SET fugu.epsilon = 'inf'":                                              "22023",
		"SET fugu.epsilon = 0":                                                  "22023",
		"SET fugu.epsilon = -1":                                                 "22023",
		"SET fugu.epsilon = 'NaN'":                                              "22023",
		"SET fugu.nope = 1":                                                     "42704",
		"BEGIN; SET LOCAL fugu.epsilon = 3; SELECT count(*) FROM adult; COMMIT": "PV003",
		"BEGIN; SELECT set_config('fugu.epsilon', 'NaN', true); SELECT count(*) FROM adult; COMMIT": "22023",
	} {
		_, err := c.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		if code(err) != want {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
		if c.PgConn().TxStatus() != 'I' {
			rows(t, c, "ROLLBACK")
		}
	}
	if e, n := spent(t, c); e != 0 || n != 0 {
		t.Errorf("mistakes cost epsilon %g in %d releases", e, n)
	}
}

// Only the analysts of the policy may ask.
func TestAnalysts(t *testing.T) {
	f := serve(t, options{})
	c := connect(t, f.dsn("mallory"))
	if _, err := c.Exec(t.Context(), "SELECT count(*) FROM adult"); code(err) != "PV003" {
		t.Errorf("got %v", err)
	}
	if rows(t, c, "SELECT 1") == "" {
		t.Error("an ordinary statement fails")
	}
}

// A changed policy ends stored answers, and statements prepared under the old one are refused.
func TestReloadedPolicy(t *testing.T) {
	f := serve(t, options{})
	c := f.connect(t)
	if _, err := c.Prepare(t.Context(), "p", "SELECT avg(age) FROM adult"); err != nil {
		t.Fatal(err)
	}
	rows(t, c, "p")
	f.reload(t, "within: 0.05", "within: 0.04")
	if _, err := c.Exec(t.Context(), "p"); code(err) != "0A000" {
		t.Errorf("a statement of the old policy: %v", err)
	}
	rows(t, c, "SELECT avg(age) FROM adult")
	if _, n := spent(t, c); n != 2 { // two draws of noise may be the same number
		t.Errorf("%d releases: the answer of the old policy was given", n)
	}
}
