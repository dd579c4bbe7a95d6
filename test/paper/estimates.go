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
// reference alone: mean squared errors over a statement's groups and over answers at ε = 1.
func estimates(ctx context.Context, cluster *pgcluster.Cluster, truth *pgx.Conn, answers int) (err error) {
	text, err := policyText("auto", "analysts: ", "estimates: {prior: reference}\nanalysts: ")
	if err != nil {
		return err
	}
	fugu, err := serve(ctx, cluster, text)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fugu.stop()) }()
	client, err := pgx.Connect(ctx, fugu.dsn)
	if err != nil {
		return err
	}
	defer client.Close(context.WithoutCancel(ctx))

	s := newSheet(fmt.Sprintf("Estimates given what was released (Seeman et al., section 3.2): mean squared error, "+
		"ε = 1, %d answers", answers), "statement", "cells", "released", "reference", "estimate",
		"95% intervals that hold", "")
	for _, p := range estimated {
		e, err := compareEstimates(ctx, client, truth, p, answers)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		s.row(p.name, e.cells, number(e.released), number(e.reference), number(e.estimate),
			fmt.Sprintf("%.1f%%", 100*e.hold), "")
	}
	return s.w.Flush()
}

// compared are mean squared errors, and the share of intervals that hold the truth.
type compared struct {
	cells                               int
	released, reference, estimate, hold float64
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
