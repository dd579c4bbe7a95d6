//go:build fuguhooks

package twinattack

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/policy"
	"fugu/test/forgetful"
	"fugu/test/pgcluster"
	"fugu/test/serving"
	"fugu/twin"
	"fugu/twin/build"
	"fugu/twin/margin"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

var (
	//go:embed world.sql
	worldSQL string
	//go:embed policy.yaml
	policyYAML string
)

// database is the name that a world's database has in every cluster.
const database = "world"

// world is a cluster with a table, its twin, and a policy.
type world struct {
	cluster *pgcluster.Cluster
	policy  *policy.Policy
	report  build.Report
}

// newWorld makes a cluster's database with these people, and builds the twin with these random bytes.
func newWorld(t testing.TB, c *pgcluster.Cluster, p *policy.Policy, people []person, random io.Reader) *world {
	t.Helper()
	for _, step := range [][2]string{
		{"postgres", "CREATE ROLE world_keeper LOGIN; CREATE ROLE world_guest LOGIN; CREATE ROLE world_reader LOGIN"},
		{"postgres", "CREATE DATABASE " + database},
		{database, worldSQL},
	} {
		if err := c.Exec(t.Context(), step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{cluster: c, policy: p}
	fill(t, c, people)
	if err := c.Exec(t.Context(), database, "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	w.build(t, random)
	return w
}

// build builds the twin, by a ledger that nobody knows.
func (w *world) build(t testing.TB, random io.Reader) {
	t.Helper()
	reports, err := serving.BuildTwins(t.Context(), w.cluster.DSN("world_keeper", database), w.policy, build.Keeper{
		Ledger: forgetful.NewMemory(), Random: random, Guests: []string{"world_guest"}}, build.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.report = reports[0]
}

// forget lets the next build know nothing of the one before.
func (w *world) forget(t testing.TB) {
	t.Helper()
	if err := w.cluster.Exec(t.Context(), database, `DELETE FROM fugu_twin."fugu twins"`); err != nil {
		t.Fatal(err)
	}
}

// serve starts a Fugu in this process over the world, until the test ends, and returns how clients reach it.
func (w *world) serve(t testing.TB) (dsn string) {
	t.Helper()
	engine, err := serving.Open(t.Context(), serving.Options{Guest: w.cluster.DSN("world_guest", database),
		Reader: w.cluster.DSN("world_reader", database), Policies: []*policy.Policy{w.policy},
		Ledger: filepath.Join(t.TempDir(), "fugu.db")})
	if err != nil {
		t.Fatal(err)
	}
	address, stop, err := serving.Listen(t.Context(), serving.Config(slog.New(slog.DiscardHandler)), engine)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(stop(), engine.Close()); err != nil {
			t.Errorf("stopping: %v", err)
		}
	})
	return serving.DSN(address, "alice", database)
}

// connect opens a connection on which every statement is asked anew and results come as text.
func connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	c, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// design is the law of the policy's first table.
func design(t testing.TB, p *policy.Policy) *twin.Design {
	t.Helper()
	spec, err := margin.Spec(p, p.Tables[0].Qualified(), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	d, err := twin.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// seeded are the random bytes of a build: the key of the order of drawing, and then those that noise is drawn with.
func seeded(key [32]byte, seed uint64) io.Reader {
	return io.MultiReader(bytes.NewReader(key[:]), noise(seed))
}

func noise(seed uint64) io.Reader {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], seed)
	return rand.NewChaCha8(sha256.Sum256(b[:]))
}

// planted has a fault for the rest of a test.
func planted(t testing.TB, fault *bool) {
	t.Helper()
	*fault = true
	t.Cleanup(func() { *fault = false })
}

// same reports whether two builds told and took the same numbers.
func same(a, b build.Report) bool {
	return slices.Equal(a.Twins[0].Told, b.Twins[0].Told) && slices.Equal(a.Twins[0].Taken, b.Twins[0].Taken)
}
