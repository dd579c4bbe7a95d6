package pgcluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// orphan makes the test binary start a cluster, say where it is, and wait to be killed.
const orphan = "PGCLUSTER_TEST_ORPHAN"

func TestMain(m *testing.M) {
	if os.Getenv(orphan) != "" {
		c, err := Start(context.Background(), Options{})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(c.dir, c.server.cmd.Process.Pid)
		select {}
	}
	Main(m)
}

func query(t *testing.T, c *Cluster, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.DSN("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var s string
	if err := conn.QueryRow(t.Context(), sql).Scan(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

func show(t *testing.T, c *Cluster, setting string) string {
	t.Helper()
	return query(t, c, "SELECT current_setting('"+setting+"')")
}

func TestSettings(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	c := StartTest(t, Options{Settings: map[string]string{"work_mem": "5MB"}, MaxConnections: 17, Log: log})
	for setting, want := range map[string]string{
		"max_connections": "17", "work_mem": "5MB", "fsync": "off", "listen_addresses": "127.0.0.1",
		"port": strconv.Itoa(c.Port()), "unix_socket_directories": c.SocketDir(), "server_encoding": "UTF8",
	} {
		if got := show(t, c, setting); got != want {
			t.Errorf("%s is %s, want %s", setting, got, want)
		}
	}
	if got := query(t, c, "SELECT datcollate FROM pg_database WHERE datname = 'postgres'"); got != "C.UTF-8" {
		t.Errorf("the collation is %s", got)
	}
	if b, err := os.ReadFile(log); err != nil || !strings.Contains(string(b), "ready to accept connections") {
		t.Errorf("the log is %q, %v", b, err)
	}
}

func TestFsync(t *testing.T) {
	c := StartTest(t, Options{Fsync: true})
	if got := show(t, c, "fsync") + show(t, c, "full_page_writes"); got != "onon" {
		t.Errorf("fsync and full_page_writes are %s", got)
	}
}

func TestUnknownSettingFailsWithLog(t *testing.T) {
	c, err := Start(t.Context(), Options{Settings: map[string]string{"no_such_setting": "1"}})
	if c != nil || err == nil || !strings.Contains(err.Error(),
		`unrecognized configuration parameter "no_such_setting"`) {
		t.Errorf("got %v, %v", c, err)
	}
}

func TestStopLeavesNothing(t *testing.T) {
	c, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	pids := []int{c.server.cmd.Process.Pid, c.watchdog.shell.cmd.Process.Pid}
	conn, err := pgx.Connect(t.Context(), c.DSN("postgres", "postgres")) // a client does not hold it up
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for range 2 {
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d: %v", pid, err)
		}
	}
	if _, err := os.Stat(c.dir); !os.IsNotExist(err) {
		t.Errorf("%s: %v", c.dir, err)
	}
	if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port()))); err != nil {
		t.Error(err)
	} else {
		l.Close()
	}
}

func TestKillAndRestart(t *testing.T) {
	c := StartTest(t, Options{})
	if err := c.Exec(t.Context(), "postgres", "CREATE TABLE t (x int); INSERT INTO t VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	dsn := c.DSN("postgres", "postgres")
	for _, stop := range []func(){func() {}, c.Kill} {
		stop()
		if err := c.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := query(t, c, "SELECT count(*)::text FROM t"); got != "1" || c.DSN("postgres", "postgres") != dsn {
			t.Errorf("after a restart there are %s rows at %s, before: 1 at %s", got, c.DSN("postgres", "postgres"),
				dsn)
		}
	}
	if b, err := os.ReadFile(c.LogFile()); err != nil || !strings.Contains(string(b), "was not properly shut down") {
		t.Errorf("no recovery in the log: %s %v", b, err)
	}
}

// A cluster ends, and its directory goes, when the process that started it is killed.
func TestOrphan(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), orphan+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dir string
	var pid int
	line, _ := bufio.NewReader(out).ReadString('\n')
	_, scanErr := fmt.Sscan(line, &dir, &pid)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if scanErr != nil {
		t.Fatalf("%q: %v", line, scanErr)
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if _, err = os.Stat(dir); os.IsNotExist(err) {
			break
		}
	}
	if !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	if running(pid) {
		t.Errorf("process %d is still there", pid)
		_ = syscall.Kill(pid, syscall.SIGQUIT)
	}
}

// running is false for a zombie too: where there is no init to wait for orphans, they stay zombies.
func running(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b), ") Z ")
}

func TestCanceledStartLeavesNothing(t *testing.T) {
	dir, err := os.MkdirTemp("", "fugu-test-") // t.TempDir's are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if c, err := Start(ctx, Options{}); c != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", c, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "fugu-pg-*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestShared(t *testing.T) {
	if a, b := Shared(t), Shared(t); a != b || query(t, a, "SELECT 'x'") != "x" {
		t.Error("two clusters")
	}
}

// A cluster's port is nobody else's while its server is down, and clients find it closed.
func TestPortIsKept(t *testing.T) {
	c := StartTest(t, Options{})
	c.Kill()
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port()))
	if _, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("behind the port of a server that is down: %v", err)
	}
	// As a connection of somebody's would have it, whose own port may be any.
	other := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: c.Port()}}
	if conn, err := other.Dial("tcp", address); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("the port was taken: %v, %v", conn, err)
	}
	if err := c.Restart(t.Context()); err != nil {
		t.Error(err)
	}
}
