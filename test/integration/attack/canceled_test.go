//go:build fuguhooks

package attack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/internal/hook"
)

// stopped is what a client may see of a scan that it cancelled.
type stopped struct {
	code  string
	took  time.Duration // from the cancel to the error
	alone bool          // the reader's connection that scanned is gone, and the next statement needs another
}

// cancelScan cancels a statement whose rows are being read (a lock keeps them from it), or were read already and whose
// answer waits for its point of the grid.
func cancelScan(t *testing.T, f *fugu, reading bool) (s stopped) {
	t.Helper()
	f.renew()
	f.engine.Load().Grid(held)
	root, locker := f.as(t, "postgres"), f.as(t, "postgres")
	p := prepared(t, f, "alice", scanned)
	defer p.Conn.Close()
	begun := moment(t, root)
	if reading {
		run(t, locker, "BEGIN")
		run(t, locker, "LOCK TABLE customer IN ACCESS EXCLUSIVE MODE")
	}
	p.Send(t, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{})
	const readers = " FROM pg_stat_activity a WHERE usename = 'fugu_reader' AND datname = current_database() " +
		"AND query LIKE '%customer%' AND "
	state := fmt.Sprintf("state LIKE 'idle%%' AND query_start > to_timestamp(%f)", begun)
	if reading {
		state = "EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND NOT granted)"
	}
	pid := waitFor(t, root, "SELECT coalesce(max(pid), 0)::float8"+readers+state)
	if pid == 0 {
		t.Fatal("it does not come to reading")
	}
	start := time.Now()
	p.cancel(t)
	told := p.untilReady(t)
	s.took = time.Since(start)
	if reading {
		run(t, locker, "ROLLBACK")
	}
	for _, code := range []string{"57014", "PV005"} {
		if strings.Contains(told, `"`+code+`"`) {
			s.code = code
		}
	}
	// A backend that has lost its client ends within moments; one that has not is there for good.
	for range 20 {
		if n, err := value(t, root, fmt.Sprintf("SELECT count(*)::float8 FROM pg_stat_activity WHERE pid = %.0f",
			pid)); err != nil {
			t.Fatal(err)
		} else if s.alone = n == 0; s.alone {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return s
}

// held is the first point of the grid in these tests: long enough for a scan to be done and seen so.
const held = 1500 * time.Millisecond

func moment(t *testing.T, c *pgx.Conn) float64 {
	t.Helper()
	x, err := value(t, c, "SELECT extract(epoch FROM clock_timestamp())::float8")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Whoever cancels at a moment of their choice would learn whether the rows had been read by then: from whether there is
// an answer; from how soon the error comes, as a scan has to be stopped first; and from the next statement, which needs
// another connection after a scan that was stopped. With the defence all of this is the same, and all of it is behind a
// point of a grid.
func TestTimeOfCanceledStatements(t *testing.T) {
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.NoGrid)
		f := serve(t, worlds[1], options{})
		while := cancelScan(t, f, true)
		t.Logf("%+v", while)
		if while.code != "57014" || while.took >= held || !while.alone {
			t.Errorf("while it reads: %+v: it is no test of the defence", while)
		}
		// Without a grid there is nothing to cancel when the rows were read: the answer is there.
		c := f.connect(t, "")
		f.renew()
		if _, ok := number(t, f.connect(t, ""), scanned); !ok {
			t.Error("no answer")
		}
		_ = c.Close(t.Context())
	})
	t.Run("defence on", func(t *testing.T) {
		for _, w := range worlds {
			f := serve(t, w, options{})
			for _, reading := range []bool{true, false} {
				s := cancelScan(t, f, reading)
				t.Logf("%s, reading %t: %+v", w.database, reading, s)
				if s.code != "57014" || s.took < 2*held || !s.alone {
					t.Errorf("%s: cancelled with the rows still being read: %t: %+v", w.database, reading, s)
				}
				if e, n := spent(t, f.connect(t, "")); n != 1 || e < .9 {
					t.Errorf("%s: epsilon %g of %d releases was charged for a cancelled statement", w.database, e, n)
				}
			}
		}
	})
}
