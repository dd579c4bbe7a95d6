package main

import (
	"fmt"
	"os"
	"strings"

	"fugu/test/compat/sides"
	"fugu/test/pgcluster"
)

// example is the example's policy for so many rows, with a budget that no benchmark exhausts, and a key of a hundred
// values.
func example(rows int64) (string, error) {
	policy, err := os.ReadFile("examples/adult/adult.policy.yaml")
	return strings.NewReplacer("rows: 35222", fmt.Sprintf("rows: %d", rows), "      age: {from: 17, to: 90}",
		"      age: {from: 17, to: 90}\n      hours_per_week: {from: 1, to: 100}",
		"delta: 0.001", "delta: 1e-9",
		"{epsilon: 20, delta: 0.01, per: dataset}", "{epsilon: 1000000, delta: 0.01, per: dataset}").Replace(
		string(policy)), err
}

// serve starts a fugu with it, and with a ledger in a file of its own. pool is the number of guests that clients share;
// 0: each has its own.
func serve(binary, dir string, cluster *pgcluster.Cluster, rows int64, clients, pool int) (*sides.Proxy, error) {
	return serveFrom("", binary, dir, cluster, rows, clients, pool)
}

// serveFrom starts a fugu with the ledger at a URL.
func serveFrom(ledger, binary, dir string, cluster *pgcluster.Cluster, rows int64, clients, pool int) (*sides.Proxy,
	error) {
	text, err := example(rows)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return sides.Serve(sides.Config{Binary: binary, Dir: dir, Policy: text, Clients: clients, Pool: pool,
		Ledger: ledger,
		Guest:  cluster.DSN("fugu_guest", "adult"), Reader: cluster.DSN("fugu_reader", "adult")})
}
