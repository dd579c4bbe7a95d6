package pipeline

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"fugu/account/memory"
	"fugu/ledger"
	"fugu/test/patient"
)

// asking counts what is asked of a ledger, which fails when it is down.
type asking struct {
	ledger.Ledger
	finds, charges int
	down           bool
}

var errDown = errors.New("down")

func (l *asking) Find(ctx context.Context, key ledger.Key, scopes ...string) (ledger.Answer, bool, error) {
	if l.finds++; l.down {
		return ledger.Answer{}, false, errDown
	}
	return l.Ledger.Find(ctx, key, scopes...)
}

func (l *asking) Charge(ctx context.Context, c ledger.Charge) (ledger.Answer, error) {
	if l.charges++; l.down {
		return ledger.Answer{}, errDown
	}
	return l.Ledger.Charge(ctx, c)
}

func (h *house) ask(t *testing.T, user, sql string) (ledger.Answer, error) {
	t.Helper()
	h.user = user
	q, err := h.question(t, sql, nil, settings{})
	if err != nil {
		t.Fatal(err)
	}
	return q.Answer(t.Context())
}

// What the ledger returned once is not asked of it again, for those who have paid; nothing else is remembered.
func TestStoredAnswersAreRemembered(t *testing.T) {
	patient.Test(t)
	h := newHouse(t, "per: dataset", "per: user")
	l := &asking{Ledger: h.engine.desk.Ledger}
	h.engine.desk.Ledger = memory.Of(l)
	counts := func(finds, charges int) {
		t.Helper()
		if l.finds != finds || l.charges != charges {
			t.Errorf("%d finds and %d charges, want %d and %d", l.finds, l.charges, finds, charges)
		}
	}
	const sql = "SELECT count(*) FROM adult WHERE age > 30"
	l.down = true
	if _, err := h.ask(t, "alice", sql); err == nil {
		t.Fatal("an answer without a ledger")
	}
	counts(1, 0)
	l.down = false
	first, err := h.ask(t, "alice", sql)
	if err != nil || !first.Fresh {
		t.Fatal(first, err)
	}
	counts(4, 1)
	l.down = true
	for range 3 {
		again, err := h.ask(t, "alice", sql)
		if again.Fresh {
			t.Error("a stored answer is fresh")
		}
		again.Fresh = true
		if err != nil || !reflect.DeepEqual(again, first) {
			t.Errorf("%+v, %v, want %+v", again, err, first)
		}
	}
	counts(4, 1)
	if _, err := h.ask(t, "bob", sql); err == nil { // he has not paid
		t.Error("bob got alice's answer")
	}
	l.down = false
	if a, err := h.ask(t, "bob", sql); err != nil || a.ID != first.ID {
		t.Error(a, err)
	}
	counts(7, 2) // his own account has not paid, everybody's has

	// Another proxy on the same ledger finds it there, once.
	h.engine = New(h.engine.guest, h.engine.desk.Reader, memory.Of(l), h.engine.snapshot.Load(), h.engine.log)
	for range 2 {
		if a, err := h.ask(t, "alice", sql); err != nil || a.ID != first.ID {
			t.Error(a, err)
		}
	}
	counts(8, 2)
}
