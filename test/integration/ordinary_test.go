package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/test/patient"
)

// Scripts of ordinary messages, each in a session of its own.
var ordinaryScripts = map[string][]message{
	"implicit transaction": queries("CREATE TEMP TABLE t (a int)", "INSERT INTO t VALUES (1); INSERT INTO t "+
		"VALUES (1/0); SELECT 1", "SELECT count(*) FROM t",
		"INSERT INTO t VALUES (2); SELECT a FROM t; ; INSERT INTO t VALUES (3)", "SELECT a FROM t ORDER BY a", "", ";"),
	"error in a pipeline": slices.Concat([]message{query("CREATE TEMP TABLE t (a int)")},
		run("INSERT INTO t VALUES (1)"), run("SELECT 1/0"), run("INSERT INTO t VALUES (2)"),
		[]message{flush, sync}, run("SELECT * FROM t"), []message{sync}),
	"error in Parse": {parse("x", "SELECT nope"), bind("", "x"), execute("", 0), parse("y", "SELECT 1"), sync,
		bind("", "y"), execute("", 0), sync, sync},
	"error in Bind": {parse("", "SELECT $1::int"), bind("", "", "one"), execute("", 0), sync,
		parse("", "SELECT $1::int"), bind("", ""), execute("", 0), sync},
	"error on Sync": slices.Concat(queries("CREATE TEMP TABLE d (a int UNIQUE DEFERRABLE INITIALLY DEFERRED)",
		"INSERT INTO d VALUES (1)"), run("INSERT INTO d VALUES (1)"), []message{sync}, run("SELECT * FROM d"),
		[]message{sync}),
	"several in Parse": {parse("", "SELECT 1; SELECT 2"), sync},
	"transactions": queries("BEGIN", "SELECT 1", "SELECT 1/0", "SELECT 2", "ROLLBACK", "COMMIT",
		"BEGIN; SELECT 1/0; COMMIT", "SELECT 3", "COMMIT", "SELECT 4"),
	"savepoints": queries("BEGIN", "CREATE TEMP TABLE t (a int)", "SAVEPOINT s", "INSERT INTO t VALUES (1)",
		"SELECT x", "ROLLBACK TO s", "INSERT INTO t VALUES (2)", "RELEASE s", "TABLE t", "COMMIT", "TABLE t"),
	"settings": queries("SET application_name = 'x'", "SHOW application_name", "BEGIN; SET LOCAL work_mem = "+
		"'5MB'; SHOW work_mem", "ROLLBACK", "SHOW work_mem", "SET DateStyle = 'German'", "SELECT date '2026-11-21'",
		"RESET ALL", "SHOW DateStyle", "SET nope = 1", "SET TimeZone = 'Nowhere'"),
	"names": {parse("a", "SELECT 1"), describe('S', "a"), parse("a", "SELECT 2"), sync, bind("p", "a"),
		execute("p", 0), closing('P', "p"), execute("p", 0), sync, closing('S', "a"), closing('S', "never"),
		bind("", "a"), sync, parse("b", "SELECT $1 + 1", 20), describe('S', "b"), bind("", "b", "41"),
		execute("", 0), sync, query("DEALLOCATE ALL"), bind("", "b", "1"), sync, query("PREPARE c AS SELECT 7"),
		bind("", "c"), execute("", 0), sync},
	"row limits": {query("BEGIN"), parse("", "SELECT generate_series(1, 5)"), bind("c", ""), describe('P', "c"),
		execute("c", 2), execute("c", 2), sync, execute("c", 2), execute("c", 2), sync, query("COMMIT"),
		execute("c", 2), sync},
	"cursors": queries("BEGIN", "DECLARE c SCROLL CURSOR FOR SELECT generate_series(1, 5)", "FETCH 2 FROM c",
		"MOVE 1 IN c", "FETCH BACKWARD ALL FROM c", "CLOSE c", "FETCH c", "ROLLBACK"),
	"copy out": slices.Concat(queries("COPY (SELECT g, 'x' FROM generate_series(1, 3) g) TO STDOUT",
		"COPY nowhere TO STDOUT", "SELECT 1"), run("COPY (SELECT 1) TO STDOUT (FORMAT csv)"), []message{sync}),
	"copy in": {query("CREATE TEMP TABLE t (a int)"), query("COPY t FROM STDIN"), copyData("1\n2\n"),
		copyData("3\n"), done, query("TABLE t"), query("COPY t FROM STDIN"), copyData("4\n"), fail,
		query("SELECT count(*) FROM t")},
	"copy in, refused": {query("CREATE TEMP TABLE t (a int)"), query("COPY t FROM STDIN"), copyData("one\n"),
		copyData("2\n"), done, query("SELECT count(*) FROM t")},
	"copy in, several": {query("CREATE TEMP TABLE t (a int)"), query("COPY t FROM STDIN; SELECT count(*) " +
		"FROM t; COPY t FROM STDIN"), copyData("1\n"), done, copyData("2\n"), done, query("TABLE t")},
	"extended copy in": slices.Concat([]message{query("CREATE TEMP TABLE t (a int)"), parse("", "COPY t FROM STDIN"),
		bind("", ""), execute("", 0), copyData("1\n"), flush, copyData("2\n"), done, sync}, run("TABLE t"),
		[]message{sync}),
	"copy in, libpq": slices.Concat([]message{query("CREATE TEMP TABLE t (a int)"), parse("", "COPY t FROM STDIN"),
		bind("", ""), execute("", 0), sync, copyData("1\n2\n"), done, sync}, run("TABLE t"),
		[]message{sync, parse("", "COPY t FROM STDIN"), bind("", ""), execute("", 0), sync, copyData("one\n2\n"), done,
			sync}, run("SELECT 1"), []message{sync}),
	"stray copy": {copyData("x"), done, fail, query("SELECT 1"), flush, done, query("SELECT 2")},
	"notices": queries("DO $$ BEGIN RAISE NOTICE 'one'; RAISE WARNING 'two' USING HINT = 'h'; END $$; "+
		"SELECT 1", "SET client_min_messages = error", "DO $$ BEGIN RAISE NOTICE 'one'; END $$"),
	"notifications": queries("LISTEN a", "BEGIN; NOTIFY a, 'first'; SELECT 1", "NOTIFY a, 'second'; COMMIT",
		"SELECT pg_notify('a', 'third')", "UNLISTEN a", "NOTIFY a"),
	"temporary tables": queries("CREATE TEMP TABLE t AS SELECT g FROM generate_series(1, 3) g",
		"UPDATE t SET g = g + 1", "DELETE FROM t WHERE g = 2 RETURNING *", "ALTER TABLE t ADD h text DEFAULT 'x'",
		"TABLE t", "DROP TABLE t", "TABLE t", "DISCARD ALL"),
	"own tables": queries("BEGIN", "INSERT INTO country VALUES ('Atlantis', 'Ocean')",
		"INSERT INTO country VALUES ('Atlantis', 'Ocean')", "ROLLBACK",
		"SELECT * FROM country WHERE name = 'Atlantis'"),
	"errors": queries("SELECT nope", "SELECT * FROM nowhere", "SELEKT", "SELECT 'x'::int",
		"SELECT 'ü', nope", "SELECT chr(0)", "CREATE TABLE not_mine (a int)", "LOCK country IN ACCESS EXCLUSIVE MODE",
		"SET ROLE postgres"),
	"functions": slices.Concat(queries("SELECT pg_typeof($1)"), run("SELECT $1::int + $2::int", "40", "2"),
		[]message{sync}),
	"a session setting": queries("SELECT set_config('a.b', 'c', false)", "SHOW a.b", "RESET a.b", "SHOW a.b"),
}

// What PostgreSQL answers to ordinary messages, Fugu answers too: byte for byte, when every message waits for the reply
// to the one before, and when all are sent at once.
func TestOrdinaryAsOnPostgreSQL(t *testing.T) {
	db := adultDatabase(t)
	f := serve(t, options{})
	for name, script := range ordinaryScripts {
		t.Run(name, func(t *testing.T) {
			direct, through := dial(t, db.cluster.DSN("fugu_guest", "adult")), dial(t, f.dsn("alice"))
			direct.Send(t, script...)
			want := direct.until(t, ready(answers(script)))
			through.Send(t, script...)
			if got := through.until(t, ready(answers(script))); got != want {
				t.Errorf("at once:\n%s", difference(got, want))
			}
			through = dial(t, f.dsn("alice"))
			got, first := "", 0
			for i := range script {
				if answers(script[first:i+1]) > 0 && !(i+1 < len(script) && isCopy(script[i+1])) {
					through.Send(t, script[first:i+1]...)
					got += through.until(t, ready(answers(script[first:i+1])))
					first = i + 1
				}
			}
			if got != want {
				t.Errorf("one by one:\n%s", difference(got, want))
			}
		})
	}
}

func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(g) && i < len(w) && g[i] == w[i] {
		i++
	}
	return fmt.Sprintf("the first %d messages agree; then\n  Fugu: %s\n  PostgreSQL: %s", i, window(g[i:]),
		window(w[i:]))
}

func window(lines []string) string { return strings.Join(lines[:min(len(lines), 4)], "\n") }

// Scripts with statements on @, which is adult through Fugu and its reference at PostgreSQL: the same messages come,
// but for the values.
var mixedScripts = map[string][]message{
	"simple": queries("SELECT count(*) FROM @", "SELECT sex, count(*), avg(age) FROM @ GROUP BY sex", "SELECT 1"),
	"several": queries("SELECT 1; SELECT count(*) FROM @; SELECT 2; SELECT sex, sum(age) AS s FROM @ " +
		"GROUP BY sex; SELECT 3"),
	"block": queries("BEGIN; SELECT count(*) FROM @", "SELECT 2; COMMIT; SELECT count(*) FROM @ "+
		"WHERE sex = 'Male'; SELECT 4"),
	"error after": queries("CREATE TEMP TABLE t (a int8)", "INSERT INTO t SELECT count(*) FROM @; SELECT 1/0; SELECT 2",
		"SELECT count(*) FROM t", "SELECT count(*) FROM @"),
	"insert": queries("CREATE TEMP TABLE t (n int8)", "INSERT INTO t SELECT count(*) FROM @ WHERE sex = 'Female'",
		"SELECT n > 0 FROM t"),
	"recovered": queries("BEGIN", "SELECT 1/0", "ROLLBACK; SELECT count(*) FROM @"),
	"failed": queries("BEGIN", "SELECT 1/0", "SELECT count(*) FROM @", "SELECT 1; SELECT count(*) FROM @",
		"ROLLBACK"),
	"savepoint": queries("BEGIN; SAVEPOINT s", "SELECT 1/0", "ROLLBACK TO s; SELECT count(*) FROM @", "COMMIT"),
	"pipeline": slices.Concat(run("SELECT 1"), run("SELECT count(*) FROM @"),
		run("SELECT sum(age) FROM @ WHERE sex = $1", "Male"), run("SELECT 3"), []message{sync},
		[]message{parse("a", "SELECT avg(age) FROM @ WHERE sex = $1"), describe('S', "a"), bind("", "a", "Male"),
			execute("", 0), bind("", "a", "Female"), execute("", 0), sync}),
	"skipped": slices.Concat(run("SELECT 1/0"), run("SELECT count(*) FROM @"), []message{sync},
		run("SELECT count(*) FROM @"), []message{sync}),
	"failed, extended": slices.Concat([]message{parse("a", "SELECT count(*) FROM @"), query("BEGIN"),
		query("SELECT 1/0"), bind("", "a"), execute("", 0), sync},
		run("ROLLBACK"), []message{bind("", "a"), execute("", 0), sync}),
	"names": {parse("a", "SELECT count(*) FROM @"), parse("a", "SELECT 1"), sync, closing('S', "a"),
		parse("a", "SELECT 1"), bind("", "a"), execute("", 0), sync,
		query("DEALLOCATE a"), bind("", "a"), sync, parse("", "SELECT count(*) FROM @"), sync, query("SELECT 1"),
		bind("", ""), sync},
	"parameters": {parse("a", "SELECT count(*) FROM @ WHERE sex = $1"), bind("", "a", "Male", "Female"), sync,
		bind("", "a"), sync},
	"copy in": {query("CREATE TEMP TABLE t (a int)"), query("COPY t FROM STDIN; SELECT count(*) FROM @; TABLE t"),
		copyData("1\n2\n"), done,
		query("SELECT count(*) FROM @; COPY t FROM STDIN; SELECT 1"), copyData("one\n"), copyData("2\n"), done,
		query("SELECT count(*) FROM @; TABLE t")},
	"error on commit": queries("CREATE TEMP TABLE d (a int UNIQUE DEFERRABLE INITIALLY DEFERRED)",
		"INSERT INTO d VALUES (1), (1); SELECT count(*) FROM @", "TABLE d"),
	"row limits": {query("BEGIN"), parse("", "SELECT sex, count(*) FROM @ GROUP BY sex ORDER BY sex"),
		bind("c", ""), describe('P', "c"), execute("c", 1), execute("c", 1), execute("c", 1), sync, query("ROLLBACK")},
}

func TestMixedAsOnPostgreSQL(t *testing.T) {
	patient.Test(t)
	db := adultDatabase(t)
	f := serve(t, options{})
	for name, script := range mixedScripts {
		t.Run(name, func(t *testing.T) {
			direct, through := dial(t, db.cluster.DSN("fugu_guest", "adult")), dial(t, f.dsn("alice"))
			direct.masked, through.masked = true, true
			through.meet(t)
			direct.Send(t, over(script, "adult_reference")...)
			want := direct.until(t, ready(answers(script)))
			through.Send(t, over(script, "adult")...)
			if got := through.until(t, ready(answers(script))); got != want {
				t.Error(difference(got, want))
			}
		})
	}
}

// over puts a table in the place of @.
func over(script []message, table string) []message {
	out := slices.Clone(script)
	for i, m := range out {
		switch m := m.(type) {
		case *pgproto3.Query:
			out[i] = query(strings.ReplaceAll(m.String, "@", table))
		case *pgproto3.Parse:
			out[i] = parse(m.Name, strings.ReplaceAll(m.Query, "@", table), m.ParameterOIDs...)
		}
	}
	return out
}

// A Sync while the server waits for a copy's data is ignored, as the manual says ("COPY Operations"); the replies stay
// in step.
func TestSyncDuringCopy(t *testing.T) {
	f := serve(t, options{})
	p := dial(t, f.dsn("alice"))
	p.Send(t, query("CREATE TEMP TABLE t (a int)"), parse("", "COPY t FROM STDIN"), bind("", ""), execute("", 0), flush)
	p.until(t, func(m pgproto3.BackendMessage) bool { _, ok := m.(*pgproto3.CopyInResponse); return ok })
	p.Send(t, sync, copyData("1\n"), done, sync)
	if got := p.until(t, ready(1)); !contains(got, "COPY 1") {
		t.Errorf("got %s", got)
	}
	p.Send(t, query("SELECT count(*) FROM adult"), query("SELECT max(age) FROM adult"))
	if got := p.until(t, ready(2)); !contains(got, "PV001") || strings.Count(got, "DataRow") != 1 {
		t.Errorf("got %s", got)
	}
}
