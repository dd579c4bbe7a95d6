package wire

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// A client knows its backend by the id that it was told, and so do other sessions.
func TestProcessIDIsTheGuests(t *testing.T) {
	p := serve(t, nil)
	c, err := pgconn.Connect(t.Context(), "postgres://postgres@"+p.address+"/postgres?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	r, err := c.Exec(t.Context(), "SELECT pg_backend_pid()").ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(r[0].Rows[0][0]); got != fmt.Sprint(c.PID()) {
		t.Errorf("the client was told %d, pg_backend_pid() is %s", c.PID(), got)
	}
}

// Two guests of different servers may have one process id.
func TestProcessIDsAreDistinct(t *testing.T) {
	k := keys{m: map[uint32]key{}}
	a, b := new(session), new(session)
	first, secret, _ := k.add(a, 7, protocol30)
	second, other, _ := k.add(b, 7, protocol30)
	unknown, _, _ := k.add(new(session), 0, protocol30)
	if first != 7 || second == 7 || second>>31 != 0 || unknown == 0 || unknown == second ||
		string(secret) == string(other) {
		t.Errorf("ids %d, %d and %d, secrets %x and %x", first, second, unknown, secret, other)
	}
	if k.find(first, secret) != a || k.find(second, other) != b || k.find(first, other) != nil ||
		k.find(second, secret) != nil {
		t.Error("a key names a session that is not its own")
	}
	if k.remove(first); k.find(first, secret) != nil || k.find(second, other) != b {
		t.Error("removing one key took another")
	}
}
