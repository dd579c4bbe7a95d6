//go:build fuguhooks

package attack

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/internal/hook"
)

// lasts is the first point of the grid in this test: long enough for everything that a bystander asks.
const lasts = 6 * time.Second

// bystanders are ways to see, in a session of one's own, whether the transaction of another's statement is over. pid is
// that of the reader's session, which whoever watches pg_locks knows.
var bystanders = map[string]func(t *testing.T, c *pgx.Conn, pid float64) string{
	"pg_locks": func(t *testing.T, c *pgx.Conn, pid float64) string {
		return answered(t, c, fmt.Sprintf("SELECT count(*)::float8 FROM pg_locks WHERE pid = %.0f "+
			"AND locktype = 'virtualxid'", pid))
	},
	// It waits for the snapshots of all others.
	"CREATE INDEX CONCURRENTLY": func(t *testing.T, c *pgx.Conn, _ float64) string {
		defer run(t, c, "DROP INDEX IF EXISTS mine_n")
		run(t, c, "SET statement_timeout = '500ms'")
		defer run(t, c, "RESET statement_timeout")
		_, err := c.Exec(t.Context(), "CREATE INDEX CONCURRENTLY mine_n ON mine (n)")
		return code(err)
	},
	// It leaves rows that a snapshot may still see, and gives the file's end back otherwise.
	"VACUUM": func(t *testing.T, c *pgx.Conn, _ float64) string {
		run(t, c, "TRUNCATE mine")
		run(t, c, "INSERT INTO mine VALUES (1)")
		run(t, c, "DELETE FROM mine")
		run(t, c, "VACUUM mine")
		return answered(t, c, "SELECT pg_relation_size('mine')::float8")
	},
}

func answered(t *testing.T, c *pgx.Conn, sql string) string {
	t.Helper()
	x, err := value(t, c, sql)
	return fmt.Sprint(x, " ", code(err))
}

// bystand is what bystanders see while the rows of a statement of alice's are being read (a lock keeps them from it),
// or were read already and the answer waits for its point of the grid.
func bystand(t *testing.T, f *fugu, reading bool) map[string]string {
	t.Helper()
	f.renew()
	f.engine.Load().Grid(lasts)
	root, locker, bob := f.as(t, "postgres"), f.as(t, "postgres"), f.connect(t, "bob")
	run(t, bob, "DROP TABLE IF EXISTS mine")
	run(t, bob, "CREATE TABLE mine (n int) WITH (autovacuum_enabled = off)")

	p := prepared(t, f, "alice", scanned)
	defer p.Conn.Close()
	begun := moment(t, root)
	state := fmt.Sprintf("state LIKE 'idle%%' AND state_change > to_timestamp(%f)", begun)
	if reading {
		run(t, locker, "BEGIN")
		run(t, locker, "LOCK TABLE customer IN ACCESS EXCLUSIVE MODE")
		state = "EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND NOT granted)"
	}
	p.Send(t, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{})
	pid := waitFor(t, root, "SELECT coalesce(max(pid), 0)::float8 FROM pg_stat_activity a "+
		"WHERE usename = 'fugu_reader' AND datname = current_database() AND (query LIKE '%customer%' "+
		"OR query = 'ROLLBACK') AND "+state)
	if pid == 0 {
		t.Fatal("it does not come to reading")
	}

	seen := map[string]string{}
	for name, see := range bystanders {
		seen[name] = see(t, bob, pid)
	}
	if reading {
		run(t, locker, "ROLLBACK")
	}
	p.untilReady(t)
	return seen
}

// How long rows are read for is hidden by the grid from whoever gets the answer. It is hidden from everybody else as
// well: until the answer's point, the reader's transaction looks as if rows were being read still.
func TestBystanders(t *testing.T) {
	f := serve(t, worlds[1], options{})
	compare := func(t *testing.T, differ bool) {
		before, after := bystand(t, f, true), bystand(t, f, false)
		for name := range bystanders {
			t.Logf("%s: %q while rows are read, %q when they were", name, before[name], after[name])
			if differ != (before[name] != after[name]) {
				t.Errorf("%s: %q while rows are read, %q when they were", name, before[name], after[name])
			}
		}
	}
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.EarlyEnd)
		compare(t, true)
	})
	t.Run("defence on", func(t *testing.T) { compare(t, false) })
}
