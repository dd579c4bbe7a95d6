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
	late  bool          // the cancel may have come behind the answer's point: it shows nothing
}

// cancelScan cancels a statement whose rows are being read (a lock keeps them from it), or were read already and whose
// answer waits for its point of the grid.
func cancelScan(t *testing.T, f *fugu, reading bool, held time.Duration) (s stopped) {
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
	asked := time.Now()
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
	s.late = !reading && time.Since(asked) >= held
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
	s.alone = waitFor(t, root, fmt.Sprintf("SELECT (count(*) = 0)::int::float8 FROM pg_stat_activity WHERE pid = %.0f",
		pid)) > 0
	return s
}

// heldFor calls try with the first point of a grid, until it shows something: long enough for a scan to be done and
// seen so, and on a busy machine longer.
func heldFor(t *testing.T, first time.Duration, try func(held time.Duration) (shown bool)) {
	t.Helper()
	for held := first; !try(held); held *= 2 {
		if held > hang/4 {
			t.Fatalf("nothing is shown with the first point of the grid at %v", held)
		}
	}
}

// heldFirst is the first of these points.
const heldFirst = 1500 * time.Millisecond

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
		// With the defence it takes twice as long as held, whatever that is.
		heldFor(t, heldFirst, func(held time.Duration) bool {
			while := cancelScan(t, f, true, held)
			t.Logf("%v: %+v", held, while)
			if while.code != "57014" || !while.alone {
				t.Errorf("while it reads: %+v: it is no test of the defence", while)
			}
			return while.took < held
		})
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
				var s stopped
				var held time.Duration
				heldFor(t, heldFirst, func(h time.Duration) bool {
					held, s = h, cancelScan(t, f, reading, h)
					return !s.late
				})
				t.Logf("%s, reading %t, %v: %+v", w.database, reading, held, s)
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
