package wire

import (
	"context"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/wire/auth"
)

// eventually waits for what must come to pass, however slow the machine is.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// direct is a connection to PostgreSQL itself.
func direct(t testing.TB) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), cluster(t).DSN("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// serverMajor is the major version of the PostgreSQL that tests run.
func serverMajor(t testing.TB) int {
	t.Helper()
	return count(t, direct(t), "SELECT current_setting('server_version_num')::int / 10000")
}

// count runs a query that gives a number.
func count(t testing.TB, c *pgx.Conn, sql string, args ...any) (n int) {
	t.Helper()
	if err := c.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// running says that PostgreSQL runs a statement with the mark in its text.
func running(t testing.TB, c *pgx.Conn, mark string) bool {
	return count(t, c, "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%'||$1||'%' AND "+
		"pid <> pg_backend_pid()", mark) > 0
}

// rest reads up to the end of the connection.
func (p *peer) rest(t testing.TB) []string {
	t.Helper()
	got := p.until(t, "\x00")
	return got[:len(got)-1]
}

// goroutines are those of the package's that still run.
func goroutines() []string {
	buf := make([]byte, 4<<20)
	all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	return slices.DeleteFunc(all, func(s string) bool {
		return !strings.Contains(s, "wire.(*session)") && !strings.Contains(s, "wire.(*Server)")
	})
}

// stopped stops the server, and checks that it leaves nothing behind.
func stopped(t *testing.T, p *proxy) {
	t.Helper()
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	// One that has told its owner that it is done may still be on its way out.
	eventually(t, "no goroutine is left", func() bool { return len(goroutines()) == 0 })
	if n := p.opened(); n != 0 {
		t.Errorf("%d guests are left", n)
	}
}

const shutdown = "E FATAL 57P01 terminating connection due to administrator command"

func TestDrain(t *testing.T) {
	p := serve(t, nil)
	idle, working := dial(t, p.address), dial(t, p.address)
	transaction, pipeline := dial(t, p.address), dial(t, p.address)
	transaction.put(t, encode(t, q("BEGIN")))
	transaction.until(t, "Z")
	pipeline.put(t, encode(t, parse("", "SELECT 1"), flush))
	pipeline.until(t, "1")
	c := direct(t)
	count(t, c, "SELECT 1 FROM pg_advisory_lock(1)")
	working.put(t, encode(t, q("SELECT pg_advisory_lock(1), 'drain'")))
	eventually(t, "the statement runs", func() bool { return running(t, c, "'drain'") })
	p.cancel()
	compare(t, idle.rest(t), []string{shutdown})
	eventually(t, "no new clients are taken", func() bool {
		c, err := net.Dial("tcp", p.address)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	count(t, c, "SELECT 1 WHERE pg_advisory_unlock(1)")
	got := working.rest(t)
	if len(got) != 5 || got[3] != `Z "I"` || got[4] != shutdown {
		t.Errorf("a client at work was told %q", got)
	}
	transaction.put(t, encode(t, q("SELECT 1")))
	transaction.until(t, "Z")
	transaction.put(t, encode(t, q("COMMIT")))
	compare(t, transaction.rest(t), []string{`C "COMMIT\x00"`, `Z "I"`, shutdown})
	pipeline.put(t, encode(t, bind("", ""), exec(""), sync_))
	compare(t, pipeline.rest(t), []string{`2 ""`, `D ["1"]`, `C "SELECT 1\x00"`, `Z "I"`, shutdown})
	stopped(t, p)
}

// A protected query ends with hidden messages: a draining session must not wait for more after them.
func TestDrainAfterProtected(t *testing.T) {
	p := serve(t, nil)
	c := dial(t, p.address)
	c.put(t, encode(t, q("BEGIN")))
	c.until(t, "Z")
	p.cancel()
	c.put(t, encode(t, q(protected+"; COMMIT")))
	got := c.rest(t)
	if len(got) < 2 || got[len(got)-1] != shutdown || got[len(got)-2] != `Z "I"` {
		t.Errorf("got %q", got)
	}
	stopped(t, p)
}

func TestDrainTimeout(t *testing.T) {
	p := serve(t, func(c *Config, _ *fake) { c.DrainTimeout = 50 * time.Millisecond })
	c := direct(t)
	asleep, blocked, stuck, silent := dial(t, p.address), dial(t, p.address), dial(t, p.address), dial(t, p.address)
	asleep.put(t, encode(t, q("SELECT pg_sleep(600), 'drain timeout'")))
	blocked.put(t, encode(t, q("SELECT x FROM noisy /*p*/ /*block*/")))
	<-p.blocked
	stuck.put(t, encode(t, q("SELECT repeat('x', 1000) FROM generate_series(1, 1000000)"))) // and does not read
	silent.put(t, encode(t, q("BEGIN")))
	silent.until(t, "Z")
	half, err := net.Dial("tcp", p.address) // never logs in
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	eventually(t, "the statement runs", func() bool { return running(t, c, "'drain timeout'") })
	stopped(t, p)
	if got := asleep.rest(t); len(got) == 0 || got[len(got)-1] != shutdown {
		t.Errorf("a client whose statement runs was told %q", got)
	}
	compare(t, silent.rest(t), []string{shutdown})
	if got := blocked.rest(t); len(got) == 0 || got[len(got)-1] != shutdown {
		t.Errorf("a client whose statement is worked on was told %q", got)
	}
	eventually(t, "the statement is canceled", func() bool { return !running(t, c, "'drain timeout'") })
}

// However long the guest's end takes, the client is told why its session is over.
func TestShutdownIsToldLate(t *testing.T) {
	p := serve(t, nil)
	var guest net.Conn = &lateConn{asked: make(chan struct{})}
	p.guestConn.Store(&guest)
	c := dial(t, p.address)
	stopped(t, p)
	compare(t, c.rest(t), []string{shutdown})
}

// lateConn is the connection of a guest that ends a moment after the time that it is given.
type lateConn struct {
	net.Conn
	once  sync.Once
	asked chan struct{}
}

func (c *lateConn) Read([]byte) (int, error) {
	<-c.asked
	time.Sleep(2*linger + 200*time.Millisecond)
	return 0, io.EOF
}

func (c *lateConn) Write(b []byte) (int, error)      { return len(b), nil }
func (c *lateConn) SetReadDeadline(time.Time) error  { return nil }
func (c *lateConn) SetWriteDeadline(time.Time) error { return nil }
func (c *lateConn) Close() error                     { return nil }
func (c *lateConn) SetDeadline(time.Time) error {
	c.once.Do(func() { close(c.asked) })
	return nil
}

func TestListenerFails(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(Config{Auth: auth.Trust{}, Logger: serve(t, nil).server.config.Logger}, &fake{})
	_ = listener.Close()
	if err := s.Serve(t.Context(), listener); err == nil {
		t.Error("Serve on a closed listener reports no error")
	}
}

// What was sent before a goodbye is carried out, even in one packet with it.
func TestTerminate(t *testing.T) {
	p := serve(t, nil)
	c := direct(t)
	if _, err := c.Exec(t.Context(), "TRUNCATE kept"); err != nil {
		t.Fatal(err)
	}
	a := dial(t, p.address)
	a.put(t, encode(t, q("INSERT INTO kept VALUES (1)"), &pgproto3.Terminate{}))
	compare(t, a.rest(t), []string{one, `Z "I"`})
	b := dial(t, p.address)
	// Never committed.
	b.put(t, encode(t, parse("", "INSERT INTO kept VALUES (2)"), bind("", ""), exec(""), &pgproto3.Terminate{}))
	b.rest(t)
	if n := count(t, c, "SELECT count(*) FROM kept"); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

func TestClientGone(t *testing.T) {
	p := serve(t, nil)
	for name, sent := range map[string][]byte{
		"idle":                   nil,
		"in a message":           encode(t, q("SELECT 1"))[:7],
		"in a copy":              append(encode(t, q("COPY kept FROM STDIN"), data("1\n")), 'd', 0, 0, 0, 100, '1'),
		"while a statement runs": encode(t, q("SELECT pg_sleep(600)")),
		"without reading":        encode(t, q("SELECT repeat('x', 1000) FROM generate_series(1, 100000)")),
		"in a pipeline":          encode(t, parse("", protected), bind("", ""), exec("")),
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, p.address)
			c.put(t, sent)
			_ = c.Close()
			eventually(t, "the guest is closed", func() bool { return p.opened() == 0 })
		})
	}

	// PostgreSQL notices that nobody waits for a statement when that ends: for other tests it does so now.
	admin := direct(t)
	eventually(t, "the statement that ran has ended", func() bool {
		count(t, admin, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> "+
			"pg_backend_pid() AND query LIKE '%pg_sleep(600)%'")
		return guests(t) == 0
	})
	nothingLeft(t, p)
}

func TestGuestLost(t *testing.T) {
	p := serve(t, nil)
	admin := direct(t)
	kill := func(mark string) {
		eventually(t, mark+" is there", func() bool {
			return count(t, admin, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> "+
				"pg_backend_pid() AND query LIKE '%'||$1||'%'", mark) > 0
		})
	}
	idle, working := dial(t, p.address), dial(t, p.address)
	idle.put(t, encode(t, q("SELECT 'lost idle'")))
	idle.until(t, "Z")
	kill("'lost idle'")
	compare(t, idle.rest(t), []string{shutdown}) // the server's own, and once
	working.put(t, encode(t, q("SELECT pg_sleep(600), 'lost working'")))
	kill("'lost working'")
	if got := working.rest(t); strings.Count(strings.Join(got, "\n"), "FATAL") != 1 || got[len(got)-1] != shutdown {
		t.Errorf("a client at work was told %q", got)
	}
	other := dial(t, p.address)
	compare(t, other.run(t, nil), append(slices.Clone(inStep), `Z "I"`))
}

// A guest whose connection breaks without a word, or which talks nonsense, is lost.
func TestGuestBreaks(t *testing.T) {
	p := serve(t, nil)
	for name, says := range map[string]string{
		"without a word":   "",
		"out of step":      "1\x00\x00\x00\x04",
		"unknown type":     "?\x00\x00\x00\x04",
		"impossible frame": "D\x00\x00\x00\x03",
		"early ready":      "2\x00\x00\x00\x04",
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			p.guestConn.Store(&ours)
			defer p.guestConn.Store(nil)
			c := dial(t, p.address)
			c.put(t, encode(t, q("SELECT 1")))
			_, _ = io.ReadFull(theirs, make([]byte, len(encode(t, q("SELECT 1")))))
			if says != "" {
				_, _ = io.WriteString(theirs, says)
				go func() { _, _ = io.Copy(io.Discard, theirs) }()
			} else {
				_ = theirs.Close()
			}
			compare(t, c.rest(t), []string{"E FATAL 08006 the connection to the database was lost"})
			_ = theirs.Close()
		})
	}
}

// A frame that cannot be ends its session with a FATAL error, after the replies to what came before; others go on.
func TestViolations(t *testing.T) {
	p := serve(t, nil)
	other := dial(t, p.address)
	before := []string{"T ?column?:23/-1/0", `D ["1"]`, `C "SELECT 1\x00"`, `Z "I"`}
	for name, bad := range map[string][]byte{
		"unknown type":        frame('z', ""),
		"a length below four": {'Q', 0, 0, 0, 3},
		"a length of 4 GiB":   {'P', 0xff, 0xff, 0xff, 0xff},
		"describe of 10,000":  frame('D', "S"+strings.Repeat("x", 10_000)+"\x00"),
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, p.address)
			c.put(t, append(encode(t, q("SELECT 1")), bad...))
			got := c.rest(t)
			if len(got) != 5 || !slices.Equal(got[:4], before) || !strings.HasPrefix(got[4], "E FATAL 08P01 ") {
				t.Errorf("got %q", got)
			}
		})
	}
	compare(t, other.run(t, nil), append(slices.Clone(inStep), `Z "I"`))
}

func TestPinnedSettings(t *testing.T) {
	p := serve(t, nil)
	for _, sql := range []string{"SET standard_conforming_strings = off", "SET client_encoding = 'LATIN1'"} {
		c := dial(t, p.address)
		c.put(t, encode(t, q(sql), q("SELECT 'after'")))
		got := c.rest(t)
		last := got[len(got)-1]
		if !strings.HasPrefix(last, "E FATAL 0A000 ") ||
			slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "after") }) {
			t.Errorf("%s: %q", sql, got)
		}
	}
	odd := serve(t, func(_ *Config, f *fake) { f.status = map[string]string{"standard_conforming_strings": "off"} })
	c, err := net.Dial("tcp", odd.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a := &peer{Conn: c, in: newFrames(c)}
	a.put(t, encode(t, &pgproto3.StartupMessage{ProtocolVersion: protocol30,
		Parameters: map[string]string{"user": "postgres", "database": "postgres"}}))
	if got := a.rest(t); len(got) != 1 || !strings.HasPrefix(got[0], "E FATAL 0A000 ") {
		t.Errorf("a guest with other settings: %q", got)
	}
}

func TestPanicsStayInTheirSession(t *testing.T) {
	p := serve(t, nil)
	other := dial(t, p.address)
	for _, sql := range []string{"SELECT /*panic interpret*/", "SELECT x FROM noisy /*p*/ /*panic*/"} {
		c := dial(t, p.address)
		c.put(t, encode(t, q(sql)))
		compare(t, c.rest(t), []string{"E FATAL XX000 internal error"})
	}
	c := dial(t, p.address)
	c.put(t, encode(t, q("SELECT x FROM noisy /*p*/ /*budget end*/")))
	compare(t, c.rest(t), []string{"E FATAL PV002 no budget"})
	compare(t, other.run(t, nil), append(slices.Clone(inStep), `Z "I"`))
	if strings.Count(p.log.String(), "a session panicked") != 2 {
		t.Error("the log does not have the panics")
	}
	stopped(t, p)
}
