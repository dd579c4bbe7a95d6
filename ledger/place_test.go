package ledger

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/pgcluster"
)

// place is where one ledger is: its URL, which opens the same ledger again.
type place string

func (p place) open(t testing.TB, o Options) *store {
	t.Helper()
	l, err := Open(context.Background(), string(p), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.(*store).read.Close() }) // a test that fails half-way
	return l.(*store)
}

func (p place) remote() bool { return !strings.HasPrefix(string(p), "sqlite:") }

// clear makes the ledger one that was never used.
func (p place) clear(t interface{ Fatal(...any) }, l *store) {
	if !p.remote() {
		path := strings.TrimPrefix(string(p), "sqlite:")
		for _, end := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(path + end); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		return
	}
	for _, table := range []string{"totals", "charges", "terms", "answers", "epochs", "periods",
		"audit WHERE number > 0"} {
		name, _, _ := strings.Cut(table, " ")
		if _, err := l.write.Exec(fmt.Sprintf(`ALTER TABLE %[1]s DISABLE TRIGGER USER; DELETE FROM %[2]s;
			ALTER TABLE %[1]s ENABLE TRIGGER USER`, name, table)); err != nil {
			t.Fatal(err)
		}
	}
}

// everywhere runs a test on a new ledger of each kind.
func everywhere(t *testing.T, f func(t *testing.T, p place)) {
	t.Run("SQLite", func(t *testing.T) { f(t, inFile(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { f(t, inDatabase(t)) })
}

func inFile(t testing.TB) place { return place("sqlite:" + filepath.Join(t.TempDir(), "fugu.db")) }

// server is a PostgreSQL of the package's own, which waits for its disk; started when first asked for.
var server struct {
	sync.Mutex
	*pgcluster.Cluster
	databases int
}

// inDatabase makes a database of a role that owns nothing else.
func inDatabase(t testing.TB) place {
	t.Helper()
	server.Lock()
	defer server.Unlock()
	if server.Cluster == nil {
		c, err := pgcluster.Start(context.Background(),
			pgcluster.Options{Fsync: true, Settings: map[string]string{"autovacuum": "off"}})
		if err != nil {
			t.Fatal(err)
		}
		server.Cluster = c
		if err := c.Exec(t.Context(), "postgres", `CREATE ROLE fugu_ledger LOGIN`); err != nil {
			t.Fatal(err)
		}
	}
	server.databases++
	name := fmt.Sprint("ledger_", server.databases)
	if err := server.CreateDatabase(t.Context(), name, "OWNER fugu_ledger"); err != nil {
		t.Fatal(err)
	}
	return place(server.DSN("fugu_ledger", name))
}

// inCopy makes a copy of a ledger's database, to which nobody is connected.
func inCopy(t testing.TB, p place) place {
	t.Helper()
	config, err := pgx.ParseConfig(string(p))
	if err != nil {
		t.Fatal(err)
	}
	server.Lock()
	defer server.Unlock()
	server.databases++
	name := fmt.Sprint("ledger_", server.databases)
	if err := server.CreateDatabase(t.Context(), name,
		fmt.Sprintf("TEMPLATE %s OWNER fugu_ledger", config.Database)); err != nil {
		t.Fatal(err)
	}
	return place(server.DSN("fugu_ledger", name))
}

func stopServer() (code int) {
	if server.Cluster != nil {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

// A server that takes over has the lock of the one before, beside it and behind it; another one is kept out all the
// while, and the lock of another ledger is none.
func TestLockHandedOver(t *testing.T) {
	dir := t.TempDir()
	open := func(name string, lock *os.File) (Ledger, error) {
		return Open(t.Context(), "sqlite:"+filepath.Join(dir, name), Options{Exclusive: true, Lock: lock})
	}
	pass := func(l Ledger) *os.File {
		t.Helper()
		fd, err := syscall.Dup(int(LockOf(l).Fd()))
		if err != nil {
			t.Fatal(err)
		}
		return os.NewFile(uintptr(fd), "lock")
	}
	first, err := open("a.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open("b.db", pass(first)); err == nil {
		t.Error("the lock of another ledger was taken")
	}
	second, err := open("a.db", pass(first))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open("a.db", nil); err == nil {
		t.Error("a third server was let in beside both")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err := open("a.db", nil); err == nil {
		t.Error("a third server was let in when the first was gone", l.Close())
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := open("a.db", nil)
	if err != nil {
		t.Fatal("the lock outlives both:", err)
	}
	_ = l.Close()
}
