package integration

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"fugu/ledger"
	"fugu/test/pgcluster"
)

// watched is a ledger that tells when a question is claimed, holds whoever has it until then may go on, and counts what
// is told.
type watched struct {
	ledger.Ledger
	asked, had, on chan struct{} // one question each; nil: nobody is held
	given          *atomic.Int64
}

// Claim implements ledger.Ledger.
func (w *watched) Claim(ctx context.Context, key ledger.Key) (func(), error) {
	close(w.asked)
	release, err := w.Ledger.Claim(ctx, key)
	close(w.had)
	if w.on != nil {
		<-w.on
	}
	return release, err
}

// Give implements ledger.Ledger.
func (w *watched) Give(ctx context.Context, o ledger.Outcome) (ledger.Answer, error) {
	w.given.Add(1)
	return w.Ledger.Give(ctx, o)
}

// Two proxies on one ledger are asked the same, the second while the first is about to read rows: the rows are read
// once, and both are told what was drawn then.
func TestTwoProxiesScanOnce(t *testing.T) {
	c := pgcluster.StartTest(t, pgcluster.Options{Fsync: true}) // without which a ledger is refused
	for _, sql := range []string{"CREATE ROLE fugu_two LOGIN", "CREATE DATABASE fugu_two OWNER fugu_two"} {
		if err := c.Exec(t.Context(), "postgres", sql); err != nil {
			t.Fatal(err)
		}
	}
	var given atomic.Int64
	watch := func(on chan struct{}) (*fugu, *watched) {
		w := &watched{asked: make(chan struct{}), had: make(chan struct{}), on: on, given: &given}
		return serve(t, options{ledger: c.DSN("fugu_two", "fugu_two"),
			wrapLedger: func(l ledger.Ledger) ledger.Ledger { w.Ledger = l; return w }}), w
	}
	goOn := make(chan struct{})
	one, first := watch(goOn)
	other, second := watch(nil)

	const sql = "SELECT count(*) FROM adult WHERE income = '>50K' AND age > 41"
	sessions := []*fugu{one, other}
	answers, told := make([]int64, len(sessions)), make(chan error, len(sessions))
	ask := func(i int) {
		c := sessions[i].connect(t)
		go func() { told <- c.QueryRow(t.Context(), sql).Scan(&answers[i]) }()
	}
	ask(0)
	<-first.had
	ask(1)
	<-second.asked

	// The second one has nothing to wait for but the first one; where it does not wait, it has the time to show it.
	select {
	case <-second.had:
		t.Error("the second proxy reads beside the first")
	case <-time.After(200 * time.Millisecond):
	}
	close(goOn)
	if err := errors.Join(<-told, <-told); err != nil || answers[0] != answers[1] {
		t.Errorf("told are %d, %v", answers, err)
	}
	if n := given.Load(); n != 1 {
		t.Errorf("rows were read for %d answers", n)
	}
	if _, n := spent(t, one.connect(t)); n != 1 {
		t.Errorf("%d releases", n)
	}
}
