package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/test/adult"
	"fugu/test/pgcluster"
)

// farRoles are what a DBA makes on the server of twins, beside an ordinary table.
const farRoles = `GRANT CREATE ON DATABASE census TO far_twins; GRANT CREATE ON SCHEMA public TO far_twins;
CREATE SCHEMA desk AUTHORIZATION far_guest; CREATE TABLE desk.region (name text PRIMARY KEY, part text); ALTER TABLE desk.region OWNER TO far_guest;
INSERT INTO desk.region VALUES ('Male', 'M'), ('Female', 'F'); CREATE EXTENSION dblink`

// apartSetting writes a configuration whose protected table is on the shared cluster and whose twins are on c, which may be
// the same. Edits are of the configuration and of the policy, old and new in turn.
func apartSetting(t *testing.T, c *pgcluster.Cluster, edits ...string) (path string, rows int64) {
	t.Helper()
	source := pgcluster.Shared(t)
	name := "census_" + strings.ToLower(strings.NewReplacer("/", "_").Replace(t.Name()))
	data, err := adult.Load(t.Context(), source, name, adult.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Exec(t.Context(), name, `DO $$ BEGIN CREATE ROLE far_keeper LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
	  GRANT SELECT ON adult TO far_keeper; GRANT CREATE ON DATABASE `+name+` TO far_keeper`); err != nil {
		t.Fatal(err)
	}
	for db, sql := range map[string]string{"postgres": "CREATE ROLE far_twins LOGIN; CREATE ROLE far_guest LOGIN"} {
		if err := c.Exec(t.Context(), db, sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Exec(t.Context(), "postgres", "CREATE DATABASE census"); err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(t.Context(), "census", farRoles); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("listen: 127.0.0.1:0\nupstream: {guest: %q, keeper: %q, twins: %q}\nauth: {method: trust}\npolicy: p.policy.yaml\nledger: sqlite:fugu.db\n",
		c.DSN("far_guest", "census"), source.DSN("far_keeper", name), c.DSN("far_twins", "census"))
	r := strings.NewReplacer(edits...)
	dir := t.TempDir()
	path = filepath.Join(dir, "fugu.yaml")
	if err := errors.Join(os.WriteFile(path, []byte(r.Replace(config)), 0o600),
		os.WriteFile(filepath.Join(dir, "p.policy.yaml"), []byte(r.Replace(fmt.Sprintf(twinPolicy, data.Rows))), 0o600)); err != nil {
		t.Fatal(err)
	}
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
	"SELECT count(*), max(age), count(DISTINCT sex) FROM adult", "SELECT * FROM public.adult ORDER BY adult::text LIMIT 2", `\d adult`, `\d+ public.*`, `\dt+`, `\l+`, `\df`,
	"DO $$ DECLARE n int; BEGIN EXECUTE 'SELECT count(*) FROM ' || 'adult' INTO n; RAISE NOTICE '% rows', n; END $$",
	"CREATE FUNCTION desk.f() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT sum(age) FROM adult); END $$", "SELECT desk.f()",
	"CREATE FUNCTION desk.g(q text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE q; END $$", "SELECT * FROM desk.g('SELECT DISTINCT sex::text FROM adult ORDER BY 1')",
	"SELECT query_to_xml('SELECT max(age) FROM adult', true, true, '')", "SELECT reltuples, relpages FROM pg_class WHERE relname = 'adult'",
	"SELECT pg_relation_size('adult'), pg_database_size(current_database()) > 0", "SELECT tablename, attname, n_distinct, most_common_vals FROM pg_stats WHERE tablename = 'adult' ORDER BY 2",
	"SELECT 'fugu.epsilon' AS fugu", "SHOW fugu.epsilon", "SET fugu.anything = 'x'; SHOW fugu.anything", "SELECT * FROM fugu.budget", "SELECT * FROM fugu.twin", "SET work_mem = '3MB'; SHOW work_mem", "SET search_path = desk; SELECT count(*) FROM public.adult",
	"EXPLAIN SELECT * FROM adult WHERE age = 30", "EXPLAIN (PRIVACY) SELECT 1", "PREPARE q AS SELECT count(*) FROM adult WHERE age > $1; EXECUTE q(30)", "INSERT INTO adult (age) VALUES (1)", "TRUNCATE adult", "DROP TABLE adult",
	"COPY adult (age) TO STDOUT", "COPY (SELECT sex, count(*) FROM adult GROUP BY 1 ORDER BY 1) TO STDOUT WITH CSV", "SELECT part, count(*) FROM adult JOIN desk.region ON name = sex GROUP BY 1 ORDER BY 1",
	"CREATE TABLE desk.kept AS SELECT * FROM adult; SELECT count(*) FROM desk.kept; DROP TABLE desk.kept", `SELECT * FROM fugu_twin."fugu twins"`, "LOCK TABLE adult IN ACCESS SHARE MODE", "SELECT nosuch FROM adult",
}

// On a server of their own twins stand under the tables' names, and through Fugu psql and pg_dump show to the byte what
// they show without it.
func TestServeTwinsApart(t *testing.T) {
	c := pgcluster.StartTest(t, pgcluster.Options{Settings: map[string]string{"autovacuum": "off"}})
	path, rows := apartSetting(t, c)
	code, stdout, stderr := invoke(t, "check", "-c", path)
	if code != 0 || !strings.Contains(stdout, "nothing is masked, and nothing refused") || !strings.Contains(stdout, "the twin of public.adult is not built") {
		t.Errorf("check: exit %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := invoke(t, "twin", "build", "-c", path); code != 0 || !strings.Contains(stdout, "charged epsilon 1") {
		t.Fatalf("build: exit %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := invoke(t, "check", "-c", path); code != 0 || strings.Contains(stdout, "not built") || strings.Contains(stdout, "warning") {
		t.Errorf("check: exit %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, _ := invoke(t, "twin", "show", "-c", path); code != 0 || !strings.Contains(stdout, "public.adult") {
		t.Errorf("show: exit %d\n%s", code, stdout)
	}
	for _, command := range [][]string{{"fit"}, {"preview", "SELECT 1"}} {
		if code, _, stderr := invoke(t, append(command[:1:1], append([]string{"-c", path}, command[1:]...)...)...); code != 1 || !strings.Contains(stderr, "answered from twins") {
			t.Errorf("%s: exit %d, %s", command[0], code, stderr)
		}
	}

	proxy, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	through, direct := "postgres://alice@"+proxy.address+"/census?sslmode=disable", c.DSN("far_guest", "census")
	for _, sql := range transparent {
		got, _ := tool(t, c, "psql", "-X", "-c", sql, through)
		if strings.Contains(sql, "CREATE FUNCTION") { // once is enough
			if got != "CREATE FUNCTION\n" {
				t.Errorf("%s: %s", sql, got)
			}
			continue
		}
		if want, _ := tool(t, c, "psql", "-X", "-c", sql, direct); got != want {
			t.Errorf("%s\nthrough Fugu: %s\ndirectly: %s", sql, got, want)
		}
	}
	if got, _ := tool(t, c, "psql", "-X", "-A", "-t", "-c", "SELECT count(*) FROM adult", through); got != fmt.Sprintln(rows) {
		t.Errorf("%s rows, want %d", got, rows)
	}
	// The view stands in for a table of Fugu's own.
	if got, _ := tool(t, c, "psql", "-X", "-A", "-t", "-c", "SELECT table_name, sum(told), bool_and(count_error BETWEEN .01 AND 10), bool_and(taken < told) FROM fugu.twin GROUP BY 1", through); got != fmt.Sprintf("public.adult|%d|t|t\n", rows) {
		t.Errorf("fugu.twin: %s", got)
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
	if got, _ := tool(t, c, "psql", "-X", "-c", "SELECT 1", strings.Replace(through, "/census", "/postgres", 1)); !strings.Contains(got, "is not served here") {
		t.Errorf("another database of the server: %s", got)
	}

	// Who may ask counts for the session, also for one that is open.
	session, err := pgx.Connect(t.Context(), through)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close(t.Context()) }()
	file := filepath.Join(filepath.Dir(path), "p.policy.yaml")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, bytes.Replace(text, []byte("[alice, bob]"), []byte("[bob]"), 1), 0o600)
	}
	if err := errors.Join(err, proxy.Process.Signal(syscall.SIGHUP)); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = session.Exec(t.Context(), "SELECT 1")
	}
	if pe := new(pgconn.PgError); !errors.As(err, &pe) || pe.Code != "PV003" {
		t.Errorf("a session of who may not ask any more: %v", err)
	}
	if got, _ := tool(t, c, "psql", "-X", "-c", "SELECT 1", through); !strings.Contains(got, "may not ask about dataset adult") {
		t.Errorf("a session of who may not ask: %s", got)
	}
	_ = proxy.Process.Signal(syscall.SIGTERM)
	if err := proxy.Wait(); err != nil || !strings.Contains(proxy.log.String(), "nothing refused") {
		t.Errorf("%v; the log does not say how open it is: %s", err, proxy.log)
	}

	if code, stdout, stderr := invoke(t, "twin", "drop", "-c", path); code != 0 || !strings.Contains(stdout, "public.adult are gone") {
		t.Errorf("drop: exit %d\n%s%s", code, stdout, stderr)
	}
}

// restricting are the lines of pg_dump that are others each time.
var restricting = regexp.MustCompile(`(?m)^\\(un)?restrict .*\n`)

// On the server of the protected tables the catalog shows what depends on their rows, so that it is masked: twins stand under
// the tables' own names all the same.
func TestTwinsApartOnOneServer(t *testing.T) {
	c := pgcluster.Shared(t)
	path, rows := apartSetting(t, c)
	const source = "census_testtwinsapartononeserver"
	if code, _, stderr := invoke(t, "check", "-c", path); code != 1 || !strings.Contains(stderr, "upstream.reader is missing") {
		t.Errorf("check without a reader: exit %d, %s", code, stderr)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("keeper:"), fmt.Appendf(nil, "reader: %q, keeper:", c.DSN("fugu_reader", "census")), 1)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // before the build the name of the database is what there is to go by, then where its rows came from
		if code, stdout, stderr := invoke(t, "check", "-c", path); code != 0 || !strings.Contains(stdout, "the database "+source+" on the same server does") {
			t.Errorf("check: exit %d\n%s%s", code, stdout, stderr)
		}
		if code, stdout, stderr := invoke(t, "twin", "build", "-c", path); code != 0 {
			t.Fatalf("build: exit %d\n%s%s", code, stdout, stderr)
		}
	}
	proxy, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	through, direct := "postgres://alice@"+proxy.address+"/census?sslmode=disable", c.DSN("far_guest", "census")
	for sql, want := range map[string]string{
		"SELECT count(*) FROM public.adult":                                                  fmt.Sprint(rows),
		"SELECT sum(told) FROM fugu.twin":                                                    fmt.Sprint(rows),
		"SELECT fnlwgt FROM adult":                                                           `column "fnlwgt" does not exist`,
		"SELECT pg_database_size('" + source + "') IS NULL":                                  "t",
		"SELECT tup_returned IS NULL FROM pg_stat_database WHERE datname = '" + source + "'": "t",
		"SELECT count(*) FROM dblink('dbname=" + source + "', 'SELECT 1') AS x(i int)":       "PV001",
		"DO $$ BEGIN EXECUTE 'SELECT pg_database_' || 'size(''" + source + "'')'; END $$":    "PV001",
	} {
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
	if got, _ := tool(t, c, "psql", "-X", "-c", "SELECT 1", strings.Replace(through, "/census", "/"+source, 1)); !strings.Contains(got, "is not served here") {
		t.Errorf("the database of the protected tables: %s", got)
	}
}

// What could not be kept without a look at statements, and a guests' database in which there may be something to protect,
// is refused by check and by serve alike.
func TestTwinsApartRefused(t *testing.T) {
	c := pgcluster.StartTest(t, pgcluster.Options{})
	path, rows := apartSetting(t, c)
	policy := fmt.Sprintf(twinPolicy, rows)
	refused := func(name, policy, sql, undo, want string) {
		t.Helper()
		if err := errors.Join(os.WriteFile(filepath.Join(filepath.Dir(path), "p.policy.yaml"), []byte(policy), 0o600), c.Exec(t.Context(), "census", sql)); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"check", "serve"} {
			if code, _, stderr := invoke(t, command, "-c", path); code != 1 || !strings.Contains(stderr, want) {
				t.Errorf("%s, %s: exit %d\n%s", name, command, code, stderr)
			}
		}
		if err := c.Exec(t.Context(), "census", undo); err != nil {
			t.Fatal(err)
		}
	}
	refused("a table of the name", policy, "CREATE TABLE adult (age int)", "DROP TABLE adult", "it may be the protected table")
	refused("a view of the name", policy, "CREATE VIEW adult AS SELECT 1 AS age", "DROP VIEW adult", "it may be the protected table")
	refused("one that only looks like a twin", policy, "CREATE TABLE adult (age int); ALTER TABLE adult OWNER TO far_twins", "DROP TABLE adult", "it may be the protected table")
	refused("a superuser", policy, "ALTER ROLE far_guest SUPERUSER", "ALTER ROLE far_guest NOSUPERUSER", "superuser")
	refused("a guest that can be the builder", policy, "GRANT far_twins TO far_guest", "REVOKE far_twins FROM far_guest", "could change twins")
	refused("a registry of the guest's making", policy, `CREATE SCHEMA fugu_twin AUTHORIZATION far_guest; CREATE TABLE fugu_twin."fugu origins" (server text, database text); INSERT INTO fugu_twin."fugu origins" VALUES ('7', 'far away')`,
		"DROP SCHEMA fugu_twin CASCADE", "does not belong to far_twins")
	refused("aggregates alone", strings.Replace(policy, "rows: shown ", "rows: aggregates ", 1), "SELECT 1", "SELECT 1", "write twin: {rows: shown}, or leave upstream.twins out")
	mixed := strings.NewReplacer("secrets:", "  public.other: {rows: 10, reference: public.reference}\nsecrets:",
		"assume: [exchangeable]", "  other: {table: public.other, proportion: x, values: {from: 0.10, to: 0.60, within: 0.05}}\nassume: [exchangeable, translation]").Replace(policy)
	refused("noise beside it", mixed, "SELECT 1", "SELECT 1", "another fugu that has no upstream.twins, on the same ledger in PostgreSQL")

	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "p.policy.yaml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := invoke(t, "twin", "build", "-c", path); code != 0 {
		t.Fatalf("build: exit %d\n%s%s", code, stdout, stderr)
	}
	refused("a twin of another range", strings.Replace(policy, "to: 0.60", "to: 0.50", 1), "SELECT 1", "SELECT 1", "run fugu twin build -new")
	refused("a twin with a column that is to go", strings.Replace(policy, "[fnlwgt]", "[fnlwgt, race]", 1), "SELECT 1", "SELECT 1",
		"run fugu twin build, which is free")
}
