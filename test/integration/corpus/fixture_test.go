//go:build fuguhooks

package corpus

import (
	"context"
	_ "embed"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/pipeline"
	"fugu/policy"
	"fugu/test/pgcluster"
	"fugu/upstream"
	"fugu/wire"
	"fugu/wire/auth"
)

//go:embed testdata/fixture.sql
var schema string

const database = "shop"

func TestMain(m *testing.M) {
	hook.ZeroNoise = true
	hook.LongSearches = true // what statements mean is compared, on a busy machine as well
	pgcluster.Main(m)
}

// fixture is the database, and a Fugu before it that adds no noise.
type fixture struct {
	cluster *pgcluster.Cluster
	address string
	reader  *watch
	engine  *pipeline.Engine
}

var loaded bool

// start loads the database, once, and serves it until the test ends. The ledger is the test's own.
func start(t testing.TB) *fixture {
	t.Helper()
	c := pgcluster.Shared(t)
	if !loaded {
		for _, step := range [][2]string{{"postgres", "CREATE DATABASE " + database}, {database, schema}} {
			if err := c.Exec(t.Context(), step[0], step[1]); err != nil {
				t.Fatal(err)
			}
		}
		loaded = true
	}
	f := &fixture{cluster: c, reader: &watch{}}
	policies, err := policy.Load("testdata")
	if err != nil {
		t.Fatal(err)
	}
	reader, err := upstream.OpenReader(c.DSN("fugu_reader", database), time.Minute,
		func(p *pgxpool.Config) { p.ConnConfig.DialFunc = f.reader.dial })
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := pipeline.Load(t.Context(), policies, reader)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "fugu.db"), ledger.Options{Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	guest, err := pgconn.ParseConfig(c.DSN("fugu_guest", database))
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.address = listener.Addr().String()
	f.engine = pipeline.New(guest, reader, l, snapshot, log)
	server := wire.New(wire.Config{Auth: auth.Trust{}, MaxClients: 20, MessageBytes: 16 << 20,
		LoginTimeout: 10 * time.Second,
		IdleTimeout:  10 * time.Minute, DrainTimeout: 5 * time.Second, Logger: log}, f.engine)
	serving, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- server.Serve(serving, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("stopping: %v", err)
		}
		reader.Close()
		_ = l.Close()
	})
	return f
}

// Both sides of a comparison; guest is for what depends on rights.
func (f *fixture) fugu() string {
	return (&url.URL{Scheme: "postgres", User: url.User("alice"), Host: f.address, Path: database,
		RawQuery: "sslmode=disable"}).String()
}
func (f *fixture) postgres() string { return f.cluster.DSN("postgres", database) }
func (f *fixture) guest() string    { return f.cluster.DSN("fugu_guest", database) }

// environment gives psql the connection of a DSN.
func environment(dsn string) ([]string, error) {
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	keep := os.Environ()[:0:0]
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PG") {
			keep = append(keep, v)
		}
	}
	return append(keep, "PGHOST="+c.Host, "PGPORT="+strconv.Itoa(int(c.Port)), "PGUSER="+c.User, "PGDATABASE="+
		c.Database, "PGSSLMODE=disable",
		"PGCONNECT_TIMEOUT=20", "PSQLRC=/dev/null", "PAGER="), nil
}
