package integration

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/account/memory"
	"fugu/ledger"
	"fugu/policy"
	"fugu/test/adult"
	"fugu/test/pgcluster"
	"fugu/test/serving"
	"fugu/upstream"
	"fugu/wire"
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
	ledger        string   // file, or URL of PostgreSQL; empty: a new file
	wrapLedger    func(ledger.Ledger) ledger.Ledger
	wrapEngine    func(wire.Engine) wire.Engine
	limits        func(*wire.Config)
	dialReader    pgconn.DialFunc
	log           slog.Handler
}

// fugu is a Fugu that serves in this process.
type fugu struct {
	address string
	engine  *serving.Engine
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
	log := slog.New(slog.DiscardHandler)
	if o.log != nil {
		log = slog.New(o.log)
	}
	opened, err := serving.Open(ctx, serving.Options{Guest: o.guest, Reader: o.reader, Policies: policies,
		Ledger: o.ledger, Dial: o.dialReader, Log: log, Wrap: func(l ledger.Ledger) ledger.Ledger {
			if l = memory.Of(l); o.wrapLedger != nil {
				l = o.wrapLedger(l)
			}
			return l
		}})
	if err != nil {
		return nil, err
	}

	opened.GiveGuests(o.guests)
	var engine wire.Engine = opened.Engine
	if o.wrapEngine != nil {
		engine = o.wrapEngine(engine)
	}
	config := serving.Config(log)
	if o.limits != nil {
		o.limits(&config)
	}
	address, stop, err := serving.Listen(ctx, config, engine)
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	f := &fugu{address: address, engine: opened, reader: opened.Reader, ledger: opened.Ledger}
	f.stop = func() error {
		err := stop()
		_ = opened.Close() // a test may have closed the ledger under the engine
		return err
	}
	return f, nil
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

// dsn is how user reaches Fugu.
func (f *fugu) dsn(user string) string { return serving.DSN(f.address, user, "adult") }

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
