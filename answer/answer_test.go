package answer_test

import (
	"context"
	"errors"
	"testing"

	"fugu/account/memory"
	"fugu/ledger"
	"fugu/test/adult/asking"
	"fugu/test/pgcluster"
	"fugu/upstream"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

// charging counts what a ledger is charged.
type charging struct {
	ledger.Ledger
	charges int
}

func (l *charging) Charge(ctx context.Context, c ledger.Charge) (ledger.Answer, error) {
	l.charges++
	return l.Ledger.Charge(ctx, c)
}

// A failure that may pass is charged each time, and never taken for the answer.
func TestInterruptedIsNotRemembered(t *testing.T) {
	h := asking.New(t)
	l := &charging{Ledger: h.Desk.Ledger}
	h.Desk.Ledger = memory.Of(l)
	const sql = "SELECT count(*) FROM adult WHERE age > 30"
	for i := range 2 {
		q := h.Question(t, sql, 0, "")
		charge := ledger.Charge{Key: q.Key, Dataset: h.Policy.Dataset, User: "alice", Requested: q.Request.Budget,
			Losses: q.Request.Nominal(), Limit: q.Request.Budget}
		charge.Limit.Epsilon = 100
		if _, err := q.Fail(t.Context(), charge, upstream.ErrInterrupted); !errors.Is(err, upstream.ErrInterrupted) {
			t.Fatal(err)
		}
		if l.charges != i+1 {
			t.Errorf("%d charges after %d failures", l.charges, i+1)
		}
	}
	if a, err := h.Answer(t, sql, 0); err != nil || a.Failed || !a.Fresh {
		t.Errorf("%+v, %v", a, err)
	}
}
