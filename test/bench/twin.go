package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"fugu/ledger"
	"fugu/policy"
	"fugu/test/pgcluster"
	"fugu/twin/build"
)

// personTable is what twins are built of here: rows are narrow, so that what a build does beside writing them weighs
// most.
const personTable = `
CREATE ROLE bench_keeper LOGIN; GRANT CREATE ON DATABASE adult TO bench_keeper;
CREATE TABLE person (id bigint PRIMARY KEY, region int, name text, sick bool NOT NULL, cost numeric, seen date);
INSERT INTO person SELECT i, i %% 100, 'person ' || i, i %% 3 = 0, i %% 1000, date '2026-01-01' + i %% 365
  FROM generate_series(1, %d) i;
CREATE INDEX ON person (region);
GRANT SELECT ON person TO bench_keeper`

const personPolicy = `
version: 1
dataset: person
tables:
  public.person: {rows: %d, answers: twin, twin: {rows: shown}}
secrets:
  sick: {table: public.person, proportion: sick, values: {from: 0.10, to: 0.60, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 1, delta: 0.001, per: dataset}}
`

// mostTimes is how many times a copy with what a twin has, key, index and statistics, a build may take. These alone
// make a plain CREATE TABLE AS take 2.6 times as long, and no build of a twin can do without them: so that is what it
// is measured by, and the plain copy stands beside it.
const mostTimes = 3

// building measures a build of a twin beside copies of the same table, in turn with them: one by CREATE TABLE AS alone;
// one with the indexes and the statistics that a twin has, too; one whose rows are in a random order besides, as those
// of a twin have to be; and one in the order of a keyed hash, which a build has to compute, in one statement. None of
// them is a twin. The goal is about the second, by the clock; on a busy machine the processor time says more of what a
// build does.
func building(ctx context.Context, dir string, cluster *pgcluster.Cluster, rows int64, rounds int) (err error) {
	if err := cluster.Exec(ctx, "adult", fmt.Sprintf(personTable, rows)); err != nil {
		return err
	}
	if err := cluster.Exec(ctx, "adult", "VACUUM ANALYZE person"); err != nil {
		return err
	}
	k, p, done, err := keeper(ctx, filepath.Join(dir, "person"), cluster, "bench_keeper",
		fmt.Sprintf(personPolicy, rows))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if _, err := k.Build(ctx, p, p.Tables[0], build.Options{}); err != nil {
		return err
	}

	steps := stopwatch{took: map[string][]float64{}}
	k.Progress = steps.step
	kinds := copying(cluster, func(ctx context.Context) error {
		_, err := k.Build(ctx, p, p.Tables[0], build.Options{Again: true})
		return err
	})
	if err := forgetPeak(); err != nil {
		return err
	}
	if err := copyInTurn(ctx, cluster, kinds, rounds); err != nil {
		return err
	}

	if err := showCopies(kinds, rows, rounds); err != nil {
		return err
	}
	if err := steps.print(median(each(kinds[1].costs, cost.wall)) / 1000); err != nil {
		return err
	}
	most, err := peak(os.Getpid())
	if err == nil {
		fmt.Printf("\nThe keeper's process held %d MiB at most.\n", most>>20)
	}
	return err
}

// copying are the ways to make a copy of the table; the last of them is a twin.
func copying(cluster *pgcluster.Cluster, twin func(context.Context) error) []*kind {
	const (
		copied = "CREATE TABLE copied AS SELECT * FROM person"
		more   = "; ALTER TABLE copied ADD PRIMARY KEY (id); CREATE INDEX ON copied (region); ANALYZE copied"
		memory = "SET work_mem = '64MB'; SET maintenance_work_mem = '256MB'; SET jit = off; " // that a build takes
		hash   = "sha256(convert_to(ROW(id)::text, 'UTF8'))"
	)
	by := func(name, sql string) *kind {
		return &kind{name: name, run: func(ctx context.Context) error { return cluster.Exec(ctx, "adult", sql) }}
	}
	return []*kind{
		by("CREATE TABLE AS", copied),
		by("with key, index and ANALYZE", copied+more),
		by("and ORDER BY random()", memory+copied+" ORDER BY random()"+more),
		by("and ORDER BY a SHA-256 of the key", memory+copied+" ORDER BY "+hash+more),
		{name: "fugu twin build -again", run: twin},
	}
}

// copyInTurn runs every kind once a round, each time another one first.
func copyInTurn(ctx context.Context, cluster *pgcluster.Cluster, kinds []*kind, rounds int) error {
	for round := range rounds {
		for i := range kinds {
			k := kinds[(i+round)%len(kinds)]
			c, err := took(cluster.PID(), func() error { return k.run(ctx) })
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			k.costs = append(k.costs, c)
			// What was left to be written is nobody's but who wrote it.
			if err := cluster.Exec(ctx, "adult", "DROP TABLE IF EXISTS copied; CHECKPOINT"); err != nil {
				return err
			}
		}
	}
	return nil
}

// showCopies prints what the kinds cost. The last is a build, which is measured by the first three: the goal is about
// the second, and the third shows what is a twin's own.
func showCopies(kinds []*kind, rows int64, rounds int) error {
	bases := kinds[:3]
	headings := []string{"what"}
	for _, unit := range []string{"s", "processor s"} {
		headings = append(headings, unit, "of the first", "of the second", "of the third")
	}
	goal := fmt.Sprintf("goal ≤ %d of the second, s", mostTimes)
	title := fmt.Sprintf("A twin of %d rows beside copies of its table: medians of %d rounds in turn", rows, rounds)
	w := newTable(title, append(headings, goal)...)
	for i, k := range kinds {
		row := []string{k.name}
		for _, of := range []func(cost) float64{cost.wall, cost.processor} {
			row = append(row, fmt.Sprintf("%.2f", median(each(k.costs, of))/1000))
			for _, base := range bases {
				row = append(row, fmt.Sprintf("%.2f", medianRatio(each(k.costs, of), each(base.costs, of))))
			}
		}
		if i == len(kinds)-1 {
			times := medianRatio(each(k.costs, cost.wall), each(bases[1].costs, cost.wall))
			row = append(row, verdict(times <= mostTimes))
		}
		w.row(row...)
	}
	return w.flush()
}

func verdict(reached bool) string {
	if reached {
		return "reached"
	}
	return "not reached"
}

// kind is one way to make a table.
type kind struct {
	name  string
	run   func(context.Context) error
	costs []cost
}

// stopwatch measures the steps of a build.
type stopwatch struct {
	names []string
	took  map[string][]float64 // seconds
	last  string
	since time.Time
}

func (s *stopwatch) step(next build.Step) {
	if s.last != "" && next.Done > 0 {
		s.took[s.last] = append(s.took[s.last], time.Since(s.since).Seconds())
	}
	if !slices.Contains(s.names, next.What) {
		s.names = append(s.names, next.What)
	}
	s.last, s.since = next.What, time.Now()
}

// print prints the steps, beside a copy with key, index and statistics that took so many seconds.
func (s *stopwatch) print(copied float64) error {
	w := newTable("Its steps", "step", "s", "of the second copy")
	for _, name := range s.names {
		if len(s.took[name]) > 0 {
			took := median(s.took[name])
			w.row(name, fmt.Sprintf("%.2f", took), fmt.Sprintf("%.2f", took/copied))
		}
	}
	return w.flush()
}

// keeper is who builds twins by a policy, with a ledger of its own.
func keeper(ctx context.Context, dir string, cluster *pgcluster.Cluster, role, text string) (
	_ *build.Keeper, _ *policy.Policy, done func() error, err error) {
	path := filepath.Join(dir, "the.policy.yaml")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		return nil, nil, nil, err
	}
	policies, err := policy.Load(path)
	if err != nil {
		return nil, nil, nil, err
	}
	l, err := ledger.Open(ctx, "sqlite:"+filepath.Join(dir, "twins.db"), ledger.Options{})
	if err != nil {
		return nil, nil, nil, err
	}
	conn, err := build.Connect(ctx, cluster.DSN(role, "adult"))
	if err != nil {
		return nil, nil, nil, errors.Join(err, l.Close())
	}
	done = func() error { return errors.Join(conn.Close(context.WithoutCancel(ctx)), l.Close()) }
	k := &build.Keeper{Conn: conn, Ledger: l, Guests: []string{"fugu_guest"}, Operator: "bench"}
	k.Random = rand.NewChaCha8([32]byte{}) // what is built here keeps nothing secret
	return k, policies[0], done, nil
}
