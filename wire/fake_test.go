package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/sqlstate"
	"fugu/test/pgcluster"
	"fugu/upstream"
	"fugu/wire/auth"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

// fake is an engine whose protected statements are the texts with the mark /*p*/: the table "noisy" in them becomes an
// array parameter, which Bind fills with what the table holds. So a script gives the same answers with and without
// the proxy. Further marks: /*refuse*/ fails Interpret; /*budget*/, /*ask*/, /*badask*/, /*block*/, /*panic*/,
// /*notice*/ and /*tag*/ say what Bind does. /*late*/: the text is decided when it is bound, with an array's value in
// it for COPY, with a parameter for others; /*late ordinary*/ decides that it stays as it is. /*known*/ is recalled.
// /*renamed*/: the whole text stays as it is, but that "twin" becomes noisy.
type fake struct {
	guest   *pgconn.Config
	openErr error
	blocked chan struct{} // told when a Bind blocks
	status  map[string]string
	// guestConn, if set, takes the place of the guest's connection.
	guestConn atomic.Pointer[net.Conn]
	tap       func(net.Conn) net.Conn // if set, takes it, and stands for it

	mu     sync.Mutex
	binds  []string // what the statements were bound with
	guests []net.Conn
}

func (f *fake) Open(_ context.Context, startup Startup) (Session, error) {
	return &fakeSession{f, startup}, f.openErr
}

// bound returns the protected statements bound since the last call.
func (f *fake) bound() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.binds
	f.binds = nil
	return out
}

type fakeSession struct {
	fake    *fake
	startup Startup
}

func (s *fakeSession) Connect(ctx context.Context) (Guest, error) {
	return s.open(ctx, upstream.OpenGuest)
}

func (s *fakeSession) ConnectRenewable(ctx context.Context) (Guest, error) {
	return s.open(ctx, upstream.OpenRenewable)
}

// open opens a guest by one of upstream's ways, with what the fake says instead of it.
func (s *fakeSession) open(ctx context.Context,
	by func(context.Context, *pgconn.Config, map[string]string) (*upstream.Guest, error)) (Guest, error) {
	g, err := by(ctx, s.fake.guest, s.startup.Parameters)
	if err != nil {
		return nil, err
	}
	maps.Copy(g.Parameters(), s.fake.status)
	if c := s.fake.guestConn.Load(); c != nil {
		_ = g.Conn().Close()
		return &fakeGuest{g, *c}, nil
	}
	s.fake.mu.Lock()
	defer s.fake.mu.Unlock()
	s.fake.guests = append(s.fake.guests, g.Conn())
	if s.fake.tap != nil {
		return &fakeGuest{g, s.fake.tap(g.Conn())}, nil
	}
	return &fakeGuest{g, g.Conn()}, nil
}

func (s *fakeSession) Kind() string            { return fmt.Sprint(s.startup.User, s.startup.Parameters) }
func (s *fakeSession) Lasting(sql []byte) bool { return lasting.Match(sql) }

// lasting is what the fake engine's clients keep their guests for.
var lasting = regexp.MustCompile(
	`(?i)^ *(SET |LISTEN|PREPARE|EXECUTE|DEALLOCATE|DISCARD|CREATE TEMP|DO)|` +
		`;\s*(SET |LISTEN|PREPARE|EXECUTE|CREATE TEMP)|WITH HOLD|pg_advisory_lock`)

type fakeGuest struct {
	*upstream.Guest
	conn net.Conn
}

func (g *fakeGuest) Conn() net.Conn { return g.conn }

var placeholder = regexp.MustCompile(`\$(\d+)`)

func (s *fakeSession) Ordinary(sql []byte) bool { return !bytes.Contains(sql, []byte("/*")) }

func (s *fakeSession) Interpret(_ context.Context, sql string, paramTypes []uint32) ([]Statement, error) {
	switch {
	case strings.Contains(sql, "/*refuse*/"):
		return nil, sqlstate.New(sqlstate.NotAnswerable, "not answerable").WithHint("ask otherwise").At(8)
	case strings.Contains(sql, "/*panic interpret*/"):
		panic("Interpret")
	case !strings.Contains(sql, "/*p*/"):
		return nil, nil
	case strings.Contains(sql, "/*renamed*/"):
		st := &fakeStatement{session: s, text: strings.ReplaceAll(sql, "twin", "noisy"), protected: true, renamed: true,
			types: paramTypes}
		st.params = max(len(paramTypes), len(placeholder.FindAllString(sql, -1)))
		return []Statement{st}, nil
	}
	var out []Statement
	for text := range strings.SplitSeq(sql, ";") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		st := &fakeStatement{session: s, text: text, protected: strings.Contains(text, "/*p*/"),
			params: len(paramTypes)}
		for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
			n, _ := strconv.Atoi(m[1])
			st.params = max(st.params, n)
		}
		st.types = slices.Clone(paramTypes)
		if st.late = strings.Contains(text, "/*late"); st.late {
			st.text = strings.ReplaceAll(text, "noisy", "unnest('{}'::int8[]) noisy(x)")
			st.again = strings.ReplaceAll(text, "noisy", "unnest($1) noisy(x)")
			if strings.HasPrefix(strings.TrimSpace(text), "COPY") {
				st.again = strings.ReplaceAll(text, "noisy", "unnest('{1,2,3}'::int8[]) noisy(x)")
			}
			if strings.Contains(text, "/*late ordinary*/") {
				st.again, st.text = "", text
			}
		} else if st.protected {
			st.types = make([]uint32, st.params, st.params+1)
			copy(st.types, paramTypes)
			st.types = append(st.types, 1016) // int8[]
			st.text = strings.ReplaceAll(text, "noisy", fmt.Sprintf("unnest($%d) noisy(x)", st.params+1))
		}
		out = append(out, st)
	}
	return out, nil
}

type fakeStatement struct {
	session   *fakeSession
	text      string
	protected bool
	late      bool
	renamed   bool
	again     string // the text of late
	params    int
	types     []uint32
}

func (s *fakeStatement) Text() string         { return s.text }
func (s *fakeStatement) Ordinary() bool       { return !s.protected || s.late }
func (s *fakeStatement) ParamTypes() []uint32 { return s.types }
func (s *fakeStatement) ClientParams() int    { return s.params }

func (s *fakeStatement) Tag() string {
	if strings.Contains(s.text, "/*tag*/") {
		return "EXPLAIN"
	}
	return ""
}

func (s *fakeStatement) Relayed() bool { return s.renamed }

func (s *fakeStatement) Silent() bool {
	return s.renamed && !strings.Contains(s.text, "/*notice*/") && !strings.Contains(s.text, "/*budget*/")
}

func (s *fakeStatement) Placed() func(int32) int32 {
	if !s.renamed {
		return nil
	}
	return func(position int32) int32 { return position }
}

func (s *fakeStatement) Recall(_ context.Context, formats []int16, values [][]byte) (Bound, bool) {
	return Bound{Values: [][]byte{[]byte("{1,2,3}")}}, strings.Contains(s.text, "/*known*/")
}

func (s *fakeStatement) Bind(ctx context.Context, b Binding) (Bound, error) {
	if !s.protected {
		return Bound{}, nil
	}
	f := s.session.fake
	f.mu.Lock()
	f.binds = append(f.binds, fmt.Sprintf("%s %q %v", s.text, b.Values, b.Formats))
	f.mu.Unlock()
	var out Bound
	has := func(mark string) bool { return strings.Contains(s.text, mark) }
	switch {
	case has("/*budget*/"):
		return out, sqlstate.New(sqlstate.BudgetExhausted, "no budget")
	case has("/*budget end*/"):
		return out, sqlstate.New(sqlstate.BudgetExhausted, "no budget").Ending()
	case has("/*internal*/"):
		return out, errors.New("a secret of the proxy")
	case has("/*panic*/"):
		panic("Bind")
	case has("/*block*/"):
		f.blocked <- struct{}{}
		<-ctx.Done()
		return out, ctx.Err()
	case has("/*ask*/"):
		rows, err := b.Ask(ctx, "SELECT current_setting('application_name'), NULL::text, count(*) FROM "+
			"pg_prepared_statements WHERE name = 'none'")
		if err != nil {
			return out, err
		}
		out.Notices = append(out.Notices, Notice{Message: fmt.Sprintf("asked %q", rows)})
	case has("/*badask*/"):
		if _, err := b.Ask(ctx, "SELECT 1/0"); err != nil {
			return out, err
		}
	case has("/*heedless*/"):
		_, _ = b.Ask(ctx, "SELECT 1/0")
	case has("/*slowask*/"):
		f.blocked <- struct{}{}
		if _, err := b.Ask(ctx, "SELECT pg_sleep(601)"); err != nil {
			return out, err
		}
	case has("/*notice*/"):
		out.Notices = append(out.Notices, Notice{Message: "noise", Detail: "sd", Hint: "more"})
	}
	switch {
	case s.renamed:
	case !s.late:
		out.Values = [][]byte{[]byte("{1,2,3}")}
	case strings.Contains(s.again, "$1"):
		out.Text, out.ParamTypes, out.Values = s.again, []uint32{1016}, [][]byte{[]byte("{1,2,3}")}
	default:
		out.Text = s.again
	}
	return out, nil
}

// proxy is a server over the shared cluster that ends with the test.
type proxy struct {
	*fake
	server  *Server
	address string
	cancel  context.CancelFunc
	done    chan error
	log     *logBuffer
}

type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

var prepareOnce sync.Once

// cluster is PostgreSQL with what the scripts need.
func cluster(t testing.TB) *pgcluster.Cluster {
	t.Helper()
	c := pgcluster.Shared(t)
	prepareOnce.Do(func() {
		if err := c.Exec(context.Background(), "postgres",
			`CREATE TABLE noisy (x int8); INSERT INTO noisy VALUES (1),(2),(3);
			CREATE TABLE kept (x int); CREATE TABLE deferred (x int UNIQUE DEFERRABLE INITIALLY DEFERRED);
			CREATE VIEW seen AS SELECT x FROM kept UNION SELECT 1;
			CREATE FUNCTION loud(n int) RETURNS int LANGUAGE plpgsql AS $$
				BEGIN RAISE NOTICE '%', repeat('x', n); RETURN n; END $$`); err != nil {
			t.Fatal(err)
		}
	})
	return c
}

func serve(t testing.TB, edit func(*Config, *fake)) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, listener, edit)
}

func serveOn(t testing.TB, listener net.Listener, edit func(*Config, *fake)) *proxy {
	t.Helper()
	guest, err := pgconn.ParseConfig(cluster(t).DSN("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{fake: &fake{guest: guest, blocked: make(chan struct{}, 1)}, address: listener.Addr().String(),
		done: make(chan error, 1), log: &logBuffer{}}
	config := Config{Auth: auth.Trust{}, MessageBytes: 1 << 20, DrainTimeout: patience,
		LoginTimeout: patience,
		Logger:       slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	if edit != nil {
		edit(&config, p.fake)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	p.server = New(config, p.fake)
	go func() { p.done <- p.server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		if n := p.fake.opened(); n != 0 {
			t.Errorf("%d guest sessions were not closed", n)
		}
	})
	return p
}

// stop ends the server, and tells how Serve ended.
func (p *proxy) stop() error {
	p.cancel()
	err := <-p.done
	p.done <- err
	return err
}

// opened is the number of guests that are open.
func (f *fake) opened() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.guests = slices.DeleteFunc(f.guests, func(c net.Conn) bool {
		raw, err := c.(syscall.Conn).SyscallConn()
		return err != nil || raw.Control(func(uintptr) {}) != nil
	})
	return len(f.guests)
}

func (p *proxy) dsn(extra ...string) string {
	return "postgres://postgres@" + p.address + "/postgres?" + strings.Join(slices.Concat([]string{"sslmode=disable"},
		extra), "&")
}
