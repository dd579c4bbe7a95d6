package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/jackc/pgx/v5"
	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/policy"
	"fugu/test/pgcluster"
	"fugu/test/serving"
	"fugu/wire"
)

// Statements to plan, each with the place of a number that makes it a new one.
const (
	count   = "SELECT count(*) FROM adult WHERE hours_per_week > %d"
	grouped = "SELECT education, round(avg(age), 1) AS a FROM adult WHERE sex = 'Male' AND hours_per_week > %d " +
		"GROUP BY education HAVING count(*) > 10 ORDER BY a"
	report = "WITH e AS (SELECT education, sex, avg(age) AS a, count(*) AS n FROM adult " +
		"WHERE hours_per_week BETWEEN 20 AND %d GROUP BY education, sex) " +
		"SELECT e.education, sum(e.n), max(e.a) - min(e.a), rank() OVER (ORDER BY sum(e.n)) FROM e " +
		"JOIN (VALUES ('Bachelors'), ('Masters')) v(x) ON v.x = e.education " +
		"GROUP BY 1 ORDER BY 2 DESC LIMIT 10"
)

// deciding measures what Fugu does with a text before anything runs: to find that it is ordinary, to plan it, to find
// the plan again; beside what PostgreSQL takes to parse and describe the same text, and for a point select; and, for
// planning, beside what it cannot do without: libpg_query reads the statement and writes another, and PostgreSQL is
// asked once. The engine runs in this process, so that no protocol is in it.
func deciding(ctx context.Context, dir string, cluster *pgcluster.Cluster, rows int64, rounds int) error {
	session, done, err := openSession(ctx, dir, cluster, rows)
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
	text := func(sql string) func() string { // new each time
		return func() string {
			number++
			return fmt.Sprintf(sql, number)
		}
	}
	fresh := text(grouped)
	interpret := func(sql string) error {
		_, err := session.Interpret(ctx, sql, nil)
		return err
	}
	const ordinary, mentions = "SELECT abalance FROM pgbench_accounts WHERE aid = 4711",
		"SELECT 'adult', abalance FROM pgbench_accounts WHERE aid = 4711"
	cached := fresh()
	const (
		parsing = "PostgreSQL parses and describes it"
		point   = "PostgreSQL answers a point select"
	)
	measurements := []*measurement{
		{name: parsing, run: func() error { return prepare(ctx, plain, fresh()) }, times: 100},
		{name: "found again: a protected statement", run: func() error { return interpret(cached) }, times: 1000,
			to: parsing},
		{name: point, run: func() error { return query(ctx, plain, "SELECT 1") }, times: 100},
		{name: "found ordinary: no special word in it", run: func() error { return interpret(ordinary) }, times: 1000,
			to: point},
		{name: "found ordinary again: a special word in it", run: func() error { return interpret(mentions) },
			times: 1000, to: point},
	}
	planned, err := planning(ctx, plain, text, interpret)
	if err != nil {
		return err
	}
	measurements = append(measurements, planned...)

	title := fmt.Sprintf("Deciding and planning, in the engine: medians of %d rounds in turn", rounds)
	if err := compare(measurements, rounds, title); err != nil {
		return err
	}
	return distinct(interpret, fresh)
}

// planning measures what planning new protected statements takes, beside what it cannot do without.
func planning(ctx context.Context, plain *pgx.Conn, text func(sql string) func() string,
	interpret func(sql string) error) (out []*measurement, err error) {
	for _, c := range []struct{ name, sql string }{
		{"a count", count}, {"a grouped average", grouped}, {"a report", report},
	} {
		next := text(c.sql)
		sql := next()
		tree, err := pg.Parse(sql)
		if err != nil {
			return nil, err
		}
		parse := func() error { _, err := pg.Parse(sql); return err }
		deparse := func() error { _, err := pg.Deparse(tree); return err }
		trip := func() error { return prepare(ctx, plain, "SELECT 1") }
		least := c.name + ": libpg_query reads it and writes it, one round trip"
		out = append(out,
			&measurement{name: c.name + ": libpg_query reads it", run: parse, times: 100},
			&measurement{name: c.name + ": libpg_query writes it", run: deparse, times: 100},
			&measurement{name: c.name + ": one round trip", run: trip, times: 100},
			&measurement{name: least, run: func() error { return cmp.Or(parse(), deparse(), trip()) }, times: 100},
			&measurement{name: c.name + ", planned: new", run: func() error { return interpret(next()) }, times: 100,
				to: least})
	}
	return out, nil
}

// distinct gives the engine a million texts that are all new, and says how much memory stays behind.
func distinct(interpret func(string) error, fresh func() string) error {
	w := newTable("Memory after distinct texts, of which a tenth mention a protected table and one in 200 is protected",
		"texts", "MB in use")
	heap := func() string {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return fmt.Sprintf("%.1f", float64(m.HeapAlloc)/(1<<20))
	}
	w.row("0", heap())
	for i := 1; i <= 1_000_000; i++ {
		sql := fmt.Sprintf("SELECT %d", i)
		switch {
		case i%200 == 0:
			sql = fresh()
		case i%10 == 0:
			sql = fmt.Sprintf("SELECT 'adult', %d", i)
		}
		if err := interpret(sql); err != nil {
			return err
		}
		if i == 100_000 || i == 300_000 || i == 1_000_000 {
			w.row(fmt.Sprint(i), heap())
		}
	}
	return w.flush()
}

// openSession opens a session with an engine on the policy that fugu serves from.
func openSession(ctx context.Context, dir string, cluster *pgcluster.Cluster, rows int64) (wire.Session, func(),
	error) {
	text, err := example(rows)
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, "adult.policy.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, nil, err
	}
	engine, err := openEngine(ctx, path, cluster)
	if err != nil {
		return nil, nil, err
	}
	done := func() { _ = engine.Close() }
	session, err := engine.Open(ctx, wire.Startup{User: "alice", Parameters: map[string]string{}})
	if err != nil {
		done()
	}
	return session, done, err
}

// openEngine makes an engine of this process's own on a policy, with a ledger of its own.
func openEngine(ctx context.Context, path string, cluster *pgcluster.Cluster) (*serving.Engine, error) {
	policies, err := policy.Load(path)
	if err != nil {
		return nil, err
	}
	return serving.Open(ctx, serving.Options{Guest: cluster.DSN("fugu_guest", "adult"),
		Reader: cluster.DSN("fugu_reader", "adult"), Policies: policies, Ledger: path + ".db"})
}
