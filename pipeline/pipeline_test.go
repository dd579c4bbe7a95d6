package pipeline

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/account/memory"
	"fugu/answer"
	"fugu/ledger"
	"fugu/privacy"
	"fugu/quote"
	"fugu/test/adult/edited"
	"fugu/test/pgcluster"
	"fugu/upstream"
	"fugu/wire"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

var rows int64 // of the Adult example, once it is loaded

// house is an engine over the Adult example, without clients.
type house struct {
	engine *Engine
	user   string
}

// newHouse makes one with a new ledger; edits of the policy are old and new in turn.
func newHouse(t testing.TB, edits ...string) *house {
	t.Helper()
	snapshot, reader, err := loadExample(t, edits...)
	if err != nil {
		t.Fatal(err)
	}
	c := pgcluster.Shared(t)
	l, err := ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "fugu.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	guest, err := pgconn.ParseConfig(c.DSN("fugu_guest", "adult"))
	if err != nil {
		t.Fatal(err)
	}
	return &house{New(guest, reader, memory.Of(l), snapshot, slog.New(slog.DiscardHandler)), "alice"}
}

// loadExample loads the Adult example's policy, with edits.
func loadExample(t testing.TB, edits ...string) (*Snapshot, *upstream.Reader, error) {
	t.Helper()
	example := edited.Load(t, edits...)
	rows = example.Rows
	snapshot, err := Load(t.Context(), example.Policies, example.Reader)
	return snapshot, example.Reader, err
}

// binding is what a client binds: one format for all values.
func binding(format int16, values ...string) *wire.Binding {
	b := &wire.Binding{Formats: []int16{format}, Ask: hearsAll}
	for _, v := range values {
		b.Values = append(b.Values, []byte(v))
	}
	return b
}

// hearsAll is the guest of a session that has set nothing.
func hearsAll(context.Context, string) ([][]string, error) { return [][]string{{"notice", ""}}, nil }

// question prepares a text's one statement and binds it; nil is a binding without parameters.
func (h *house) question(t *testing.T, sql string, b *wire.Binding, set settings) (*answer.Question, error) {
	t.Helper()
	s := &session{engine: h.engine, user: h.user}
	statements, err := s.Interpret(t.Context(), sql, nil)
	if err != nil {
		return nil, err
	}
	if len(statements) != 1 {
		t.Fatalf("%s: %d statements", sql, len(statements))
	}
	if b == nil {
		b = binding(0)
	}
	return statements[0].(*statement).question(t.Context(), *b, set, h.engine.desk.Reader, nil)
}

// asked is what a statement without parameters asks at an ε.
func (h *house) asked(t *testing.T, sql string, epsilon float64) *answer.Question {
	t.Helper()
	q, err := h.question(t, sql, nil, settings{epsilon: privacy.Epsilon(epsilon)})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return q
}

// measured is the question of a statement without parameters, and the quote of its noise.
func (h *house) measured(t *testing.T, sql string, set settings) (*answer.Question, *quote.Quote) {
	t.Helper()
	q, err := h.question(t, sql, nil, set)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	m, err := q.Measure(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return q, m
}

func rowsOf(t *testing.T) int64 {
	t.Helper()
	_, reader, err := loadExample(t) // loads the table once
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	return rows
}
