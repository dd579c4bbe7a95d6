package integration

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/test/patient"
)

// analystRoles makes the roles of two analysts and a table for each; what they can read shows who they are.
func analystRoles(t *testing.T, db *database) {
	t.Helper()
	const drop = `DROP TABLE IF EXISTS alices, bobs; DROP ROLE IF EXISTS analyst_alice; DROP ROLE IF EXISTS analyst_bob`
	if err := db.cluster.Exec(t.Context(), "adult", drop+
		`; CREATE ROLE analyst_alice LOGIN; CREATE ROLE analyst_bob LOGIN;
		CREATE TABLE alices AS SELECT 1 x; CREATE TABLE bobs AS SELECT 2 x; GRANT SELECT ON alices TO analyst_alice;
		  GRANT SELECT ON bobs TO analyst_bob;
		GRANT SELECT ON country TO analyst_alice, analyst_bob; GRANT SELECT ON adult_reference TO analyst_alice,
		  analyst_bob`); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.cluster.Exec(context.Background(), "adult", "DROP OWNED BY analyst_alice, analyst_bob; "+
			drop); err != nil {
			t.Error(err)
		}
	})
}

// mayRead asks PostgreSQL itself whether the role that a session has now may read the protected table: in the session
// has_table_privilege shows protected tables as if it could.
func mayRead(t *testing.T, db *database, c *pgx.Conn) (may bool) {
	t.Helper()
	var role string
	if err := c.QueryRow(t.Context(), "SELECT current_user", pgx.QueryExecModeExec).Scan(&role); err != nil {
		t.Fatal(err)
	}
	if err := db.truth(t).QueryRow(t.Context(), "SELECT has_table_privilege($1, 'public.adult', 'SELECT')",
		role).Scan(&may); err != nil {
		t.Fatal(err)
	}
	return may
}

func config(t *testing.T, dsn string) *pgconn.Config {
	t.Helper()
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A user with a login of its own has that login's permissions and no other's, whatever it does; and asks protected
// tables like everybody.
func TestGuestsOfTheirOwn(t *testing.T) {
	db := adultDatabase(t)
	analystRoles(t, db)
	f := serve(t, options{guests: map[string]*pgconn.Config{"alice": config(t, db.cluster.DSN("analyst_alice",
		"adult")), "bob": config(t, db.cluster.DSN("analyst_bob", "adult"))}})
	alice, bob, carol := f.connect(t), connect(t, f.dsn("bob")), connect(t, f.dsn("carol"))
	can := func(c *pgx.Conn, sql string) bool {
		_, err := c.Exec(t.Context(), sql, pgx.QueryExecModeExec)
		if err != nil && code(err) != "42501" {
			t.Errorf("%s: %v", sql, err)
		}
		return err == nil
	}
	for _, undo := range []string{"", "RESET ROLE", "SET ROLE NONE", "DISCARD ALL", "SET SESSION AUTHORIZATION DEFAULT",
		"RESET SESSION AUTHORIZATION", "RESET ALL"} {
		for name, c := range map[string]*pgx.Conn{"alice": alice, "bob": bob, "carol": carol} {
			if undo != "" && !can(c, undo) {
				t.Errorf("%s may not %s", name, undo)
			}
			for _, role := range []string{"analyst_alice", "analyst_bob", "fugu_guest", "fugu_reader"} {
				if own := map[string]string{"alice": "analyst_alice", "bob": "analyst_bob",
					"carol": "fugu_guest"}[name]; can(c, "SET ROLE "+role) != (role == own) {
					t.Errorf("after %q %s can or cannot SET ROLE %s", undo, name, role)
				}
			}
			if can(c, "TABLE alices") != (name == "alice") || can(c, "TABLE bobs") != (name == "bob") {
				t.Errorf("after %q %s reads what is another's", undo, name)
			}
			if mayRead(t, db, c) {
				t.Errorf("after %q %s may read the protected table", undo, name)
			}
		}
	}
	// An answer is one answer, for all of them.
	const sql = "SELECT count(*) FROM adult WHERE sex = 'Male'"
	if a, b := rows(t, alice, sql), rows(t, bob, sql); a != b || a == "" {
		t.Errorf("alice is told %s, bob %s", a, b)
	}
}

// A user with a role starts in it, and comes back to it; but it is a guise, not a wall: SET ROLE leads to whatever the
// guest may become. That is PostgreSQL's way, and what the documentation says.
func TestGuestsWithRoles(t *testing.T) {
	patient.Test(t)
	db := adultDatabase(t)
	analystRoles(t, db)
	if _, err := db.truth(t).Exec(t.Context(), "GRANT analyst_alice, analyst_bob TO fugu_guest"); err != nil {
		t.Fatal(err)
	}
	guests := map[string]*pgconn.Config{}
	for _, user := range []string{"alice", "bob"} {
		guests[user] = config(t, db.cluster.DSN("fugu_guest", "adult"))
		guests[user].RuntimeParams["role"] = "analyst_" + user
	}
	f := serve(t, options{guests: guests})
	c := f.connect(t)
	is := func(want string) {
		t.Helper()
		if got := rows(t, c, "SELECT current_user", pgx.QueryExecModeExec); got != `["`+want+"\"]\n" {
			t.Errorf("the user is %s, not %s", got, want)
		}
	}
	is("analyst_alice")
	for _, step := range []struct{ sql, user string }{
		{"SET ROLE NONE", "fugu_guest"}, {"RESET ROLE", "analyst_alice"}, {"SET ROLE analyst_bob", "analyst_bob"},
		{"DISCARD ALL", "analyst_alice"},
		{"SET ROLE NONE", "fugu_guest"}, {"SET SESSION AUTHORIZATION DEFAULT", "analyst_alice"},
		{"RESET ALL", "analyst_alice"},
	} {
		if _, err := c.Exec(t.Context(), step.sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
		is(step.user)
		if mayRead(t, db, c) {
			t.Errorf("after %s the session may read the protected table", step.sql)
		}
	}
	// A startup message chooses no other role, by any of its ways.
	for _, options := range []string{"role=analyst_bob", "options=-c%20role%3Danalyst_bob", "options=--role%3Dnone",
		"options=-crole%3Dfugu_guest"} {
		if _, err := pgx.Connect(t.Context(), f.dsn("alice")+"&"+options); code(err) != "42501" {
			t.Errorf("%s: %v", options, err)
		}
	}
	// Nor by a value that tries to be more than a value.
	for _, options := range []string{"myapp.x=public%20-c%20role%3Danalyst_bob",
		"application_name=x%5C%20-crole%3Dnone", "options=-c%20myapp.x%3Dpublic%5C%20-c%5C%20role%3Dnone"} {
		c = connect(t, f.dsn("alice")+"&"+options)
		is("analyst_alice")
	}
}
