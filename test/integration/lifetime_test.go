package integration

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/test/adult"
	"fugu/test/pgcluster"
	"fugu/wire"
	"fugu/wire/auth"
)

// The guest's end is the client's: it is told once, and then the connection is closed.
func TestGuestTerminated(t *testing.T) {
	db := adultDatabase(t)
	f := serve(t, options{})
	unharmed := bystander(t, f)
	truth := db.truth(t)
	locker := db.truth(t)
	for name, x := range map[string]struct {
		send      []message
		condition string
	}{
		"idle":           {nil, "true"},
		"in transaction": {queries("BEGIN"), "true"},
		"at work": {queries("SELECT pg_sleep(60)"), "SELECT EXISTS (SELECT FROM pg_stat_activity " +
			"WHERE wait_event = 'PgSleep')"},
		"in a pipeline": {append(run("SELECT pg_sleep(60)"), run("SELECT count(*) FROM adult")...),
			"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep')"},
		"answering": {queries("SELECT count(*) FROM country, (SELECT count(*) AS n FROM adult WHERE age > 41) x"),
			"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'fugu_reader' AND wait_event_type = 'Lock')"},
	} {
		p := dial(t, f.dsn("alice"))
		p.Send(t, query("SELECT pg_backend_pid()"))
		var pid string
		p.until(t, func(m pgproto3.BackendMessage) bool {
			if row, ok := m.(*pgproto3.DataRow); ok {
				pid = string(row.Values[0])
			}
			_, ok := m.(*pgproto3.ReadyForQuery)
			return ok
		})
		if name == "answering" {
			rows(t, locker, "BEGIN")
			rows(t, locker, "LOCK adult IN ACCESS EXCLUSIVE MODE")
		}
		p.Send(t, x.send...)
		if name == "in transaction" {
			p.until(t, ready(1))
		}
		eventually(t, func() bool {
			return contains(rows(t, truth, strings.Replace(x.condition, "true", "SELECT true", 1)), "t")
		}, x.condition)
		rows(t, truth, "SELECT pg_terminate_backend("+pid+")")
		got, err := io.ReadAll(p.Conn)
		if err != nil && !isReset(err) {
			t.Errorf("%s: the connection stays open: %v", name, err)
		}
		if n := strings.Count(string(got), "FATAL\x00C57P01\x00"); n != 1 ||
			strings.Count(string(got), "FATAL\x00C") != 1 {
			t.Errorf("%s: told %d times: %q", name, n, got)
		}
		if name == "answering" {
			rows(t, locker, "ROLLBACK")
		}
	}
	unharmed()
}

// A database that is down is said to be down; when it is back, so is Fugu, without a restart: for new connections, and
// for the statements of sessions whose own connection was not lost.
func TestDatabaseRestarts(t *testing.T) {
	adultDatabase(t)
	own := pgcluster.StartTest(t, pgcluster.Options{})
	if _, err := adult.Load(t.Context(), own, "adult", adult.Options{}); err != nil {
		t.Fatal(err)
	}
	reading := serve(t, options{reader: own.DSN("fugu_reader", "adult")}) // only the reader's database will be down
	guesting := serve(t, options{guest: own.DSN("fugu_guest", "adult")})  // only the guests'
	session, lost := reading.connect(t), dial(t, guesting.dsn("alice"))
	const before = "SELECT count(*) FROM adult WHERE sex = 'Male'"
	rows(t, session, before)
	rows(t, guesting.connect(t), before)

	own.Kill()
	got, _ := io.ReadAll(lost.Conn)
	if !contains(string(got), "FATAL\x00C08006\x00") && !contains(string(got), "FATAL\x00C57P0") {
		t.Errorf("a session whose guest is lost is told %q", got)
	}
	for range 3 {
		if _, err := pgconn.Connect(t.Context(), guesting.dsn("alice")); code(err) != "08006" {
			t.Errorf("a new session: %v", err)
		}
		if _, err := session.Exec(t.Context(), "SELECT avg(age) FROM adult"); code(err) != "08006" {
			t.Errorf("a protected statement: %v", err)
		}
		if pe := pgError(func() error {
			_, err := session.Exec(t.Context(), "SELECT avg(age) FROM adult WHERE age > 30")
			return err
		}()); pe != nil &&
			(contains(pe.Message+pe.Detail+pe.Hint, "127.0.0.1") || contains(pe.Message+pe.Detail+pe.Hint,
				"fugu_reader")) {
			t.Errorf("the error tells about the inside: %+v", pe)
		}
		rows(t, session, "SELECT 1")
	}
	if _, n := spent(t, session); n != 1 {
		t.Errorf("%d releases, though nothing could be read", n-1)
	}
	if err := own.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows(t, session, "SELECT avg(age) FROM adult")
	c := guesting.connect(t)
	rows(t, c, "SELECT avg(age) FROM adult")

	// A restart between two statements, of which nobody noticed.
	if err := own.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows(t, session, "SELECT avg(age) FROM adult WHERE age > 31")
}

func TestSCRAM(t *testing.T) {
	users, err := auth.ReadUsers("../../examples/adult/users.txt")
	if err != nil {
		t.Fatal(err)
	}
	method := auth.NewSCRAM(users, users.Secret())
	f := serve(t, options{limits: func(c *wire.Config) { c.Auth = method }})
	for _, x := range []struct {
		user, password string
		ok             bool
	}{{"alice", "alice-demo", true}, {"bob", "bob-demo", true}, {"alice", "bob-demo", false}, {"alice", "", false},
		{"mallory", "alice-demo", false},
		{"fugu_guest", "", false}, {"postgres", "x", false}} {
		cfg, err := pgx.ParseConfig(f.dsn(x.user))
		if err != nil {
			t.Fatal(err)
		}
		cfg.Password = x.password
		c, err := pgx.ConnectConfig(t.Context(), cfg)
		if x.ok {
			if err != nil {
				t.Errorf("%s: %v", x.user, err)
				continue
			}
			rows(t, c, "SELECT count(*) FROM adult")
			_ = c.Close(context.Background())
			continue
		}
		pe := pgError(err)
		if pe == nil || pe.Code != "28P01" || pe.Severity != "FATAL" ||
			pe.Message != `password authentication failed for user "`+x.user+`"` {
			t.Errorf("%s with %q: %v", x.user, x.password, err)
		}
	}
	if out, err := f.psql(t, "SELECT 'in'", "PGPASSWORD=alice-demo"); err != nil || out != "in\n" {
		t.Errorf("psql: %v, %s", err, out)
	}
	if out, err := f.psql(t, "SELECT 'in'", "PGPASSWORD=wrong"); err == nil ||
		!contains(out, `password authentication failed for user "alice"`) {
		t.Errorf("psql with a wrong password: %v, %s", err, out)
	}
}

func TestMaxClients(t *testing.T) {
	f := serve(t, options{limits: func(c *wire.Config) { c.MaxClients = 2 }})
	first, second := f.connect(t), f.connect(t)
	for range 5 {
		if _, err := pgconn.Connect(t.Context(), f.dsn("alice")); code(err) != "53300" {
			t.Errorf("got %v", err)
		}
	}
	if err := first.PgConn().CancelRequest(t.Context()); err != nil { // takes no place
		t.Error(err)
	}
	rows(t, second, "SELECT 1")
	_ = first.Close(context.Background())
	eventually(t, func() bool {
		c, err := pgconn.Connect(t.Context(), f.dsn("alice"))
		if err == nil {
			_ = c.Close(context.Background())
		}
		return err == nil
	}, "the place of a client that left is free")
}

// Stopping sends idle clients away at once, and others when their transaction is over; one that takes too long is sent
// away as well.
func TestDrain(t *testing.T) {
	db := adultDatabase(t)
	f, err := start(t.Context(), db, t.TempDir(),
		options{limits: func(c *wire.Config) { c.DrainTimeout = time.Minute }})
	if err != nil {
		t.Fatal(err)
	}
	idle, busy := dial(t, f.dsn("alice")), dial(t, f.dsn("alice"))
	busy.Send(t, query("BEGIN"))
	busy.until(t, ready(1))
	stopped := make(chan error, 1)
	go func() { stopped <- f.stop() }()
	if got, err := io.ReadAll(idle.Conn); err != nil || strings.Count(string(got), "FATAL\x00C57P01\x00") != 1 {
		t.Errorf("an idle client got %q, %v", got, err)
	}
	if _, err := pgconn.Connect(t.Context(), f.dsn("alice")); err == nil {
		t.Error("a new client was served")
	}
	busy.Send(t, query("SELECT count(*) FROM adult"))
	if got := busy.until(t, ready(1)); !contains(got, "SELECT 1") {
		t.Errorf("in its transaction, a client got %s", got)
	}
	select {
	case err := <-stopped:
		t.Fatalf("stopped with a transaction open: %v", err)
	default:
	}
	busy.Send(t, query("COMMIT"))
	got, err := io.ReadAll(busy.Conn)
	if err != nil || !contains(string(got), "COMMIT\x00") || strings.Count(string(got), "FATAL\x00C57P01\x00") != 1 {
		t.Errorf("after its transaction, a client got %q, %v", got, err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}

	f, err = start(t.Context(), db, t.TempDir(),
		options{limits: func(c *wire.Config) { c.DrainTimeout = 10 * time.Millisecond }})
	if err != nil {
		t.Fatal(err)
	}
	slow := dial(t, f.dsn("alice"))
	slow.Send(t, query("BEGIN"))
	slow.until(t, ready(1))
	if err := f.stop(); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(slow.Conn); err != nil || strings.Count(string(got), "FATAL\x00C57P01\x00") != 1 {
		t.Errorf("a client in its transaction got %q, %v", got, err)
	}
}

// When everything is closed, no goroutine and no connection is left.
func TestNothingIsLeft(t *testing.T) {
	db := adultDatabase(t)
	truth := db.truth(t)
	const connections = "SELECT count(*) FROM pg_stat_activity WHERE usename IN ('fugu_guest', 'fugu_reader')"
	eventually(t, func() bool { return rows(t, truth, connections) == "[\"0\"]\n" }, "other tests' connections are "+
		"closed")
	before := runtime.NumGoroutine()
	f, err := start(t.Context(), db, t.TempDir(),
		options{limits: func(c *wire.Config) { c.DrainTimeout = time.Second }})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		p := dial(t, f.dsn("alice"))
		switch i % 5 {
		case 0:
			p.Send(t, query("SELECT sex, count(*) FROM adult GROUP BY sex"))
			p.until(t, ready(1))
		case 1:
			p.Send(t, query("SELECT pg_sleep(60)"))
		case 2:
			p.Send(t, query("CREATE TEMP TABLE t (a int)"), query("COPY t FROM STDIN"), copyData("1\n"))
		case 3:
			p.Send(t, parse("", "SELECT count(*) FROM adult WHERE age > $1"), bind("", "", "50"), execute("", 0))
		case 4:
			p.Send(t, query("SELECT * FROM generate_series(1, 10000000)"))
		}
		if i%2 == 0 {
			_ = p.Conn.Close()
		}
	}
	during := runtime.NumGoroutine()
	if err := f.stop(); err != nil {
		t.Error(err)
	}
	eventually(t, func() bool { return runtime.NumGoroutine() <= before }, "all goroutines end")
	// Other tests' last ones may have been among those before.
	if during <= runtime.NumGoroutine() {
		t.Error("sessions have no goroutines: what is counted here?")
	}

	// PostgreSQL may come to a statement that sleeps only when its client is gone.
	eventually(t, func() bool {
		rows(t, truth, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'fugu_guest' "+
			"AND wait_event = 'PgSleep'")
		return rows(t, truth, connections) == "[\"0\"]\n"
	}, "all connections are closed")
}
