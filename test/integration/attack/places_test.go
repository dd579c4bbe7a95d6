//go:build fuguhooks

package attack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/internal/hook"
)

// crowding are statements that have a connection of the reader's for long, and the table whose rows they read then.
var crowding = map[string]struct{ sql, table string }{
	"alone": {"SELECT count(*) FROM customer WHERE income = 'high' AND id > %d", "customer"},
	"beside a table": {"SELECT count(*) FROM customer JOIN plain USING (region) WHERE income = 'high' AND id > %d",
		"customer"},
	"explained": {"EXPLAIN (PRIVACY) SELECT count(*) FROM customer WHERE income = 'high' AND id > %d",
		"customer_reference"},
}

// Analysts have as many statements answered, or explained for nothing, as the reader has connections, each of which has
// one until its point of the grid; here a lock keeps them from the rows, so that they have it for as long as is wanted.
// Nobody else is answered meanwhile. With the defence there is room for others, beside two of them as well.
func TestOneUsersStatements(t *testing.T) {
	for name, c := range crowding {
		t.Run(name, func(t *testing.T) {
			t.Run("defence off", func(t *testing.T) {
				off(t, &hook.OpenPlaces)
				if crowd(t, c.sql, c.table, time.Second, has{"alice", connections}) {
					t.Error("another's statement comes to reading: it is no test of the defence")
				}
			})
			t.Run("one user", func(t *testing.T) {
				if !crowd(t, c.sql, c.table, hang, has{"alice", 4}) {
					t.Error("no other's statement comes to reading")
				}
			})
			t.Run("two users", func(t *testing.T) {
				if !crowd(t, c.sql, c.table, hang, has{"alice", 4}, has{"carol", 2}) {
					t.Error("no third user's statement comes to reading")
				}
			})
		})
	}
}

// connections are the reader's.
const connections = 8

// has is how many of a user's statements come to reading, if the users before are reading.
type has struct {
	user  string
	begun int
}

// crowd has users ask one after the other, and then bob, and reports whether his statement comes to reading within a
// while. All are answered in the end.
func crowd(t *testing.T, sql, table string, while time.Duration, users ...has) (another bool) {
	t.Helper()
	f := serve(t, worlds[0], options{policy: []string{"budget: {epsilon: 1,", "budget: {epsilon: 100,"}})
	root, locker := f.as(t, "postgres"), f.as(t, "postgres")
	var peers []peer
	for _, u := range users {
		for range connections {
			peers = append(peers, planned(t, f, u.user, fmt.Sprintf(sql, -1-len(peers))))
		}
	}
	last := planned(t, f, "bob", fmt.Sprintf(sql, -1-len(peers)))

	run(t, locker, "BEGIN")
	run(t, locker, "LOCK TABLE "+table+" IN ACCESS EXCLUSIVE MODE")
	bind := func(p peer) { p.Send(t, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{}) }
	begun := 0
	for i, u := range users {
		for _, p := range peers[i*connections : (i+1)*connections] {
			bind(p)
		}
		begun += u.begun
		if waitFor(t, root, reading(begun)) == 0 {
			t.Fatalf("%s's do not come to reading", u.user)
		}
	}
	bind(last)
	for end := time.Now().Add(while); !another && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		n, err := value(t, root, reading(begun+1))
		if err != nil {
			t.Fatal(err)
		}
		another = n > 0
	}

	run(t, locker, "ROLLBACK")
	for i, p := range append(peers, last) {
		if told := p.untilReady(t); !strings.Contains(told, `"DataRow"`) {
			t.Errorf("statement %d: %s", i, told)
		}
	}
	return another
}

// planned is a client with a statement that is planned; what it is calibrated to is known, unless it is explained.
func planned(t *testing.T, f *fugu, user, sql string) peer {
	t.Helper()
	var p peer
	if strings.HasPrefix(sql, "EXPLAIN") {
		p = dialAs(t, f, user)
		p.Send(t, &pgproto3.Parse{Query: sql}, &pgproto3.Sync{})
		p.untilReady(t)
	} else {
		p = prepared(t, f, user, sql)
	}
	t.Cleanup(func() { _ = p.Conn.Close() })
	return p
}

// reading is 1 if exactly so many of the reader's sessions wait for the lock.
func reading(n int) string { return fmt.Sprintf("SELECT (count(*) = %d)::int::float8 %s", n, scanning) }
