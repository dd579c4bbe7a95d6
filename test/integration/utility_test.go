package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/test/patient"
)

func withBinary(m message) message {
	b := *m.(*pgproto3.Bind)
	b.ResultFormatCodes = []int16{1}
	return &b
}

// Statements around a query on @, as in mixedScripts: the same messages come from Fugu and from PostgreSQL, tags, row
// counts and transaction states among them.
var utilityScripts = map[string][]message{
	"create table as": slices.Concat(queries("CREATE TEMP TABLE t (sex, n) AS SELECT sex, count(*) FROM @ GROUP BY sex",
		"SELECT * FROM t",
		"CREATE TEMP TABLE t AS SELECT count(*) FROM @", "CREATE TEMP TABLE IF NOT EXISTS t AS SELECT count(*) FROM @",
		"CREATE TEMP TABLE e AS SELECT sex, avg(age) a FROM @ GROUP BY sex WITH NO DATA", "SELECT * FROM e",
		"BEGIN; CREATE TEMP TABLE d ON COMMIT DROP AS SELECT count(*) FROM @; "+
			"SELECT * FROM d; COMMIT; SELECT * FROM d"),
		run("CREATE TEMP TABLE x AS SELECT sex, $2::int + count(*) n FROM @ WHERE age > $1 GROUP BY sex", "40", "1"),
		[]message{sync}, run("SELECT * FROM x"), []message{sync}),
	"create table as in a failed transaction": queries("BEGIN", "SELECT 1/0", "CREATE TEMP TABLE t AS "+
		"SELECT count(*) FROM @", "ROLLBACK", "SELECT * FROM t"),
	"select into": slices.Concat(queries("SELECT sex, avg(age) INTO TEMP t FROM @ GROUP BY sex", "SELECT * FROM t",
		"SELECT count(*) INTO TEMP u FROM @ UNION ALL SELECT 1; SELECT * FROM u",
		"SELECT * FROM (SELECT count(*) INTO v FROM @) x"), run("SELECT count(*) INTO TEMP w FROM @"), []message{sync}),
	"cursor": queries("BEGIN", "DECLARE c CURSOR FOR SELECT sex, count(*) FROM @ GROUP BY sex ORDER BY sex",
		"FETCH 1 FROM c", "FETCH ALL FROM c", "FETCH c", "CLOSE c", "FETCH c", "ROLLBACK",
		"BEGIN", "DECLARE s SCROLL CURSOR FOR SELECT sex, count(*) FROM @ GROUP BY sex ORDER BY sex", "MOVE LAST IN s",
		"FETCH PRIOR s", "FETCH ABSOLUTE 2 FROM s", "FETCH BACKWARD ALL IN s", "COMMIT", "FETCH s"),
	"cursor with hold": queries("DECLARE h CURSOR WITH HOLD FOR SELECT sex, count(*) FROM @ GROUP BY sex", "FETCH 1 h",
		"BEGIN", "FETCH 1 h", "COMMIT", "CLOSE ALL", "FETCH h",
		"BEGIN", "DECLARE h CURSOR WITH HOLD FOR SELECT count(*) FROM @", "ROLLBACK", "FETCH h"),
	"cursor without a transaction": queries("DECLARE c CURSOR FOR SELECT count(*) FROM @", "SELECT 1"),
	// As psqlODBC sends it with UseDeclareFetch=1.
	"cursor of ODBC": queries("BEGIN;declare \"SQL_CUR0x55d\" cursor with hold for "+
		"SELECT sex, count(*) FROM @ GROUP BY sex;fetch 100 in \"SQL_CUR0x55d\"", "close \"SQL_CUR0x55d\"", "COMMIT"),
	"cursor in one query": queries("BEGIN; DECLARE c CURSOR FOR SELECT count(*) FROM @; FETCH ALL FROM c",
		"COMMIT"),
	"cursor, not scrolled back": queries("BEGIN; DECLARE c NO SCROLL CURSOR FOR SELECT sex, count(*) FROM @ "+
		"GROUP BY sex; FETCH 2 c", "FETCH BACKWARD 1 FROM c", "ROLLBACK"),
	"cursor that is no row of a table": queries("BEGIN; DECLARE c CURSOR FOR SELECT count(*) FROM @; FETCH c",
		"DELETE FROM country WHERE CURRENT OF c", "ROLLBACK"),
	"cursor, extended": slices.Concat([]message{query("BEGIN")}, run("DECLARE c BINARY SCROLL CURSOR FOR "+
		"SELECT 'x', count(*) FROM @ WHERE sex = $1", "Male"), run("FETCH ALL FROM c"), []message{sync},
		[]message{parse("f", "FETCH 1 FROM c"), describe('S', "f"), bind("", "f"), execute("", 0), sync,
			parse("m", "MOVE ABSOLUTE 0 IN c"), bind("", "m"), execute("", 0), bind("", "f"), describe('P', ""),
			execute("", 0), sync}),
	"copy": queries("COPY (SELECT sex, count(*) FROM @ GROUP BY sex) TO STDOUT", "COPY (SELECT sex, count(*) FROM @ "+
		"GROUP BY sex) TO STDOUT WITH (FORMAT csv, HEADER, FORCE_QUOTE *)",
		"COPY (SELECT sex, count(*) FROM @ GROUP BY sex) TO STDOUT (FORMAT binary)", "SELECT 1; COPY (SELECT "+
			"count(*) FROM @) TO STDOUT; SELECT count(*) FROM @", "BEGIN", "COPY (SELECT count(*) "+
			"FROM @) TO STDOUT; COPY (SELECT 1) TO STDOUT", "COMMIT",
		"COPY (SELECT sex, nope FROM (SELECT sex, count(*) FROM @ GROUP BY sex) x) TO STDOUT",
		"COPY (SELECT count(*) / 0 FROM @) TO STDOUT", "BEGIN", "SELECT 1/0", "COPY (SELECT count(*) "+
			"FROM @) TO STDOUT", "COMMIT"),
	"copy, extended": slices.Concat(run("COPY (SELECT sex, count(*) FROM @ GROUP BY sex) TO STDOUT"), run("SELECT 1"),
		[]message{sync},
		[]message{parse("c", "COPY (SELECT count(*) FROM @) TO STDOUT (FORMAT binary)"), describe('S', "c"), sync,
			bind("", "c"), execute("", 0), bind("p", "c"), execute("p", 0), sync, bind("", "c", "1"), sync},
		run("COPY (SELECT count(*) / 0 FROM @) TO STDOUT"), run("COPY (SELECT count(*) FROM @) TO STDOUT"),
		[]message{sync}),
	"copy, types declared": {parse("a", "COPY (SELECT sex, count(*) FROM @ GROUP BY sex) TO STDOUT", 23),
		describe('S', "a"), bind("", "a", "1"), execute("", 0), sync, bind("", "a"), sync},
	"copy of rows written": queries("CREATE TEMP TABLE t (n int8)", "COPY (INSERT INTO t SELECT count(*) FROM @ "+
		"RETURNING n) TO STDOUT", "SELECT * FROM t", "COPY (INSERT INTO t SELECT count(*) FROM @) TO STDOUT"),
	"prepare": queries("PREPARE q AS SELECT count(*), count(age) AS s FROM @ WHERE sex = $1", "EXECUTE q('Male')",
		"EXECUTE q(lower('FEMALE'))", "EXECUTE q(NULL)",
		"PREPARE q AS SELECT 1", "EXECUTE q('Male')", "EXECUTE q", "EXECUTE q('a', 'b')", "EXECUTE q((SELECT 'Male'))",
		"EXECUTE q(1/0)", "EXECUTE q('Male')", "DEALLOCATE q", "EXECUTE q('Male')", "DEALLOCATE q",
		"PREPARE n (int, int8) AS SELECT count(*) + $2 FROM @ WHERE age > $1", "EXECUTE n(30 + 5, 7)",
		"EXECUTE n('x', 1)", "EXECUTE n(NULL, NULL)", "PREPARE u (unknown, int) AS SELECT count(*) + $2 FROM @ "+
			"WHERE sex = $1", "EXECUTE u('Male', 2)", "DEALLOCATE ALL", "EXECUTE n(1, 2)",
		"PREPARE n AS SELECT count(*) FROM @", "EXECUTE n", "DISCARD ALL", "EXECUTE n"),
	"prepare among statements": queries("PREPARE q AS SELECT count(*) FROM @; EXECUTE q; "+
		"SELECT 2; EXECUTE q; DEALLOCATE q; EXECUTE q; SELECT 3", "EXECUTE q",
		"BEGIN; PREPARE q(text) AS SELECT count(*) FROM @ WHERE sex = $1; EXECUTE q('Male')", "SELECT 1/0",
		"EXECUTE q('Male')", "ROLLBACK; EXECUTE q('Male')"),
	"prepare that fails": queries("BEGIN", "SELECT 1/0", "PREPARE q AS SELECT count(*) FROM @", "ROLLBACK", "EXECUTE q",
		"PREPARE q AS SELECT 7", "PREPARE q AS SELECT count(*) FROM @", "EXECUTE q",
		"PREPARE r (nosuchtype) AS SELECT count(*) FROM @", "EXECUTE r", "PREPARE r AS SELECT nope "+
			"FROM (SELECT count(*) FROM @) x", "EXECUTE r"),
	"prepare of writing": queries("CREATE TEMP TABLE t (n int8)", "PREPARE i AS INSERT INTO t SELECT count(*) FROM @ "+
		"WHERE sex = $1", "EXECUTE i('Male')", "PREPARE r AS INSERT INTO t SELECT count(*) FROM @ RETURNING n",
		"EXECUTE r", "SELECT * FROM t",
		"CREATE TEMP TABLE u AS EXECUTE i('Male')"),
	"create table as execute": queries("PREPARE q AS SELECT sex, count(*) FROM @ WHERE age > $1 GROUP BY sex",
		"CREATE TEMP TABLE t (a, b) AS EXECUTE q(40)", "SELECT * FROM t",
		"CREATE TEMP TABLE t AS EXECUTE q(40)", "CREATE TEMP TABLE u AS EXECUTE none(40)"),
	"execute, extended": slices.Concat(run("PREPARE q AS SELECT count(*) FROM @ WHERE sex = $1 UNION ALL SELECT 1"),
		run("EXECUTE q('Male')"), run("EXECUTE q('Female')"), []message{sync},
		[]message{parse("e", "EXECUTE q('Male')"), describe('S', "e"), bind("", "e"), describe('P', ""), execute("", 0),
			withBinary(bind("p", "e")), describe('P', "p"), execute("p", 0), sync},
		[]message{query("BEGIN"), bind("p", "e"), execute("p", 1), execute("p", 1), sync, query("COMMIT")},
		run("SELECT 1/0"), run("EXECUTE q('Male')"), []message{sync, bind("", "e"), execute("", 0), sync}),
	"execute of ordinary ones": slices.Concat(queries("PREPARE q AS SELECT count(*) FROM @",
		"PREPARE o AS SELECT $1::int + 1", "EXECUTE o(3)", "EXPLAIN EXECUTE o(3)",
		"CREATE TEMP TABLE t AS EXECUTE o(4)", "EXECUTE execute"), run("EXECUTE o(5)"), []message{sync}),
	"ended by SQL": {parse("s", "SELECT count(*) FROM @"), sync, query("DEALLOCATE s"), bind("", "s"), execute("", 0),
		sync, parse("s", "SELECT count(*) FROM @ WHERE sex = $1"), sync, query("DISCARD ALL"), bind("", "s", "Male"),
		sync,
		parse("c", "COPY (SELECT count(*) FROM @) TO STDOUT"), sync, query("DEALLOCATE ALL"), bind("", "c"),
		execute("", 0), sync},
	"merge": queries("CREATE TEMP TABLE t (k text, n int8)", "INSERT INTO t VALUES ('Male', 0)",
		"MERGE INTO t USING (SELECT sex, count(*) c FROM @ GROUP BY sex) s ON k = sex WHEN MATCHED "+
			"AND c > 0 THEN UPDATE SET n = c WHEN NOT MATCHED THEN INSERT VALUES (sex, c)", "SELECT * FROM t"),
}

func TestUtilityAsOnPostgreSQL(t *testing.T) {
	patient.Test(t)
	db := adultDatabase(t)
	f := serve(t, options{})
	for name, script := range utilityScripts {
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
			if strings.Count(want, "ReadyForQuery") == 0 {
				t.Error("the script asks nothing")
			}
		})
	}
}

func TestPsycopgCursors(t *testing.T) {
	patient.Test(t)
	runClient(t, "/usr/bin/python3", "clients/psycopg_cursors.py")
}

func TestPsqlUtility(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	out, err := f.psql(t, `
SELECT 'n=' || count(*) AS n FROM adult \gset
\set FETCH_COUNT 1
SELECT sex, 'n=' || count(*) = :'n' FROM adult GROUP BY sex ORDER BY sex;
\set FETCH_COUNT 0
\copy (SELECT 'n=' || count(*) FROM adult) TO STDOUT
COPY (SELECT sex, 'n=' || sum(n) = :'n' FROM (SELECT 'x,"y' sex, count(*) n FROM adult) x
  GROUP BY sex) TO STDOUT WITH CSV HEADER;
COPY (SELECT dataset FROM fugu.budget LIMIT 1) TO STDOUT;
COPY adult TO STDOUT;
PREPARE q AS SELECT count(*) > 100 FROM adult WHERE sex = $1;
EXECUTE q('Male');
DEALLOCATE q;
EXECUTE q('Male');
BEGIN;
DECLARE c CURSOR FOR SELECT 'n=' || count(*) = :'n' FROM adult;
FETCH c;
MOVE c;
COMMIT;
CREATE TEMP TABLE t AS SELECT count(*) n FROM adult;
SELECT 'n=' || n = :'n' FROM t;
CREATE VIEW v AS SELECT count(*) FROM adult;
\echo :n
`)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n := strings.TrimSpace(out[strings.LastIndex(out, "n="):])
	want := "NOTICE:  public.adult is answered with noise: its values are not exact, so that a secret of the whole " +
		"table stays one\nHINT:  SELECT * FROM fugu.last_release says how far each value may be off, and " +
		"fugu_noise_sd(avg(x)) in a statement of avg(x) does so beside it; fugu.budget says what is left.\n" +
		"Female|f\nMale|f\n" + n + "\nsex,?column?\n\"x,\"\"y\",t\nadult\n" +
		"ERROR:  this kind of statement cannot be used on public.adult\nLINE 1: COPY adult TO STDOUT;\n             " +
		"^\nHINT:  What can be answered can be copied: COPY (SELECT count(*) FROM public.adult) TO STDOUT.\n" +
		"t\nERROR:  prepared statement \"q\" does not exist\nt\nt\n" +
		"ERROR:  this kind of statement cannot be used on public.adult\nLINE 1: CREATE VIEW v AS SELECT count(*) " +
		"FROM adult;\n                                              ^\nHINT:  A view would ask again each time " +
		"it is read. Keep one answer instead: CREATE TABLE ... AS SELECT ...\n" + n + "\n"
	if out != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
	// The count of the whole table is public.
	if _, releases := spent(t, f.connect(t)); releases != 2 {
		t.Errorf("%d releases for three questions, one of them free", releases)
	}
}

// Whatever stands around a query, and whichever way it is sent, it is the same question: one answer, charged once.
func TestAroundIsOneQuestion(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	c := f.connect(t)
	const q = "SELECT sex, count(*) AS n, avg(age) AS a FROM adult WHERE education = 'Bachelors' GROUP BY sex " +
		"ORDER BY sex"
	want := rows(t, c, q)
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec,
		pgx.QueryExecModeDescribeExec} {
		same := func(what, got string) {
			t.Helper()
			if got != want {
				t.Errorf("%v: %s gives %s, not %s", mode, what, got, want)
			}
		}
		c := f.connect(t)
		rows(t, c, "CREATE TEMP TABLE kept AS "+q, mode)
		same("CREATE TABLE AS", rows(t, c, "SELECT * FROM kept ORDER BY sex", mode))
		rows(t, c, strings.Replace(q, " FROM", " INTO TEMP into_kept FROM", 1), mode)
		same("SELECT INTO", rows(t, c, "SELECT * FROM into_kept ORDER BY sex", mode))
		rows(t, c, "DECLARE h CURSOR WITH HOLD FOR "+q, mode)
		same("a cursor", rows(t, c, "FETCH ALL FROM h", mode))
		rows(t, c, "PREPARE q AS "+q, mode)
		same("EXECUTE", rows(t, c, "EXECUTE q", mode))
		rows(t, c, "CREATE TEMP TABLE executed AS EXECUTE q", mode)
		same("CREATE TABLE AS EXECUTE", rows(t, c, "SELECT * FROM executed ORDER BY sex", mode))
		rows(t, c, "CREATE TEMP TABLE merged (sex text PRIMARY KEY, n int8, a numeric)", mode)
		rows(t, c, "MERGE INTO merged m USING ("+q+") s ON m.sex = s.sex WHEN NOT MATCHED THEN INSERT "+
			"VALUES (s.sex, s.n, s.a)", mode)
		same("MERGE", rows(t, c, "SELECT * FROM merged ORDER BY sex", mode))
	}
	var out strings.Builder
	if tag, err := c.PgConn().CopyTo(t.Context(), &out, "COPY ("+q+") TO STDOUT"); err != nil ||
		tag.String() != "COPY 2" {
		t.Errorf("%s, %v", tag, err)
	}
	if got := strings.NewReplacer("\t", `" "`, "\n", "\"]\n").Replace(out.String()); strings.ReplaceAll(`["`+got, "\n",
		"\n[\"") != want+`["` {
		t.Errorf("COPY gives %s, not %s", out.String(), want)
	}
	if _, n := spent(t, c); n != 1 {
		t.Errorf("%d releases for one question", n)
	}
	// With parameters, too: PREPARE's are the protocol's.
	rows(t, c, "PREPARE p (text, int) AS SELECT count(*) FROM adult WHERE sex = $1 AND age > $2")
	executed := rows(t, c, "EXECUTE p(initcap('male'), 20 + 20)", pgx.QueryExecModeSimpleProtocol)
	if got := rows(t, c, "SELECT count(*) FROM adult WHERE sex = $1 AND age > $2", "Male", 40); got != executed {
		t.Errorf("%s by EXECUTE, %s by parameters", executed, got)
	}
	rows(t, c, "EXECUTE p('Female', 40)")
	if _, n := spent(t, c); n != 3 {
		t.Errorf("%d releases for three questions, which arguments tell apart", n)
	}
}

// mistakesAround are statements around a query that go wrong before anything is charged, with their codes.
var mistakesAround = map[string]string{
	"EXECUTE q('x')":                                       "22P02",
	"EXECUTE q(1, 2)":                                      "42601",
	"EXECUTE q":                                            "42601",
	"EXECUTE q(3, '{5}')":                                  "42601",
	"EXECUTE q($1)":                                        "42P02",
	"EXECUTE q((SELECT 1))":                                "0A000",
	"EXECUTE q(generate_series(1, 2))":                     "0A000",
	"EXECUTE q(count(*))":                                  "42803",
	"EXECUTE q((SELECT count(*) FROM adult))":              "PV001",
	"EXECUTE gone(3)":                                      "26000",
	"EXPLAIN (PRIVACY) EXECUTE gone(3)":                    "26000",
	"EXPLAIN EXECUTE q(3)":                                 "PV001",
	"EXPLAIN ANALYZE EXECUTE q(3)":                         "PV001",
	"EXPLAIN (ANALYZE) CREATE TABLE x AS EXECUTE q(3)":     "PV001",
	"EXPLAIN CREATE TABLE x AS SELECT count(*) FROM adult": "PV001",
	// a statement of the protocol's: without the arrays it cannot run
	"EXECUTE named(30)":                                                           "42601",
	"EXPLAIN EXECUTE named(30)":                                                   "42601",
	"CREATE TABLE x AS EXECUTE named(30)":                                         "42601",
	"COPY (SELECT nope FROM (SELECT count(*) FROM adult) x) TO STDOUT":            "42703",
	"COPY (SELECT count(*) FROM adult WHERE age > $1) TO STDOUT":                  "42P02",
	"COPY (SELECT count(*) FROM adult) TO '/tmp/stolen'":                          "PV001",
	"CREATE MATERIALIZED VIEW v AS SELECT count(*) FROM adult":                    "PV001",
	"PREPARE r (nosuchtype) AS SELECT count(*) FROM adult":                        "42704",
	"PREPARE r AS SELECT count(*) FROM adult WHERE age > $1 AND sex > $1":         "42883",
	"DO $$ BEGIN EXECUTE 'EXECUTE q(3)'; END $$":                                  "PV001",
	"DO $$ BEGIN EXECUTE 'PREPARE z AS TABLE adult'; EXECUTE 'EXECUTE z'; END $$": "PV001",
}

// What fails before it can be answered, and what asks nothing, costs nothing.
func TestAroundIsFree(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	c := f.connect(t)
	for _, sql := range []string{
		"PREPARE q (int) AS SELECT count(*) FROM adult WHERE age > $1",
		"CREATE TEMP TABLE nothing AS SELECT sex, avg(age) FROM adult GROUP BY sex WITH NO DATA",
		"CREATE TEMP TABLE none AS EXECUTE q(3) WITH NO DATA",
		"EXPLAIN (PRIVACY) EXECUTE q(3)",
		"EXPLAIN (PRIVACY, FORMAT JSON) CREATE TEMP TABLE x AS EXECUTE q(3)",
		"EXPLAIN (PRIVACY) CREATE TEMP TABLE x AS SELECT count(*) FROM adult",
		"EXPLAIN (PRIVACY) DECLARE c CURSOR FOR SELECT count(*) FROM adult",
		"EXPLAIN (PRIVACY) SELECT count(*) INTO x FROM adult",
		"EXPLAIN (PRIVACY) MERGE INTO country USING (SELECT count(*) n FROM adult) s " +
			"ON false WHEN NOT MATCHED THEN DO NOTHING",
	} {
		got, err := simple(t, c, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if strings.HasPrefix(sql, "EXPLAIN") {
			for _, got := range []string{got, rows(t, c, sql, pgx.QueryExecModeExec),
				rows(t, c, sql, pgx.QueryExecModeDescribeExec)} {
				if !contains(got, "public.adult") || !contains(got, "psilon") {
					t.Errorf("%s says %s", sql, got)
				}
			}
		}
	}
	if got, err := simple(t, c, "PREPARE o AS SELECT 1; EXPLAIN (PRIVACY) EXECUTE o"); err != nil ||
		!contains(got, "no protected table") {
		t.Errorf("of an ordinary one: %s, %v", got, err)
	}
	if _, err := c.Prepare(t.Context(), "named", "SELECT count(*) FROM adult WHERE age > $1"); err != nil {
		t.Fatal(err)
	}
	for sql, want := range mistakesAround {
		_, err := simple(t, c, sql)
		if code(err) != want {
			t.Errorf("%s: %v, not %s", sql, err, want)
		}
	}
	// Binding by protocol what SQL has prepared: the client's parameters are too few.
	p := dial(t, f.dsn("alice"))
	p.Send(t, query("PREPARE q AS SELECT count(*) FROM adult WHERE sex = $1"), bind("", "q", "Male"), execute("", 0),
		sync)
	if got := p.until(t, ready(2)); !contains(got, "08P01") || contains(got, "DataRow") {
		t.Errorf("got %s", got)
	}
	if _, n := spent(t, c); n != 0 {
		t.Errorf("%d releases of nothing", n)
	}
}

// simple sends a text as it is through the simple protocol, and returns all cells.
func simple(t testing.TB, c *pgx.Conn, sql string) (string, error) {
	results, err := c.PgConn().Exec(t.Context(), sql).ReadAll()
	out := ""
	for _, r := range results {
		for _, row := range r.Rows {
			out += fmt.Sprintf("%q\n", row)
		}
	}
	return out, err
}
