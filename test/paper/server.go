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
	engine := pipeline.New(guest, reader, forgetful.Ledger{Ledger: books}, snapshot, silent)
	address, closed, err := listen(ctx, engine)
	if err != nil {
		return nil, err
	}
	closers = append(closers, closed)
	dsn := url.URL{Scheme: "postgres", User: url.User("alice"), Host: address, Path: "adult",
		RawQuery: "sslmode=disable"}
	return &server{engine, dsn.String(), stop}, nil
}

// silent logs nothing: what is printed here are tables.
var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// listen serves clients with an engine, on a free port of the loopback interface, until it is closed.
func listen(ctx context.Context, engine *pipeline.Engine) (address string, closed func() error, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	config := wire.Config{Auth: auth.Trust{}, MaxClients: 10, MessageBytes: 16 << 20, LoginTimeout: 10 * time.Second,
		IdleTimeout: time.Minute, DrainTimeout: 5 * time.Second, Logger: silent}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- wire.New(config, engine).Serve(serving, listener) }()
	return listener.Addr().String(), func() error {
		cancel()
		return <-done
	}, nil
}
