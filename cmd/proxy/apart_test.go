package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/adult"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// farRoles are what a DBA makes on the server of twins, beside an ordinary table.
const farRoles = `GRANT CREATE ON DATABASE census TO far_twins; GRANT CREATE ON SCHEMA public TO far_twins;
CREATE SCHEMA desk AUTHORIZATION far_guest; CREATE TABLE desk.region (name text PRIMARY KEY, part text);
ALTER TABLE desk.region OWNER TO far_guest;
INSERT INTO desk.region VALUES ('Male', 'M'), ('Female', 'F'); CREATE EXTENSION dblink`

// apartSetting writes a configuration whose protected table is on the shared cluster and whose twins are on c, which
// may be the same. Edits are of the configuration and of the policy, old and new in turn.
func apartSetting(t *testing.T, c *pgcluster.Cluster, edits ...string) (path string, rows int64) {
	t.Helper()
	source := pgcluster.Shared(t)
	name := "census_" + strings.ToLower(strings.NewReplacer("/", "_").Replace(t.Name()))
	data, err := adult.Load(t.Context(), source, name, adult.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Exec(t.Context(), name,
		`DO $$ BEGIN CREATE ROLE far_keeper LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
	  GRANT SELECT ON adult TO far_keeper; GRANT CREATE ON DATABASE `+name+` TO far_keeper`); err != nil {
		t.Fatal(err)
	}
	for _, step := range [][2]string{
		{"postgres", "CREATE ROLE far_twins LOGIN; CREATE ROLE far_guest LOGIN"},
		{"postgres", "CREATE DATABASE census"},
		{"census", farRoles},
	} {
		if err := c.Exec(t.Context(), step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}

	config := fmt.Sprintf("listen: 127.0.0.1:0\nupstream: {guest: %q, keeper: %q, twins: %q}\nauth: {method: trust}\n"+
		"policy: p.policy.yaml\nledger: sqlite:fugu.db\n",
		c.DSN("far_guest", "census"), source.DSN("far_keeper", name), c.DSN("far_twins", "census"))
	policy := fmt.Sprintf(twinPolicy, data.Rows)
	r := strings.NewReplacer(edits...)
	dir := t.TempDir()
	path = filepath.Join(dir, "fugu.yaml")
	writeFile(t, path, r.Replace(config))
	writeFile(t, filepath.Join(dir, "p.policy.yaml"), r.Replace(policy))
	return path, data.Rows
}

// tool runs a program of PostgreSQL's and returns what it prints and whether it succeeded.
func tool(t *testing.T, c *pgcluster.Cluster, name string, args ...string) (string, bool) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), c.Tool(name), args...).CombinedOutput()
	return string(out), err == nil
}

// transparent are statements of which Fugu refuses or changes some wherever anything is protected on the server.
var transparent = []string{
	"SELECT count(*), max(age), count(DISTINCT sex) FROM adult",
	"SELECT * FROM public.adult ORDER BY adult::text LIMIT 2",
	`\d adult`,
	`\d+ public.*`,
	`\dt+`,
	`\l+`,
	`\df`,
	"DO $$ DECLARE n int; BEGIN EXECUTE 'SELECT count(*) FROM ' || 'adult' INTO n; RAISE NOTICE '% rows', n; END $$",
	"CREATE FUNCTION desk.f() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT sum(age) FROM adult); END $$",
	"SELECT desk.f()",
	"CREATE FUNCTION desk.g(q text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE q; END $$",
	"SELECT * FROM desk.g('SELECT DISTINCT sex::text FROM adult ORDER BY 1')",
	"SELECT query_to_xml('SELECT max(age) FROM adult', true, true, '')",
	"SELECT reltuples, relpages FROM pg_class WHERE relname = 'adult'",
	"SELECT pg_relation_size('adult'), pg_database_size(current_database()) > 0",
	"SELECT tablename, attname, n_distinct, most_common_vals FROM pg_stats WHERE tablename = 'adult' ORDER BY 2",
	"SELECT 'fugu.epsilon' AS fugu",
	"SHOW fugu.epsilon",
	"SET fugu.anything = 'x'; SHOW fugu.anything",
	"SELECT * FROM fugu.budget",
	"SELECT * FROM fugu.twin",
	"SET work_mem = '3MB'; SHOW work_mem",
	"SET search_path = desk; SELECT count(*) FROM public.adult",
	"EXPLAIN SELECT * FROM adult WHERE age = 30",
	"EXPLAIN (PRIVACY) SELECT 1",
	"PREPARE q AS SELECT count(*) FROM adult WHERE age > $1; EXECUTE q(30)",
	"INSERT INTO adult (age) VALUES (1)",
	"TRUNCATE adult",
	"DROP TABLE adult",
	"COPY adult (age) TO STDOUT",
	"COPY (SELECT sex, count(*) FROM adult GROUP BY 1 ORDER BY 1) TO STDOUT WITH CSV",
	"SELECT part, count(*) FROM adult JOIN desk.region ON name = sex GROUP BY 1 ORDER BY 1",
	"CREATE TABLE desk.kept AS SELECT * FROM adult; SELECT count(*) FROM desk.kept; DROP TABLE desk.kept",
	`SELECT * FROM fugu_twin."fugu twins"`,
	"LOCK TABLE adult IN ACCESS SHARE MODE",
	"SELECT nosuch FROM adult",
}

// On a server of their own twins stand under the tables' names, and through Fugu psql and pg_dump show to the byte what
// they show without it.
func TestServeTwinsApart(t *testing.T) {
	c := pgcluster.StartTest(t, pgcluster.Options{Settings: map[string]string{"autovacuum": "off"}})
	path, rows := apartSetting(t, c)
	buildApart(t, path)

	proxy, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	through, direct := "postgres://alice@"+proxy.address+"/census?sslmode=disable", c.DSN("far_guest", "census")
	compareApart(t, c, through, direct)
	if got, _ := tool(t, c, "psql", "-XAtc", "SELECT count(*) FROM adult", through); got != fmt.Sprintln(rows) {
		t.Errorf("%s rows, want %d", got, rows)
	}
	// The view stands in for a table of Fugu's own.
	const told = "SELECT table_name, sum(told), bool_and(count_error BETWEEN .01 AND 10), bool_and(taken < told) " +
		"FROM fugu.twin GROUP BY 1"
	if got, _ := tool(t, c, "psql", "-XAtc", told, through); got != fmt.Sprintf("public.adult|%d|t|t\n", rows) {
		t.Errorf("fugu.twin: %s", got)
	}
	other := strings.Replace(through, "/census", "/postgres", 1)
	if got, _ := tool(t, c, "psql", "-Xc", "SELECT 1", other); !strings.Contains(got, "is not served here") {
		t.Errorf("another database of the server: %s", got)
	}
	putOut(t, proxy, path, through)
	got, _ := tool(t, c, "psql", "-Xc", "SELECT 1", through)
	if !strings.Contains(got, "may not ask about dataset adult") {
		t.Errorf("a session of who may not ask: %s", got)
	}

	_ = proxy.Process.Signal(syscall.SIGTERM)
	if err := proxy.Wait(); err != nil || !strings.Contains(proxy.log.String(), "nothing refused") {
		t.Errorf("%v; the log does not say how open it is: %s", err, proxy.log)
	}
	expect(t, exitOK, "public.adult are gone", "twin", "drop", "-c", path)
}

// buildApart has the commands say what there is before a twin is built, build it, and say what there is then.
func buildApart(t *testing.T, path string) {
	t.Helper()
	expect(t, exitOK, "nothing is masked, and nothing refused", "check", "-c", path)
	expect(t, exitOK, "the twin of public.adult is not built", "check", "-c", path)
	expect(t, exitOK, "charged epsilon 1", "twin", "build", "-c", path)
	code, stdout, stderr := invoke(t, "check", "-c", path)
	if code != 0 || strings.Contains(stdout, "not built") || strings.Contains(stdout, "warning") {
		t.Errorf("check: exit %d\n%s%s", code, stdout, stderr)
	}
	expect(t, exitOK, "public.adult", "twin", "show", "-c", path)
	expect(t, exitFailure, "answered from twins", "fit", "-c", path)
	expect(t, exitFailure, "answered from twins", "preview", "-c", path, "SELECT 1")
}

// compareApart has psql and pg_dump ask through Fugu and without it, and compares what they print.
func compareApart(t *testing.T, c *pgcluster.Cluster, through, direct string) {
	t.Helper()
	for _, sql := range transparent {
		got, _ := tool(t, c, "psql", "-Xc", sql, through)
		if strings.Contains(sql, "CREATE FUNCTION") { // once is enough
			if got != "CREATE FUNCTION\n" {
				t.Errorf("%s: %s", sql, got)
			}
			continue
		}
		if want, _ := tool(t, c, "psql", "-Xc", sql, direct); got != want {
			t.Errorf("%s\nthrough Fugu: %s\ndirectly: %s", sql, got, want)
		}
	}
	dump := func(dsn string) string {
		out, ok := tool(t, c, "pg_dump", dsn)
		if !ok || !strings.Contains(out, "COPY public.adult ") || !strings.Contains(out, "COPY desk.region ") {
			t.Fatalf("pg_dump: %.2000s", out)
		}
		return restricting.ReplaceAllString(out, "")
	}
	if dump(through) != dump(direct) {
		t.Error("pg_dump of the whole database is not what it is without Fugu")
	}
}

// putOut takes alice off the policy while a session of hers is open: who may ask counts for that one, too.
func putOut(t *testing.T, proxy *child, path, through string) {
	t.Helper()
	session, err := pgx.Connect(t.Context(), through)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close(t.Context()) }()
	file := filepath.Join(filepath.Dir(path), "p.policy.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, strings.Replace(string(text), "[alice, bob]", "[bob]", 1))
	if !proxy.reload(t) {
		t.Fatal(proxy.log)
	}
	if _, err := session.Exec(t.Context(), "SELECT 1"); sqlstateOf(err) != "PV003" {
		t.Errorf("a session of who may not ask any more: %v", err)
	}
}

// restricting are the lines of pg_dump that are others each time.
var restricting = regexp.MustCompile(`(?m)^\\(un)?restrict .*\n`)

// On the server of the protected tables the catalog shows what depends on their rows, so that it is masked: twins stand
// under the tables' own names all the same.
func TestTwinsApartOnOneServer(t *testing.T) {
	patient.Test(t)
	c := pgcluster.Shared(t)
	path, rows := apartSetting(t, c)
	const source = "census_testtwinsapartononeserver"
	expect(t, exitFailure, "upstream.reader is missing", "check", "-c", path)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	reader := fmt.Sprintf("reader: %q, keeper:", c.DSN("fugu_reader", "census"))
	writeFile(t, path, strings.Replace(string(text), "keeper:", reader, 1))
	for range 2 { // before the build the name of the database is what there is to go by, then where its rows came from
		expect(t, exitOK, "the database "+source+" on the same server does", "check", "-c", path)
		if code, stdout, stderr := invoke(t, "twin", "build", "-c", path); code != 0 {
			t.Fatalf("build: exit %d\n%s%s", code, stdout, stderr)
		}
	}
	proxy, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	through, direct := "postgres://alice@"+proxy.address+"/census?sslmode=disable", c.DSN("far_guest", "census")
	for _, x := range [][2]string{
		{"SELECT count(*) FROM public.adult", fmt.Sprint(rows)},
		{"SELECT sum(told) FROM fugu.twin", fmt.Sprint(rows)},
		{"SELECT fnlwgt FROM adult", `column "fnlwgt" does not exist`},
		{"SELECT pg_database_size('" + source + "') IS NULL", "t"},
		{"SELECT tup_returned IS NULL FROM pg_stat_database WHERE datname = '" + source + "'", "t"},
		{"SELECT count(*) FROM dblink('dbname=" + source + "', 'SELECT 1') AS x(i int)", "PV001"},
		{"DO $$ BEGIN EXECUTE 'SELECT pg_database_' || 'size(''" + source + "'')'; END $$", "PV001"},
	} {
		sql, want := x[0], x[1]
		got, _ := tool(t, c, "psql", "-X", "-A", "-t", "-v", "VERBOSITY=verbose", "-c", sql, through)
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
		if strings.HasPrefix(sql, "SELECT pg_database_size") {
			if got, _ := tool(t, c, "psql", "-X", "-A", "-t", "-c", sql, direct); got != "f\n" {
				t.Errorf("%s, without Fugu: %s", sql, got)
			}
		}
	}
	other := strings.Replace(through, "/census", "/"+source, 1)
	if got, _ := tool(t, c, "psql", "-Xc", "SELECT 1", other); !strings.Contains(got, "is not served here") {
		t.Errorf("the database of the protected tables: %s", got)
	}
}

// What could not be kept without a look at statements, and a guests' database in which there may be something to
// protect, is refused by check and by serve alike.
func TestTwinsApartRefused(t *testing.T) {
	patient.Test(t)
	c := pgcluster.StartTest(t, pgcluster.Options{})
	path, rows := apartSetting(t, c)
	policy := fmt.Sprintf(twinPolicy, rows)
	refused := func(policy, sql, undo, want string) {
		t.Helper()
		writeFile(t, filepath.Join(filepath.Dir(path), "p.policy.yaml"), policy)
		if err := c.Exec(t.Context(), "census", sql); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"check", "serve"} {
			expect(t, exitFailure, want, command, "-c", path)
		}
		if err := c.Exec(t.Context(), "census", undo); err != nil {
			t.Fatal(err)
		}
	}

	// What has a protected table's name, and is not the builder's; the last only looks like a twin.
	const protected = "it may be the protected table"
	refused(policy, "CREATE TABLE adult (age int)", "DROP TABLE adult", protected)
	refused(policy, "CREATE VIEW adult AS SELECT 1 AS age", "DROP VIEW adult", protected)
	refused(policy, "CREATE TABLE adult (age int); ALTER TABLE adult OWNER TO far_twins", "DROP TABLE adult", protected)

	// Guests who could change twins or what says where they come from.
	refused(policy, "ALTER ROLE far_guest SUPERUSER", "ALTER ROLE far_guest NOSUPERUSER", "superuser")
	refused(policy, "GRANT far_twins TO far_guest", "REVOKE far_twins FROM far_guest", "could change twins")
	refused(policy, `CREATE SCHEMA fugu_twin AUTHORIZATION far_guest;
		CREATE TABLE fugu_twin."fugu origins" (server text, database text);
		INSERT INTO fugu_twin."fugu origins" VALUES ('7', 'far away')`,
		"DROP SCHEMA fugu_twin CASCADE", "does not belong to far_twins")

	// Policies that need a look at statements.
	const nothing = "SELECT 1"
	refused(strings.Replace(policy, "rows: shown ", "rows: aggregates ", 1), nothing, nothing,
		"write twin: {rows: shown}, or leave upstream.twins out")
	mixed := strings.NewReplacer(
		"secrets:", "  public.other: {rows: 10, reference: public.reference}\nsecrets:",
		"assume: [exchangeable]", "  other: {table: public.other, proportion: x, "+
			"values: {from: 0.10, to: 0.60, within: 0.05}}\nassume: [exchangeable, translation]").Replace(policy)
	refused(mixed, nothing, nothing,
		"another fugu that has no upstream.twins, on the same ledger in PostgreSQL")

	// Twins that were built for another policy.
	writeFile(t, filepath.Join(filepath.Dir(path), "p.policy.yaml"), policy)
	expect(t, exitOK, "charged epsilon 1", "twin", "build", "-c", path)
	refused(strings.Replace(policy, "to: 0.60", "to: 0.50", 1), nothing, nothing, "run fugu twin build -new")
	refused(strings.Replace(policy, "[fnlwgt]", "[fnlwgt, race]", 1), nothing, nothing,
		"run fugu twin build, which is free")
}
