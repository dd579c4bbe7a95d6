package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"fugu/test/compat/sides"
	"fugu/test/pgcluster"
	"fugu/twin/build"
)

const accountTable = `
CREATE ROLE account_keeper LOGIN; GRANT CREATE ON DATABASE adult TO account_keeper;
CREATE TABLE account (aid int PRIMARY KEY, bid int, abalance int, filler char(84), overdrawn bool NOT NULL);
INSERT INTO account SELECT i, i %% 10, 0, '', i %% 3 = 0 FROM generate_series(1, %d) i;
GRANT SELECT ON account TO account_keeper, fugu_reader`

const accountPolicy = `
version: 1
dataset: account
tables:
  public.account: {rows: %d, answers: twin, twin: {rows: shown}}
secrets:
  overdrawn: {table: public.account, proportion: overdrawn, values: {from: 0.10, to: 0.60, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 1, delta: 0.001, per: dataset}}
`

// relayingTwins measures point selects on a twin; the goal is .95 of what the relay that copies bytes does, which is
// what ordinary point selects have in the same run. Fugu is asked for the table by its own name, in whose place it puts
// the twin's; the peers, which know of none, for the twin.
func relayingTwins(ctx context.Context, o options, dir string, cluster *pgcluster.Cluster, peers []target) (err error) {
	const rows = 100_000
	if err := cluster.Exec(ctx, "adult", fmt.Sprintf(accountTable, rows)); err != nil {
		return err
	}
	policy := fmt.Sprintf(accountPolicy, rows)
	k, p, done, err := keeper(ctx, filepath.Join(dir, "built"), cluster, "account_keeper", policy)
	if err != nil {
		return err
	}
	_, err = k.Build(ctx, p, p.Tables[0], build.Options{})
	if err := errors.Join(err, done()); err != nil {
		return err
	}
	serving, err := sides.Serve(sides.Config{Binary: o.binary, Dir: dir, Policy: policy, Clients: 100,
		Guest: cluster.DSN("fugu_guest", "adult"), Reader: cluster.DSN("fugu_reader", "adult")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.Stop()) }()

	script := func(table string) (string, error) {
		path := filepath.Join(dir, table+".sql")
		text := fmt.Sprintf("\\set aid random(1, %d)\nSELECT abalance FROM %s WHERE aid = :aid;\n", rows, table)
		return path, os.WriteFile(path, []byte(text), 0o600)
	}
	own, err1 := script("account")
	twin, err2 := script("fugu_twin.account")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	var loads []workload
	for _, mode := range []string{"simple", "extended", "prepared"} {
		name := fmt.Sprintf("point select on a twin, %s, 8 clients (goal: .95 of io.Copy)", mode)
		loads = append(loads, workload{name, "tx/s", func(ctx context.Context, t target) (run, error) {
			file := twin
			if t.name == fugu {
				file = own
			}
			return transact(ctx, cluster.Tool("pgbench"), t, 8, o.transactions, "-M", mode, "-f", file)
		}})
	}
	through := target{fugu, "alice", serving.Address(), serving.PID()}
	targets := append(slices.Clip(peers), through)
	return relaying(ctx, cluster, targets, loads, o.workloads, o.rounds, o.transactions)
}
