package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// protected measures one client's statements: aggregates over the protected table, new and repeated, beside the same
// statement without Fugu and beside a point select.
func protected(ctx context.Context, reader string, direct, through target, rows int64, rounds int) error {
	var conns [3]*pgx.Conn
	for i, dsn := range []string{reader, direct.dsn(), through.dsn()} {
		c, err := pgx.Connect(ctx, dsn)
		if err != nil {
			return err
		}
		defer c.Close(context.WithoutCancel(ctx))
		conns[i] = c
	}
	plain, guest, fugu := conns[0], conns[1], conns[2]

	number := 0
	fresh := func() string { // true of every row, and new each time
		number++
		return fmt.Sprintf("SELECT education, avg(age) FROM adult WHERE hours_per_week > %d GROUP BY education",
			-number)
	}
	const point = "SELECT abalance FROM pgbench_accounts WHERE aid = 4711"
	stored := fresh()
	if err := query(ctx, fugu, stored); err != nil {
		return err
	}
	const many = 50
	measurements := []*measurement{
		{name: "grouped average, without Fugu", run: func() error { return query(ctx, plain, fresh()) }, times: 1},
		{name: "grouped average, new: planned, read, charged", run: func() error { return query(ctx, fugu, fresh()) },
			times: 1, to: "grouped average, without Fugu"},
		{name: "grouped average, EXPLAIN (PRIVACY): planned, model read",
			run: func() error { return query(ctx, fugu, "EXPLAIN (PRIVACY) "+fresh()) }, times: 1,
			to: "grouped average, without Fugu"},
		{name: "point select, without Fugu", run: func() error { return query(ctx, guest, point) }, times: many},
		{name: "point select, through Fugu", run: func() error { return query(ctx, fugu, point) }, times: many,
			to: "point select, without Fugu"},
		{name: "grouped average, stored: simple protocol", run: func() error { return query(ctx, fugu, stored) },
			times: many, to: "point select, without Fugu"},
		{name: "grouped average, stored: prepared", run: func() error { return prepared(ctx, fugu, stored) },
			times: many, to: "point select, without Fugu"},
		{name: "preparing a new statement, without Fugu", run: func() error { return prepare(ctx, plain, fresh()) },
			times: 20},
		{name: "preparing a new statement, through Fugu", run: func() error { return prepare(ctx, fugu, fresh()) },
			times: 20, to: "preparing a new statement, without Fugu"},
	}
	return compare(measurements, rounds, fmt.Sprintf("Protected statements: %d rows, one client, medians of %d "+
		"rounds in turn", rows, rounds))
}

// compare takes the measurements in turn and prints their medians.
func compare(measurements []*measurement, rounds int, title string) error {
	for round := range rounds + 1 { // the first warms up
		for _, m := range measurements {
			if err := m.measure(round > 0); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	return show(measurements, title)
}

// show prints the medians of measurements.
func show(measurements []*measurement, title string) error {
	w := newTable(title, "statement", "ms", "ratio", "to")
	medians := map[string]float64{}
	for _, m := range measurements {
		medians[m.name] = median(m.ms)
		row := []string{m.name, fmt.Sprintf("%.4f", medians[m.name]), "", ""}
		if m.to != "" {
			row[2], row[3] = ratio(medians[m.name], medians[m.to]), m.to
		}
		w.row(row...)
	}
	return w.flush()
}

// measurement is a statement that is timed again and again.
type measurement struct {
	name  string
	run   func() error
	times int    // in a round
	to    string // the measurement, further up, that it is compared with; empty: none
	ms    []float64
}

func (m *measurement) measure(keep bool) error {
	for range m.times {
		start := time.Now()
		if err := m.run(); err != nil {
			return err
		}
		if keep {
			m.ms = append(m.ms, time.Since(start).Seconds()*1000)
		}
	}
	return nil
}

// query runs one statement in the simple protocol, to its last row.
func query(ctx context.Context, c *pgx.Conn, sql string) error {
	_, err := c.PgConn().Exec(ctx, sql).ReadAll()
	return err
}

// prepared runs a statement that the connection prepares once.
func prepared(ctx context.Context, c *pgx.Conn, sql string) error {
	rows, err := c.Query(ctx, sql, pgx.QueryExecModeCacheStatement)
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return rows.Err()
}

// prepare parses and describes a statement, and runs it not.
func prepare(ctx context.Context, c *pgx.Conn, sql string) error {
	_, err := c.PgConn().Prepare(ctx, "", sql, nil)
	return err
}
