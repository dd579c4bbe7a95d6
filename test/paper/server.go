package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/ledger"
	"fugu/pipeline"
	"fugu/policy"
	"fugu/test/forgetful"
	"fugu/test/pgcluster"
	"fugu/upstream"
	"fugu/wire"
	"fugu/wire/auth"
)

// server is a Fugu in this process: an engine, and a listener that speaks PostgreSQL's protocol for it.
type server struct {
	engine *pipeline.Engine
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
	reader, err := upstream.OpenReader(cluster.DSN("fugu_reader", "adult"), time.Minute)
	if err != nil {
		return nil, err
	}
	closers = append(closers, func() error { reader.Close(); return nil })
	snapshot, err := pipeline.Load(ctx, policies, reader)
	if err != nil {
		return nil, err
	}
	books, err := ledger.Open(ctx, "sqlite:"+filepath.Join(dir, "fugu.db"), ledger.Options{Exclusive: true})
	if err != nil {
		return nil, err
	}
	closers = append(closers, books.Close)
	guest, err := pgconn.ParseConfig(cluster.DSN("fugu_guest", "adult"))
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	s := &server{engine: pipeline.New(guest, reader, forgetful.Ledger{Ledger: books}, snapshot, log), stop: stop}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	config := wire.Config{Auth: auth.Trust{}, MaxClients: 10, MessageBytes: 16 << 20, LoginTimeout: 10 * time.Second,
		IdleTimeout: time.Minute, DrainTimeout: 5 * time.Second, Logger: log}
	go func() { done <- wire.New(config, s.engine).Serve(serving, listener) }()
	closers = append(closers, func() error {
		cancel()
		return <-done
	})
	s.stop = stop
	s.dsn = (&url.URL{Scheme: "postgres", User: url.User("alice"), Host: listener.Addr().String(), Path: "adult",
		RawQuery: "sslmode=disable"}).String()
	return s, nil
}
