package pgcluster

import (
	"context"
	"fmt"
	"maps"
	"os"
	"sync"
	"testing"
)

// StartTest starts a cluster that is stopped when the test and its subtests have ended. A missing PostgreSQL fails the
// test.
func StartTest(t testing.TB, o Options) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), forTests(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// forTests has the server write no more of a log than a crash needs: rows of a table that the same transaction has made
// go to the table alone. Nobody follows a test's server, and what loads or builds large tables takes a fifth less.
func forTests(o Options) Options {
	settings := map[string]string{"wal_level": "minimal", "max_wal_senders": "0"}
	maps.Copy(settings, o.Settings)
	o.Settings = settings
	return o
}

var shared struct {
	sync.Mutex
	byMain  bool
	cluster *Cluster
}

// Main runs the tests of a package that use Shared, and exits:
//
//	func TestMain(m *testing.M) { pgcluster.Main(m) }
func Main(m *testing.M) {
	shared.byMain = true
	code := m.Run()
	if shared.cluster != nil {
		if err := shared.cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// Shared is a cluster for all tests of a package whose TestMain is Main, started when first asked for, with the default
// options but for autovacuum, which would change catalogs in the middle of a test. Tests keep apart by using databases
// of their own; roles are shared.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if !shared.byMain {
		t.Fatal("pgcluster: Shared needs a TestMain that calls Main")
	}
	if shared.cluster == nil {
		c, err := Start(context.Background(), forTests(Options{Settings: map[string]string{"autovacuum": "off"}}))
		if err != nil {
			t.Fatal(err)
		}
		shared.cluster = c
	}
	return shared.cluster
}

// ClosedPort is a port of the loopback interface that nobody listens on, and nobody will before the test has ended.
func ClosedPort(t testing.TB) int {
	t.Helper()
	p, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.release(); err != nil {
			t.Error(err)
		}
	})
	return p.number
}
