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

// crowding are statements, without and with ordinary tables, which have a connection of the reader's from their
// beginning.
var crowding = map[string]string{
	"alone":          "SELECT count(*) FROM customer WHERE income = 'high' AND id > %d",
	"beside a table": "SELECT count(*) FROM customer JOIN plain USING (region) WHERE income = 'high' AND id > %d",
}

// One analyst pays for as many statements as the reader has connections, each of which has one until its point of the
// grid; here a lock keeps them from the rows, so that they have it for as long as is wanted. Nobody else is answered
// meanwhile. With the defence there is room for others.
func TestOneUsersStatements(t *testing.T) {
	for name, sql := range crowding {
		t.Run(name, func(t *testing.T) {
			t.Run("defence off", func(t *testing.T) {
				off(t, &hook.OpenPlaces)
				if crowd(t, sql, connections, time.Second) {
					t.Error("another's statement comes to reading: it is no test of the defence")
				}
			})
			t.Run("defence on", func(t *testing.T) {
				if !crowd(t, sql, connections/2, hang) {
					t.Error("no other's statement comes to reading")
				}
			})
		})
	}
}

// connections are the reader's.
const connections = 8

// crowd has alice ask, of whose statements so many come to reading, and then bob, and reports whether his does within a
// while. All are answered in the end.
func crowd(t *testing.T, sql string, begun int, while time.Duration) (another bool) {
	t.Helper()
	f := serve(t, worlds[0], options{policy: []string{"budget: {epsilon: 1,", "budget: {epsilon: 100,"}})
	root, locker := f.as(t, "postgres"), f.as(t, "postgres")
	var peers []peer
	for i := range connections + 1 {
		user := "alice"
		if i == connections {
			user = "bob"
		}
		p := prepared(t, f, user, fmt.Sprintf(sql, -1-i))
		defer p.Conn.Close()
		peers = append(peers, p)
	}

	run(t, locker, "BEGIN")
	run(t, locker, "LOCK TABLE customer IN ACCESS EXCLUSIVE MODE")
	for i, p := range peers {
		if i == connections && waitFor(t, root, reading(begun)) == 0 {
			t.Fatal("alice's do not come to reading")
		}
		p.Send(t, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{})
	}
	for end := time.Now().Add(while); !another && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		n, err := value(t, root, reading(begun+1))
		if err != nil {
			t.Fatal(err)
		}
		another = n > 0
	}

	run(t, locker, "ROLLBACK")
	for i, p := range peers {
		if told := p.untilReady(t); !strings.Contains(told, `"DataRow"`) {
			t.Errorf("statement %d: %s", i, told)
		}
	}
	return another
}

// reading is 1 if exactly so many of the reader's sessions wait for the lock.
func reading(n int) string { return fmt.Sprintf("SELECT (count(*) = %d)::int::float8 %s", n, scanning) }
