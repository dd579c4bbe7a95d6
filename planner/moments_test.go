package planner_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/pgcluster"
)

// The moments statement evaluates what it multiplies once for each row, and PostgreSQL can share its rows out to parallel
// workers; over OFFSET 0 it could not, and without OFFSET it would evaluate everything at each of its places.
func TestMomentsOnceAndInParallel(t *testing.T) {
	w := newWorld(t)
	p, err := w.plan(t.Context(), "SELECT stddev(age), corr(age, fnlwgt) FROM adult")
	if err != nil {
		t.Fatal(err)
	}
	bound, err := p.Cuts[0].Bind(t.Context(), w.reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	db, err := pgx.Connect(t.Context(), pgcluster.Shared(t).DSN("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	plan := func(sql string) (parallel bool, clamps int) {
		t.Helper()
		if _, err := db.Exec(t.Context(), "SET parallel_setup_cost = 0; SET min_parallel_table_scan_size = 0; SET parallel_tuple_cost = 0"); err != nil {
			t.Fatal(err)
		}
		rows, err := db.Query(t.Context(), "EXPLAIN (VERBOSE, COSTS OFF) "+sql)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			// The last is the scan: what it evaluates is evaluated once.
			if parallel = parallel || strings.Contains(l, "Partial "); strings.Contains(l, "Output:") {
				clamps = strings.Count(l, "(t.age < 17)")
			}
		}
		return parallel, clamps
	}
	sql := bound.Moments()
	// In all rows, and in those in which fnlwgt is there, too.
	if parallel, clamps := plan(sql); !parallel || clamps != 2 {
		t.Errorf("summed in parallel %v, clamped %d times by the scan", parallel, clamps)
	}
	if parallel, _ := plan(strings.ReplaceAll(sql, "OFFSET '0'", "OFFSET 0")); parallel {
		t.Error("summed in parallel over OFFSET 0: the literal needs no care any more")
	}
	if _, clamps := plan(strings.ReplaceAll(sql, "OFFSET '0'", "")); clamps != 0 {
		t.Error("the scan clamps without OFFSET, too: it needs no care any more")
	}
}
