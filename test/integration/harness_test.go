// Package integration holds the tests of Fugu as a whole: a real PostgreSQL, real clients, and everything between.
package integration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"fugu/account/memory"
	"fugu/ledger"
	"fugu/pipeline"
	"fugu/policy"
	"fugu/test/adult"
	"fugu/test/pgcluster"
	"fugu/upstream"
	"fugu/wire"
	"fugu/wire/auth"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(child())
	}
	pgcluster.Main(m)
}

// database is the Adult database that the tests of this package share; loaded once.
type database struct {
	cluster *pgcluster.Cluster
	rows    int64
}

var shared *database

func adultDatabase(t testing.TB) *database {
	t.Helper()
	if shared == nil {
		c := pgcluster.Shared(t)
		loaded, err := adult.Load(t.Context(), c, "adult", adult.Options{})
		if err != nil {
			t.Fatal(err)
		}
		shared = &database{c, loaded.Rows}
	}
	return shared
}

// writePolicy writes the example's policy with the public size of the data at hand, and edits: old and new in turn.
func writePolicy(path string, rows int64, edits ...string) error {
	text, err := os.ReadFile("../../examples/adult/adult.policy.yaml")
	if err != nil {
		return err
	}
	edits = append([]string{"rows: 35222", fmt.Sprintf("rows: %d", rows)}, edits...)
	return os.WriteFile(path, []byte(strings.NewReplacer(edits...).Replace(string(text))), 0o600)
}

// options change how a test's Fugu is put together.
type options struct {
	guest, reader string // DSNs; empty: the cluster's
	guests        map[string]*pgconn.Config
	policy        []string // edits of the example's policy, old and new in turn
	policyText    string   // a whole policy in the place of the example's
	ledger        string   // file; empty: a new one
	wrapLedger    func(ledger.Ledger) ledger.Ledger
	wrapEngine    func(wire.Engine) wire.Engine
	limits        func(*wire.Config)
	dialReader    pgconn.DialFunc
	log           slog.Handler
}

// fugu is a Fugu that serves in this process.
type fugu struct {
	address string
	engine  *pipeline.Engine
	reader  *upstream.Reader
	ledger  ledger.Ledger
	stop    func() error
}

// serve starts a Fugu over the Adult database; it ends with the test.
func serve(t testing.TB, o options) *fugu {
	t.Helper()
	db := adultDatabase(t)
	f, err := start(t.Context(), db, t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.stop(); err != nil {
			t.Errorf("stopping: %v", err)
		}
	})
	return f
}

func start(ctx context.Context, db *database, dir string, o options) (*fugu, error) {
	if o.guest == "" {
		o.guest = db.cluster.DSN("fugu_guest", "adult")
	}
	if o.reader == "" {
		o.reader = db.cluster.DSN("fugu_reader", "adult")
	}
	if o.ledger == "" {
		o.ledger = filepath.Join(dir, "fugu.db")
	}
	policies, err := policiesOf(db, filepath.Join(dir, "adult.policy.yaml"), o)
	if err != nil {
		return nil, err
	}
	reader, err := upstream.OpenReader(o.reader, time.Minute, func(c *pgxpool.Config) {
		if o.dialReader != nil {
			c.ConnConfig.DialFunc = o.dialReader
		}
	})
	if err != nil {
		return nil, err
	}
	snapshot, err := pipeline.Load(ctx, policies, reader)
	if err != nil {
		return nil, err
	}
	l, err := ledger.Open(ctx, "sqlite:"+o.ledger, ledger.Options{Exclusive: true})
	if err != nil {
		return nil, err
	}
	f := &fugu{ledger: memory.Of(l), reader: reader}
	if o.wrapLedger != nil {
		f.ledger = o.wrapLedger(f.ledger)
	}
	guest, err := pgconn.ParseConfig(o.guest)
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	if o.log != nil {
		log = slog.New(o.log)
	}
	f.engine = pipeline.New(guest, reader, f.ledger, snapshot, log)
	f.engine.GiveGuests(o.guests)
	var engine wire.Engine = f.engine
	if o.wrapEngine != nil {
		engine = o.wrapEngine(engine)
	}
	config := wire.Config{Auth: auth.Trust{}, MaxClients: 100, MessageBytes: 16 << 20, LoginTimeout: 10 * time.Second,
		IdleTimeout: time.Minute, DrainTimeout: 5 * time.Second, Logger: log}
	if o.limits != nil {
		o.limits(&config)
	}
	return f, f.listen(ctx, config, engine, func() {
		reader.Close()
		_ = l.Close()
	})
}

// policiesOf writes the policy that is asked for, and loads it.
func policiesOf(db *database, path string, o options) ([]*policy.Policy, error) {
	if o.policyText != "" {
		if err := os.WriteFile(path, []byte(o.policyText), 0o600); err != nil {
			return nil, err
		}
	} else if err := writePolicy(path, db.rows, o.policy...); err != nil {
		return nil, err
	}
	return policy.Load(path)
}

// listen answers clients until f.stop is called, which closes what the engine rests on when all are gone.
func (f *fugu) listen(ctx context.Context, config wire.Config, engine wire.Engine, closeAll func()) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	f.address = listener.Addr().String()
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- wire.New(config, engine).Serve(serving, listener) }()
	f.stop = func() error {
		cancel()
		err := <-done
		closeAll()
		return err
	}
	return nil
}

// dsn is how user reaches Fugu.
func (f *fugu) dsn(user string) string {
	return (&url.URL{Scheme: "postgres", User: url.User(user), Host: f.address, Path: "adult",
		RawQuery: "sslmode=disable"}).String()
}

// connect opens a pgx connection through Fugu as alice.
func (f *fugu) connect(t testing.TB) *pgx.Conn {
	t.Helper()
	return connect(t, f.dsn("alice"))
}

// noticing is connect with the notices that the client is sent.
func (f *fugu) noticing(t testing.TB) (c *pgx.Conn, notices *[]string) {
	t.Helper()
	cfg, err := pgx.ParseConfig(f.dsn("alice"))
	if err != nil {
		t.Fatal(err)
	}
	notices = noticesOf(cfg)
	if c, err = pgx.ConnectConfig(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c, notices
}

func connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// truth is a connection to PostgreSQL itself, as superuser.
func (db *database) truth(t testing.TB) *pgx.Conn {
	t.Helper()
	return connect(t, db.cluster.DSN("postgres", "adult"))
}

// countingDialer counts the bytes that the reader's connections send.
type countingDialer struct{ sent atomic.Int64 }

func (d *countingDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	return countingConn{c, d}, err
}

type countingConn struct {
	net.Conn
	d *countingDialer
}

func (c countingConn) Write(p []byte) (int, error) {
	c.d.sent.Add(int64(len(p)))
	return c.Conn.Write(p)
}

// code is the SQLSTATE of an error of a client's, empty for none.
func code(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	return ""
}

func pgError(err error) *pgconn.PgError {
	var pe *pgconn.PgError
	errors.As(err, &pe)
	return pe
}

func contains(text, part string) bool { return strings.Contains(text, part) }

// noticesOf collects the notices of a connection.
func noticesOf(cfg *pgx.ConnConfig) *[]string {
	notices := new([]string)
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { *notices = append(*notices, n.Message) }
	return notices
}
