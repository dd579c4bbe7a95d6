//go:build fuguhooks

package attack

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"sync"
	"testing"

	"fugu/test/pgcluster"
)

var (
	//go:embed world.sql
	worldSQL string
	//go:embed policy.yaml
	policyYAML string
)

// world is a database; rich is the number of its customers with a high income.
type world struct {
	database string
	rich     int
}

// worlds differ in the secret proportion, by what the policy says nobody can tell apart.
var worlds = [2]world{{"w400", 400}, {"w500", 500}}

// odd are the same worlds, of which the second also has rows that make careless expressions fail or stand out.
var odd = [2]world{{"o400", 400}, {"o500", 500}}

// large are worlds of twenty times as many customers, as many of them of the north in either; rich is a twentieth.
var large = [2]world{{"l400", 400}, {"l500", 500}}

// databases makes the worlds, once, but for the large ones.
func databases(t testing.TB) *pgcluster.Cluster {
	t.Helper()
	c := pgcluster.Shared(t)
	made.Do(func() {
		made.run(c, "postgres", "CREATE ROLE fugu_guest LOGIN; CREATE ROLE fugu_open LOGIN; CREATE ROLE fugu_reader "+
			"LOGIN")
		made.database(c, "base", "")
		made.run(c, "base", worldSQL)
		for i, more := range []string{"", "SELECT oddities()"} {
			for _, w := range [][2]world{worlds, odd}[i] {
				made.world(c, w, more)
			}
		}
	})
	if made.err != nil {
		t.Fatal(made.err)
	}
	return c
}

// cluster is where the world is. The large ones take seconds to make, so that is done when the first of them is wanted.
func (w world) cluster(t testing.TB) *pgcluster.Cluster {
	t.Helper()
	c := databases(t)
	if slices.Contains(large[:], w) {
		madeLarge.both(t, c, large, "SELECT grow()")
	}
	return c
}

var made, madeLarge making

// making is what is done once, up to its first error.
type making struct {
	sync.Once
	err error
}

func (m *making) run(c *pgcluster.Cluster, db, sql string) {
	if m.err != nil {
		return
	}
	if err := c.Exec(context.Background(), db, sql); err != nil {
		m.err = fmt.Errorf("making the worlds: %w", err)
	}
}

func (m *making) database(c *pgcluster.Cluster, name, more string) {
	if m.err != nil {
		return
	}
	if err := c.CreateDatabase(context.Background(), name, more); err != nil {
		m.err = fmt.Errorf("making the worlds: %w", err)
	}
}

// both makes two worlds, once for all tests that look at them, in each of which more is done besides.
func (m *making) both(t testing.TB, c *pgcluster.Cluster, worlds [2]world, more string) {
	t.Helper()
	m.Do(func() {
		for _, w := range worlds {
			m.world(c, w, more)
		}
	})
	if m.err != nil {
		t.Fatal(m.err)
	}
}

// world makes a world's database, in which more is done besides.
func (m *making) world(c *pgcluster.Cluster, w world, more string) {
	m.database(c, w.database, "TEMPLATE base")
	m.run(c, "postgres", "GRANT CREATE, TEMPORARY ON DATABASE "+w.database+" TO fugu_guest, fugu_open")
	m.run(c, w.database, fmt.Sprintf("INSERT INTO customer SELECT * FROM people(%d)", w.rich))
	if more != "" {
		m.run(c, w.database, more)
	}
	m.run(c, w.database, "VACUUM ANALYZE")
}
