package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"gonum.org/v1/gonum/stat"

	"fugu/test/pgcluster"
	"fugu/test/serving"
)

// promised are the panels for which it is printed what a promise for every law of the reference costs.
var promised = []string{"count by sex", "count by education", "women by education", "count under 30",
	"average hours by sex", "sum of gains by sex"}

// estimation prints what it costs to promise ε for every law that the reference may have been drawn from, and not only
// for the one that it shows (Grosse et al., theorem 2, for statements), beside a twin, which needs no reference.
func estimation(ctx context.Context, cluster *pgcluster.Cluster, truth *pgx.Conn) (err error) {
	exact := make([]map[string]float64, len(panels))
	for i, p := range panels {
		if exact[i], err = cells(ctx, truth, p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	p, counts, err := readTwinPolicy(ctx, truth, 1)
	if err != nil {
		return err
	}
	d, err := lawOf(p)
	if err != nil {
		return err
	}
	drawn, err := drawnErrors(ctx, truth, d, counts, exact)
	if err != nil {
		return err
	}
	engines, stop, err := promisingEngines(ctx, cluster, truth)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	s := newSheet("What the reference of 10,000 rows may be off by (Grosse et al., theorem 2, of all statements at "+
		"once): Σ|noise|/Σ|F| at ε = 1, δ = .001, income alone, and 1e-6 over the reference", "statement", "cells",
		"reference taken for the truth", "every law", "every law, values listed", "twin, no reference", "")
	for i, panel := range panels {
		if !slices.Contains(promised, panel.name) {
			continue
		}
		row := []any{panel.name, len(exact[i])}
		for _, e := range engines {
			share, err := noiseShare(ctx, e.engine, panel.sql, exact[i])
			if err != nil {
				return fmt.Errorf("%s: %w", panel.name, err)
			}
			row = append(row, number(share))
		}
		s.row(append(row, number(stat.Mean(drawn[i], nil)), "")...)
	}
	return s.w.Flush()
}

// promisingEngines are those of the example's policy, of one that promises what the reference may be off by, and of one
// that lists the values of education besides.
func promisingEngines(ctx context.Context, cluster *pgcluster.Cluster, truth *pgx.Conn) (out []*server,
	stop func() error, err error) {
	stop = func() (err error) {
		for _, e := range out {
			err = errors.Join(err, e.stop())
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	var listed string
	const values = `SELECT '[' || string_agg(DISTINCT '"' || education || '"', ', ') || ']' FROM adult_reference`
	if err = truth.QueryRow(ctx, values).Scan(&listed); err != nil {
		return nil, stop, err
	}
	text, err := policyText("auto", onlyIncome...)
	if err != nil {
		return nil, stop, err
	}
	const promise = "mechanism: auto\n  estimation: {delta: 1e-6}"
	promising := strings.ReplaceAll(text, "mechanism: auto", promise)
	listing := strings.Replace(promising, "education: reference", "education: "+listed, 1)
	for _, text := range []string{text, promising, listing} {
		e, err := serve(ctx, cluster, text)
		if err != nil {
			return out, stop, err
		}
		out = append(out, e)
	}
	return out, stop, nil
}

// noiseShare is Σ|noise|/Σ|F| of a statement.
func noiseShare(ctx context.Context, e *serving.Engine, sql string, exact map[string]float64) (float64, error) {
	x, err := e.Preview(ctx, sql, 1)
	if err != nil {
		return 0, err
	}
	noise, size := 0., 0.
	for k := range x[0].Values {
		noise += x[0].Calibration.Noise.Mean(k)
	}
	for _, v := range exact {
		size += math.Abs(v)
	}
	return noise / size, nil
}
