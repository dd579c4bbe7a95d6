package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"fugu/test/pgcluster"
)

// repeated are statements that were answered before, as pgbench scripts.
var repeated = []struct{ name, sql string }{
	{"known count, 1 row", "SELECT count(*) FROM adult WHERE income = '>50K'"},
	{"known average by education, 16 rows", "SELECT education, avg(age) FROM adult GROUP BY education"},
}

// repeatClients are the clients of each proxy.
const repeatClients = 8

// repeating measures what statements cost that the ledger knows: beside ordinary point selects through the same proxy, and
// at two proxies of one ledger beside one. How long a charge takes is measured by the ledger's own benchmarks.
func repeating(ctx context.Context, o options, dir string, cluster *pgcluster.Cluster) (err error) {
	server, err := pgcluster.Start(ctx, pgcluster.Options{Fsync: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	for _, sql := range []string{"CREATE ROLE fugu_ledger LOGIN", "CREATE DATABASE ledger OWNER fugu_ledger"} {
		if err := server.Exec(ctx, "postgres", sql); err != nil {
			return err
		}
	}
	var proxies []target
	for _, name := range []string{"first", "second"} {
		p, err := serveFrom(server.DSN("fugu_ledger", "ledger"), o.binary, filepath.Join(dir, name), cluster, o.rows, 100, 0)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Stop()) }()
		proxies = append(proxies, target{fugu, "alice", p.Address(), p.PID()})
	}
	scripts := make([]string, len(repeated))
	for i, r := range repeated {
		scripts[i] = filepath.Join(dir, fmt.Sprintf("known%d.sql", i))
		if err := os.WriteFile(scripts[i], []byte(r.sql+";\n"), 0o600); err != nil {
			return err
		}
	}
	pgbench := cluster.Tool("pgbench")
	w := newTable(fmt.Sprintf("Known answers: medians of %d rounds in turn, %d clients a proxy, a ledger in PostgreSQL, %d processors for all that runs", o.rounds, repeatClients, runtime.NumCPU()),
		"statement", "protocol", "tx/s", "to point selects", "two proxies to one")
	for _, mode := range []string{"simple", "prepared"} {
		var points []float64
		known := make([][]float64, len(repeated))
		two := make([][]float64, len(repeated))
		for round := range o.rounds + 1 { // the first warms up
			r, err := pointSelects(ctx, pgbench, proxies[0], repeatClients, o.transactions, "-M", mode)
			if err != nil {
				return err
			}
			if round > 0 {
				points = append(points, r.rate)
			}
			for i, script := range scripts {
				one, err := together(ctx, pgbench, proxies[:1], o.transactions, "-M", mode, "-f", script)
				if err != nil {
					return err
				}
				both, err := together(ctx, pgbench, proxies, o.transactions, "-M", mode, "-f", script)
				if err != nil {
					return err
				}
				if round > 0 {
					known[i], two[i] = append(known[i], one), append(two[i], both)
				}
			}
		}
		w.row("point select", mode, figure(median(points)), "", "")
		for i, r := range repeated {
			w.row(r.name, mode, figure(median(known[i])), figure(medianRatio(known[i], points)), figure(medianRatio(two[i], known[i])))
		}
	}
	return w.flush()
}

// together runs pgbench against all proxies at once, and returns their rates' sum.
func together(ctx context.Context, pgbench string, proxies []target, transactions int, args ...string) (rate float64, err error) {
	var running sync.WaitGroup
	rates, errs := make([]float64, len(proxies)), make([]error, len(proxies))
	for i, t := range proxies {
		running.Go(func() {
			r, err := transact(ctx, pgbench, t, repeatClients, transactions, append([]string{}, args...)...)
			rates[i], errs[i] = r.rate, err
		})
	}
	running.Wait()
	for _, r := range rates {
		rate += r
	}
	return rate, errors.Join(errs...)
}
