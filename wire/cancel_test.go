package wire

import (
	"fmt"
	"io"
	"net"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// sleeper is a client whose statement runs, and the key by which it can be canceled.
type sleeper struct {
	*peer
	key *pgproto3.BackendKeyData
}

// start connects by a version of the protocol, and sends a Query.
func start(t *testing.T, p *proxy, version uint32, sql string) sleeper {
	t.Helper()
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s := sleeper{&peer{Conn: conn, in: newFrames(conn)}, &pgproto3.BackendKeyData{}}
	s.put(t, encode(t, &pgproto3.StartupMessage{ProtocolVersion: version,
		Parameters: map[string]string{"user": "postgres", "database": "postgres"}}))
	for typ := byte(0); typ != replyReadyForQuery; {
		var length int
		if typ, length, err = s.in.next(); err != nil {
			t.Fatal(err)
		}
		body, err := s.in.read(length)
		if err != nil {
			t.Fatal(err)
		}
		if typ == 'K' { // BackendKeyData
			if err := s.key.Decode(slices.Clone(body)); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.put(t, encode(t, q(sql)))
	return s
}

// cancel sends a cancel request; nothing may come back.
func cancel(t *testing.T, p *proxy, pid uint32, secret []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	b, err := (&pgproto3.CancelRequest{ProcessID: pid, SecretKey: secret}).Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(b); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); len(got) != 0 || err != nil {
		t.Errorf("a cancel request is answered %q, %v", got, err)
	}
}

// A statement ends by its key and by no other, whether the guest is at it or the engine.
func TestCancel(t *testing.T) {
	p := serve(t, nil)
	c := direct(t)
	canceled := "E ERROR 57014 canceling statement due to user request"
	for i, sql := range []string{"SELECT pg_sleep(601)", "SELECT x FROM noisy /*p*/ /*block*/",
		"SELECT x FROM noisy /*p*/ /*slowask*/"} {
		version := []uint32{protocol30, protocol32, 3<<16 | 9}[i]
		a, b := start(t, p, version, sql), dial(t, p.address)
		if i > 0 {
			<-p.blocked
		}
		if i != 1 {
			eventually(t, "it runs", func() bool { return running(t, c, "pg_sleep(601)") })
		}

		wrong := slices.Clone(a.key.SecretKey)
		wrong[0]++
		cancel(t, p, a.key.ProcessID, wrong)
		cancel(t, p, a.key.ProcessID+1, a.key.SecretKey)
		cancel(t, p, a.key.ProcessID, a.key.SecretKey[:3])
		cancel(t, p, a.key.ProcessID, nil)
		if i != 1 && !running(t, c, "pg_sleep(601)") {
			t.Error("a wrong key cancels")
		}

		cancel(t, p, a.key.ProcessID, a.key.SecretKey)
		if got := a.until(t, "Z"); len(got) < 2 || got[len(got)-2] != canceled || got[len(got)-1] != `Z "I"` {
			t.Errorf("%s: canceled, it answers %q", sql, got)
		}
		cancel(t, p, a.key.ProcessID, a.key.SecretKey) // of nothing
		compare(t, a.run(t, nil), append(slices.Clone(inStep), `Z "I"`))
		compare(t, b.run(t, nil), append(slices.Clone(inStep), `Z "I"`))
	}
}

// Keys differ, are positive as PostgreSQL's are, and as long as the version of the protocol has them.
func TestCancelKeys(t *testing.T) {
	p := serve(t, nil)
	seen := map[string]bool{}
	for range 20 {
		k := start(t, p, protocol32, "SELECT 1").key
		if seen[fmt.Sprint(k.ProcessID)] || seen[string(k.SecretKey)] || k.ProcessID>>31 != 0 {
			t.Errorf("key %d %x", k.ProcessID, k.SecretKey)
		}
		seen[fmt.Sprint(k.ProcessID)], seen[string(k.SecretKey)] = true, true
	}
	for version, length := range map[uint32]int{protocol30: 4, 3<<16 | 1: 4, protocol32: 32, 3<<16 | 3: 32} {
		if k := start(t, p, version, "SELECT 1").key; len(k.SecretKey) != length {
			t.Errorf("the key of protocol 3.%d has %d bytes", version&0xffff, len(k.SecretKey))
		}
	}
}
