package integration

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
	"fugu/twin/build"
)

// Names of the protected table in every kind of statement: the same messages come from Fugu as from PostgreSQL for the
// twin under its own name. @ stands for the table.
var twinScripts = map[string][]message{
	"select": queries("SELECT count(*), min(age), max(age), avg(age), percentile_cont(.5) WITHIN GROUP (ORDER BY "+
		"age), string_agg(DISTINCT sex, ',') FROM @",
		"SELECT sex, income, count(*), array_agg(DISTINCT race ORDER BY race) FROM @ WHERE age BETWEEN 30 AND 31 AND "+
			"occupation ~ '^A' GROUP BY 1, 2 ORDER BY 1, 2",
		"SELECT * FROM @ ORDER BY age, education, occupation, relationship, hours_per_week LIMIT 3",
		"SELECT a.*, row_number() OVER (ORDER BY a::text) FROM @ AS a ORDER BY 2 LIMIT 2", "TABLE @ LIMIT 0",
		"SELECT count(*) FROM ONLY @ TABLESAMPLE BERNOULLI (5) REPEATABLE (1)", "SELECT count(*) FROM @ a JOIN @ b "+
			"USING (age, sex, race, occupation) WHERE a.income <> b.income",
		"SELECT (SELECT count(*) FROM @ WHERE sex = c.name) FROM own.country c ORDER BY 1",
		"SELECT name FROM own.country WHERE EXISTS (SELECT FROM @ WHERE sex = name AND age > 89) ORDER BY 1",
		"SELECT count(*) FROM @, LATERAL (SELECT @.age + 1 AS x) y WHERE x > 50", "SELECT max(age) FROM @ WHERE age "+
			"> (SELECT avg(age) FROM @)", "SELECT nosuch FROM @", "SELECT count(*) / 0 FROM @"),
	"with": queries("WITH a AS (SELECT sex, count(*) n FROM @ GROUP BY sex) SELECT * FROM a ORDER BY 1",
		"WITH RECURSIVE r(n) AS (SELECT min(age)::int FROM @ UNION ALL SELECT n + 1 FROM r WHERE n < 20) SELECT "+
			"count(*) FROM r",
		"WITH adult AS (SELECT 1 AS x) SELECT * FROM adult", "WITH a AS (SELECT 7 AS age), adult AS (SELECT age FROM "+
			"a) SELECT count(*) FROM adult",
		"WITH i AS (INSERT INTO own.country SELECT 'x' || min(age) FROM @ RETURNING name) SELECT count(*) FROM i",
		"DELETE FROM own.country WHERE name IN (SELECT 'x' || min(age) FROM @)"),
	"set operations": queries("SELECT sex FROM @ UNION SELECT race FROM @ ORDER BY 1", "SELECT count(*) FROM (SELECT "+
		"age FROM @ EXCEPT ALL SELECT age FROM @ WHERE age > 20) x"),
	"kept": queries("BEGIN", "CREATE TABLE own.kept AS SELECT sex, age FROM @", "SELECT count(*) FROM own.kept",
		"SELECT sex, max(age) INTO TEMP k FROM @ GROUP BY sex", "SELECT * FROM k ORDER BY 1",
		"CREATE TEMP TABLE t (LIKE @)", "INSERT INTO t SELECT * FROM @ WHERE age = 40", "SELECT count(*) FROM t",
		"CREATE MATERIALIZED VIEW own.m AS SELECT race, count(*) FROM @ GROUP BY 1",
		"SELECT * FROM own.m ORDER BY 1", "ROLLBACK"),
	"views": queries("BEGIN", "CREATE VIEW own.v AS SELECT sex, avg(age) FROM @ GROUP BY sex",
		"SELECT * FROM own.v ORDER BY 1", "CREATE OR REPLACE TEMP VIEW w AS SELECT @.age FROM @ WHERE @.age > 80",
		"SELECT count(*) FROM w", "DROP VIEW own.v", "ROLLBACK"),
	"functions": queries("BEGIN", "CREATE FUNCTION own.f(int) RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM @ "+
		"WHERE age > $1'", "SELECT own.f(50)",
		"CREATE FUNCTION own.g(above int) RETURNS SETOF text LANGUAGE sql STABLE AS $$ SELECT DISTINCT sex FROM @ "+
			"WHERE age > above ORDER BY 1; $$", "SELECT * FROM own.g(20)",
		"CREATE FUNCTION own.h() RETURNS numeric LANGUAGE sql BEGIN ATOMIC SELECT avg(age) FROM @; END",
		"SELECT own.h()",
		"CREATE FUNCTION own.r() RETURNS SETOF @ LANGUAGE sql AS 'SELECT * FROM @ ORDER BY age DESC LIMIT 1'",
		"SELECT age FROM own.r()",
		"CREATE FUNCTION own.p() RETURNS int LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN SELECT max(age) INTO x FROM "+
			"fugu_twin.adult; RETURN x; END $$", "SELECT own.p()",
		"DO $$ BEGIN PERFORM count(*) FROM fugu_twin.adult; END $$", "ROLLBACK"),
	"copy": queries("COPY (SELECT sex, count(*) FROM @ GROUP BY sex ORDER BY 1) TO STDOUT WITH CSV HEADER",
		"COPY @ (age, sex) TO STDOUT", "COPY @ TO STDOUT (FORMAT binary)", "COPY @ FROM STDIN", "SELECT 1"),
	"copy, extended": slices.Concat(run("COPY @ (age) TO STDOUT"), run("SELECT 1"), []message{sync}),
	"prepared": slices.Concat(queries("PREPARE q (int) AS SELECT count(*) FROM @ WHERE age > $1", "EXECUTE q(40)",
		"EXPLAIN (COSTS off) EXECUTE q(40)", "DEALLOCATE q"),
		[]message{parse("s", "SELECT age, count(*) FROM @ WHERE sex = $1 GROUP BY age ORDER BY age"),
			describe('S', "s"), bind("", "s", "Male"), describe('P', ""), execute("", 3), execute("", 0),
			bind("", "s", "Female"), execute("", 0), sync},
		run("SELECT count(*) FROM @ WHERE age = $1", "41"), []message{sync}, run("SELECT nosuch FROM @"),
		[]message{sync}, []message{withBinary(bind("b", "s", "Male")), sync}),
	"cursors": queries("BEGIN", "DECLARE c SCROLL CURSOR FOR SELECT age, sex FROM @ ORDER BY age, sex",
		"FETCH 3 FROM c", "MOVE LAST IN c", "FETCH PRIOR c", "DELETE FROM own.country WHERE CURRENT OF c", "ROLLBACK",
		"DECLARE h CURSOR WITH HOLD FOR SELECT max(age) FROM @", "FETCH h", "CLOSE h"),
	"explain": queries("EXPLAIN (COSTS off) SELECT * FROM @ WHERE age = 3", "EXPLAIN (ANALYZE, COSTS off, TIMING "+
		"off, SUMMARY off, BUFFERS off) SELECT sex FROM @ WHERE age = 3 GROUP BY sex", "EXPLAIN (COSTS on) SELECT "+
		"FROM @"),
	"locks": queries("LOCK TABLE @ IN ACCESS SHARE MODE", "BEGIN", "LOCK @ IN ACCESS SHARE MODE", "COMMIT", "BEGIN",
		"LOCK TABLE @", "ROLLBACK", "SELECT age FROM @ ORDER BY 1 LIMIT 1 FOR UPDATE"),
	"read only": queries("TRUNCATE @", "INSERT INTO @ (age) VALUES (1)", "INSERT INTO @ SELECT * FROM @",
		"UPDATE @ SET age = 3", "DELETE FROM @ WHERE age = 3", "CREATE INDEX ON @ (age)",
		"ALTER TABLE @ ADD COLUMN x int", "GRANT SELECT ON @ TO PUBLIC", "CREATE TABLE own.child () INHERITS (@)",
		"ANALYZE @", "CREATE TRIGGER x BEFORE INSERT ON @ EXECUTE FUNCTION suppress_redundant_updates_trigger()",
		"MERGE INTO @ USING own.country ON false WHEN NOT MATCHED THEN INSERT (age) VALUES (1)"),
	"writing beside it": queries("BEGIN", "UPDATE own.country SET continent = (SELECT max(race) FROM @ WHERE sex = "+
		"name)", "SELECT * FROM own.country ORDER BY 1",
		"MERGE INTO own.country USING (SELECT race, count(*) FROM @ GROUP BY race) s ON name = race WHEN NOT MATCHED "+
			"THEN INSERT VALUES (race, '?')", "SELECT count(*) FROM own.country",
		"DELETE FROM own.country USING @ WHERE name = race", "ROLLBACK"),
	// The second of a shape and those behind it are not parsed, but for one with a word that has to be looked at.
	"constants": queries("SELECT count(*), 'x', 1 FROM @ WHERE age = 30 AND sex = 'Male' LIMIT 1",
		"SELECT count(*), 'adult', 22 FROM @ WHERE age = 3100 AND sex = 'Fem''ale' LIMIT 2",
		"SELECT count(*), 'of adult', 22 FROM @ WHERE age = 31 AND sex = 'FROM public.adult' LIMIT 300",
		"SELECT count(*), 'pg_class', 22 FROM @ WHERE age = 31 AND sex = 'pg_total_relation_size(' LIMIT 300",
		"SELECT count(*), 'x', 1 / 0 FROM @ WHERE age = 30 AND sex = 'Male' LIMIT 1",
		"SELECT 'é', 1, nosuch FROM @", "SELECT 'éé', 1000, nosuch FROM @", "SELECT 'ééé', 3000000000, nosuch FROM @",
		"SELECT 1 FROM @ WHERE age IN (17, 18) GROUP BY 1", "SELECT 2 FROM @ WHERE age IN (99, 18) GROUP BY 2"),
	"among statements": queries("SELECT 1; SELECT count(*) FROM @; SELECT 2",
		"BEGIN; SELECT count(*) FROM @; SELECT 1/0", "SELECT count(*) FROM @", "ROLLBACK; SELECT count(*) FROM @",
		"SELECT max(age) FROM @; SELECT nosuch FROM @; SELECT 3"),
	"types": queries("SELECT count(*) FROM (SELECT a::@ FROM @ a) x", "SELECT (NULL::@).age",
		"SELECT age FROM json_populate_record(NULL::@, '{\"age\": 4}')"),
}

// places are where in a text names of another length move what stands behind them, and where in PostgreSQL an error was
// made.
var places = regexp.MustCompile(`"Position":\d+,|"File":"[^"]*","Line":\d+,"Routine":"[^"]*"`)

// twinNames are the ways to name the table.
var twinNames = []string{"adult", "public.adult", `"adult"`, "PUBLIC.Adult", "census.public.adult", `"public"."adult"`,
	"fugu_twin.adult"}

func TestTwinAsOnPostgreSQL(t *testing.T) {
	patient.Test(t)
	_, through, direct := serveCensus(t)
	for name, script := range twinScripts {
		d := dial(t, direct)
		d.Send(t, over(script, "fugu_twin.adult")...)
		want := places.ReplaceAllString(d.until(t, ready(answers(script))), "")
		for _, as := range twinNames {
			if as != "adult" && as != "public.adult" && name != "select" {
				continue
			}
			t.Run(name+" "+as, func(t *testing.T) {
				f := dial(t, through)
				f.Send(t, query("SELECT FROM adult LIMIT 0")) // with which the notice comes
				f.until(t, ready(1))
				f.Send(t, over(script, as)...)
				if got := places.ReplaceAllString(f.until(t, ready(answers(script))), ""); got != want {
					t.Error(difference(got, want))
				}
			})
		}
	}
}

// The client is told, once, and nothing of what it is told or asked is charged.
func TestTwinIsIntroduced(t *testing.T) {
	patient.Test(t)
	_, through, _ := serveCensus(t)
	cfg, err := pgx.ParseConfig(through)
	if err != nil {
		t.Fatal(err)
	}
	notices := noticesOf(cfg)
	c, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	var n int64
	for range 3 {
		if err := c.QueryRow(t.Context(), "SELECT count(*) FROM adult WHERE age > $1", 10).Scan(&n); err != nil ||
			n != census.rows {
			t.Errorf("%d rows, %v; want %d", n, err, census.rows)
		}
	}
	if len(*notices) != 1 || !contains((*notices)[0], "public.adult is answered from its twin") {
		t.Errorf("notices: %q", *notices)
	}

	var told, taken, sampled int64
	if err := c.QueryRow(t.Context(), "SELECT sum(told), sum(taken), max(sampled) FROM fugu.twin WHERE table_name = "+
		"'public.adult' AND built IS NOT NULL AND epsilon = 1").Scan(&told, &taken, &sampled); err != nil {
		t.Fatal(err)
	}
	if told != census.rows || taken != sampled || taken < 1000 {
		t.Errorf("told %d, taken %d, sampled %d", told, taken, sampled)
	}
	got := look(t, c, "EXPLAIN (PRIVACY) SELECT sex, count(*) FROM adult GROUP BY sex")
	for _, part := range []string{"Price of the statement: 0", "exchangeable", "drawing alone"} {
		if !contains(got, part) {
			t.Errorf("EXPLAIN (PRIVACY) does not say %q:\n%s", part, got)
		}
	}
	// A chart's error column is plain SQL.
	var off float64
	if err := c.QueryRow(t.Context(), "SELECT sqrt(count(*)) * (SELECT max(count_error) FROM fugu.twin WHERE "+
		"table_name = 'public.adult') FROM adult WHERE sex = 'Male'").Scan(&off); err != nil ||
		!(off > 50 && off < 1000) {
		t.Errorf("the error of a count: %v, %v", off, err)
	}
	var spent float64 // of the ledger of what serves: the build was charged in another
	if err := c.QueryRow(t.Context(), "SELECT sum(epsilon_spent) FROM fugu.budget").Scan(&spent); err != nil ||
		spent != 0 {
		t.Errorf("serving has charged %v, %v", spent, err)
	}
}

func TestTwinRefusals(t *testing.T) {
	patient.Test(t)
	_, through, _ := serveCensus(t)
	bob := strings.Replace(through, "alice", "bob", 1)
	_, aggregates, _ := serveCensus(t, "rows: shown, ", "")
	for _, c := range []struct{ dsn, sql, code string }{
		{through, "DO $$ BEGIN PERFORM count(*) FROM adult; END $$", "PV001"},
		{through, "CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT max(age) FROM " +
			"public.adult); END'", "PV001"},
		{through, "DROP TABLE adult", "42501"},
		{through, "COMMENT ON TABLE public.adult IS 'x'", "42501"},
		{through, "SELECT fnlwgt FROM adult", "42703"},
		{through, "CREATE TABLE public.adult (x int)", "PV001"},
		{bob, "SELECT count(*) FROM adult", "PV003"},
		{bob, "SELECT count(*) FROM fugu_twin.adult", "PV003"},
		{bob, "SELECT count(*) FROM fugu_twin.adult", "PV003"}, // from the cache, too
		{bob, "DO $$ BEGIN PERFORM count(*) FROM fugu_twin.adult; END $$", "PV003"},
		{aggregates, "SELECT age FROM adult", "PV001"},
		{aggregates, "SELECT age FROM fugu_twin.adult", "PV001"},
		{aggregates, "SELECT count(*) FROM adult", "PV004"}, // the twin was built for a policy that shows its rows
	} {
		_, err := connect(t, c.dsn).Exec(t.Context(), c.sql)
		if code(err) != c.code {
			t.Errorf("%s: %v, want %s", c.sql, err, c.code)
		}
	}
}

// Without a twin there is no answer, and one that comes, goes or is made again while Fugu serves is what names mean
// then.
func TestTwinComesAndGoes(t *testing.T) {
	_, through, _ := serveCensus(t)
	c := connect(t, through)
	admin := connect(t, census.cluster.DSN("postgres", "census"))
	var before, after string
	scan := func(sql string, to *string) error { return c.QueryRow(t.Context(), sql).Scan(to) }
	if _, err := c.Prepare(t.Context(), "kept", "SELECT md5(string_agg(x.adult::text, ',' ORDER BY x.adult::text)) "+
		"FROM (SELECT adult FROM adult) x"); err != nil {
		t.Fatal(err)
	}
	if err := scan("kept", &before); err != nil {
		t.Fatal(err)
	}
	// by another ledger, so that it is drawn anew
	buildCensus(t, build.Options{New: true, Independent: true, Reason: "test"})
	if err := scan("kept", &after); err != nil || after == before {
		t.Errorf("a prepared statement after the twin was made again: %s, before %s, %v", after, before, err)
	}
	if _, err := admin.Exec(t.Context(), "ALTER TABLE fugu_twin.adult RENAME TO away"); err != nil {
		t.Fatal(err)
	}
	if err := scan("kept", &after); code(err) != "42P01" {
		t.Errorf("a prepared statement without the twin: %v", err)
	}
	fresh, _, _ := serveCensus(t)
	x := connect(t, strings.Replace(fresh.dsn("alice"), "/adult", "/census", 1))
	if _, err := x.Exec(t.Context(), "SELECT FROM adult"); code(err) != "PV004" ||
		!contains(pgError(err).Hint, "fugu twin build") {
		t.Errorf("without a twin: %v", err)
	}
	if _, err := admin.Exec(t.Context(), "ALTER TABLE fugu_twin.away RENAME TO adult"); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Exec(t.Context(), "SELECT FROM adult"); err != nil {
		t.Errorf("with the twin again: %v", err)
	}
}

// A session's own relation of the table's name is that, not the twin.
func TestTwinIsNotATemporaryTable(t *testing.T) {
	patient.Test(t)
	_, through, _ := serveCensus(t)
	c := connect(t, through)
	var n int
	if _, err := c.Exec(t.Context(), "CREATE TEMP TABLE adult AS SELECT 5 AS age"); err != nil {
		t.Fatal(err)
	}
	if err := c.QueryRow(t.Context(), "SELECT age FROM adult").Scan(&n); err != nil || n != 5 {
		t.Errorf("%d, %v", n, err)
	}
	if err := c.QueryRow(t.Context(), "SELECT count(*) FROM public.adult").Scan(&n); err != nil ||
		int64(n) != census.rows {
		t.Errorf("%d, %v", n, err)
	}
	const sql = "SELECT age FROM adult; DROP TABLE adult; SELECT count(*) FROM adult; CREATE TEMP SEQUENCE adult"
	results, err := c.PgConn().Exec(t.Context(), sql).ReadAll()
	if err != nil || len(results) != 4 || string(results[0].Rows[0][0]) != "5" ||
		string(results[2].Rows[0][0]) != strconv.FormatInt(census.rows, 10) {
		t.Errorf("%s: %v, %v", sql, results, err)
	}
}

// A statement may read a twin beside a table with noise: above the cut as an ordinary table, and not below it, as long
// as the reader has no right on twins.
func TestTwinBesideNoise(t *testing.T) {
	patient.Test(t)
	db := censusDatabase(t)
	if err := db.cluster.Exec(t.Context(), "census", "CREATE TABLE IF NOT EXISTS noisy AS SELECT * FROM adult; GRANT "+
		"SELECT ON noisy TO fugu_reader; ANALYZE noisy"); err != nil {
		t.Fatal(err)
	}
	// A dump of all, which other tests make, would be of what its user may not read.
	t.Cleanup(func() {
		if err := db.cluster.Exec(context.WithoutCancel(t.Context()), "census", "DROP TABLE noisy"); err != nil {
			t.Error(err)
		}
	})
	_, through, _ := serveCensus(t, "tables:\n", fmt.Sprintf("tables:\n  public.noisy: {rows: %d, reference: "+
		"public.adult_reference, group_by: {sex: [Female, Male]}}\n", db.rows),
		"secrets:\n", "secrets:\n  rich: {table: public.noisy, proportion: income = '>50K', values: {from: 0.10, to: "+
			"0.60, within: 0.05}}\n",
		"[exchangeable]", "[exchangeable, translation, gaussian]", "epsilon: 1, delta: 0.001, budget: {epsilon: 1,",
		"epsilon: 1, delta: 0.001, budget: {epsilon: 9,")
	c := connect(t, through)
	var noisy, twin int64
	if err := c.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM noisy WHERE sex = 'Male'), (SELECT count(*) FROM "+
		"adult)").Scan(&noisy, &twin); err != nil || twin != db.rows || noisy == 0 {
		t.Errorf("%d, %d, %v", noisy, twin, err)
	}
	if got := look(t, c, "SELECT n.sex, n.n > 0, count(a.age) > 0 FROM (SELECT sex, count(*) n FROM noisy GROUP BY "+
		"sex) n JOIN public.adult a USING (sex) GROUP BY 1, 2"); !contains(got, "Female") {
		t.Errorf("joined above the cut: %s", got)
	}
	for _, sql := range []string{"SELECT count(*) FROM noisy WHERE age IN (SELECT age FROM public.adult)",
		"SELECT count(*) FROM noisy n JOIN adult a ON a.age = n.age", "SELECT count(*) FROM noisy n, fugu_twin.adult " +
			"a WHERE a.age = n.age"} {
		if _, err := c.Exec(t.Context(), sql); code(err) != "PV001" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if got := look(t, c, "EXPLAIN (PRIVACY) SELECT (SELECT count(*) FROM noisy WHERE sex = 'Male'), (SELECT count(*) "+
		"FROM adult)"); !contains(got, "Price of the statement: 0") || !contains(got, "Cost for secret rich") {
		t.Errorf("EXPLAIN (PRIVACY): %s", got)
	}
}
