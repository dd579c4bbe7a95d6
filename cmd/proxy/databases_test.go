package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fugu/test/adult"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

var secondLoaded bool

// several is a configuration over the databases adult and second, each with a policy for a table public.adult of its
// own, and plain, which has none. Edits are of fugu.yaml.
func several(t *testing.T, edits ...string) (path string) {
	t.Helper()
	path = setting(t, append([]string{"policy: adult.policy.yaml", "policy: policies", "auth:",
		"  databases: [plain]\nauth:"}, edits...)...)
	c := pgcluster.Shared(t)
	if !secondLoaded {
		if _, err := adult.Load(t.Context(), c, "second", adult.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := c.CreateDatabase(t.Context(), "plain", ""); err != nil {
			t.Fatal(err)
		}
		secondLoaded = true
	}
	dir := filepath.Join(filepath.Dir(path), "policies")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "adult.policy.yaml"), examplePolicy(t))
	writeFile(t, filepath.Join(dir, "second.policy.yaml"), examplePolicy(t, "dataset: adult",
		"dataset: second\ndatabase: second"))
	return path
}

// listing has a configuration list another database in the place of plain.
func listing(t *testing.T, path, database string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, strings.Replace(string(text), "[plain]", "["+database+"]", 1))
	return path
}

func examplePolicy(t *testing.T, edits ...string) string {
	t.Helper()
	text, err := os.ReadFile("../../examples/adult/adult.policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(string(text), edits[i]) {
			t.Fatalf("the example has no %q", edits[i])
		}
	}
	return strings.NewReplacer(edits...).Replace(string(text))
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// to connects to one database, once for all that it is asked for.
func (c *child) to(t *testing.T, database string) (*pgx.Conn, error) {
	t.Helper()
	u := url.URL{Scheme: "postgres", User: url.User("alice"), Host: c.address, Path: database}
	conn, err := pgx.Connect(t.Context(), u.String())
	if err == nil {
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
	}
	return conn, err
}

// through starts a proxy, and connects to one database through it. The environment is the proxy's, beside the test's.
func through(t *testing.T, path, database string, environment ...string) (*child, *pgx.Conn) {
	t.Helper()
	proxy, err := startChild(t, path, environment...)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := proxy.to(t, database)
	if err != nil {
		t.Fatal(err)
	}
	return proxy, conn
}

func ask(t *testing.T, c *pgx.Conn, sql string) string {
	t.Helper()
	var out *string
	if err := c.QueryRow(t.Context(), sql).Scan(&out); err != nil {
		return err.Error()
	}
	if out == nil {
		return "NULL"
	}
	return *out
}

// One Fugu serves two protected databases with tables of the same name, and one without protected tables, each with the
// masks of all, whether clients share guests or not.
func TestSeveralDatabases(t *testing.T) {
	for mode, more := range map[string]string{"session": "", "transaction": "pool: {mode: transaction, size: 2}\n"} {
		t.Run(mode, func(t *testing.T) {
			c, err := startChild(t, several(t, "listen:", more+"listen:"))
			if err != nil {
				t.Fatal(err)
			}
			conns := map[string]*pgx.Conn{}
			for _, name := range []string{"adult", "second", "plain"} {
				if conns[name], err = c.to(t, name); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"postgres", "template1", "nowhere"} {
				if _, err := c.to(t, name); err == nil || !strings.Contains(err.Error(), "3D000") {
					t.Errorf("%s: %v", name, err)
				}
			}
			for range 3 { // in turn, so that guests of a pool would be of the wrong database if they could
				for name, conn := range conns {
					if got := ask(t, conn, "SELECT current_database()::text"); got != name {
						t.Errorf("in %s, not %s", got, name)
					}
				}
			}
			for name, conn := range conns {
				for _, other := range []string{"adult", "second", name} {
					for _, sql := range []string{"SELECT pg_database_size('%s')::text",
						"SELECT pg_database_size((SELECT oid FROM pg_database WHERE datname = '%s'))::text",
						"SELECT tup_fetched::text FROM pg_stat_database WHERE datname = '%s'",
						"SELECT pg_stat_get_db_blocks_fetched(oid)::text FROM pg_database WHERE datname = '%s'"} {
						if got := ask(t, conn, fmt.Sprintf(sql, other)); got != "NULL" {
							t.Errorf("from %s: "+sql+": %s", name, other, got)
						}
					}
				}
				if got := ask(t, conn, "SELECT (pg_database_size('template1') > 0)::text"); got != "true" {
					t.Errorf("from %s, the size of template1: %s", name, got)
				}
			}
			for name, want := range map[string]string{"adult": "adult", "second": "second", "plain": "NULL"} {
				if got := ask(t, conns[name],
					"SELECT string_agg(DISTINCT dataset, ',') FROM fugu.budget"); got != want {
					t.Errorf("fugu.budget in %s: %s", name, got)
				}
			}
			answers(t, conns["adult"], conns["second"], conns["plain"])
			canceled(t, conns["second"])
		})
	}
}

// answers are charged to the dataset of the session's own database, and drawn for each.
func answers(t *testing.T, adult, second, plain *pgx.Conn) {
	t.Helper()
	const sql = "SELECT count(*)::text FROM adult WHERE income = '>50K'"
	releases := func(c *pgx.Conn) string {
		return ask(t, c, "SELECT coalesce(string_agg(DISTINCT dataset || ':' || releases, ','), '') FROM fugu.budget")
	}
	first := ask(t, adult, sql)
	if got := releases(adult) + " " + releases(second); got != "adult:1 second:0" {
		t.Errorf("after an answer about adult: %s", got)
	}
	other := ask(t, second, sql)
	if got := releases(adult) + " " + releases(second); got != "adult:1 second:1" {
		t.Errorf("after an answer about each: %s", got)
	}
	// That they are two draws is what the releases say: the numbers may be the same.
	if ask(t, adult, sql) != first || ask(t, second, sql) != other {
		t.Errorf("%s of adult and %s of second are not kept", first, other)
	}
	if got := ask(t, plain, sql); !strings.Contains(got, "42P01") {
		t.Errorf("in plain: %s", got)
	}
	if got := ask(t, plain, "SELECT count(*)::text FROM fugu.releases"); got != "0" {
		t.Errorf("plain shows %s releases", got)
	}
}

// canceled cancels a statement by the session's key, once it runs: who cancels while it waits for a guest of the pool's
// ends its session.
func canceled(t *testing.T, c *pgx.Conn) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var canceling sync.WaitGroup
	canceling.Go(func() {
		if awaitSleep(ctx, t, "second") {
			_ = c.PgConn().CancelRequest(ctx)
		}
	})
	defer canceling.Wait()
	defer stop()

	if got := ask(t, c, "SELECT pg_sleep(60)::text"); !strings.Contains(got, "57014") {
		t.Errorf("a cancelled statement: %s", got)
	}
	if got := ask(t, c, "SELECT current_database()::text"); got != "second" {
		t.Errorf("behind it: %s", got)
	}
}

// awaitSleep waits until a pg_sleep runs in a database, and reports whether that came about.
func awaitSleep(ctx context.Context, t *testing.T, database string) bool {
	t.Helper()
	db, err := pgx.Connect(ctx, pgcluster.Shared(t).DSN("postgres", "postgres"))
	if err != nil {
		t.Error(err)
		return false
	}
	defer db.Close(context.Background())

	const sleeping = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = $1 AND wait_event = 'PgSleep')"
	for runs := false; !runs; time.Sleep(5 * time.Millisecond) {
		if err := db.QueryRow(ctx, sleeping, database).Scan(&runs); err != nil {
			return false // the statement that was to sleep has ended, which its test says
		}
	}
	return true
}

// reloadWith has Fugu read its policies again once a file has another name.
func (c *child) reloadWith(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	if !c.reload(t) {
		t.Fatal(c.log)
	}
}

// wholeNumber is what an answer to count(*) looks like: noise may leave any, also one below zero.
var wholeNumber = regexp.MustCompile(`^-?[0-9]+$`)

// A reload adds a database, whose masks then stand in sessions of the others too, and takes it away again, with the
// sessions that are in it.
func TestReloadOfDatabases(t *testing.T) {
	path := several(t)
	file := filepath.Join(filepath.Dir(path), "policies", "second.policy.yaml")
	if err := os.Rename(file, file+".later"); err != nil {
		t.Fatal(err)
	}
	c, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := c.to(t, "plain")
	if err != nil {
		t.Fatal(err)
	}
	const size = "SELECT (pg_database_size('second') IS NULL)::text"
	if got := ask(t, plain, size); got != "false" {
		t.Errorf("the size of a database without a policy is masked: %s", got)
	}
	if _, err := c.to(t, "second"); err == nil {
		t.Fatal("a database without a policy is open")
	}

	// With the policy's file the database comes.
	c.reloadWith(t, file+".later", file)
	second, err := c.to(t, "second")
	if err != nil {
		t.Fatal(err)
	}
	// A statement that was prepared with the masks of before is refused once; pgx then prepares it again.
	if got := ask(t, plain, size); got != "true" && !strings.Contains(got, "0A000") {
		t.Errorf("the size of a new protected database, as prepared before: %s", got)
	}
	if got := ask(t, plain, size); got != "true" {
		t.Errorf("the size of a new protected database: %s", got)
	}
	const protected = "SELECT count(*)::text FROM adult WHERE income = '>50K'"
	if _, err := second.Prepare(t.Context(), "protected", protected); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, second, protected); !wholeNumber.MatchString(got) {
		t.Errorf("in the new database: %s", got)
	}

	// Without it the database goes, and nothing else.
	c.reloadWith(t, file, file+".gone")
	if _, err := c.to(t, "second"); err == nil {
		t.Error("a database that is not served any more is open")
	}
	if got := ask(t, second, "protected"); !strings.Contains(got, "0A000") && !strings.Contains(got, "3D000") {
		t.Errorf("a session in a database that is not served any more: %s", got)
	}
	if got := ask(t, second, "SELECT 1::text"); got == "1" {
		t.Error("it goes on")
	}
	if got := ask(t, plain, "SELECT 1::text"); got != "1" {
		t.Errorf("a session in another one: %s", got)
	}
}

// What is wrong with several databases together stops check, and names the database.
func TestCheckOfDatabases(t *testing.T) {
	patient.Test(t)
	all := several(t)
	expect(t, exitOK, `database "second": policies: 1`, "check", "-c", all)
	expect(t, exitOK, `database "plain": policies: 0`, "check", "-c", all)
	policies := func(path, file, text string) string {
		writeFile(t, filepath.Join(filepath.Dir(path), "policies", file+".policy.yaml"), text)
		return path
	}
	for name, c := range map[string]struct{ path, want string }{
		"the database twice": {policies(several(t), "third", examplePolicy(t, "dataset: adult",
			"dataset: third\ndatabase: adult")), "already protected by"},
		"no such database": {policies(several(t), "third", examplePolicy(t, "dataset: adult",
			"dataset: third\ndatabase: nowhere")), `database "nowhere": `},
		"no such listed one": {listing(t, several(t), "nowhere"), `database "nowhere": `},
		"no such table": {policies(several(t), "third", examplePolicy(t, "dataset: adult",
			"dataset: third\ndatabase: plain")), `database "plain": `},
	} {
		if c.path == "" {
			t.Fatal(name)
		}
		expect(t, exitFailure, c.want, "check", "-c", c.path)
	}
	const way = "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w OPTIONS (dbname 'adult'); " +
		"GRANT USAGE ON FOREIGN SERVER s TO fugu_guest; CREATE USER MAPPING FOR fugu_guest SERVER s"
	path := several(t)
	if err := pgcluster.Shared(t).Exec(t.Context(), "plain", way); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = pgcluster.Shared(t).Exec(context.Background(), "plain", "DROP FOREIGN DATA WRAPPER w CASCADE")
	}()
	expect(t, exitFailure, "leads to the database adult", "check", "-c", path)
}

// Commands about statements find their database, or ask for it.
func TestCommandsInDatabases(t *testing.T) {
	patient.Test(t)
	path := several(t)
	const sql = "SELECT avg(age) FROM adult"
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"preview", "-c", path, sql}, 2, "write -database and one of adult, second"},
		{[]string{"preview", "-c", path, "-database", "plain", sql}, 2, "write -database and one of adult, second"},
		{[]string{"preview", "-c", path, "-database", "second", "-epsilon", "1", sql}, 0,
			"F: avg(age) of public.adult"},
		{[]string{"fit", "-c", path, "-statement", sql}, 1, "both adult and second protect such tables"},
		{[]string{"fit", "-c", path, "-statement", "SELECT 1"}, 1, "not one statement that aggregates"},
		{[]string{"budget", "-c", path}, 0, "second"},
	} {
		if code, stdout, stderr := invoke(t, c.args...); code != c.code || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("fugu %v: exit %d\n%s%s", c.args, code, stdout, stderr)
		}
	}
}
