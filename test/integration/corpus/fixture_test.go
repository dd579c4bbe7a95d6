//go:build fuguhooks

package corpus

import (
	_ "embed"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/internal/hook"
	"fugu/policy"
	"fugu/test/pgcluster"
	"fugu/test/serving"
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
	engine  *serving.Engine
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
	f.engine, err = serving.Open(t.Context(), serving.Options{Guest: f.guest(), Reader: c.DSN("fugu_reader", database),
		Policies: policies, Ledger: filepath.Join(t.TempDir(), "fugu.db"), Dial: f.reader.dial})
	if err != nil {
		t.Fatal(err)
	}
	address, stop, err := serving.Listen(t.Context(), serving.Config(slog.New(slog.DiscardHandler)), f.engine)
	if err != nil {
		t.Fatal(err)
	}
	f.address = address
	t.Cleanup(func() {
		if err := errors.Join(stop(), f.engine.Close()); err != nil {
			t.Errorf("stopping: %v", err)
		}
	})
	return f
}

// Both sides of a comparison; guest is for what depends on rights.
func (f *fixture) fugu() string     { return serving.DSN(f.address, "alice", database) }
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
		"PGCONNECT_TIMEOUT=120", "PSQLRC=/dev/null", "PAGER="), nil
}
