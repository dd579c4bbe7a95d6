package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/ledger"
	"fugu/pipeline"
	"fugu/policy"
	"fugu/test/pgcluster"
	"fugu/upstream"
	"fugu/wire"
)

// deciding measures what Fugu does with a text before anything runs: to find that it is ordinary, to plan it, to find the
// plan again; beside what PostgreSQL takes to parse and describe the same text, and for a point select. The engine runs in
// this process, so that no protocol is in it.
func deciding(ctx context.Context, dir string, cluster *pgcluster.Cluster, rounds int) error {
	session, err := openSession(ctx, dir, cluster)
	if err != nil {
		return err
	}
	defer session.Close()
	plain, err := pgx.Connect(ctx, cluster.DSN("fugu_reader", "adult"))
	if err != nil {
		return err
	}
	defer plain.Close(context.WithoutCancel(ctx))

	number := 0
	fresh := func() string {
		number++
		return fmt.Sprintf("SELECT education, round(avg(age), 1) AS a FROM adult WHERE sex = 'Male' AND hours_per_week > %d GROUP BY education HAVING count(*) > 10 ORDER BY a", number)
	}
	interpret := func(sql string) error {
		_, err := session.Interpret(ctx, sql, nil)
		return err
	}
	const ordinary, mentions = "SELECT abalance FROM pgbench_accounts WHERE aid = 4711", "SELECT 'adult', abalance FROM pgbench_accounts WHERE aid = 4711"
	cached := fresh()
	const (
		parsing = "PostgreSQL parses and describes it"
		point   = "PostgreSQL answers a point select"
	)
	measurements := []*measurement{
		{name: parsing, run: func() error { return prepare(ctx, plain, fresh()) }, times: 100},
		{name: "planned: a new protected statement", run: func() error { return interpret(fresh()) }, times: 100, to: parsing},
		{name: "found again: a protected statement", run: func() error { return interpret(cached) }, times: 1000, to: parsing},
		{name: point, run: func() error { return query(ctx, plain, "SELECT 1") }, times: 100},
		{name: "found ordinary: no special word in it", run: func() error { return interpret(ordinary) }, times: 1000, to: point},
		{name: "found ordinary again: a special word in it", run: func() error { return interpret(mentions) }, times: 1000, to: point},
	}
	title := fmt.Sprintf("Deciding and planning, in the engine: medians of %d rounds in turn", rounds)
	if err := compare(measurements, rounds, title); err != nil {
		return err
	}
	return distinct(interpret, fresh)
}

// distinct gives the engine a million texts that are all new, and says how much memory stays behind.
func distinct(interpret func(string) error, fresh func() string) error {
	w := newTable("Memory after distinct texts, of which a tenth mention a protected table and one in 200 is protected", "texts", "MB in use")
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

// openSession makes an engine of this process's own on the files that fugu serves from, with a ledger of its own.
func openSession(ctx context.Context, dir string, cluster *pgcluster.Cluster) (wire.Session, error) {
	policies, err := policy.Load(filepath.Join(dir, "adult.policy.yaml"))
	if err != nil {
		return nil, err
	}
	reader, err := upstream.OpenReader(cluster.DSN("fugu_reader", "adult"), time.Minute)
	if err != nil {
		return nil, err
	}
	snapshot, err := pipeline.Load(ctx, policies, reader)
	if err != nil {
		return nil, err
	}
	l, err := ledger.Open(ctx, "sqlite:"+filepath.Join(dir, "deciding.db"), ledger.Options{})
	if err != nil {
		return nil, err
	}
	guest, err := pgconn.ParseConfig(cluster.DSN("fugu_guest", "adult"))
	if err != nil {
		return nil, err
	}
	engine := pipeline.New(guest, reader, l, snapshot, slog.New(slog.DiscardHandler))
	session, err := engine.Open(ctx, wire.Startup{User: "alice", Parameters: map[string]string{}})
	if err != nil {
		return nil, err
	}
	return closing{session, func() { reader.Close(); _ = l.Close() }}, nil
}

// closing is a session that takes its engine along.
type closing struct {
	wire.Session
	also func()
}

func (c closing) Close() {
	c.Session.Close()
	c.also()
}
