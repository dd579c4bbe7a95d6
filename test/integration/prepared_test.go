package integration

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/pipeline"
	"fugu/policy"
	"fugu/test/patient"
)

// reload makes a Fugu answer by an edited policy.
func (f *fugu) reload(t *testing.T, edits ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "adult.policy.yaml")
	if err := writePolicy(file, adultDatabase(t).rows, edits...); err != nil {
		t.Fatal(err)
	}
	policies, err := policy.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := pipeline.Load(t.Context(), policies, f.reader)
	if err != nil {
		t.Fatal(err)
	}
	f.engine.Replace(snapshot)
}

// EXECUTE asks under the policy of its own time, and as the user of its session.
func TestExecuteAfterReload(t *testing.T) {
	f := serve(t, options{})
	c := f.connect(t)
	rows(t, c, "PREPARE q AS SELECT count(*) FROM adult WHERE sex = 'Male'")
	rows(t, c, "EXECUTE q")
	f.reload(t, "within: 0.05", "within: 0.04")
	rows(t, c, "EXECUTE q")
	if _, n := spent(t, c); n != 2 { // two draws of noise may be the same number
		t.Errorf("%d releases: the answer of the old policy was given", n)
	}
	f.reload(t, "analysts: [alice, bob]", "analysts: [bob]")
	for _, sql := range []string{"EXECUTE q", "CREATE TEMP TABLE t AS EXECUTE q", "EXPLAIN (PRIVACY) EXECUTE q"} {
		if got, err := simple(t, c, sql); code(err) != "PV003" {
			t.Errorf("%s: %s, %v", sql, got, err)
		}
	}
	if _, n := spent(t, connect(t, f.dsn("bob"))); n != 2 {
		t.Errorf("%d releases", n)
	}
}

// The client's text of a prepared statement is in a comment on the guest, where the client can write as well. What it
// writes is interpreted as if it had been sent: no more can be had by it, and it is charged.
func TestForgedPrepare(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	c := f.connect(t)
	rows(t, c, "PREPARE known AS SELECT count(*) FROM adult")
	_, before := spent(t, c)
	for i, x := range []struct{ text, code string }{
		{"PREPARE f%d AS SELECT 1\n-- fugu \"SELECT count(*) FROM adult\"", "0A000"},
		{"PREPARE f%d AS SELECT 1\n-- fugu \"TABLE adult\"", "0A000"},
		{"PREPARE f%d AS SELECT 1\n-- fugu \"PREPARE x AS TABLE adult\"", "PV001"},
		{"PREPARE f%d AS SELECT 1\n-- fugu \"PREPARE x AS SELECT max(age) FROM adult\"", "PV001"},
		// one array is missing
		{"PREPARE f%d AS SELECT 1\n-- fugu \"PREPARE x AS SELECT count(*) FROM adult\"", "0A000"},
		{"PREPARE f%d (text, text) AS SELECT $1, $2\n-- fugu \"PREPARE x AS SELECT count(*) FROM adult; SELECT 1\"",
			"0A000"},
		{"PREPARE f%d AS SELECT 1\n-- fugu \"EXECUTE f%[1]d\"", "0A000"},
		{"PREPARE f%d AS SELECT 1\n-- fugu no quotes", ""},
		{"PREPARE f%d AS SELECT 1\n-- fugu \"syntax error on adult\"", "42601"},
	} {
		if _, err := simple(t, c, fmt.Sprintf(x.text, i)); err != nil {
			// What names a protected table in a statement that does not read it is ordinary.
			t.Errorf("%s: %v", x.text, err)
		}
		got, err := simple(t, c, fmt.Sprintf("EXECUTE f%d", i))
		if code(err) != x.code {
			t.Errorf("%s: %s, %v, not %s", x.text, got, err, x.code)
		}
	}
	if _, n := spent(t, c); n != before {
		t.Errorf("%d releases", n-before)
	}
	// With as many parameters as the statement in the comment: it is that statement, noise, charge and all.
	if _, err := simple(t, c, "PREPARE whole (int8[]) AS SELECT $1\n-- fugu \"PREPARE x AS SELECT count(*) "+
		"FROM adult WHERE age > 71\""); err != nil {
		t.Fatal(err)
	}
	got := rows(t, c, "EXECUTE whole")
	if _, n := spent(t, c); n != before+1 || got != rows(t, c, "SELECT count(*) FROM adult WHERE age > 71") {
		t.Errorf("%s, %d releases", got, n-before)
	}
}

// What a PREPARE leaves on the guest is what PostgreSQL shows, and it has no values in it.
func TestPreparedStatementsAreListed(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	c := f.connect(t)
	if _, err := c.Exec(t.Context(), "PREPARE \"My q\" (text) AS SELECT count(*) FROM adult WHERE sex = $1 "+
		"AND age > $2", pgx.QueryExecModeExec); err != nil {
		t.Fatal(err)
	}
	rows(t, c, "EXECUTE \"My q\"('Male', 30)", pgx.QueryExecModeExec)
	got := rows(t, c, "SELECT name, parameter_types[1:2]::text, from_sql, statement FROM pg_prepared_statements "+
		"WHERE from_sql", pgx.QueryExecModeExec)
	if !strings.HasPrefix(got, `["My q" "{text,integer}" "t" `) || !contains(got, "AND age > $2") ||
		contains(got, "30") || strings.Count(got, "\n") != 1 {
		t.Errorf("listed: %s", got)
	}
}

// Arguments arrive as PostgreSQL coerces them.
func TestExecuteArguments(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	c := f.connect(t)
	rows(t, c, "CREATE TYPE pg_temp.mood AS ENUM ('sad', 'it''s \\ \"fine\"')")
	const list = `text, int, numeric, date, timestamptz, bytea, int[], text[], bool, float8, json, varchar(3), "char"`
	const values = `'it''s \ "x" $1 äö', '7', 1, '2020-02-03', '2020-02-03 04:05+02', '\x00ff',
		ARRAY[1, NULL, 3], ARRAY['a b', '', NULL, '{'], 'yes', 1e-7, '{"a": "''"}', 'abcdef', 'z'`
	const columns = "$1 AS a, $2 AS b, $3 AS c, $4 AS d, $5 AS e, $6 AS f, $7 AS g, $8 AS h, $9 AS i, $10 AS j, $11 " +
		"AS k, $12 AS l, $13 AS m"
	for _, set := range []string{"SELECT 1", "SET DateStyle = 'German'; SET TimeZone = 'Asia/Tokyo'; SET " +
		"IntervalStyle = 'sql_standard'; SET bytea_output = 'escape'", "RESET ALL"} {
		for _, args := range []string{values, strings.Repeat("NULL, ", 12) + "NULL",
			strings.Replace(values, "'it''s", "E'\\n' || 'it''s", 1)} {
			if _, err := simple(t, c, set+"; DEALLOCATE ALL; PREPARE a ("+list+") AS SELECT "+columns+
				", count(*) > 0 FROM adult; PREPARE b ("+list+") AS SELECT "+columns+", true"); err != nil {
				t.Fatal(err)
			}
			got, err := simple(t, c, "EXECUTE a("+args+")")
			if err != nil {
				t.Fatal(err)
			}
			want, err := simple(t, c, "EXECUTE b("+args+")")
			if err != nil || got != want {
				t.Errorf("%s, %s:\n%s, not\n%s, %v", set, args, got, want, err)
			}
		}
	}
	// A type of the client's own.
	if _, err := simple(t, c, "PREPARE m (pg_temp.mood) AS SELECT $1, count(*) > 0 FROM adult"); code(err) != "3F000" {
		t.Errorf("a type that Fugu cannot know: %v", err)
	}
	if _, err := simple(t, c, "PREPARE m AS SELECT $1::pg_temp.mood, count(*) > 0 FROM adult"); err != nil {
		t.Fatal(err)
	}
	if got, err := simple(t, c, `EXECUTE m('it''s \ "fine"')`); err != nil || !contains(got, "fine") {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := simple(t, c, "EXECUTE m('glad')"); code(err) != "22P02" {
		t.Errorf("got %v", err)
	}
}

// What is masked in the catalog is masked in a prepared statement too, and as an argument.
func TestPreparedCatalogs(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	c := f.connect(t)
	for _, prepare := range []string{"PREPARE q (text) AS SELECT relname, relpages FROM pg_class WHERE relname = $1",
		"PREPARE q (text) AS SELECT adult, relpages FROM (SELECT relname AS adult, relpages FROM pg_class) x " +
			"WHERE adult = $1",
		"PREPARE q (text) AS SELECT relname, relpages FROM pg_class, (SELECT count(*) AS n FROM adult) x " +
			"WHERE relname = $1"} {
		got, err := simple(t, c, prepare+"; EXECUTE q('adult')")
		if err != nil || strings.Count(got, "adult") != 1 {
			t.Errorf("%s: %s, %v", prepare, got, err)
		}
		if want := rows(t, c, "SELECT relname, relpages FROM pg_class WHERE relname = 'adult'"); got != want {
			t.Errorf("%s: %s, and not prepared %s", prepare, got, want)
		}
		if got, err := simple(t, c, "EXECUTE q(pg_relation_size('adult')::text)"); code(err) != "PV001" {
			t.Errorf("an argument: %s, %v", got, err)
		}
		rows(t, c, "DEALLOCATE q")
	}
	for _, sql := range []string{"CREATE TEMP TABLE c1 AS SELECT relpages FROM pg_class WHERE relname = 'adult'",
		"SELECT relpages INTO TEMP c2 FROM pg_class WHERE relname = 'adult'",
		"CREATE TEMP TABLE c3 AS SELECT relpages FROM pg_class, (SELECT count(*) FROM adult) x " +
			"WHERE relname = 'adult'"} {
		rows(t, c, sql)
	}
	want := rows(t, c, "SELECT relpages FROM pg_class WHERE relname = 'adult'")
	for _, table := range []string{"c1", "c2", "c3"} {
		if got := rows(t, c, "TABLE "+table); got != want {
			t.Errorf("%s holds %s, not %s", table, got, want)
		}
	}
	var out strings.Builder
	if _, err := c.PgConn().CopyTo(t.Context(), &out, "COPY (SELECT relpages FROM pg_class, (SELECT count(*) "+
		"FROM adult) x WHERE relname = 'adult') TO STDOUT"); err != nil ||
		!contains(want, `"`+strings.TrimSpace(out.String())+`"`) {
		t.Errorf("COPY gives %s, %v, not %s", out.String(), err, want)
	}
	truth := rows(t, adultDatabase(t).truth(t), "SELECT relpages FROM pg_class WHERE relname = 'adult'")
	if truth == want {
		t.Errorf("nothing is masked: %s", want)
	}
}
