//go:build fuguhooks

package kill

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"fugu/test/command"
	"fugu/test/pgcluster"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if made.cluster != nil {
		if err := made.cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	_ = os.RemoveAll(made.dir)
	os.Exit(code)
}

const schema = `
CREATE TABLE people (sex text, age int, income text, area text);
CREATE TABLE people_reference (LIKE people);
INSERT INTO people SELECT CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END, 20 + i % 50, CASE WHEN i % 4 = 0 THEN 'high'
  ELSE 'low' END,
  CASE WHEN i % 3 = 0 THEN 'town' ELSE 'country' END FROM generate_series(1, 600) i;
INSERT INTO people_reference SELECT * FROM people;
CREATE ROLE fugu_guest LOGIN;
CREATE ROLE fugu_reader LOGIN;
CREATE ROLE fugu_ledger LOGIN;
GRANT SELECT ON people, people_reference TO fugu_reader;
GRANT SELECT ON people_reference TO fugu_guest`

// policy is one of two secrets, so that a charge has several rows, and has a share for bob alone, so that he pays
// besides everybody, and for an answer that was given before as well.
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
  budget: {epsilon: %[1]g, delta: 0.01, shares: {users: {bob: {epsilon: %[1]g, delta: 0.01}}}}
`

// made is the server that the tests share, which waits for its disk, with the protected database; and the program.
var made struct {
	sync.Once
	cluster   *pgcluster.Cluster
	dir       string
	binary    string
	databases atomic.Int64 // of ledgers
	err       error
}

// house makes the server and the program, once.
func house(t testing.TB) (*pgcluster.Cluster, string) {
	t.Helper()
	made.Do(func() { made.err = build(context.Background()) })
	if made.err != nil {
		t.Fatal(made.err)
	}
	return made.cluster, made.binary
}

func build(ctx context.Context) (err error) {
	if made.dir, err = os.MkdirTemp("", "fugu-kill-"); err != nil {
		return err
	}
	if made.binary, err = command.Build(ctx, made.dir, "-tags", "fuguhooks"); err != nil {
		return err
	}
	if made.cluster, err = pgcluster.Start(ctx, options); err != nil {
		return err
	}
	if err := made.cluster.Exec(ctx, "postgres", "CREATE DATABASE people"); err != nil {
		return err
	}
	return made.cluster.Exec(ctx, "people", schema)
}

var options = pgcluster.Options{Fsync: true, Settings: map[string]string{"autovacuum": "off"}}

// ledgers are the kinds of ledgers.
var ledgers = []string{"SQLite", "PostgreSQL"}

// newDatabase makes a database for a ledger, and returns its name.
func newDatabase(t testing.TB, c *pgcluster.Cluster) string {
	t.Helper()
	name := fmt.Sprint("ledger_", made.databases.Add(1))
	if err := c.Exec(t.Context(), "postgres", "CREATE DATABASE "+name+" OWNER fugu_ledger"); err != nil {
		t.Fatal(err)
	}
	return name
}

// ownServer is a server for a ledger alone.
func ownServer(t testing.TB) *pgcluster.Cluster {
	t.Helper()
	c := pgcluster.StartTest(t, options)
	if err := c.Exec(t.Context(), "postgres", "CREATE ROLE fugu_ledger LOGIN"); err != nil {
		t.Fatal(err)
	}
	return c
}

func policyOf(epsilon float64) string { return fmt.Sprintf(policy, epsilon) }

// joint has the scene's answers charged to one joint account: of one secret, and without shares, which it does not
// allow.
func (s *scene) joint() *scene {
	s.jointly = true
	s.config.Policy = jointPolicy.Replace(s.config.Policy)
	return s
}

var jointPolicy = strings.NewReplacer("assume: [translation]", "assume: [translation, gaussian]", "mechanism: auto",
	"composition: joint",
	"  high_income: {table: public.people, proportion: \"income = 'high'\", values: {from: 0.1, to: 0.6, within: "+
		"0.05}}\n", "",
	", shares: {users: {bob: {epsilon: 1e+06, delta: 0.01}}}", "")
