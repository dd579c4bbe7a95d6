package upstream

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/test/pgcluster"
)

// A guest is renewed if its session holds nothing; it is not touched if it holds something or does not tell; and a
// change of the server's own configuration is nobody's state.
func TestRenew(t *testing.T) {
	c := pgcluster.Shared(t)
	config, err := pgconn.ParseConfig(c.DSN("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["options"] = "-c their.own=1"
	open := func() *Guest {
		g, err := OpenRenewable(t.Context(), config, map[string]string{"my.own": "x"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = g.Conn().Close() })
		return g
	}
	do := func(g *Guest, sql string) {
		t.Helper()
		if _, err := g.exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for sql, want := range map[string]bool{
		"SELECT 1": false, "BEGIN; SET LOCAL work_mem = '5MB'; COMMIT": false,
		"BEGIN; DECLARE c CURSOR FOR SELECT 1; COMMIT": false, "SELECT pg_advisory_xact_lock(9)": false,
		"SET work_mem = '5MB'": true, "SET fugu.epsilon = 2": true, "SET my.own = y": true, "SET their.own = 2": true,
		"SET ROLE pg_monitor": true, "LISTEN x": true, "PREPARE p AS SELECT 1": true,
		"CREATE TEMP TABLE t (x int)": true, "SELECT pg_advisory_lock(8)": true,
		"DECLARE c CURSOR WITH HOLD FOR SELECT 1": true, "SET statement_timeout = 1": true,
	} {
		g := open()
		do(g, sql)
		if lasting, err := g.Renew(t.Context()); err != nil || lasting != want {
			t.Errorf("after %s: %v, %v", sql, lasting, err)
		}
	}
	g := open()
	if err := c.Exec(t.Context(), "postgres", "ALTER SYSTEM SET effective_io_concurrency = 7"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = c.Exec(t.Context(), "postgres", "ALTER SYSTEM RESET effective_io_concurrency")
		_ = c.Exec(t.Context(), "postgres", "SELECT pg_reload_conf()")
	}()
	if err := c.Exec(t.Context(), "postgres", "SELECT pg_reload_conf()"); err != nil {
		t.Fatal(err)
	}
	for range 100 { // until the server has told the session
		row, err := g.row(t.Context(), "SHOW effective_io_concurrency")
		if err != nil {
			t.Fatal(err)
		}
		if row[0] == "7" {
			break
		}
		do(g, "SELECT pg_sleep(0.05)")
	}
	if lasting, err := g.Renew(t.Context()); err != nil || lasting {
		t.Errorf("after a change of the configuration: %v, %v", lasting, err)
	}
}
