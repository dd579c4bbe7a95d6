// Package serving puts an engine before a database, and a listener before the engine, in the process of a test or of an
// experiment. It reads no configuration file: who wants to see what `fugu serve` makes of one runs the command.
package serving

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"fugu/explain"
	"fugu/ledger"
	"fugu/pipeline"
	"fugu/policy"
	"fugu/preview"
	"fugu/privacy"
	"fugu/upstream"
	"fugu/wire"
	"fugu/wire/auth"
)

// Options say what an engine rests on.
type Options struct {
	Guest, Reader string // DSNs of the two roles
	Policies      []*policy.Policy
	Ledger        string                            // a file, made where there is none; or a URL of PostgreSQL
	Wrap          func(ledger.Ledger) ledger.Ledger // returns what the engine is given; nil: the ledger itself
	Dial          pgconn.DialFunc                   // connects the reader; nil: as ever
	Log           *slog.Logger                      // nil: nothing is logged
}

// Engine is an engine with what it rests on.
type Engine struct {
	*pipeline.Engine
	Reader *upstream.Reader
	Ledger ledger.Ledger // as the engine was given it

	previews *preview.Desk
	file     ledger.Ledger // as it was opened
}

// Open puts an engine together. Whoever opens it closes it, behind its last session.
func Open(ctx context.Context, o Options) (_ *Engine, err error) {
	e := &Engine{}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	guest, err := pgconn.ParseConfig(o.Guest)
	if err != nil {
		return nil, err
	}
	e.Reader, err = upstream.OpenReader(o.Reader, time.Minute, func(c *pgxpool.Config) {
		if o.Dial != nil {
			c.ConnConfig.DialFunc = o.Dial
		}
	})
	if err != nil {
		return nil, err
	}
	snapshot, err := pipeline.Load(ctx, o.Policies, e.Reader)
	if err != nil {
		return nil, err
	}

	// Exclusive, as the command has it: two engines that took one file for their own would be a mistake of the test's.
	place := o.Ledger
	if !strings.HasPrefix(place, "postgres://") {
		place = "sqlite:" + place
	}
	if e.file, err = ledger.Open(ctx, place, ledger.Options{Exclusive: true}); err != nil {
		return nil, err
	}
	e.Ledger = e.file
	if o.Wrap != nil {
		e.Ledger = o.Wrap(e.file)
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	e.Engine = pipeline.New(guest, e.Reader, e.Ledger, snapshot, log)
	if e.previews, err = preview.New(snapshot.Snapshot, e.Reader, e.Ledger); err != nil {
		return nil, err
	}
	return e, nil
}

// Preview explains a statement at each ε, under the policies that the engine was opened with.
func (e *Engine) Preview(ctx context.Context, sql string, epsilons ...privacy.Epsilon) ([]explain.Explanation, error) {
	return e.previews.Explain(ctx, sql, epsilons)
}

// Close closes what the engine rests on.
func (e *Engine) Close() error {
	if e.Reader != nil {
		e.Reader.Close()
	}
	if e.file != nil {
		return e.file.Close()
	}
	return nil
}

// Config lets everybody in who gives a name, a hundred at a time, and has patience with who is idle: a test's other
// clients may take minutes on a busy machine.
func Config(log *slog.Logger) wire.Config {
	return wire.Config{Auth: auth.Trust{}, MaxClients: 100, MessageBytes: 16 << 20, LoginTimeout: time.Minute,
		IdleTimeout: 10 * time.Minute, DrainTimeout: 5 * time.Second, Logger: log}
}

// Listen serves clients at an address of the loopback interface until stop is called, and not only until ctx ends: that
// of a test does so before its clean-up. Stop waits for clients as c says, and returns what serving has ended with.
func Listen(ctx context.Context, c wire.Config, engine wire.Engine) (address string, stop func() error, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- wire.New(c, engine).Serve(serving, listener) }()

	return listener.Addr().String(), func() error {
		cancel()
		return <-done
	}, nil
}

// DSN is how user reaches a database at the address.
func DSN(address, user, database string) string {
	return (&url.URL{Scheme: "postgres", User: url.User(user), Host: address, Path: database,
		RawQuery: "sslmode=disable"}).String()
}
