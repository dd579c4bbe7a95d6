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

// bystanders are ways to see, in a session of one's own, whether the transaction of another's statement is over. pid is
// that of the reader's session, which whoever watches pg_locks knows, and patience how long they wait for its end.
var bystanders = map[string]func(t *testing.T, c *pgx.Conn, pid float64, patience time.Duration) string{
	"pg_locks": func(t *testing.T, c *pgx.Conn, pid float64, _ time.Duration) string {
		return answered(t, c, fmt.Sprintf("SELECT count(*)::float8 FROM pg_locks WHERE pid = %.0f "+
			"AND locktype = 'virtualxid'", pid))
	},
	// It waits for the snapshots of all others.
	"CREATE INDEX CONCURRENTLY": func(t *testing.T, c *pgx.Conn, _ float64, patience time.Duration) string {
		defer run(t, c, "DROP INDEX IF EXISTS mine_n")
		run(t, c, fmt.Sprintf("SET statement_timeout = '%dms'", patience.Milliseconds()))
		defer run(t, c, "RESET statement_timeout")
		_, err := c.Exec(t.Context(), "CREATE INDEX CONCURRENTLY mine_n ON mine (n)")
		return code(err)
	},
	// It leaves rows that a snapshot may still see, and gives the file's end back otherwise.
	"VACUUM": func(t *testing.T, c *pgx.Conn, _ float64, _ time.Duration) string {
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
// or were read already and the answer waits for its point of the grid, which is at lasts. The answer may have come
// before all of them had seen: that is late, and shows nothing.
func bystand(t *testing.T, f *fugu, reading bool, lasts time.Duration) (seen map[string]string, late bool) {
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
	asked := time.Now()
	p.Send(t, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{})
	pid := waitFor(t, root, "SELECT coalesce(max(pid), 0)::float8 FROM pg_stat_activity a "+
		"WHERE usename = 'fugu_reader' AND datname = current_database() AND (query LIKE '%customer%' "+
		"OR query = 'ROLLBACK') AND "+state)
	if pid == 0 {
		t.Fatal("it does not come to reading")
	}

	seen = map[string]string{}
	for name, see := range bystanders {
		seen[name] = see(t, bob, pid, lasts/12)
	}
	late = !reading && time.Since(asked) >= lasts
	if reading {
		run(t, locker, "ROLLBACK")
	}
	p.untilReady(t)
	return seen, late
}

// How long rows are read for is hidden by the grid from whoever gets the answer. It is hidden from everybody else as
// well: until the answer's point, the reader's transaction looks as if rows were being read still.
func TestBystanders(t *testing.T) {
	f := serve(t, worlds[1], options{})
	const first = 6 * time.Second
	// apart returns who sees a difference.
	apart := func(t *testing.T, lasts time.Duration) (by map[string]bool, late bool) {
		before, _ := bystand(t, f, true, lasts)
		after, late := bystand(t, f, false, lasts)
		by = map[string]bool{}
		for name := range bystanders {
			t.Logf("%v, late %t, %s: %q while rows are read, %q when they were", lasts, late, name, before[name],
				after[name])
			if before[name] != after[name] {
				by[name] = true
			}
		}
		return by, late
	}
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.EarlyEnd)
		heldFor(t, first, func(lasts time.Duration) bool {
			// On a busy machine an index may take longer than whoever makes it waits, also when nothing is read.
			by, _ := apart(t, lasts)
			return len(by) == len(bystanders)
		})
	})
	t.Run("defence on", func(t *testing.T) {
		heldFor(t, first, func(lasts time.Duration) bool {
			by, late := apart(t, lasts)
			if !late && len(by) > 0 {
				t.Errorf("it is seen when rows were read: %v", by)
			}
			return !late
		})
	})
}
