//go:build fuguhooks

package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/explain"
	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/ledger/audit"
	"fugu/pipeline"
	"fugu/policy"
	"fugu/preview"
	"fugu/privacy"
	"fugu/test/pgcluster"
	"fugu/test/serving"
	"fugu/upstream"
	"fugu/wire"
)

func TestMain(m *testing.M) {
	hook.LongSearches = true // what searches find is looked at, on a busy machine as well
	pgcluster.Main(m)
}

// hang is far beyond what anything takes that is waited for here: whatever takes so long hangs.
const hang = 5 * time.Minute

// options change how a Fugu is put together.
type options struct {
	guest      string   // role; empty: fugu_guest
	policy     []string // edits of policy.yaml, old and new in turn
	wrapLedger func(ledger.Ledger) ledger.Ledger
}

// fugu is a Fugu over one world, that serves in this process until the test ends.
type fugu struct {
	world
	role    string // of the guest
	address string
	guest   *pgconn.Config
	reader  *upstream.Reader
	current *pipeline.Snapshot
	engine  atomic.Pointer[pipeline.Engine]
	ledger  *renewable
	log     *logs
}

func serve(t testing.TB, w world, o options) *fugu {
	t.Helper()
	c := w.cluster(t)
	if o.guest == "" {
		o.guest = "fugu_guest"
	}
	f := &fugu{world: w, role: o.guest, log: &logs{}, ledger: &renewable{t: t, dir: memory(t), wrap: o.wrapLedger}}
	var err error
	if f.reader, err = upstream.OpenReader(c.DSN("fugu_reader", w.database), 2*hang); err != nil {
		t.Fatal(err)
	}
	f.guest = config(t, c.DSN(o.guest, w.database))
	log := slog.New(slog.NewJSONHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	f.current = f.snapshot(t, o.policy...)
	f.renew()
	var stop func() error
	if f.address, stop, err = serving.Listen(t.Context(), serving.Config(log), f); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("stopping: %v", err)
		}
		f.reader.Close()
		f.ledger.end()
	})
	return f
}

// sides are a Fugu for either world that is asked while a defence is off, and others that are asked while it is on:
// what is remembered of the one is nothing to the other.
type sides struct{ off, on [2]*fugu }

// serveSides is for an attack in many spellings, each of which begins with renew.
func serveSides(t testing.TB, o options) sides {
	t.Helper()
	var s sides
	for i, w := range worlds {
		s.off[i], s.on[i] = serve(t, w, o), serve(t, w, o)
	}
	return s
}

// renew is as if nobody had ever asked anything: an empty ledger and an engine that remembers nothing. Connections that
// are open stay with the engine that they had.
func (f *fugu) renew() {
	f.ledger.renew()
	f.engine.Store(pipeline.New(f.guest, f.reader, f.ledger, f.current,
		slog.New(slog.NewJSONHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
}

// Open makes f the engine of its own server.
func (f *fugu) Open(ctx context.Context, startup wire.Startup) (wire.Session, error) {
	return f.engine.Load().Open(ctx, startup)
}

// snapshot loads the policy with edits, old and new in turn.
func (f *fugu) snapshot(t testing.TB, edits ...string) *pipeline.Snapshot {
	t.Helper()
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(policyYAML, edits[i]) {
			t.Fatalf("the policy does not have %q", edits[i])
		}
	}
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte(strings.NewReplacer(edits...).Replace(policyYAML)), 0o600); err != nil {
		t.Fatal(err)
	}
	policies, err := policy.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := pipeline.Load(t.Context(), policies, f.reader)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// preview explains a statement under the policy at ε = 1.
func (f *fugu) preview(ctx context.Context, sql string) ([]explain.Explanation, error) {
	desk, err := preview.New(f.current.Snapshot, f.reader, f.ledger)
	if err != nil {
		return nil, err
	}
	return desk.Explain(ctx, sql, []privacy.Epsilon{1})
}

// dsn is how user reaches Fugu.
func (f *fugu) dsn(user string) string { return serving.DSN(f.address, user, f.database) }

// connect opens a connection as user, empty for alice. Every statement is prepared anew, and results come as text.
func (f *fugu) connect(t testing.TB, user string) *pgx.Conn {
	t.Helper()
	if user == "" {
		user = "alice"
	}
	cfg, err := pgx.ParseConfig(f.dsn(user))
	if err != nil {
		t.Fatal(err)
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
	c, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// spent is what fugu.budget says of the secret, to whoever asks over c.
func spent(t testing.TB, c *pgx.Conn) (epsilon float64, releases int) {
	t.Helper()
	if err := c.QueryRow(t.Context(), "SELECT epsilon_spent, releases FROM fugu.budget").Scan(&epsilon,
		&releases); err != nil {
		t.Fatal(err)
	}
	return epsilon, releases
}

// as is a connection of role to PostgreSQL itself.
func (w world) as(t testing.TB, role string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), w.cluster(t).DSN(role, w.database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// off switches a defence off for the rest of the test.
func off(t testing.TB, defences ...*bool) {
	t.Helper()
	for _, d := range defences {
		*d = true
		t.Cleanup(func() { *d = false })
	}
}

func config(t testing.TB, dsn string) *pgconn.Config {
	t.Helper()
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// code is the SQLSTATE of an error of a client's, empty for none.
func code(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	return ""
}

// logs is a log that sessions write to together.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Reset()
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// memory is a directory in which many ledgers are synced quickly, where the machine has one.
func memory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "fugu-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// renewable is a ledger that a test can exchange for an empty one.
type renewable struct {
	t       testing.TB
	dir     string
	n       int
	wrap    func(ledger.Ledger) ledger.Ledger
	current atomic.Pointer[opened]
	pause   atomic.Value // func(), called when the budget has been looked at
}

type opened struct{ file, outer ledger.Ledger }

// renew puts an empty ledger in place, between statements.
func (r *renewable) renew() {
	r.t.Helper()
	r.n++
	file := filepath.Join(r.dir, fmt.Sprintf("%d.db", r.n))
	blank, err := blankLedger()
	if err == nil {
		err = os.WriteFile(file, blank, 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	l, err := ledger.Open(context.Background(), "sqlite:"+file, ledger.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	o := &opened{l, l}
	if r.wrap != nil {
		o.outer = r.wrap(l)
	}
	if old := r.current.Swap(o); old != nil {
		_ = old.file.Close()
	}
}

// blankLedger is the file of a ledger in which nothing stands yet. Every trial of a game begins with a copy: to make
// the tables took more than the statements did.
var blankLedger = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "fugu-blank-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "blank.db")
	l, err := ledger.Open(context.Background(), "sqlite:"+file, ledger.Options{})
	if err != nil {
		return nil, err
	}
	if err := l.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

func (r *renewable) end() { _ = r.current.Load().file.Close() }

// Refuse implements ledger.Ledger.
func (r *renewable) Refuse(ctx context.Context, refusals []ledger.Refusal, lost int64) error {
	return r.ledger().Refuse(ctx, refusals, lost)
}

// Audit implements ledger.Ledger.
func (r *renewable) Audit(ctx context.Context, visit func(audit.Link) error) (audit.Link, error) {
	return r.ledger().Audit(ctx, visit)
}

func (r *renewable) ledger() ledger.Ledger { return r.current.Load().outer }

func (r *renewable) Find(ctx context.Context, k ledger.Key, scopes ...string) (ledger.Answer, bool, error) {
	return r.ledger().Find(ctx, k, scopes...)
}

func (r *renewable) Claim(ctx context.Context, k ledger.Key, id int64) (release func(), err error) {
	return r.ledger().Claim(ctx, k, id)
}

func (r *renewable) Charge(ctx context.Context, c ledger.Charge) (ledger.Answer, error) {
	return r.ledger().Charge(ctx, c)
}

func (r *renewable) Give(ctx context.Context, o ledger.Outcome) (ledger.Answer, error) {
	return r.ledger().Give(ctx, o)
}

func (r *renewable) Abandon(ctx context.Context, k ledger.Key, id int64, user string) error {
	return r.ledger().Abandon(ctx, k, id, user)
}

func (r *renewable) Standing(ctx context.Context, dataset string, renew time.Duration) (ledger.Standing, error) {
	return r.ledger().Standing(ctx, dataset, renew)
}

func (r *renewable) Promised(ctx context.Context, dataset string, renew time.Duration) (ledger.Promised, error) {
	return r.ledger().Promised(ctx, dataset, renew)
}

func (r *renewable) Advance(ctx context.Context, e ledger.Epoch) (ledger.Epoch, error) {
	return r.ledger().Advance(ctx, e)
}

func (r *renewable) Spent(ctx context.Context, dataset, scope string) ([]ledger.Account, error) {
	accounts, err := r.ledger().Spent(ctx, dataset, scope)
	if f, ok := r.pause.Load().(func()); ok {
		f()
	}
	return accounts, err
}

func (r *renewable) History(ctx context.Context, dataset string, after int64) ([]ledger.Past, error) {
	return r.ledger().History(ctx, dataset, after)
}

func (r *renewable) Given(ctx context.Context, dataset string, after int64, n int) ([]ledger.Given, error) {
	return r.ledger().Given(ctx, dataset, after, n)
}

func (r *renewable) Releases(ctx context.Context, dataset string, n int) ([]ledger.Answer, error) {
	return r.ledger().Releases(ctx, dataset, n)
}

func (r *renewable) Scopes(ctx context.Context, dataset string) ([]string, error) {
	return r.ledger().Scopes(ctx, dataset)
}

func (r *renewable) Close() error { return nil }
