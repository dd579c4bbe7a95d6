package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// run is what one run of pgbench gave.
type run struct {
	tps      float64 // transactions a second
	p50, p99 float64 // latency, milliseconds
}

// passThrough measures statements that Fugu has nothing to do with: pgbench's point select, eight clients.
func passThrough(ctx context.Context, pgbench string, targets []target, rounds, seconds int) error {
	modes := []string{"simple", "extended", "prepared"}
	runs := map[[2]string][]run{}
	for range rounds {
		for _, mode := range modes {
			for _, t := range targets {
				r, err := pointSelects(ctx, pgbench, t, mode, seconds)
				if err != nil {
					return fmt.Errorf("pgbench through %s: %w", t.name, err)
				}
				runs[[2]string{mode, t.name}] = append(runs[[2]string{mode, t.name}], r)
			}
		}
	}
	w := newTable(fmt.Sprintf("Ordinary point selects: pgbench -S, 8 clients, medians of %d runs of %d s in turn", rounds, seconds),
		"protocol", "through", "tps", "of direct", "p50 ms", "of direct", "p99 ms", "of direct")
	for _, mode := range modes {
		base := runs[[2]string{mode, targets[0].name}]
		for _, t := range targets {
			rs := runs[[2]string{mode, t.name}]
			row := []string{mode, t.name}
			for i, f := range []func(run) float64{func(r run) float64 { return r.tps }, func(r run) float64 { return r.p50 }, func(r run) float64 { return r.p99 }} {
				decimals := 3
				if i == 0 {
					decimals = 0
				}
				v := median(each(rs, f))
				row = append(row, strconv.FormatFloat(v, 'f', decimals, 64), ratio(v, median(each(base, f))))
			}
			w.row(row...)
		}
	}
	return w.flush()
}

var tpsLine = regexp.MustCompile(`(?m)^tps = ([0-9.]+) \(without initial connection time\)`)

// pointSelects runs pgbench once. A tenth of its transactions is logged, for the percentiles.
func pointSelects(ctx context.Context, pgbench string, t target, mode string, seconds int) (run, error) {
	dir, err := os.MkdirTemp("", "fugu-pgbench-")
	if err != nil {
		return run{}, err
	}
	defer os.RemoveAll(dir)
	out, err := command(ctx, pgbench, "-n", "-S", "-M", mode, "-c", "8", "-j", "2", "-T", strconv.Itoa(seconds),
		"-l", "--sampling-rate=0.1", "--log-prefix="+filepath.Join(dir, "log"), t.dsn()).CombinedOutput()
	if err != nil {
		return run{}, fmt.Errorf("%w: %s", err, out)
	}
	found := tpsLine.FindSubmatch(out)
	if found == nil {
		return run{}, fmt.Errorf("no rate in %s", out)
	}
	var r run
	if r.tps, err = strconv.ParseFloat(string(found[1]), 64); err != nil {
		return run{}, err
	}
	latencies, err := readLatencies(dir)
	r.p50, r.p99 = quantile(latencies, 0.5), quantile(latencies, 0.99)
	return r, err
}

// readLatencies reads pgbench's logs: client, transaction, microseconds, ...
func readLatencies(dir string) ([]float64, error) {
	files, err := filepath.Glob(filepath.Join(dir, "log*"))
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			fields := strings.Fields(lines.Text())
			if len(fields) < 3 {
				return nil, fmt.Errorf("pgbench logged %q", lines.Text())
			}
			us, err := strconv.ParseFloat(fields[2], 64)
			if err != nil {
				return nil, fmt.Errorf("pgbench logged %q", lines.Text())
			}
			out = append(out, us/1000)
		}
		if err := lines.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}
