package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fugu/test/nightly"
	"fugu/test/pgcluster"
)

// breath is how long a client of a load waits between two statements. By day the proxy is to be busy, and not the whole
// machine: what is on its way when policies are read again or a successor comes is the same.
var breath = time.Duration(nightly.Or(0, 10)) * time.Millisecond

// load is clients that ask all the time, some with a session for every few statements and some with one for good.
type load struct {
	asked  atomic.Int64
	failed atomic.Int64
	first  atomic.Pointer[error]
	stop   context.CancelFunc
	all    sync.WaitGroup
}

// asking are what the clients of a load ask: what is relayed, what has masks, and what is answered from a release; in a
// Query, and prepared. The masks of pg_class take the server more than all the rest, so one of the two has others.
var asking = []struct {
	sql  string
	mode pgx.QueryExecMode
}{
	{"SELECT 1", pgx.QueryExecModeSimpleProtocol},
	{"SELECT count(*) FROM adult WHERE income = '>50K'", pgx.QueryExecModeSimpleProtocol},
	{"SELECT datname, xact_commit FROM pg_stat_database WHERE datname = 'adult'", pgx.QueryExecModeSimpleProtocol},
	{"SELECT 2", pgx.QueryExecModeCacheStatement},
	{"SELECT count(*) FROM adult WHERE income = '>50K'", pgx.QueryExecModeCacheStatement},
	{"SELECT relname, reltuples FROM pg_class WHERE relname = 'adult'", pgx.QueryExecModeCacheStatement},
	{"SELECT count(*) FROM adult WHERE income = '>50K'; SELECT 3", pgx.QueryExecModeSimpleProtocol},
}

// burden starts a load on the proxy at an address.
func burden(t *testing.T, dsn string) *load {
	ctx, stop := context.WithCancel(t.Context())
	l := &load{stop: stop}
	fail := func(err error) {
		if err != nil && ctx.Err() == nil {
			l.failed.Add(1)
			l.first.CompareAndSwap(nil, &err)
		}
	}
	for i := range 4 {
		l.all.Go(func() {
			for ctx.Err() == nil {
				c, err := pgx.Connect(ctx, dsn)
				if err != nil {
					fail(fmt.Errorf("connecting: %w", err))
					continue
				}
				for n := 0; ctx.Err() == nil && (i == 0 || n < 3*len(asking)); n++ {
					a := asking[n%len(asking)]
					_, err := c.Exec(ctx, a.sql, a.mode)
					if err != nil {
						fail(fmt.Errorf("%s: %w", a.sql, err))
						break
					}
					l.asked.Add(1)
					time.Sleep(breath)
				}
				_ = c.Close(context.Background())
			}
		})
	}
	return l
}

// more waits until so many statements more have been answered.
func (l *load) more(t *testing.T, n int64) {
	t.Helper()
	from := l.asked.Load()
	eventually(t, "clients are answered", func() bool { return l.asked.Load() >= from+n || l.failed.Load() > 0 })
}

// end stops the load, of which no statement may have failed.
func (l *load) end(t *testing.T) {
	t.Helper()
	l.stop()
	l.all.Wait()
	if n := l.failed.Load(); n > 0 {
		t.Errorf("%d of %d statements have failed, the first: %v", n, n+l.asked.Load(), *l.first.Load())
	}
}

// Fifty reloads under load cost nobody a statement, whether it was prepared before, or is read and answered as one
// comes.
func TestReloadsUnderLoad(t *testing.T) {
	c, err := startChild(t, setting(t))
	if err != nil {
		t.Fatal(err)
	}
	l := burden(t, "postgres://alice@"+c.address+"/adult")
	for range 50 {
		if !c.reload(t) {
			t.Fatal("a reload failed")
		}
		l.more(t, 10)
	}
	l.end(t)
}

var succeeded = regexp.MustCompile(`a successor takes clients.* pid=(\d+)`)

// succeed has the proxy of a process id hand over, and returns the id of the next.
func (c *child) succeed(t *testing.T, pid int) int {
	t.Helper()
	before := len(succeeded.FindAllString(c.log.String(), -1))
	if err := syscall.Kill(pid, syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	var all [][]string
	eventually(t, "there is a successor", func() bool {
		all = succeeded.FindAllStringSubmatch(c.log.String(), -1)
		return len(all) > before
	})
	next, err := strconv.Atoi(all[before][1])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(next, syscall.SIGKILL) })
	return next
}

// Five restarts under load cost nobody a statement. Sessions of the proxies before go on, and what they and the next
// one are asked at the same moment is charged once: both write to one ledger, a file or one in PostgreSQL.
func TestRestartsUnderLoad(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { restart(t, "sqlite:fugu.db") })
	t.Run("PostgreSQL", func(t *testing.T) {
		c := pgcluster.StartTest(t, pgcluster.Options{Fsync: true}) // without which a ledger is refused
		for _, sql := range []string{"CREATE ROLE fugu_succession LOGIN",
			"CREATE DATABASE fugu_succession OWNER fugu_succession"} {
			if err := c.Exec(t.Context(), "postgres", sql); err != nil {
				t.Fatal(err)
			}
		}
		restart(t, c.DSN("fugu_succession", "fugu_succession"))
	})
}

func restart(t *testing.T, ledger string) {
	c, path := administeredOn(t, ledger)
	l := burden(t, "postgres://alice@"+c.address+"/adult")
	const restarts = 5
	pid := c.Process.Pid
	for i := range restarts {
		old := c.connect(t)
		l.more(t, 20)
		pid = c.succeed(t, pid)
		l.more(t, 20)

		// The next one is who takes this session, unless the one before has not noticed yet that it does so no more.
		next := c.connect(t)
		fresh := fmt.Sprintf("SELECT count(*) FROM adult WHERE age > %d", 30+i)
		var answers [2]int64
		var errs [2]error
		var both sync.WaitGroup
		for k, session := range []*pgx.Conn{old, next} {
			both.Go(func() { errs[k] = session.QueryRow(t.Context(), fresh).Scan(&answers[k]) })
		}
		both.Wait()
		if err := errors.Join(errs[:]...); err != nil || answers[0] != answers[1] {
			t.Errorf("%s: %d and %d, %v", fresh, answers[0], answers[1], err)
		}
	}
	l.end(t)

	// One answer of the load, and those that were asked of two proxies each.
	var releases int
	row := c.connect(t).QueryRow(t.Context(), "SELECT releases FROM fugu.budget WHERE scope = ''")
	if err := row.Scan(&releases); err != nil || releases != 1+restarts {
		t.Errorf("%d releases, %v", releases, err)
	}
	expect(t, exitOK, "", "audit", "verify", "-c", path)

	// The address for operators has gone to the last one, too.
	eventually(t, "operators are answered by each", func() bool {
		return len(operators.FindAllString(c.log.String(), -1)) == 1+restarts
	})

	// The proxies before end with their last client, and the last one as ever.
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nobody takes clients", func() bool {
		conn, err := net.Dial("tcp", c.address)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
}

// startManaged starts a proxy that tells a service manager which process it is to watch.
func startManaged(t *testing.T, path string) (*child, *net.UnixConn) {
	t.Helper()
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"),
		Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = manager.Close() })
	c, err := startChild(t, path, "NOTIFY_SOCKET="+manager.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	toldOf(t, manager, c.Process.Pid)
	return c, manager
}

// A successor that does not come up changes nothing: the proxy goes on, and another one can come later. The service
// manager is told which process it is to watch.
func TestSuccessorFails(t *testing.T) {
	path := setting(t)
	c, manager := startManaged(t, path)
	told := func(pid int) { toldOf(t, manager, pid) }
	session, once := c.connect(t), func() { c.askOnce(t) }
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("listen: nowhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Signal(syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the successor has failed", func() bool {
		return strings.Contains(c.log.String(), "there is no successor, and this proxy goes on")
	})
	if _, err := session.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Error(err)
	}
	once()

	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	next := c.succeed(t, c.Process.Pid)
	told(next)
	once()
	if _, err := session.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Error(err)
	}

	// The one before ends with its last session, while the next one serves.
	_ = session.Close(t.Context())
	c.endsItself(t)
	once()
	_ = syscall.Kill(next, syscall.SIGTERM)
}

// A successor that fails while the proxy before still has clients takes that one along: it ends, as a failure, and the
// service manager is told to look at it.
func TestSuccessorDies(t *testing.T) {
	c, manager := startManaged(t, setting(t))
	session := c.connect(t)
	next := c.succeed(t, c.Process.Pid)
	toldOf(t, manager, next)
	if _, err := session.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Fatal(err)
	}

	if err := syscall.Kill(next, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 100)
	_ = manager.SetReadDeadline(time.Now().Add(patience))
	n, err := manager.Read(text)
	if want := fmt.Sprintf("MAINPID=%d", c.Process.Pid); err != nil || string(text[:n]) != want {
		t.Errorf("the service manager is told %q, %v; want %q", text[:n], err, want)
	}
	if t.Failed() {
		return
	}
	state, err := c.Process.Wait()
	if err != nil || state.ExitCode() != exitFailure {
		t.Errorf("the proxy before ends with %v, %v", state, err)
	}
	if _, err := session.Exec(t.Context(), "SELECT 1"); err == nil {
		t.Error("its session goes on")
	}
}

// toldOf checks that the service manager is told of the process that serves now.
func toldOf(t *testing.T, manager net.Conn, pid int) {
	t.Helper()
	text := make([]byte, 100)
	n, err := manager.Read(text)
	if want := fmt.Sprintf("MAINPID=%d\nREADY=1", pid); err != nil || string(text[:n]) != want {
		t.Errorf("the service manager is told %q, %v; want %q", text[:n], err, want)
	}
}

// askOnce has a session of its own ask what is protected.
func (c *child) askOnce(t *testing.T) {
	t.Helper()
	session := c.connect(t)
	if _, err := session.Exec(t.Context(), "SELECT count(*) FROM adult"); err != nil {
		t.Error(err)
	}
	_ = session.Close(t.Context())
}

// endsItself waits until the process has ended, and as it should. Wait of its command would also wait for the log,
// which its successor has open.
func (c *child) endsItself(t *testing.T) {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		state, err := c.Process.Wait()
		if err == nil && !state.Success() {
			err = errors.New(state.String())
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("the proxy before has not ended with its last client")
	}
}

// Policies are read again when their file has changed, where fugu.yaml says so; what is wrong leaves the old ones.
func TestWatchedPolicies(t *testing.T) {
	path := setting(t, "ledger:", "reload: watch\nledger:")
	c, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(path), "adult.policy.yaml")
	policy, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	put := func(old, new, said string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(strings.Replace(string(policy), old, new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		eventually(t, said+": "+c.log.String(), func() bool { return strings.Contains(c.log.String(), said) })
	}
	put("version: 1", "version: one", "the old one stands")
	c.ask(t)
	put("analysts: [alice, bob]", "analysts: [bob]", "policy reloaded")
	if _, err := c.connect(t).Exec(t.Context(), "SELECT count(*) FROM adult"); sqlstateOf(err) != "PV003" {
		t.Errorf("alice may still ask: %v", err)
	}
}
