package upstream

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/sqlstate"
	"fugu/test/pgcluster"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

// run runs a script as superuser.
func run(t *testing.T, db, script string) {
	t.Helper()
	if err := pgcluster.Shared(t).Exec(t.Context(), db, script); err != nil {
		t.Fatalf("%s: %v", script, err)
	}
}

// majorOf is the major version of the server.
func majorOf(t *testing.T) (major int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), pgcluster.Shared(t).DSN("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if err := c.QueryRow(t.Context(),
		"SELECT current_setting('server_version_num')::int / 10000").Scan(&major); err != nil {
		t.Fatal(err)
	}
	return major
}

// config is how user reaches a database of the shared cluster.
func config(t *testing.T, user, db string) *pgconn.Config {
	t.Helper()
	c, err := pgconn.ParseConfig(pgcluster.Shared(t).DSN(user, db))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// open opens a connection that ends with the test.
func open(t *testing.T, user, db string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pgcluster.Shared(t).DSN(user, db))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// wantCode fails unless err is a *sqlstate.Error of the code, and what clients see of it has none of the secrets.
func wantCode(t *testing.T, err error, code sqlstate.Code, secrets ...string) {
	t.Helper()
	if !sqlstate.Is(err, code) {
		t.Fatalf("got %v, want %s", err, code)
	}
	e := sqlstate.As(err)
	for _, s := range secrets {
		if shown := e.Message + e.Detail + e.Hint; strings.Contains(shown, s) {
			t.Errorf("%q tells %q", shown, s)
		}
	}
}
