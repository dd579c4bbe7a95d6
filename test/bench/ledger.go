package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"fugu/test/pgcluster"
)

// repeated are statements that were answered before, as pgbench scripts.
var repeated = []struct{ name, sql string }{
	{"known count, 1 row", "SELECT count(*) FROM adult WHERE income = '>50K'"},
	{"known average by education, 16 rows", "SELECT education, avg(age) FROM adult GROUP BY education"},
	{"known count by hours, 100 rows", "SELECT hours_per_week, count(*) FROM adult GROUP BY hours_per_week"},
}

// repeatClients are the clients of each proxy.
const repeatClients = 8

// repeating measures what statements cost that the ledger knows: beside ordinary point selects through the same proxy,
// and at two proxies of one ledger beside one. How long a charge takes is measured by the ledger's own benchmarks.
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
		p, err := serveFrom(server.DSN("fugu_ledger", "ledger"), o.binary, filepath.Join(dir, name), cluster, o.rows,
			100, 0)
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
	return compareRepeated(ctx, o, cluster, proxies, scripts)
}

// effort is what was measured while pgbench ran: transactions a second, and for each of them microseconds of the
// processors, of the proxies, the server and pgbench.
type effort struct{ rate, proxies, server, clients float64 }

func (l effort) all() float64 { return l.proxies + l.server + l.clients }

// compareRepeated runs the scripts, each in turn with point selects, and prints what came of it. Where everything is on
// the same few processors, the rate is their time over that of a transaction, whichever program takes it. On a machine
// with something else to do the ratio of those times is the steadier one; it is written as that of rates, point
// selects' over it.
func compareRepeated(ctx context.Context, o options, cluster *pgcluster.Cluster, proxies []target,
	scripts []string) error {
	w := newTable(fmt.Sprintf("Known answers: medians of %d rounds in turn, %d clients a proxy, a ledger in PostgreSQL",
		o.rounds, repeatClients),
		"statement", "protocol", "tx/s", "to point selects", "CPU µs", "Fugu", "PostgreSQL", "pgbench",
		"to point selects", "two proxies: tx/s", "to one", "CPU µs", "to one")
	for _, mode := range []string{"simple", "prepared"} {
		points, known, two := make([][]effort, len(repeated)), make([][]effort, len(repeated)),
			make([][]effort, len(repeated))
		for round := range o.rounds + 1 { // the first warms up
			for i, script := range scripts {
				for _, m := range []struct {
					proxies []target
					work    []string
					to      *[]effort
				}{{proxies[:1], []string{"-S"}, &points[i]}, {proxies[:1], []string{"-f", script}, &known[i]},
					{proxies, []string{"-f", script}, &two[i]}} {
					l, err := together(ctx, cluster, m.proxies, o.transactions, append(m.work, "-M", mode)...)
					if err != nil {
						return err
					}
					if round > 0 {
						*m.to = append(*m.to, l)
					}
				}
			}
		}
		rate, all := func(l effort) float64 { return l.rate }, effort.all
		mid := func(ls []effort, f func(effort) float64) string { return figure(median(each(ls, f))) }
		to := func(ls, base []effort, f func(effort) float64) string {
			return figure(medianRatio(each(ls, f), each(base, f)))
		}
		row := func(name string, ls []effort, toPoints, toPointsTime string, two ...string) {
			w.row(append([]string{name, mode, mid(ls, rate), toPoints, mid(ls, all),
				mid(ls, func(l effort) float64 { return l.proxies }),
				mid(ls, func(l effort) float64 { return l.server }),
				mid(ls, func(l effort) float64 { return l.clients }), toPointsTime}, two...)...)
		}
		row("point select", slices.Concat(points...), "", "", "", "", "", "")
		for i, r := range repeated {
			row(r.name, known[i], to(known[i], points[i], rate), to(points[i], known[i], all),
				mid(two[i], rate), to(two[i], known[i], rate), mid(two[i], all), to(known[i], two[i], all))
		}
	}
	if err := w.flush(); err != nil {
		return err
	}
	fmt.Printf("  Goals: 0.7 of point selects; two proxies 1.6 times one where there are processors for it. Here are "+
		"%d, for servers, proxies and clients\n"+
		"  together: where one proxy with its clients and guests keeps them busy, two cannot be faster, and it is "+
		"the processors' time of a\n"+
		"  transaction that says whether one is in the other's way. Its ratios are written as those of rates: the "+
		"greater, the better.\n", runtime.NumCPU())
	return nil
}

// together runs pgbench against all proxies at once; rates add up.
func together(ctx context.Context, cluster *pgcluster.Cluster, proxies []target, transactions int,
	args ...string) (l effort, err error) {
	spend := func() (at effort, err error) {
		for _, t := range proxies {
			s, e := t.cpu()
			at.proxies, err = at.proxies+s, errors.Join(err, e)
		}
		s, e := spentByAll(cluster.PID())
		at.server = s
		return at, errors.Join(err, e)
	}
	before, err := spend()
	if err != nil {
		return effort{}, err
	}
	var running sync.WaitGroup
	runs, errs := make([]run, len(proxies)), make([]error, len(proxies))
	for i, t := range proxies {
		running.Go(func() {
			runs[i], errs[i] = transact(ctx, cluster.Tool("pgbench"), t, repeatClients, transactions,
				slices.Clone(args)...)
		})
	}
	running.Wait()
	after, err := spend()
	if err := errors.Join(append(errs, err)...); err != nil {
		return effort{}, err
	}
	n := 0
	for _, r := range runs {
		l.rate += r.rate
		l.clients += r.own
		n += r.n
	}
	per := 1e6 / float64(n)
	l.proxies, l.server, l.clients = (after.proxies-before.proxies)*per, (after.server-before.server)*per, l.clients*per
	return l, nil
}
