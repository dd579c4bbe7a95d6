package integration

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
)

// releasesOf is how many answers everybody has been charged for.
func releasesOf(t testing.TB, c *pgx.Conn) (n int) {
	t.Helper()
	if err := c.QueryRow(t.Context(), "SELECT max(releases) FROM fugu.budget").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A name without a schema means what PostgreSQL finds by it: a temporary table, or one of a schema in search_path,
// before a protected table of another schema. vault.person is protected; plain.person is the guest's own, and empty.
func TestNamesMeanWhatTheSessionFinds(t *testing.T) {
	patient.Test(t)
	through := servePeople(t, options{})
	const sql = "SELECT count(*) FROM person"
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec} {
		c := connect(t, through)
		run := func(sql string) error {
			_, err := c.Exec(t.Context(), sql, mode)
			return err
		}
		count := func(sql string) (n int64) {
			t.Helper()
			if err := c.QueryRow(t.Context(), sql, mode).Scan(&n); err != nil {
				t.Errorf("%v: %s: %v", mode, sql, err)
			}
			return n
		}
		protected := count("SELECT count(*) FROM vault.person WHERE rich")
		before := releasesOf(t, c)
		ask := func(want int64, after string) {
			t.Helper()
			if err := run(after); err != nil {
				t.Errorf("%v: %s: %v", mode, after, err)
			}
			if n := count(sql + " WHERE rich"); n != want {
				t.Errorf("%v: after %s, %s counts %d, want %d", mode, after, sql, n, want)
			}
		}
		ask(protected, "SELECT")                         // nobody's: as Fugu has always taken it
		ask(0, "SET search_path = plain, vault")         // the guest's own
		ask(protected, "SET search_path = vault, plain") // the protected one
		ask(3, "CREATE TEMP TABLE person AS SELECT true AS rich FROM generate_series(1, 3)")
		for _, sql := range []string{"INSERT INTO person VALUES (true)", "UPDATE person SET rich = true",
			"CREATE INDEX ON person (rich)", "COMMENT ON TABLE person IS 'mine'", "ANALYZE person"} {
			ask(4, sql)
		}
		if n := count("SELECT count(*) FROM vault.person WHERE rich"); n != protected {
			t.Errorf("%v: the protected table by its schema has %d, before %d", mode, n, protected)
		}
		ask(protected, "DROP TABLE person")
		if err := run("DROP TABLE person"); code(err) != "PV001" { // by now the protected one
			t.Errorf("%v: dropping the protected table: %v", mode, err)
		}
		_ = c.Close(context.Background())
		if after := releasesOf(t, connect(t, through)); after != before {
			t.Errorf("%v: %d answers were charged for", mode, after-before)
		}
	}
}

// One text can make a relation and use it; a statement that was prepared for the protected table is refused where its
// name means another one now; and what a transaction made is forgotten with it.
func TestNamesOfWhatIsMade(t *testing.T) {
	patient.Test(t)
	c := connect(t, servePeople(t, options{}))
	before := releasesOf(t, c)
	results, err := c.PgConn().Exec(t.Context(), "BEGIN; CREATE TEMP TABLE person (rich bool); INSERT INTO person "+
		"VALUES (true), (true); SELECT count(*) FROM person").ReadAll()
	if err != nil || len(results) != 4 || string(results[3].Rows[0][0]) != "2" {
		t.Errorf("%v, %v", results, err)
	}
	if _, err := c.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if after := releasesOf(t, c); after != before {
		t.Errorf("%d answers were charged for", after-before)
	}
	if _, err := c.Prepare(t.Context(), "p", "SELECT count(*) FROM person WHERE NOT rich"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), "PREPARE q AS SELECT count(*) FROM person WHERE NOT rich"); err != nil {
		t.Fatal(err)
	}
	first := rows(t, c, "p")
	if again := rows(t, c, "EXECUTE q"); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	if _, err := c.Exec(t.Context(), "CREATE TEMP TABLE person (rich bool)"); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"p", "EXECUTE q"} {
		if _, err := c.Exec(t.Context(), sql); code(err) != "0A000" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if got := rows(t, c, "SELECT count(*) FROM person WHERE NOT rich /* anew */"); got != "[\"0\"]\n" {
		t.Errorf("the new table has %s rows", got)
	}
	if _, err := c.Exec(t.Context(), "VACUUM person", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Error(err) // which cannot run behind another statement
	}
	if _, err := c.Exec(t.Context(), "SELECT * FROM person, vault.person"); code(err) != "PV001" {
		t.Errorf("rows of the protected table: %v", err)
	}
}

// An ordinary table with a protected one's name is joined with it as any other is, where the session finds it; one that
// cannot be is refused in the same words as others.
func TestNamesOfWhatIsJoined(t *testing.T) {
	patient.Test(t)
	through := servePeople(t, options{})
	exec := func(sql string) {
		t.Helper()
		if err := people.cluster.Exec(context.WithoutCancel(t.Context()), "people", sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE SCHEMA zoo; CREATE TABLE zoo.person AS SELECT i AS id FROM generate_series(1, 2000) i;
		GRANT USAGE ON SCHEMA zoo TO fugu_guest, fugu_reader;
		GRANT SELECT ON zoo.person TO fugu_guest, fugu_reader`)
	t.Cleanup(func() { exec("DROP SCHEMA zoo CASCADE") })
	c := connect(t, through)
	if _, err := c.Exec(t.Context(), "SET search_path = zoo"); err != nil {
		t.Fatal(err)
	}
	var bare, full int
	const joined = "SELECT count(*) FROM vault.person v JOIN person p ON p.id = v.id"
	if err := c.QueryRow(t.Context(), joined).Scan(&bare); err != nil || bare == 0 {
		t.Errorf("%s: %d, %v", joined, bare, err)
	}
	if err := c.QueryRow(t.Context(), strings.Replace(joined, "JOIN ", "JOIN zoo.", 1)).Scan(&full); err != nil ||
		full != bare {
		t.Errorf("by its schema: %d, %v, want %d", full, err, bare)
	}
	if _, err := c.Exec(t.Context(), "CREATE TEMP TABLE person (id int)"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), joined); code(err) != "PV001" || !strings.Contains(err.Error(),
		"the relation person cannot be read together") {
		t.Errorf("a temporary table: %v", err)
	}
}

// In a text of several statements each means what PostgreSQL finds by then: search_path and relations may change from
// one to the next. What is not about the protected table costs nothing, and errors stand where they do without Fugu.
func TestNamesWithinAText(t *testing.T) {
	patient.Test(t)
	c := connect(t, servePeople(t, options{}))
	script := func(sql string) string {
		results, err := c.PgConn().Exec(t.Context(), sql).ReadAll()
		told := ""
		for _, r := range results {
			if len(r.Rows) > 0 {
				told += string(r.Rows[0][0]) + " "
			}
		}
		return told + code(err)
	}
	const protected = "SELECT count(*) FROM person WHERE rich"
	told := script("SELECT count(*) FROM vault.person WHERE rich")
	before := releasesOf(t, c)
	for _, of := range [][2]string{
		{"SET search_path = plain; SELECT count(*) FROM person; RESET search_path; " + protected, "0 " + told},
		{"BEGIN; SET LOCAL search_path = plain; SELECT count(*) FROM person; COMMIT; " + protected, "0 " + told},
		{"SELECT set_config('search_path', 'plain', true); SELECT count(*) FROM person", "plain 0 "},
		{"SET search_path = plain", ""},
		{"SELECT count(*) FROM person; SET search_path = vault; " + protected + "; RESET search_path", "0 " + told},
		{"CREATE TEMP TABLE person (a int); SELECT count(*) FROM person; DROP TABLE person; " + protected, "0 " + told},
		{"BEGIN; CREATE TEMP TABLE person (a int); TABLE person; ROLLBACK; " + protected, told},
		{"CREATE TEMP TABLE x AS SELECT 4 AS a; ALTER TABLE x RENAME TO person; SELECT a FROM person", "4 "},
		{"SELECT a FROM person; DISCARD TEMP; " + protected, "4 " + told},
		{"CREATE TEMP SEQUENCE person; SELECT nextval('person'); DROP SEQUENCE person; " + protected, "1 " + told},
		{"SET search_path = plain; DROP TABLE IF EXISTS x; CREATE TYPE x AS (a person); DROP TYPE x", ""},
		{"RESET search_path; SELECT 1; SELECT nothing FROM person WHERE rich", "1 PV001"},
		{"RESET search_path", ""}, // that of the text before has been rolled back
		{"SELECT 1; SELECT count(*) FROM person WHERE nothing", "1 42703"},
		{"SELECT 1; SELECT count(*) FROM person; SELEC", "42601"},
		{"SELECT 1; SELECT count(*) FROM person WHERE id = $1", "1 42P02"},
		{"SELECT 1; SELECT $1 /* person */", "1 42P02"},
		{"CREATE TEMP SEQUENCE person", ""},
		{"CREATE TEMP TABLE person (a int)", "42P07"},
		{"DROP SEQUENCE person; " + protected, told},
	} {
		if got := script(of[0]); got != of[1] {
			t.Errorf("%s:\n%q, want %q", of[0], got, of[1])
		}
	}
	if after := releasesOf(t, c); after != before {
		t.Errorf("%d answers were charged for", after-before)
	}

	direct := connect(t, people.cluster.DSN("fugu_guest", "people"))
	const misplaced = "SET search_path = plain; SELECT 'ü';\n SELECT count(*) FROM person WHERE nothing"
	_, err := c.PgConn().Exec(t.Context(), misplaced).ReadAll()
	_, want := direct.PgConn().Exec(t.Context(), misplaced).ReadAll()
	if got, e := pgError(err), pgError(want); got == nil || got.Position != e.Position || got.Message != e.Message {
		t.Errorf("%+v, and without Fugu %+v", got, e)
	}
}
