package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"fugu/ledger"
	"fugu/policy"
	"fugu/test/forgetful"
	"fugu/test/pgcluster"
	"fugu/test/serving"
)

// server is a Fugu in this process: an engine, and a listener that speaks PostgreSQL's protocol for it.
type server struct {
	engine *serving.Engine
	dsn    string
	stop   func() error
}

// serve starts a Fugu over the database adult of the cluster, with the text of a policy, that answers anew each time.
func serve(ctx context.Context, cluster *pgcluster.Cluster, text string) (_ *server, err error) {
	dir, err := os.MkdirTemp("", "fugu-paper-")
	if err != nil {
		return nil, err
	}
	closers := []func() error{func() error { return os.RemoveAll(dir) }}
	stop := func() error {
		var errs []error
		for i := range closers {
			errs = append(errs, closers[len(closers)-1-i]())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	path := filepath.Join(dir, "paper.policy.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	policies, err := policy.Load(path)
	if err != nil {
		return nil, err
	}
	engine, err := serving.Open(ctx, serving.Options{Guest: cluster.DSN("fugu_guest", "adult"),
		Reader: cluster.DSN("fugu_reader", "adult"), Policies: policies, Ledger: filepath.Join(dir, "fugu.db"),
		Wrap: func(l ledger.Ledger) ledger.Ledger { return forgetful.New(l) }})
	if err != nil {
		return nil, err
	}
	closers = append(closers, engine.Close)

	// Nothing is logged: what is printed here are tables.
	address, closed, err := serving.Listen(ctx, serving.Config(slog.New(slog.DiscardHandler)), engine)
	if err != nil {
		return nil, err
	}
	closers = append(closers, closed)
	return &server{engine, serving.DSN(address, "alice", "adult"), stop}, nil
}
