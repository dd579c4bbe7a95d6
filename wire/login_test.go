package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/wire/auth"
)

func scramServer(t *testing.T) *proxy {
	t.Helper()
	users := usersOf(t, map[string]string{"alice": "wonderland", `o"brien`: "pä$$ word", "numa": "\u2168"})
	method := auth.NewSCRAM(users, []byte("secret"))
	method.HoldBackBy(func(context.Context, time.Duration) error { return nil })
	return serve(t, func(c *Config, _ *fake) { c.Auth = method })
}

func TestSCRAM(t *testing.T) {
	p := scramServer(t)
	connect := func(user, password string) error {
		config, err := pgconn.ParseConfig(p.dsn())
		if err != nil {
			t.Fatal(err)
		}
		config.User, config.Password = user, password
		c, err := pgconn.ConnectConfig(t.Context(), config)
		if err != nil {
			return err
		}
		return c.Close(t.Context())
	}
	for _, c := range []struct {
		user, password string
		ok             bool
	}{
		{"alice", "wonderland", true},
		{`o"brien`, "pä$$ word", true},
		{"numa", "IX", true}, // SASLprep of the Roman numeral nine
		{"numa", "ix", false},
		{"alice", "wonderland ", false},
		{"alice", "pä$$ word", false},
		{"bob", "wonderland", false},
		{"bob", "", false},
		{"Alice", "wonderland", false},
	} {
		err := connect(c.user, c.password)
		if c.ok && err != nil {
			t.Errorf("%s with the right password: %v", c.user, err)
		}
		var told *pgconn.PgError
		if !c.ok && (!errors.As(err, &told) || told.Code != "28P01" || told.Severity != "FATAL" ||
			told.Message != fmt.Sprintf(`password authentication failed for user "%s"`, c.user)) {
			t.Errorf("%s with %q: %v", c.user, c.password, err)
		}
	}
	if log := p.log.String(); strings.Contains(log, "wonderland") {
		t.Errorf("a password in the log: %s", log)
	}
}

// hello connects and sends a startup message of the user's.
func hello(t testing.TB, address, user string) *peer {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	p := &peer{Conn: c, in: newFrames(c)}
	p.put(t, packet(protocol30, "user", user, "database", "postgres"))
	return p
}

// A user that does not exist gets a challenge like any other, with the same salt each time.
func TestUnknownUserLooksKnown(t *testing.T) {
	p := scramServer(t)
	challenge := func(user string) string {
		c := hello(t, p.address, user)
		defer c.Close()
		c.put(t, initial("SCRAM-SHA-256", clientFirst))
		got := c.until(t, "RR")
		_, after, found := strings.Cut(got[len(got)-1], ",s=")
		if !found {
			t.Fatalf("no challenge: %q", got)
		}
		return after
	}
	known, unknown := challenge("alice"), challenge("bob")
	if len(known) != len(unknown) || known[strings.Index(known, ","):] != unknown[strings.Index(unknown, ","):] {
		t.Errorf("challenges differ in form: %s and %s", known, unknown)
	}
	if challenge("bob") != unknown {
		t.Error("the salt of a user that does not exist changes")
	}
	if challenge("bob2") == unknown || known == unknown {
		t.Error("users share a salt")
	}
}

// fatal checks that the connection tells of one FATAL error, and ends.
func fatal(t *testing.T, c *peer, code string) {
	t.Helper()
	got := c.until(t, "Z")
	if len(got) != 2 || !strings.HasPrefix(got[0], "E FATAL "+code+" ") || got[1] != "end" {
		t.Errorf("got %q, want one FATAL %s", got, code)
	}
}

func TestMaxClients(t *testing.T) {
	p := serve(t, func(c *Config, _ *fake) { c.MaxClients = 2 })
	first, second := dial(t, p.address), dial(t, p.address)
	fatal(t, hello(t, p.address, "postgres"), "53300")
	for _, c := range []*peer{first, second} { // they are not disturbed
		if got := c.run(t, script{}); len(got) != 4 {
			t.Errorf("got %q", got)
		}
	}
	pg, err := pgconn.ParseConfig(p.dsn())
	if err != nil {
		t.Fatal(err)
	}
	_ = first.Close()
	for deadline := time.Now().Add(patience); ; {
		c, err := pgconn.ConnectConfig(t.Context(), pg)
		if err == nil {
			_ = c.Close(t.Context())
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the place of a client that left was not given away: %v", err)
		}
	}
}

func TestLoginTimeout(t *testing.T) {
	method := auth.NewSCRAM(auth.Users{}, nil)
	p := serve(t, func(c *Config, _ *fake) { c.LoginTimeout, c.Auth = hurry, method })
	for name, sent := range map[string][]byte{
		"says nothing":             nil,
		"stops in the packet":      packet(protocol30, "user", "postgres")[:9],
		"stops after TLS":          rawPacket(codeSSL, ""),
		"does not answer the SASL": packet(protocol30, "user", "postgres"),
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp", p.address)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := c.Write(sent); err != nil {
				t.Fatal(err)
			}
			// Where what was sent is not read in time, the end is a reset.
			_ = c.SetReadDeadline(time.Now().Add(patience))
			if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the connection stays: %v", err)
			}
		})
	}
}

// hurry is a timeout of logins that are to exceed it.
const hurry = 50 * time.Millisecond

// unhurried calls try with longer and longer timeouts until it reports that its server came as far as it should before
// the timeout: how long that takes is up to the machine.
func unhurried(t *testing.T, try func(timeout time.Duration) bool) {
	t.Helper()
	for timeout := hurry; !try(timeout); timeout *= 2 {
		if timeout > patience {
			t.Fatalf("not in %v", timeout)
		}
	}
}

func TestLoginTimeoutIsPostgreSQLs(t *testing.T) {
	method := auth.NewSCRAM(auth.Users{}, []byte("secret"))
	unhurried(t, func(timeout time.Duration) bool {
		p := serve(t, func(c *Config, _ *fake) { c.LoginTimeout, c.Auth = timeout, method })
		got := hello(t, p.address, "postgres").until(t, "Z")
		end := []string{"E FATAL 57014 canceling authentication due to timeout", "end"}
		if n := len(got) - len(end); n < 0 || !slices.Equal(got[n:], end) {
			t.Fatalf("got %q", got)
		}
		return len(got) == 3 && got[0][0] == 'R'
	})
}

func TestUserClients(t *testing.T) {
	p := serve(t, func(c *Config, _ *fake) { c.UserClients = 2 })
	if err := cluster(t).Exec(t.Context(), "postgres", "CREATE ROLE other LOGIN"); err != nil {
		t.Fatal(err)
	}
	first, second := dial(t, p.address), dial(t, p.address)
	compare(t, hello(t, p.address, "postgres").until(t, "Z"),
		[]string{`E FATAL 53300 too many connections for role "postgres"`, "end"})
	hello(t, p.address, "other").until(t, "Z")
	second.run(t, script{})
	_ = first.Close()
	eventually(t, "the place of a client that left is given away", func() bool {
		got := hello(t, p.address, "postgres").until(t, "Z")
		return got[len(got)-1] == `Z "I"`
	})
	stopped(t, p)
	if n := len(p.server.users.n); n != 0 {
		t.Errorf("%d users have places when everybody has left", n)
	}
}

func TestLoginTimeoutEndsWithTheLogin(t *testing.T) {
	t.Parallel() // it waits, for longer than a busy machine makes a login take
	const timeout = 2 * idleness
	p := serve(t, func(c *Config, _ *fake) { c.LoginTimeout = timeout })
	c := dial(t, p.address)
	time.Sleep(timeout + 50*time.Millisecond)
	if got := c.run(t, script{}); len(got) != 4 {
		t.Errorf("got %q", got)
	}
}

// idleness is a timeout that a busy machine does not make a client exceed between two messages. Tests that wait for it
// do so together, in parallel.
const idleness = 4 * time.Second

// longer is that as a number of seconds for pg_sleep, and a moment.
var longer = fmt.Sprint((idleness + idleness/10).Seconds())

func TestIdleTimeout(t *testing.T) {
	t.Parallel()
	p := serve(t, func(c *Config, _ *fake) { c.IdleTimeout = idleness })
	c := dial(t, p.address)
	// A statement that takes longer than the timeout is not idleness.
	if got := c.run(t, script{q("SELECT pg_sleep(" + longer + ")"), "Z"}); len(got) != 8 {
		t.Errorf("got %q", got)
	}
	fatal(t, c, "57P05")
}

func TestIdleInTransactionTimeout(t *testing.T) {
	t.Parallel()
	const timeout = "E FATAL 25P03 terminating connection due to idle-in-transaction timeout"
	p := serve(t, func(c *Config, _ *fake) { c.IdleInTransactionTimeout = idleness })
	idle := dial(t, p.address)
	for name, s := range map[string]script{
		"in a transaction":        {q("BEGIN"), "Z"},
		"in one that has failed":  {q("BEGIN; SELECT 1/0"), "Z"},
		"in a pipeline":           {parse("", "SELECT 1"), flush, "1"},
		"behind a protected one":  {q("BEGIN; " + protected), "Z"},
		"in a pipeline, skipping": {parse("", "nonsense"), "E"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, p.address)
			for _, step := range s {
				if m, ok := step.(pgproto3.FrontendMessage); ok {
					c.put(t, encode(t, m))
				} else {
					c.until(t, step.(string))
				}
			}
			compare(t, c.rest(t), []string{timeout})
		})
	}
	// A statement that takes longer is not idleness, nor is time between transactions.
	idle.run(t, script{q("BEGIN; SELECT pg_sleep(" + longer + "); COMMIT"), "Z"})
	both := serve(t, func(c *Config, _ *fake) { c.IdleTimeout, c.IdleInTransactionTimeout = idleness, time.Hour })
	c := dial(t, both.address)
	c.put(t, encode(t, q("BEGIN")))
	c.until(t, "Z")
	time.Sleep(idleness + idleness/10)
	c.run(t, script{q("COMMIT"), "Z"})
	fatal(t, c, "57P05")
}

func TestKeepAlive(t *testing.T) {
	p := serve(t, func(c *Config, _ *fake) { c.KeepAlive = 123 * time.Second })
	dial(t, p.address).run(t, script{})
	p.server.keys.mu.Lock()
	defer p.server.keys.mu.Unlock()
	for _, k := range p.server.keys.m {
		raw, err := k.session.conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		_ = raw.Control(func(fd uintptr) {
			for option, want := range map[int]int{syscall.TCP_KEEPIDLE: 123, syscall.TCP_KEEPINTVL: 31,
				syscall.TCP_KEEPCNT: 4} {
				if got, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, option); got != want || err != nil {
					t.Errorf("option %d is %d, %v, want %d", option, got, err, want)
				}
			}
		})
	}
}

func TestMessageBytes(t *testing.T) {
	p := serve(t, func(c *Config, _ *fake) { c.MessageBytes = 1000 })
	c := dial(t, p.address)
	if got := c.run(t, script{frame('Q', "SELECT 1"+strings.Repeat(" ", 1000-9)+"\x00"), "Z"}); len(got) != 8 {
		t.Errorf("a message as long as can be: %q", got)
	}
	c.put(t, frame('Q', "SELECT 1"+strings.Repeat(" ", 1000-8)+"\x00"))
	fatal(t, c, "54000")
	c = dial(t, p.address)
	c.put(t, []byte("d\x3f\xff\xff\xff"))
	fatal(t, c, "54000")
}

// Nothing of the server's runs when Serve has returned, whatever its clients were doing.
func TestServeWaitsForItsGoroutines(t *testing.T) {
	p := serve(t, func(c *Config, _ *fake) { c.DrainTimeout = 50 * time.Millisecond })
	silent, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	idle, failed, waiting, copying, blocked := dial(t, p.address), dial(t, p.address), dial(t, p.address),
		dial(t, p.address), dial(t, p.address)
	idle.run(t, script{})
	failed.put(t, encode(t, q("BEGIN; SELECT 1/0")))
	failed.until(t, "Z")
	copying.put(t, encode(t, q("COPY kept FROM STDIN"), data("1\n")))
	copying.until(t, "G")
	waiting.put(t, encode(t, parse("", "SELECT pg_sleep(600)"), bind("", ""), exec(""), parse("s", protected),
		bind("", "s")))
	blocked.put(t, encode(t, q("SELECT x FROM noisy /*p*/ /*block*/")))
	<-p.blocked
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	if n := p.opened(); n != 0 {
		t.Errorf("%d sessions are open", n)
	}
	for deadline := time.Now().Add(patience); ; runtime.Gosched() {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		if !strings.Contains(string(stacks), "wire.(*session)") && !strings.Contains(string(stacks), "wire.(*Server)") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still running:\n%s", stacks)
		}
	}
}
