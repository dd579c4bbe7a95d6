package planner_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/parser"
	"fugu/planner"
	"fugu/test/pgcluster"
)

// The moments statement evaluates what it multiplies once for each row, and PostgreSQL can share its rows out to
// parallel workers; over OFFSET 0 it could not, and without OFFSET it would evaluate everything at each of its places.
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
		if _, err := db.Exec(t.Context(), `SET parallel_setup_cost = 0; SET min_parallel_table_scan_size = 0;
			SET parallel_tuple_cost = 0`); err != nil {
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

// The predicates of several secrets are bits of one label, unless PostgreSQL, which would expect 200 values of that,
// would sort the rows for it.
func TestMomentsByOneLabel(t *testing.T) {
	w := newWorld(t)
	db, err := pgx.Connect(t.Context(), pgcluster.Shared(t).DSN("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	for _, sql := range []string{`INSERT INTO adult_reference (age, fnlwgt, sex, income, workclass)
		SELECT 17 + i % 74, i, CASE WHEN i % 3 = 0 THEN 'Male' ELSE 'Female' END, CASE WHEN i % 5 = 0 THEN '>50K' END,
			CASE WHEN i % 7 = 0 THEN 'Private' END FROM generate_series(1, 200000) AS i`,
		"ANALYZE adult_reference", "SET max_parallel_workers_per_gather = 0"} {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	syntax, _ := w.Table("public", "adult")
	private, err := parser.ParsePredicate("workclass = 'Private'", syntax)
	if err != nil {
		t.Fatal(err)
	}
	adult := w.tables["adult"]
	one := adult.Secrets
	two := append(one[:1:1], planner.Secret{Name: "private", Predicate: private})
	for _, c := range []struct {
		sql     string
		secrets []planner.Secret
		packed  bool
	}{
		{"SELECT age, avg(age) FROM adult GROUP BY age", two, true},
		{"SELECT sex, corr(age, fnlwgt) FROM adult GROUP BY sex", two, true},
		{"SELECT age, avg(age) FROM adult GROUP BY age", one, false},
		{"SELECT age, sex, corr(age, fnlwgt) FROM adult GROUP BY age, sex", two, false},
		{"SELECT age, sex, education, avg(age) FROM adult GROUP BY age, sex, education", two, false},
	} {
		adult.Secrets = c.secrets
		p, err := w.plan(t.Context(), c.sql)
		if err != nil {
			t.Fatal(err)
		}
		bound, err := p.Cuts[0].Bind(t.Context(), w.reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		sql := bound.Moments()
		if packed := strings.Contains(sql, "THEN 3 ELSE 1 END"); packed != c.packed {
			t.Errorf("%s with %d secrets: one label %v", c.sql, len(c.secrets), packed)
		}
		rows, err := db.Query(t.Context(), "EXPLAIN (COSTS OFF) "+sql)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.Join(lines, "\n"), "Sort") {
			t.Errorf("%s with %d secrets sorts the rows:\n%s", c.sql, len(c.secrets), strings.Join(lines, "\n"))
		}
	}
}
