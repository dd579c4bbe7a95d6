package build_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/parser"
	"fugu/test/patient"
	"fugu/test/pgcluster"
	"fugu/test/policies"
	"fugu/twin/build"
)

// openPolicy is the shop's with the rows of every table shown.
var openPolicy = strings.NewReplacer("on: {customer_id: id}}}", "on: {customer_id: id}}, twin: {rows: shown}}",
	"on: {purchase_id: id}}}", "on: {purchase_id: id}}, twin: {rows: shown}}").Replace(shopPolicy)

// further is what the shop has besides: what only its own database knows.
const further = `CREATE TYPE mood AS ENUM ('glad', 'it''s "sad"'); CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE FUNCTION twice(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 2 * $1';
ALTER TABLE purchase ADD mood mood, ADD moods mood[] DEFAULT '{glad}', ADD price money DEFAULT 3.5,
  ADD at timestamptz DEFAULT '2020-02-02', ADD "Odd, ""name""" text DEFAULT E'tab\tback\\slash\nline',
  ADD many positive DEFAULT twice(4), ADD CONSTRAINT even CHECK (twice(many) % 2 = 0);
COMMENT ON COLUMN purchase."Odd, ""name""" IS 'it''s odd
on two lines';
CREATE INDEX by_twice ON purchase (twice(many)); CREATE INDEX by_mood ON purchase (mood) INCLUDE (total);
UPDATE purchase SET mood = 'it''s "sad"' WHERE id % 3 = 0;`

// typesThere are the types that the twins' database has to have before a build.
const typesThere = `CREATE TYPE mood AS ENUM ('glad', 'it''s "sad"'); CREATE DOMAIN positive AS int CHECK (VALUE > 0);`

// apart gives a world a server of its own for its twins, and returns a connection to it as a superuser.
func (w *world) apart() (c *pgcluster.Cluster, admin *pgx.Conn) {
	w.t.Helper()
	c = pgcluster.StartTest(w.t, pgcluster.Options{})
	for _, sql := range []string{"CREATE ROLE twins LOGIN; CREATE ROLE dash LOGIN", "CREATE DATABASE shop"} {
		if err := c.Exec(w.t.Context(), "postgres", sql); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := c.Exec(w.t.Context(), "shop", typesThere+
		`GRANT CREATE ON DATABASE shop TO twins; GRANT CREATE ON SCHEMA public TO twins;
		CREATE SCHEMA own AUTHORIZATION dash`); err != nil {
		w.t.Fatal(err)
	}
	conn, err := build.Connect(w.t.Context(), c.DSN("twins", "shop"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close(w.t.Context()) })
	w.keeper.Target, w.keeper.Guests = conn, []string{"dash"}
	if admin, err = pgx.Connect(w.t.Context(), c.DSN("postgres", "shop")+"&default_query_exec_mode=exec"); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = admin.Close(w.t.Context()) })
	return c, admin
}

// on asks another database.
func (w *world) on(conn *pgx.Conn) *world {
	other := *w
	other.admin = conn
	return &other
}

// checkCountError holds what the twins' database says of the error of a count to the law of copies: a row stands
// told/taken times on average, once more or not.
func (w *world) checkCountError(x build.Twin) {
	w.t.Helper()
	told, taken := float64(x.Told[0]), float64(x.Taken[0])
	w0, f := told/taken, told/taken-math.Floor(told/taken)
	want := math.Sqrt(math.Max(0, w0-1) + f*(1-f)/math.Max(w0, 1))
	got, err := strconv.ParseFloat(w.one("SELECT count_error FROM fugu.twin WHERE table_name = 'public.customer' "+
		"ORDER BY class <> "+parser.QuoteLiteral(x.Classes[0])+" LIMIT 1"), 64)
	if err != nil || math.Abs(got-want) > 1e-9 {
		w.t.Errorf("the error of a count: %v, want %v, %v", got, want, err)
	}
}

// A twin apart is the very twin that there would be beside the tables, to the last row and in the same order; it stands
// under the tables' own names, and where the tables are nothing is left of it.
func TestApart(t *testing.T) {
	patient.Test(t)
	w := newWorld(t, "apart", shop+further, openPolicy)
	_, admin := w.apart()
	at := w.on(admin)
	r := w.build(build.Options{})
	if !r.Made || !r.Charged || len(r.Twins) != 3 {
		t.Fatalf("%+v", r)
	}
	for sql, want := range map[string]string{
		// the registry
		"SELECT count(*) FROM pg_class WHERE relnamespace = 'fugu_twin'::regnamespace AND relkind = 'r'": "2",
		"SELECT count(*) FROM fugu_twin.\"fugu twins\"":                                                  "0",
	} {
		if got := w.one(sql); got != want {
			t.Errorf("beside the tables: %s: %s, want %s", sql, got, want)
		}
	}
	for sql, want := range map[string]string{
		"SELECT count(*) FILTER (WHERE rich) FROM customer":     fmt.Sprint(r.Twins[0].Told[0]),
		"SELECT count(*) FROM pg_class WHERE relname LIKE '~%'": "0",
		"SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace " +
			"AND relkind = 'i'": "by_city by_mood customer_pkey customer_token_key line_pkey purchase_pkey",
		"SELECT string_agg(DISTINCT tableowner, ' ') FROM pg_tables " +
			"WHERE schemaname IN ('public', 'fugu_twin')": "twins",
		"SELECT has_table_privilege('dash', 'line', 'SELECT') AND NOT has_table_privilege('dash', 'line', 'INSERT, " +
			"UPDATE, DELETE, TRUNCATE, TRIGGER')": "t",
		"SELECT count(*) FROM fugu_twin.\"fugu origins\"": "1",
	} {
		if got := at.one(sql); got != want {
			t.Errorf("apart: %s: %s, want %s", sql, got, want)
		}
	}
	at.checkCountError(r.Twins[0])
	if left := strings.Join(r.Twins[1].Left, "; "); !strings.Contains(left, "by_twice") ||
		!strings.Contains(left, "even") || !strings.Contains(left, `"many"`) {
		t.Errorf("left: %s", left)
	}

	target := w.keeper.Target
	w.madeAgain(at)
	dropped, err := build.Drop(t.Context(), target, true, w.policy, w.policy.Tables[0])
	if err != nil || len(dropped) != 3 {
		t.Fatalf("%q, %v", dropped, err)
	}
	if got := at.one("SELECT to_regclass('public.customer') IS NULL AND (SELECT count(*) = 1 " +
		"FROM fugu_twin.\"fugu origins\")"); got != "t" {
		t.Error("it was not dropped, or its origin was")
	}
}

// madeAgain makes a twin again that is at another database, there and beside the tables, and has to find it the same.
func (w *world) madeAgain(at *world) {
	w.t.Helper()
	// The same command again finds it there; again from the rows, below a view of an analyst's, it is the same.
	if again := w.build(build.Options{}); again.Made || again.Charged {
		w.t.Errorf("a second build made something: %+v", again)
	}
	rows := map[string][]string{}
	for _, table := range []string{"customer", "purchase", "line"} {
		rows[table] = at.column("SELECT t::text FROM " + table + " t ORDER BY ctid")
	}
	if _, err := at.admin.Exec(w.t.Context(), "SET ROLE dash; CREATE VIEW own.v AS SELECT city, count(*) "+
		"FROM customer GROUP BY 1; RESET ROLE"); err != nil {
		w.t.Fatal(err)
	}
	if again := w.build(build.Options{Again: true}); !again.Made || again.Charged {
		w.t.Errorf("%+v", again)
	}
	w.keeper.Target, w.keeper.Guests = nil, nil
	if beside := w.build(build.Options{}); !beside.Made || beside.Charged {
		w.t.Errorf("%+v", beside)
	}
	for table, want := range rows {
		// A table that stays, for the view, gets its rows by INSERT, which may put one on an earlier page with room.
		got := at.column("SELECT t::text FROM " + table + " t")
		if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			w.t.Errorf("%s, again: other rows", table)
		}
		if got := w.column("SELECT t::text FROM fugu_twin." + table + " t ORDER BY ctid"); !slices.Equal(got, want) {
			w.t.Errorf("%s, beside the tables: other rows, or in another order", table)
		}
	}
	if _, err := at.admin.Exec(w.t.Context(), "DROP VIEW own.v"); err != nil {
		w.t.Fatal(err)
	}
}

// What a place apart must not be, and what has a twin's name there, is refused; and nothing is charged for it.
func TestApartRefused(t *testing.T) {
	patient.Test(t)
	w := newWorld(t, "apart_refused", shop, shopPolicy)
	_, admin := w.apart()
	w.refused(build.Options{}, "rows of public.purchase's twin")
	w.policy = policies.Load(t, openPolicy)

	apart := w.keeper.Target
	own, err := build.Connect(t.Context(), w.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = own.Close(t.Context()) }()
	w.keeper.Target, w.keeper.Guests = own, nil
	w.refused(build.Options{}, "the database of the protected tables")
	w.keeper.Target, w.keeper.Guests = apart, []string{"dash"}
	if n, _ := w.spent(); n != 0 {
		t.Errorf("%d charges", n)
	}

	for _, relation := range []string{"CREATE TABLE customer (id int)", "CREATE VIEW customer AS SELECT 1",
		"CREATE TABLE customer (id int); ALTER TABLE customer OWNER TO twins"} {
		if _, err := admin.Exec(t.Context(), relation); err != nil {
			t.Fatal(err)
		}
		w.refused(build.Options{}, "that no build of a twin has made")
		kind := strings.Fields(relation)[1]
		if _, err := admin.Exec(t.Context(), "DROP "+kind+" customer"); err != nil {
			t.Fatal(err)
		}
	}
	w.build(build.Options{})
	if n, _ := w.spent(); n != 1 {
		t.Errorf("%d charges", n)
	}
}

// A type that a guest may change would run code of the guest's where its values are read.
func TestApartGuestTypes(t *testing.T) {
	patient.Test(t)
	w := newWorld(t, "apart_types", shop+further, openPolicy)
	_, admin := w.apart()
	if _, err := admin.Exec(t.Context(), "ALTER TYPE mood OWNER TO dash"); err != nil {
		t.Fatal(err)
	}
	w.refused(build.Options{}, "belongs to a role that guests can be")
	if _, err := admin.Exec(t.Context(), "ALTER TYPE mood OWNER TO postgres"); err != nil {
		t.Fatal(err)
	}
	w.build(build.Options{})
}

// export is a dump with its certificate, as bytes.
func (w *world) export(conn *pgx.Conn, apart bool) (dump []byte, c build.Certificate) {
	w.t.Helper()
	var out bytes.Buffer
	e := build.Exporter{Conn: conn, Apart: apart, Fugu: "test"}
	c, err := e.Export(w.t.Context(), w.policy, &out)
	if err != nil {
		w.t.Fatal(err)
	}
	return out.Bytes(), c
}

// A dump is the same from beside the tables and from apart, psql restores it in an empty database, and there pg_dump
// finds what it finds of the twin.
func TestExport(t *testing.T) {
	patient.Test(t)
	w := newWorld(t, "export", shop+further, openPolicy)
	c, admin := w.apart()
	w.build(build.Options{})
	apart, certificate := w.export(w.keeper.Target, true)
	target := w.keeper.Target
	w.keeper.Target, w.keeper.Guests = nil, nil
	w.build(build.Options{})
	beside, _ := w.export(w.keeper.Conn, false)
	// Beside the tables the twin has what only that database knows; the dump leaves it out either way.
	if !bytes.Equal(apart, beside) {
		t.Errorf("two dumps of one twin differ: %d and %d bytes\n%s\n%s", len(apart), len(beside), head(apart),
			head(beside))
	}

	checkRestored(t, c, beside)

	// The certificate says what was published, and nothing else.
	x := certificate.Twins[0]
	if x.Epsilon != 1 || x.Delta != .001 || len(x.Tables) != 3 || x.Tables[0].Rows != 2000 ||
		x.Classes[0].Told+x.Classes[1].Told != 2000 || !strings.Contains(x.Mechanism, "Laplace") ||
		!slices.Equal(x.Secrets[0].Pairs, []string{"any two from 0.1 to 0.6 that are at most 0.05 apart"}) ||
		slices.Contains(x.Tables[0].Columns, "mail") || certificate.Policy != w.policy.Fingerprint {
		text, _ := json.MarshalIndent(certificate, "", " ")
		t.Errorf("certificate: %s", text)
	}

	// A policy that is another by now, a twin that somebody has changed, and one that is not there.
	for _, c := range []struct{ old, new, sql, want string }{
		{"to: 0.60", "to: 0.61", "SELECT 1", "not those that the twin was built by"},
		{"drop: [mail]", "drop: [mail, note]", "SELECT 1", "build it again"},
		{"twin: {rows: shown, drop: [mail]}", "twin: {drop: [mail]}", "SELECT 1",
			"lets no rows of public.customer's twin be listed"},
		{"", "", "DELETE FROM line WHERE ctid IN (SELECT ctid FROM line LIMIT 1)", "somebody has changed it"},
		{"", "", "DROP TABLE line", "is not built"},
	} {
		if _, err := admin.Exec(t.Context(), c.sql); err != nil {
			t.Fatal(err)
		}
		p := policies.Load(t, strings.Replace(openPolicy, c.old, c.new, 1))
		e := build.Exporter{Conn: target, Apart: true}
		if _, err := e.Export(t.Context(), p, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
}

// checkRestored has psql restore a dump in an empty database of the server that has the twin, and pg_dump find there
// what it finds of the twin.
func checkRestored(t *testing.T, c *pgcluster.Cluster, dump []byte) {
	t.Helper()
	for _, sql := range []string{"CREATE ROLE partner LOGIN", "CREATE DATABASE partner OWNER partner"} {
		if err := c.Exec(t.Context(), "postgres", sql); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "twin.sql")
	if err := os.WriteFile(file, dump, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), c.Tool("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file,
		c.DSN("partner", "partner")).CombinedOutput(); err != nil {
		t.Fatalf("restoring: %v\n%s", err, out)
	}
	tool := func(database string) string {
		args := []string{"--no-owner", "--no-acl", "-t", "customer", "-t", "purchase", "-t", "line",
			c.DSN("postgres", database)}
		out, err := exec.CommandContext(t.Context(), c.Tool("pg_dump"), args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		// The domain is what it is made of, and a twin is made without room for changes.
		alike := strings.NewReplacer("public.positive", "integer", "\nWITH (autovacuum_enabled=off)", "")
		return alike.Replace(restricting.ReplaceAllString(string(out), ""))
	}
	if got, want := tool("partner"), tool("shop"); got != want {
		t.Errorf("pg_dump of the restored dump is not that of the twin:\n%s\nwant\n%s", head([]byte(got)),
			head([]byte(want)))
	}
}

// restricting are the lines of pg_dump that are others each time.
var restricting = regexp.MustCompile(`(?m)^\\(un)?restrict .*\n`)

// head is the beginning of a text.
func head(b []byte) []byte { return b[:min(len(b), 4000)] }
