package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/test/compat/sides"
	"fugu/test/pgcluster"
)

// run is what one run of a workload gave.
type run struct {
	rate float64 // transactions or rows a second
	p99  float64 // latency, milliseconds; NaN where a run is one statement
	n    int     // transactions or rows
	cpu  float64 // processor time of the proxy for each of them, microseconds; NaN where there is none
	base float64 // and of PostgreSQL's sessions
	own  float64 // processor time of pgbench, seconds
}

// workload is ordinary traffic, which Fugu has nothing to do with but to relay.
type workload struct {
	name string
	unit string
	run  func(ctx context.Context, t target) (run, error)
}

// bulkRows are the rows of pgbench_accounts at scale 10.
const bulkRows = 1_000_000

func workloads(pgbench string, transactions int) []workload {
	var out []workload
	for _, clients := range []int{8, 64} {
		for _, mode := range []string{"simple", "extended", "prepared"} {
			out = append(out, workload{fmt.Sprintf("point select, %s, %d clients", mode, clients), "tx/s",
				func(ctx context.Context, t target) (run, error) {
					return pointSelects(ctx, pgbench, t, clients, transactions, "-M", mode)
				}})
		}
	}
	return append(out,
		workload{"COPY out of 1,000,000 rows", "rows/s", func(ctx context.Context, t target) (run, error) {
			return bulk(ctx, t, func(ctx context.Context, c *pgconn.PgConn) (int64, error) {
				tag, err := c.CopyTo(ctx, io.Discard, "COPY pgbench_accounts TO STDOUT")
				return tag.RowsAffected(), err
			})
		}},
		workload{"SELECT of 1,000,000 rows", "rows/s", func(ctx context.Context, t target) (run, error) {
			return bulk(ctx, t, func(ctx context.Context, c *pgconn.PgConn) (int64, error) {
				r := c.ExecParams(ctx, "SELECT * FROM pgbench_accounts", nil, nil, nil, nil)
				n := int64(0)
				for r.NextRow() {
					n++
				}
				_, err := r.Close()
				return n, err
			})
		}},
		workload{"connect, select, disconnect, 8 clients", "tx/s", func(ctx context.Context, t target) (run, error) {
			return pointSelects(ctx, pgbench, t, 8, transactions/40, "-C")
		}},
	)
}

// relaying measures ordinary traffic through each of the targets, in turn, with another one first in each round: the
// machine is not equally fast at all times. Ratios are medians of the rounds' own ratios.
func relaying(ctx context.Context, cluster *pgcluster.Cluster, targets []target, loads []workload, only *regexp.Regexp,
	rounds, transactions int) error {
	w := newTable(fmt.Sprintf("Ordinary traffic: medians of %d rounds in turn, runs of %d transactions of pgbench -S",
		rounds, transactions),
		"", "through", "", "", "of direct", "of PgBouncer", "of io.Copy", "p99 ms", "of direct", "of PgBouncer",
		"of io.Copy", "CPU µs", "of PgBouncer", "of io.Copy", "PostgreSQL's", "of direct")
	for _, load := range loads {
		if !only.MatchString(load.name) {
			continue
		}
		runs := map[string][]run{}
		for round := range rounds {
			for i := range targets {
				t := targets[(i+round)%len(targets)]
				before, err1 := t.cpu()
				asleep, err2 := spentByAll(cluster.PID())
				r, err := load.run(ctx, t)
				after, err3 := t.cpu()
				awake, err4 := spentByAll(cluster.PID())
				if err := errors.Join(err, err1, err2, err3, err4); err != nil {
					return fmt.Errorf("%s through %s: %w", load.name, t.name, err)
				}
				r.cpu = (after - before) / float64(r.n) * 1e6
				r.base = (awake - asleep) / float64(r.n) * 1e6
				runs[t.name] = append(runs[t.name], r)
			}
		}
		for _, t := range targets {
			row := []string{load.name, t.name}
			for i, f := range []func(run) float64{func(r run) float64 { return r.rate },
				func(r run) float64 { return r.p99 }, func(r run) float64 { return r.cpu },
				func(r run) float64 { return r.base }} {
				row = append(row, figure(median(each(runs[t.name], f))))
				bases := []string{direct, bouncer, copyRelay}
				switch i {
				case 0:
					row = append(row, load.unit)
				case 2:
					bases = bases[1:]
				case 3:
					bases = bases[:1]
				}
				for _, base := range bases {
					row = append(row, figure(medianRatio(each(runs[t.name], f), each(runs[base], f))))
				}
			}
			w.row(row...)
		}
		if err := w.flush(); err != nil { // it takes minutes
			return err
		}
	}
	return nil
}

func each[T any](runs []T, f func(T) float64) []float64 {
	var out []float64
	for _, r := range runs {
		out = append(out, f(r))
	}
	return out
}

// medianRatio is the median of the ratios of values that were measured one beside the other.
func medianRatio(values, base []float64) float64 {
	ratios := make([]float64, len(values))
	for i := range values {
		ratios[i] = values[i] / base[i]
	}
	return median(ratios)
}

func figure(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// bulk times one statement that returns all rows.
func bulk(ctx context.Context, t target, rows func(context.Context, *pgconn.PgConn) (int64, error)) (run, error) {
	c, err := pgconn.Connect(ctx, t.dsn())
	if err != nil {
		return run{}, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	start := time.Now()
	n, err := rows(ctx, c)
	if err == nil && n != bulkRows {
		err = fmt.Errorf("%d rows came, and not %d", n, bulkRows)
	}
	return run{rate: float64(n) / time.Since(start).Seconds(), p99: math.NaN(), n: bulkRows}, err
}

var (
	tpsLine = regexp.MustCompile(
		`(?m)^tps = ([0-9.]+) \((?:without initial connection|including reconnection times)`)
	latencyLine = regexp.MustCompile(`(?m)^\d+ \d+ (\d+) `) // client, transaction, microseconds, ...
)

// pointSelects runs pgbench's own point selects.
func pointSelects(ctx context.Context, pgbench string, t target, clients, transactions int, args ...string) (run,
	error) {
	return transact(ctx, pgbench, t, clients, transactions, append(args, "-S")...)
}

// transact runs pgbench once. A tenth of its transactions is logged, for the percentile. Their number is given, and
// not the time, because pgbench counts the time in which it connects.
func transact(ctx context.Context, pgbench string, t target, clients, transactions int, args ...string) (run, error) {
	dir, err := os.MkdirTemp("", "fugu-pgbench-")
	if err != nil {
		return run{}, err
	}
	defer os.RemoveAll(dir)
	args = append(args, "-n", "-j", "2", "-c", strconv.Itoa(clients), "-t", strconv.Itoa(transactions/clients), "-l",
		"--sampling-rate=0.1", "--log-prefix="+filepath.Join(dir, "log"), t.dsn())
	cmd := sides.Command(ctx, pgbench, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return run{}, fmt.Errorf("pgbench: %w: %s", err, out)
	}
	found := tpsLine.FindSubmatch(out)
	if found == nil {
		return run{}, fmt.Errorf("pgbench: no rate in %s", out)
	}
	r := run{n: transactions, own: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	if r.rate, err = strconv.ParseFloat(string(found[1]), 64); err != nil {
		return run{}, err
	}
	latencies, err := readLatencies(dir)
	r.p99 = quantile(latencies, 0.99)
	return r, err
}

// readLatencies reads pgbench's logs.
func readLatencies(dir string) ([]float64, error) {
	files, err := filepath.Glob(filepath.Join(dir, "log*"))
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, m := range latencyLine.FindAllSubmatch(text, -1) {
			us, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				return nil, err
			}
			out = append(out, us/1000)
		}
	}
	return out, nil
}
