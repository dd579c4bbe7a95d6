package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"fugu/test/pgcluster"
)

const wideTables = `
CREATE TABLE wide AS SELECT a.*, 0 AS cell FROM adult a LIMIT 0;
CREATE TABLE wide_reference AS SELECT a.*, (row_number() OVER ())::int %% 100 AS cell FROM generate_series(1,
  %[1]d / 1000 + 1), (SELECT * FROM adult LIMIT 1000) a LIMIT %[1]d;
GRANT SELECT ON wide, wide_reference TO fugu_reader`

const widePolicy = `
version: 1
dataset: wide
tables:
  public.wide: {rows: 1000000, reference: public.wide_reference, 
    group_by: {cell: {from: 0, to: 99}, age: {from: 17, to: 90}}}
secrets:
  high_income: {table: public.wide, proportion: income = '>50K', values: {from: 0.10, to: 0.60, within: 0.05}}
  private_sector: {table: public.wide, proportion: workclass = 'Private', pairs: [[0.68, 0.72]]}
assume: [translation]
privacy: {epsilon: 1, delta: 0.001, mechanism: auto, budget: {epsilon: 20, delta: 0.01, per: dataset}}
`

// goal is how many times a plain statement its f_θ may cost.
const goal = 1.5

// modelling measures f_θ of grouped statements, for all θ of two secrets, from a large reference: beside the plain
// statement over the same rows. What is taken is what EXPLAIN (PRIVACY) takes: plan, one scan, and calibration for
// translations, which is quick; what certified calibration takes is measured by calibrating. Each ratio is taken of two
// statements that ran one after the other; that of processor time, of PostgreSQL with its workers and of this process,
// tells the same on a machine that does other things, too. The first round is not counted: in it, rows that are alone
// with a column's values are counted, once for each column and secret.
func modelling(ctx context.Context, dir string, cluster *pgcluster.Cluster, rows int64, rounds int) error {
	if err := cluster.Exec(ctx, "adult", fmt.Sprintf(wideTables, rows)); err != nil {
		return err
	}
	if err := cluster.Exec(ctx, "adult", "VACUUM ANALYZE wide_reference"); err != nil {
		return err
	}
	path := filepath.Join(dir, "wide.policy.yaml")
	if err := os.WriteFile(path, []byte(widePolicy), 0o600); err != nil {
		return err
	}
	engine, err := openEngine(ctx, path, cluster)
	if err != nil {
		return err
	}
	defer engine.Close()
	plain, err := pgx.Connect(ctx, cluster.DSN("fugu_reader", "adult"))
	if err != nil {
		return err
	}
	defer plain.Close(context.WithoutCancel(ctx))
	var pairs []*pair
	for _, aggregate := range []string{"count(*)", "avg(age)", "count(*), sum(hours_per_week), avg(age)", "stddev(age)",
		"corr(age, hours_per_week)"} {
		pairs = append(pairs, &pair{aggregate: aggregate})
	}
	number := 0
	for round := range rounds + 1 {
		for _, p := range pairs {
			number++
			statement := func(table string) string { // true of every row, and new each time
				return fmt.Sprintf("SELECT cell, %s FROM %s WHERE hours_per_week > %d GROUP BY cell", p.aggregate,
					table, -number)
			}
			without, err := took(cluster.PID(), func() error { return query(ctx, plain, statement("wide_reference")) })
			if err != nil {
				return fmt.Errorf("%s: %w", p.aggregate, err)
			}
			model, err := took(cluster.PID(), func() error {
				_, err := engine.Preview(ctx, statement("wide"), 1)
				return err
			})
			if err != nil {
				return fmt.Errorf("f_θ of %s: %w", p.aggregate, err)
			}
			if round > 0 {
				p.without, p.model = append(p.without, without), append(p.model, model)
			}
		}
	}
	return showModels(pairs, rows, rounds)
}

// showModels prints what f_θ costs beside the plain statements, by the clock and by the processors.
func showModels(pairs []*pair, rows int64, rounds int) error {
	w := newTable(fmt.Sprintf("f_θ of 100 cells from a reference of %d rows, planned, read and calibrated, beside "+
		"the plain statement: medians of %d rounds in turn", rows, rounds),
		"statement", "ms", "f_θ ms", "ratio", fmt.Sprintf("goal ≤ %v", goal), "processor ms", "f_θ, PostgreSQL's",
		"f_θ, Fugu's", "ratio", fmt.Sprintf("goal ≤ %v", goal))
	for _, p := range pairs {
		row := []string{p.aggregate}
		add := func(values []float64) { row = append(row, fmt.Sprintf("%.1f", median(values))) }
		compared := func(of func(cost) float64) {
			r := medianRatio(each(p.model, of), each(p.without, of))
			row = append(row, fmt.Sprintf("%.2f", r), verdict(r <= goal))
		}

		add(each(p.without, cost.wall))
		add(each(p.model, cost.wall))
		compared(cost.wall)

		add(each(p.without, cost.processor))
		add(each(p.model, func(c cost) float64 { return c.server }))
		add(each(p.model, func(c cost) float64 { return c.own }))
		compared(cost.processor)
		w.row(row...)
	}
	return w.flush()
}

// pair is what a statement took without Fugu and what its f_θ took, round after round.
type pair struct {
	aggregate      string
	without, model []cost
}

// cost is what something took, in milliseconds: by the clock, and of the processors for the server and for this
// process.
type cost struct{ elapsed, server, own float64 }

func (c cost) wall() float64      { return c.elapsed }
func (c cost) processor() float64 { return c.server + c.own }

// took measures what f costs, server being the process id of PostgreSQL.
func took(server int, f func() error) (cost, error) {
	theirs, err := spentByAll(server)
	if err != nil {
		return cost{}, err
	}
	ours, err := own()
	if err != nil {
		return cost{}, err
	}
	start := time.Now()
	if err := f(); err != nil {
		return cost{}, err
	}
	out := cost{elapsed: time.Since(start).Seconds() * 1000}
	if out.own, err = own(); err != nil {
		return cost{}, err
	}
	out.own = (out.own - ours) * 1000
	if out.server, err = spentByAll(server); err != nil {
		return cost{}, err
	}
	out.server = (out.server - theirs) * 1000
	return out, nil
}
