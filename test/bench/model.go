package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"fugu/privacy"
	"fugu/test/pgcluster"
)

const wideTables = `
CREATE TABLE wide AS SELECT a.*, 0 AS cell FROM adult a LIMIT 0;
CREATE TABLE wide_reference AS SELECT a.*, (row_number() OVER ())::int %% 100 AS cell FROM generate_series(1, %[1]d / 1000 + 1), (SELECT * FROM adult LIMIT 1000) a LIMIT %[1]d;
GRANT SELECT ON wide, wide_reference TO fugu_reader`

const widePolicy = `
version: 1
dataset: wide
tables:
  public.wide: {rows: 1000000, reference: public.wide_reference, group_by: {cell: {from: 0, to: 99}, age: {from: 17, to: 90}}}
secrets:
  high_income: {table: public.wide, proportion: income = '>50K', values: {from: 0.10, to: 0.60, within: 0.05}}
  private_sector: {table: public.wide, proportion: workclass = 'Private', pairs: [[0.68, 0.72]]}
assume: [translation]
privacy: {epsilon: 1, delta: 0.001, mechanism: auto, budget: {epsilon: 20, delta: 0.01, per: dataset}}
`

// modelling measures f_θ of grouped statements, for all θ of two secrets, from a large reference: beside the plain
// statement over the same rows. What is taken is what EXPLAIN (PRIVACY) takes: plan, one scan, and calibration for
// translations, which is quick; what certified calibration takes is measured by calibrating.
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
	engine, done, err := openEngine(ctx, path, cluster)
	if err != nil {
		return err
	}
	defer done()
	plain, err := pgx.Connect(ctx, cluster.DSN("fugu_reader", "adult"))
	if err != nil {
		return err
	}
	defer plain.Close(context.WithoutCancel(ctx))
	number := 0
	var measurements []*measurement
	for _, aggregate := range []string{"count(*)", "avg(age)", "count(*), sum(hours_per_week), avg(age)", "stddev(age)", "corr(age, hours_per_week)"} {
		statement := func(table string) string { // true of every row, and new each time
			number++
			return fmt.Sprintf("SELECT cell, %s FROM %s WHERE hours_per_week > %d GROUP BY cell", aggregate, table, -number)
		}
		base := aggregate + ", without Fugu"
		measurements = append(measurements,
			&measurement{name: base, run: func() error { return query(ctx, plain, statement("wide_reference")) }, times: 1},
			&measurement{name: aggregate + ", f_θ: planned, reference read, calibrated", times: 1, to: base, run: func() error {
				_, err := engine.Preview(ctx, statement("wide"), nil, []privacy.Epsilon{1})
				return err
			}})
	}
	return compare(measurements, rounds, fmt.Sprintf("Model of 100 cells from a reference of %d rows (goal: ratio ≤ 1.5), medians of %d rounds in turn", rows, rounds))
}
