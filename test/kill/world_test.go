//go:build fuguhooks

package kill

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"fugu/test/compat/sides"
	"fugu/test/pgcluster"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

const schema = `
CREATE TABLE people (sex text, age int, income text, area text);
CREATE TABLE people_reference (LIKE people);
INSERT INTO people SELECT CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END, 20 + i % 50, CASE WHEN i % 4 = 0 THEN 'high' ELSE 'low' END,
  CASE WHEN i % 3 = 0 THEN 'town' ELSE 'country' END FROM generate_series(1, 600) i;
INSERT INTO people_reference SELECT * FROM people;
CREATE ROLE fugu_guest LOGIN;
CREATE ROLE fugu_reader LOGIN;
CREATE ROLE fugu_ledger LOGIN;
GRANT SELECT ON people, people_reference TO fugu_reader;
GRANT SELECT ON people_reference TO fugu_guest`

// policy is one of two secrets, so that a charge has several rows, and of budgets per user, so that an answer can be
// charged for a second time: to another one.
const policy = `
version: 1
dataset: people
tables:
  public.people:
    rows: 600
    reference: public.people_reference
    group_by: {sex: [f, m]}
secrets:
  high_income: {table: public.people, proportion: "income = 'high'", values: {from: 0.1, to: 0.6, within: 0.05}}
  town: {table: public.people, proportion: "area = 'town'", pairs: [[0.30, 0.34]]}
assume: [translation]
privacy:
  epsilon: 1
  delta: 0.0001
  mechanism: auto
  budget: {epsilon: %g, delta: 0.01, per: user}
`

// made is the database that the tests share, and the program.
var made struct {
	sync.Once
	binary string
	err    error
}

// house makes the database and the program, once.
func house(t testing.TB) (*pgcluster.Cluster, string) {
	t.Helper()
	c := pgcluster.Shared(t)
	made.Do(func() {
		// The binary is the whole package's: a directory of this test's would go with it.
		dir := filepath.Join(c.SocketDir(), "bin")
		if made.err = os.Mkdir(dir, 0o755); made.err != nil {
			return
		}
		if made.binary, made.err = sides.Build(context.Background(), dir, "-tags", "fuguhooks"); made.err != nil {
			return
		}
		if made.err = c.Exec(context.Background(), "postgres", "CREATE DATABASE people"); made.err == nil {
			made.err = c.Exec(context.Background(), "people", schema)
		}
	})
	if made.err != nil {
		t.Fatal(made.err)
	}
	return c, made.binary
}

// ledgers are the kinds of ledgers.
var ledgers = []string{"SQLite", "PostgreSQL"}

// newLedger makes the server of a ledger in PostgreSQL, which waits for its disk, and returns the ledger's URL.
func newServer(t testing.TB) *pgcluster.Cluster {
	t.Helper()
	c := pgcluster.StartTest(t, pgcluster.Options{Fsync: true, Settings: map[string]string{"autovacuum": "off"}})
	for _, sql := range []string{"CREATE ROLE fugu_ledger LOGIN", "CREATE DATABASE ledger OWNER fugu_ledger"} {
		if err := c.Exec(t.Context(), "postgres", sql); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func policyOf(epsilon float64) string { return fmt.Sprintf(policy, epsilon) }
