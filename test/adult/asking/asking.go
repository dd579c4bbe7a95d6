// Package asking asks the Adult example without a session: for tests of what stands between a question and its answer.
package asking

import (
	"context"
	"path/filepath"
	"testing"

	"fugu/account/memory"
	"fugu/answer"
	"fugu/dataset"
	"fugu/explain"
	"fugu/ledger"
	"fugu/mechanism"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/quote"
	"fugu/test/adult/edited"
)

// House answers questions about the Adult example.
type House struct {
	Desk     *answer.Desk
	Known    *answer.Known
	Policy   *policy.Policy
	User     string
	Snapshot *dataset.Snapshot
}

// New makes a house with a new ledger; edits of the policy are as edited.Load takes them.
func New(t testing.TB, edits ...string) *House {
	t.Helper()
	example := edited.Load(t, edits...)
	l, err := ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "fugu.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	h := &House{Policy: example.Policies[0], User: "alice",
		Desk: &answer.Desk{Ledger: memory.Of(l), Reader: example.Reader, Searches: quote.NewSearches()}}
	h.load(t)
	return h
}

// load loads the policy as a process does that begins.
func (h *House) load(t testing.TB) {
	t.Helper()
	var err error
	policies := []*policy.Policy{h.Policy}
	if h.Snapshot, err = dataset.Load(t.Context(), policies, h.Desk.Reader); err != nil {
		t.Fatal(err)
	}
	if h.Known, err = answer.Learn(h.Snapshot, policies); err != nil {
		t.Fatal(err)
	}
}

// Other is another proxy on the same ledger, or this one after a restart.
func (h *House) Other(t testing.TB, user string) *House {
	t.Helper()
	o := &House{Policy: h.Policy, User: user, Desk: &answer.Desk{Ledger: h.Desk.Ledger, Reader: h.Desk.Reader,
		Searches: quote.NewSearches()}}
	o.load(t)
	return o
}

// Question is what a statement without parameters asks, at an ε (0: the policy's) and by a mechanism (empty: likewise).
func (h *House) Question(t testing.TB, sql string, epsilon privacy.Epsilon, kind mechanism.Kind) *answer.Question {
	t.Helper()
	asked, err := h.Snapshot.Ask(t.Context(), h.Desk.Reader, h.Policy, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	p := h.Policy.Privacy
	a := answer.Asked{User: h.User, Above: asked.Plan.Above, Policy: h.Policy, Database: h.Desk.Reader,
		Budget: privacy.Budget{Epsilon: p.Epsilon, Delta: p.Delta}, Mechanism: mechanism.Kind(p.Mechanism),
		Error: p.Error, Limit: p.MaxError, Confidence: explain.Confidence,
		Bind: func(context.Context) ([]*planner.Bound, error) { return asked.Cuts, nil }}
	if epsilon > 0 {
		a.Budget.Epsilon = epsilon
	}
	if kind != "" {
		a.Mechanism = kind
	}
	q, err := h.Desk.Question(t.Context(), h.Known, a)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return q
}

// Answer is the answer to a statement, or why there is none.
func (h *House) Answer(t testing.TB, sql string, epsilon privacy.Epsilon) (ledger.Answer, error) {
	t.Helper()
	return h.Question(t, sql, epsilon, "").Answer(t.Context())
}

// Answered is the answer to a statement that has one.
func (h *House) Answered(t testing.TB, sql string, epsilon privacy.Epsilon) ledger.Answer {
	t.Helper()
	a, err := h.Answer(t, sql, epsilon)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return a
}

// Quote is what is known of a statement before it is answered.
func (h *House) Quote(t testing.TB, sql string, epsilon privacy.Epsilon) *quote.Quote {
	t.Helper()
	m, err := h.Question(t, sql, epsilon, "").Measure(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return m
}

// RowsOf is how many rows the protected table has.
func RowsOf(t testing.TB) int64 {
	t.Helper()
	example := edited.Load(t) // loads the table once
	return example.Rows
}
