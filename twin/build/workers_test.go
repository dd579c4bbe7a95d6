package build

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/policy"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// planned is a transaction over a table of which some rows are taken, and what executes the query of their copies.
func planned(t *testing.T) (tx pgx.Tx, copies string) {
	t.Helper()
	c := pgcluster.Shared(t)
	for _, sql := range [][2]string{{"postgres", "CREATE DATABASE workers"}, {"workers", `
		CREATE TABLE public.person (id bigint PRIMARY KEY, sick bool NOT NULL, name text);
		INSERT INTO public.person SELECT i, i % 3 = 0, 'p' || i FROM generate_series(1, 20000) i;
		ANALYZE public.person; CREATE SCHEMA fugu_twin`}} {
		if err := c.Exec(t.Context(), sql[0], sql[1]); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := Connect(t.Context(), c.DSN("postgres", "workers"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if tx, err = conn.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}

	s, err := describe(t.Context(), tx, policy.Table{Schema: "public", Name: "person", Twin: &policy.Twin{}})
	if err != nil {
		t.Fatal(err)
	}
	f := &family{root: s, sources: []*source{s}}
	keys, err := f.freshKeys()
	if err != nil {
		t.Fatal(err)
	}
	taken := [][]byte{{0x80}, {0x80}}
	if err := errors.Join(setOrder(t.Context(), tx, make([]byte, 32)),
		setCopies(t.Context(), tx, newSieve(1), taken, taken, []int64{1, 3})); err != nil {
		t.Fatal(err)
	}
	f.rows = s.rows(`CASE WHEN sick THEN 1 ELSE 0 END`, f.carried(s, keys[s]))
	if copies, err = s.prepareTaken(t.Context(), tx, f.copies(s, keys, nil)+` ORDER BY "fugu o"`); err != nil {
		t.Fatal(err)
	}
	return tx, copies
}

// Hashing and sorting are most of a build: workers do both, each hash once, and who writes gathers what they have
// sorted. It hangs on how the statement is written, which the planner of another PostgreSQL may see otherwise.
func TestWorkersHashAndSort(t *testing.T) {
	patient.Test(t)
	tx, copies := planned(t)
	// The table is small, so that the planner has to be told that workers come for nothing.
	if _, err := tx.Exec(t.Context(), `SET LOCAL min_parallel_table_scan_size = 0; SET LOCAL parallel_setup_cost = 0`,
		pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	var plan []string
	err := inParallel(t.Context(), tx, func() (err error) {
		rows, _ := tx.Query(t.Context(), `EXPLAIN (VERBOSE, COSTS off) `+copies)
		plan, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(plan, "\n")
	inTurn := regexp.MustCompile(`(?s)Gather Merge.*-> +Sort.*Output: [^\n]*sha256.*Parallel (Seq|Index Only) Scan`)
	if !inTurn.MatchString(text) {
		t.Errorf("workers do not hash and sort:\n%s", text)
	}
	if n := strings.Count(text, "sha256("); n != 1 {
		t.Errorf("a hash is computed in %d places:\n%s", n, text)
	}
}
