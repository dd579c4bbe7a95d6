package wire

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
)

// knowing is the fake engine, which has to know what names mean: of a text with the mark /*names*/ it looks up how many
// relations are called own, in the guest's session. A lookup of /*bad lookup*/ fails. Scripts with /*one by one*/ are
// interpreted so.
type knowing struct {
	*fake
	mu  sync.Mutex
	saw []string // the texts that were interpreted, each with what was looked up for it
}

// seen are the texts since the last call.
func (e *knowing) seen() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := e.saw
	e.saw = nil
	return out
}

func (e *knowing) Open(ctx context.Context, startup Startup) (Session, error) {
	s, err := e.fake.Open(ctx, startup)
	return &knowingSession{Session: s, engine: e}, err
}

type knowingSession struct {
	Session
	engine *knowing
	means  string
}

func (s *knowingSession) Lookup(_ context.Context, sql string) string {
	s.means = "nothing"
	switch {
	case strings.Contains(sql, "/*bad lookup*/"):
		return "SELECT 1/0"
	case strings.Contains(sql, "/*names*/"):
		return "SELECT count(*) FROM pg_class WHERE relname = 'own'"
	}
	return ""
}

func (s *knowingSession) Resolve(rows [][]string) { s.means = fmt.Sprint(rows) }

func (s *knowingSession) Interpret(ctx context.Context, sql string, types []uint32) ([]Statement, error) {
	s.engine.mu.Lock()
	s.engine.saw = append(s.engine.saw, strings.TrimSpace(sql)+" "+s.means)
	s.engine.mu.Unlock()
	return s.Session.Interpret(ctx, sql, types)
}

func (s *knowingSession) Split(_ context.Context, sql string) (out []Statement) {
	if !strings.Contains(sql, "/*one by one*/") {
		return nil
	}
	for text := range strings.SplitSeq(sql, ";") {
		out = append(out, &fakeStatement{session: s.Session.(*fakeSession), text: text})
	}
	return out
}

// serveKnowing serves a knowing engine.
func serveKnowing(t *testing.T) (*knowing, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &knowing{}
	address, _ := withEngine(t, listener, func(f *fake) Engine {
		e.fake = f
		return e
	})
	return e, address
}

// What names mean is looked up where the text will run, before it is interpreted, and the client sees nothing of it:
// each reply is what PostgreSQL itself gives. That is so too of what may not stand behind another statement, and in a
// transaction that has failed, where nothing can be looked up.
func TestNamesAreLookedUpUnseen(t *testing.T) {
	e, address := serveKnowing(t)
	s := script{
		q("VACUUM kept /*names*/"), "Z",
		q(protected + " /*names*/"), "Z",
		parse("", protected+" /*names*/"), bind("", ""), exec(""), sync_, "Z",
		q("CREATE TEMP TABLE own (x int)"), "Z",
		q("SELECT 2 /*names*/"), "Z",
		q("BEGIN"), "Z", q("SELECT 1/0"), "Z", q("SELECT 3 /*names*/"), "Z", q("ROLLBACK"), "Z",
		parse("", "SELECT 4 /*names*/"), parse("", "SELECT 1/0 nonsense("), parse("", "SELECT 5 /*names*/"), sync_, "Z",
	}
	itself := dial(t, fmt.Sprintf("127.0.0.1:%d", cluster(t).Port()))
	compare(t, dial(t, address).run(t, s), itself.run(t, s))

	// Behind what fails, of which the server does nothing, nothing is looked up.
	compare(t, e.seen(), []string{"VACUUM kept /*names*/ [[0]]", protected + " /*names*/ [[0]]",
		protected + " /*names*/ [[0]]", "SELECT 2 /*names*/ [[1]]", "SELECT 3 /*names*/ nothing",
		"SELECT 4 /*names*/ [[1]]", "SELECT 5 /*names*/ nothing"})
	if b := e.bound(); len(b) != 2 {
		t.Errorf("bound %q", b)
	}
}

// A lookup that fails is the statement's own failure: it is not interpreted without, and nothing of it is bound.
func TestLookupFails(t *testing.T) {
	e, address := serveKnowing(t)
	const bad = protected + " /*bad lookup*/"
	for name, s := range map[string]script{
		"simple":        {q(bad), "Z"},
		"a pipeline":    {parse("", bad), bind("", ""), exec(""), sync_, "Z"},
		"a transaction": {q("BEGIN"), "Z", q(bad), "Z", q("ROLLBACK"), "Z"},
		"one by one":    {q("SELECT 1 /*one by one*/; " + bad), "Z"},
	} {
		c := dial(t, address)
		got := strings.Join(c.run(t, s), ", ")
		if strings.Count(got, "22012") != 1 || strings.Contains(got, `D ["3"]`) {
			t.Errorf("%s: %s", name, got)
		}
		if name == "a transaction" && !strings.Contains(got, `Z "E"`) {
			t.Errorf("the transaction goes on: %s", got)
		}
	}
	if b := e.bound(); len(b) > 0 {
		t.Errorf("bound %q", b)
	}
	if saw := e.seen(); slices.ContainsFunc(saw, func(s string) bool { return strings.Contains(s, "bad lookup") }) {
		t.Errorf("interpreted %q", saw)
	}
}

// Where what names mean may change within a script, each statement is interpreted when those before it have run; and
// what is refused then ends the script, and takes back what it has done.
func TestScriptIsInterpretedOneByOne(t *testing.T) {
	e, address := serveKnowing(t)
	s := script{q("CREATE TEMP TABLE own (x int) /*one by one*/;" + protected + " /*names*/;" +
		"DROP TABLE own /*names*/;SELECT 1 /*names*/"), "Z"}
	itself := dial(t, fmt.Sprintf("127.0.0.1:%d", cluster(t).Port()))
	compare(t, dial(t, address).run(t, s), itself.run(t, s))
	compare(t, e.seen(), []string{"CREATE TEMP TABLE own (x int) /*one by one*/ nothing",
		protected + " /*names*/ [[1]]", "DROP TABLE own /*names*/ [[1]]", "SELECT 1 /*names*/ [[0]]"})
	if b := e.bound(); len(b) != 1 { // it is the statement of the second interpretation that runs
		t.Errorf("bound %q", b)
	}

	c := dial(t, address)
	got := c.run(t, script{q("INSERT INTO kept VALUES (7788) /*one by one*/; SELECT /*refuse*/; SELECT 9"), "Z"})
	if all := strings.Join(got, ", "); strings.Count(all, "PV001") != 1 || strings.Contains(all, `D ["9"]`) {
		t.Errorf("told %q", got)
	}
	if n := count(t, direct(t), "SELECT count(*) FROM kept WHERE x = 7788"); n != 0 {
		t.Error("what stood before a refusal stays")
	}
}
