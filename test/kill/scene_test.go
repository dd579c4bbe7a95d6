//go:build fuguhooks

package kill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/ledger/audit"
	"fugu/test/compat/sides"
	"fugu/test/pgcluster"
)

// scene is one ledger, and the fugu that serves from it, again and again.
type scene struct {
	t      testing.TB
	config sides.Config
	file   string             // of the ledger in SQLite; empty: it is in PostgreSQL
	url    string             // of the ledger in PostgreSQL, without a network between
	server *pgcluster.Cluster // of the ledger in PostgreSQL
	proxy  *sides.Proxy       // nil: it does not run

	database string  // of the ledger in PostgreSQL
	jointly  bool    // see joint
	client   *client // that try asks for
	orders   int     // given so far
	asked    int     // statements so far
	spared   int     // faults that found nothing to do harm to
	missed   int     // faults that did not come about: the statement was answered without passing the point
	last     *book   // at the end of the last try; nil: it is out of date
}

// newScene makes a new ledger of a kind; environment is the proxy's, beside the test's own.
func newScene(t testing.TB, kind string, epsilon float64, environment ...string) *scene {
	t.Helper()
	cluster, binary := house(t)
	dir := t.TempDir()
	s := &scene{t: t, config: sides.Config{Binary: binary, Dir: dir, Policy: policyOf(epsilon),
		Guest:  cluster.DSN("fugu_guest", "people"),
		Reader: cluster.DSN("fugu_reader", "people"), Environment: append(environment, hook.DirectoryEnv+"="+dir)}}
	switch kind {
	case "SQLite":
		s.file = filepath.Join(dir, "fugu.db")
	case "PostgreSQL":
		s.on(cluster)
	}
	t.Cleanup(func() {
		if s.proxy != nil {
			s.proxy.Kill()
		}
	})
	return s
}

// on puts the scene's ledger into a new database of a server.
func (s *scene) on(server *pgcluster.Cluster) {
	s.t.Helper()
	s.server, s.database = server, newDatabase(s.t, server)
	s.url = server.DSN("fugu_ledger", s.database)
	s.config.Ledger = s.url
}

// start starts a fugu if none runs.
func (s *scene) start() {
	s.t.Helper()
	if s.proxy != nil {
		return
	}
	s.order()
	var err error
	if s.proxy, err = sides.Serve(s.config); err != nil {
		s.t.Fatal(err)
	}
}

// order gives the proxy orders, in place of those before; see internal/hook.
func (s *scene) order(orders ...string) {
	s.t.Helper()
	s.orders++
	text := ""
	for _, o := range orders {
		text += fmt.Sprintf("%d %s\n", s.orders, o)
	}
	path := filepath.Join(s.config.Dir, "orders")
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		s.t.Fatal(err)
	}
}

// point is one passing of a point.
type point struct {
	name string
	nth  int
}

func (p point) String() string { return fmt.Sprintf("%s, %d", p.name, p.nth) }

func (p point) order(verb string) string { return fmt.Sprintf("%s %d %s", verb, p.nth, p.name) }

// trace returns the points that do passes, in order.
func (s *scene) trace(do func()) (points []point) {
	s.t.Helper()
	path := filepath.Join(s.config.Dir, "passed")
	_ = os.Remove(path)
	s.order("trace")
	do()
	time.Sleep(50 * time.Millisecond) // what comes behind the last byte
	s.order()
	text, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		name := strings.TrimSpace(line)
		counts[name]++
		points = append(points, point{name, counts[name]})
	}
	return points
}

// held reports whether the proxy is held at a point.
func (s *scene) held() bool {
	_, err := os.Stat(filepath.Join(s.config.Dir, "held"))
	return err == nil
}

func (s *scene) eventually(what string, f func() bool) {
	s.t.Helper()
	for end := time.Now().Add(hang); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("it does not come to it that %s; the proxy's log:\n%s", what, s.proxy.Log())
		}
	}
}

// statement is a statement that was not asked before.
func (s *scene) statement() string {
	s.asked++
	above := -s.asked
	if s.jointly {
		above = 20 + s.asked // there a statement of the same rows would be known from the one before
	}
	return fmt.Sprintf("SELECT sex, count(*), avg(age) FROM people WHERE age > %d GROUP BY sex ORDER BY sex", above)
}

// promise has the ledger keep what is promised, which only the first charge of a period brings it.
func (s *scene) promise() {
	s.t.Helper()
	s.start()
	c := dial(s.t, s.proxy.Address(), "alice")
	defer c.Close()
	if r := c.exchange(simple(s.statement())); !r.complete || r.code() != "" {
		s.t.Fatalf("the first statement: %v", r)
	}
	s.last = nil
}

// renew begins a period, while a proxy serves, which has mended what there was to mend.
func (s *scene) renew() {
	s.t.Helper()
	s.start()
	url := s.url
	if s.file != "" {
		url = "sqlite:" + s.file
	}
	l, err := ledger.Manage(s.t.Context(), url, ledger.Options{})
	if err == nil {
		_, err = l.Reset(s.t.Context(), "people", ledger.Why{Operator: "test", Reason: "a period begins"})
		err = errors.Join(err, l.Close())
	}
	if err != nil {
		s.t.Fatalf("beginning a period: %v", err)
	}
}

// book is what the ledger says, which its own audit has found in order.
type book struct {
	entries []audit.Entry   // of charges
	answers []ledger.Answer // newest first

	abandoned int // scans that were charged, and ended without an answer because the client left
}

// read reads the ledger. Of a file that nobody serves from, it reads a copy: opening the file itself would mend what
// the next fugu has to mend.
func (s *scene) read() (b book) {
	s.t.Helper()
	url := s.url
	if s.file != "" {
		url = "sqlite:" + s.file
		if s.proxy == nil {
			url = "sqlite:" + s.copied()
		}
	}
	ctx := context.Background()
	l, err := ledger.Open(ctx, url, ledger.Options{ReadOnly: true})
	if err != nil {
		s.t.Fatal(err)
	}
	defer l.Close()
	for range 100 { // until nobody has charged between the two
		b = book{}
		_, err = l.Audit(ctx, func(l audit.Link) error {
			e, err := l.Entry()
			if e.Event == audit.Release || e.Event == audit.Joined {
				b.entries = append(b.entries, e)
			}
			if e.Event == audit.Abandoned {
				b.abandoned++
			}
			return err
		})
		if err != nil {
			s.t.Fatalf("the ledger's audit: %v", err)
		}
		if b.answers, err = l.Releases(ctx, "people", 1_000_000); err != nil {
			s.t.Fatal(err)
		}
		released := 0
		for _, e := range b.entries {
			if e.Event == audit.Release {
				released++
			}
		}
		if released == len(b.answers) {
			break
		}
	}
	return b
}

// copied copies the ledger's file, and what SQLite keeps beside it.
func (s *scene) copied() string {
	s.t.Helper()
	to := filepath.Join(s.config.Dir, "copy.db")
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(to + end)
		b, err := os.ReadFile(s.file + end)
		if os.IsNotExist(err) && end != "" {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+end, b, 0o600)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	return to
}

// has reports whether the newest answer of the book is the one whose rows are given, value for value.
func (b book) has(rows [][]string) bool {
	for _, a := range b.answers {
		values := map[string]bool{}
		for _, c := range a.Cells {
			values[c.GroupKey+" "+c.Value] = true
		}
		found := true
		for _, row := range rows {
			for _, v := range row[1:] {
				found = found && values["sex="+row[0]+" "+v]
			}
		}
		if found {
			return true
		}
	}
	return false
}
