package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/test/pgcluster"
)

// estimated are the statements of which estimates are compared: averages of few rows and of many.
var estimated = []panel{
	{"average age by education", "SELECT education, avg(age)::float8 FROM adult GROUP BY education", 1, false},
	{"average schooling by age", "SELECT age, avg(education_num)::float8 FROM adult GROUP BY age", 1, false},
	{"average hours by sex", "SELECT sex, avg(hours_per_week)::float8 FROM adult GROUP BY sex", 1, false},
	{"count by education", "SELECT education, count(*)::float8 FROM adult GROUP BY education", 1, true},
}

// estimates compares what an analyst may believe (Seeman et al., section 3.2) with what was released and with the
// reference alone: mean squared errors over a statement's groups and over answers at ε = 1. First of the census as it
// is, whose two halves have one share of high incomes, as if whoever has the reference knew the table's; then of tables
// with any share of the policy's range, which is what estimates are for and what they believe beforehand.
func estimates(ctx context.Context, cluster *pgcluster.Cluster, truth *pgx.Conn, answers int) error {
	asItIs := fmt.Sprintf("Estimates given what was released (Seeman et al., section 3.2): mean squared error, ε = 1, "+
		"%d answers.\nThe reference has the table's own shares of both secrets, which estimates do not "+
		"suppose", answers)
	if err := compareAll(ctx, cluster, truth, asItIs, nil, [][]string{nil}, answers); err != nil {
		return err
	}

	var shares [][]string
	for _, percent := range []int{15, 25, 35, 45, 55} {
		shares = append(shares, withShare(percent))
	}
	anyShare := fmt.Sprintf("The same, income alone, of %d tables whose share of high incomes is .15, .25 to .55, the "+
		"reference's .25:\neach the census' rows of either class, drawn with replacement; %d answers of each",
		len(shares), answers/len(shares))
	err := compareAll(ctx, cluster, truth, anyShare, onlyIncome, shares, answers/len(shares))
	if err := errors.Join(err, run(ctx, truth, []string{"DELETE FROM adult", "INSERT INTO adult TABLE adult_whole",
		"DROP TABLE adult_whole"})); err != nil {
		return err
	}
	return divided(ctx, cluster, truth, answers)
}

// divisions is how many divisions of the census into reference and table estimates are compared over.
const divisions = 10

// divided compares over divisions of the census into reference and table by a hash. Errors of one reference and one
// table are the same in all answers: how many intervals hold is to be seen over many of them.
func divided(ctx context.Context, cluster *pgcluster.Cluster, truth *pgx.Conn, answers int) error {
	if err := run(ctx, truth, []string{"CREATE TABLE adult_whole AS TABLE adult",
		"CREATE TABLE reference_whole AS TABLE adult_reference",
		"CREATE TABLE adult_all AS TABLE adult UNION ALL TABLE adult_reference"}); err != nil {
		return err
	}
	var tables [][]string
	for i := range divisions {
		numbered := fmt.Sprintf(`WITH numbered AS (SELECT a AS of, row_number() OVER (
				ORDER BY md5(a.ctid::text || ' of %d') COLLATE "C") AS n FROM adult_all AS a),
			known AS (SELECT count(*) AS n FROM reference_whole)`, i)
		tables = append(tables, []string{"DELETE FROM adult", "DELETE FROM adult_reference",
			numbered + "INSERT INTO adult_reference SELECT (of).* FROM numbered, known WHERE numbered.n <= known.n",
			numbered + "INSERT INTO adult SELECT (of).* FROM numbered, known WHERE numbered.n > known.n"})
	}
	title := fmt.Sprintf("The same of %d divisions of the census into reference and table, income alone; %d answers "+
		"of each", divisions, max(1, answers/divisions))
	err := compareAll(ctx, cluster, truth, title, onlyIncome, tables, max(1, answers/divisions))
	return errors.Join(err, run(ctx, truth, []string{"DELETE FROM adult", "INSERT INTO adult TABLE adult_whole",
		"DELETE FROM adult_reference", "INSERT INTO adult_reference TABLE reference_whole",
		"DROP TABLE adult_whole, reference_whole, adult_all"}))
}

// withShare are statements by which that percentage of the table's rows has a high income. They are drawn by a hash.
func withShare(percent int) []string {
	draw := func(condition, rows string) string {
		return fmt.Sprintf(`WITH class AS (SELECT w AS of, row_number() OVER (ORDER BY w::text COLLATE "C") - 1 AS n
				FROM adult_whole AS w WHERE %s),
			drawn AS MATERIALIZED (SELECT ('x' || substr(md5(i || ' of %d'), 1, 8))::bit(32)::int8 %% (SELECT count(*)
				FROM class) AS n FROM generate_series(1, (SELECT %s FROM adult_whole)) AS i)
			INSERT INTO adult SELECT (class.of).* FROM drawn JOIN class USING (n)`, condition, percent, rows)
	}
	high := fmt.Sprintf("round(count(*) * %d / 100.0)::int", percent)
	return []string{"CREATE TABLE IF NOT EXISTS adult_whole AS TABLE adult", "DELETE FROM adult",
		draw("income = '>50K'", high), draw("income <> '>50K'", "count(*) - "+high)}
}

func run(ctx context.Context, conn *pgx.Conn, statements []string) error {
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// compareAll prints what the statements come to on average over tables, each of which statements make of the last.
func compareAll(ctx context.Context, cluster *pgcluster.Cluster, truth *pgx.Conn, title string, edits []string,
	tables [][]string, answers int) error {
	sums := make([]compared, len(estimated))
	for _, table := range tables {
		if err := run(ctx, truth, table); err != nil {
			return err
		}
		one, err := compareOn(ctx, cluster, truth, edits, answers)
		if err != nil {
			return err
		}
		for i, c := range one {
			sums[i].add(c, float64(len(tables)))
		}
	}

	s := newSheet(title, "statement", "cells", "released", "reference", "estimate", "95% intervals that hold", "")
	for i, p := range estimated {
		e := sums[i]
		s.row(p.name, e.cells, number(e.released), number(e.reference), number(e.estimate),
			fmt.Sprintf("%.1f%%", 100*e.hold), "")
	}
	return s.w.Flush()
}

// compareOn compares all statements on the table as it is.
func compareOn(ctx context.Context, cluster *pgcluster.Cluster, truth *pgx.Conn, edits []string, answers int) (
	out []compared, err error) {
	text, err := policyText("auto", append([]string{"analysts: ", "estimates: {prior: reference}\nanalysts: "},
		edits...)...)
	if err != nil {
		return nil, err
	}
	fugu, err := serve(ctx, cluster, text)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fugu.stop()) }()
	client, err := pgx.Connect(ctx, fugu.dsn)
	if err != nil {
		return nil, err
	}
	defer client.Close(context.WithoutCancel(ctx))

	for _, p := range estimated {
		c, err := compareEstimates(ctx, client, truth, p, answers)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// compared are mean squared errors, and the share of intervals that hold the truth.
type compared struct {
	cells                               int
	released, reference, estimate, hold float64
}

// add takes in one of so many tables.
func (c *compared) add(one compared, of float64) {
	c.cells = max(c.cells, one.cells)
	c.released, c.reference = c.released+one.released/of, c.reference+one.reference/of
	c.estimate, c.hold = c.estimate+one.estimate/of, c.hold+one.hold/of
}

func compareEstimates(ctx context.Context, client, truth *pgx.Conn, p panel, answers int) (out compared, err error) {
	exact, err := byGroup(ctx, truth, p.sql)
	if err != nil {
		return out, err
	}
	known, err := byGroup(ctx, truth, strings.Replace(p.sql, "FROM adult", "FROM adult_reference", 1))
	if err != nil {
		return out, err
	}
	scale := 1.0 // of counts: the reference has other numbers of rows
	if p.grouped {
		scale = total(exact) / total(known)
	}
	out.cells = len(exact)
	for key, x := range exact {
		out.reference += math.Pow(known[key]*scale-x, 2) / float64(len(exact))
	}

	for range answers {
		released, err := byGroup(ctx, client, p.sql)
		if err != nil {
			return out, err
		}
		rows, err := client.Query(ctx, "SELECT split_part(group_key, '=', 2), mean, lower, upper FROM fugu.estimate")
		if err != nil {
			return out, err
		}
		each := 1 / float64(len(exact)*answers)
		var key string
		var mean, lower, upper float64
		if _, err := pgx.ForEachRow(rows, []any{&key, &mean, &lower, &upper}, func() error {
			x, ok := exact[key]
			if !ok {
				return nil // a group of the domain that has no rows
			}
			out.estimate += (mean - x) * (mean - x) * each
			out.released += (released[key] - x) * (released[key] - x) * each
			if lower <= x && x <= upper {
				out.hold += each
			}
			return nil
		}); err != nil {
			return out, err
		}
	}
	return out, nil
}

// byGroup are the values of a statement by its one key.
func byGroup(ctx context.Context, c *pgx.Conn, sql string) (map[string]float64, error) {
	rows, err := c.Query(ctx, "SELECT k::text, v FROM ("+sql+") AS x (k, v)")
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	var key string
	var v *float64
	_, err = pgx.ForEachRow(rows, []any{&key, &v}, func() error {
		if v != nil {
			out[key] = *v
		}
		return nil
	})
	return out, err
}

func total(values map[string]float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}
