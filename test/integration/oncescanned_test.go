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
func (w *watched) Claim(ctx context.Context, key ledger.Key, id int64) (func(), error) {
	close(w.asked)
	release, err := w.Ledger.Claim(ctx, key, id)
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

// overtaken is a ledger that holds the first who claims a question until another one, who was sent to the same charge,
// has given it up.
type overtaken struct {
	ledger.Ledger
	claims, given       atomic.Int64
	charged, on, gaveUp chan struct{}
}

// Claim implements ledger.Ledger.
func (o *overtaken) Claim(ctx context.Context, key ledger.Key, id int64) (func(), error) {
	if o.claims.Add(1) == 1 {
		close(o.charged)
		<-o.on
	}
	return o.Ledger.Claim(ctx, key, id)
}

// Abandon implements ledger.Ledger.
func (o *overtaken) Abandon(ctx context.Context, key ledger.Key, id int64, user string) error {
	err := o.Ledger.Abandon(ctx, key, id, user)
	close(o.gaveUp)
	return err
}

// Give implements ledger.Ledger.
func (o *overtaken) Give(ctx context.Context, out ledger.Outcome) (ledger.Answer, error) {
	o.given.Add(1)
	return o.Ledger.Give(ctx, out)
}

// Who has paid is overtaken by another who asks the same, reads rows for that charge, and cancels. The charge has been
// read for then, and is not read for again: who has paid pays anew.
func TestOvertakenByWhoCancels(t *testing.T) {
	o := &overtaken{charged: make(chan struct{}), on: make(chan struct{}), gaveUp: make(chan struct{})}
	f := serve(t, options{wrapLedger: func(l ledger.Ledger) ledger.Ledger { o.Ledger = l; return o }})
	const sql = "SELECT count(*) FROM adult WHERE income = '>50K' AND age > 42"
	var n int64
	told := make(chan error, 1)
	first, second := f.connect(t), f.connect(t)
	go func() { told <- first.QueryRow(t.Context(), sql).Scan(&n) }()
	<-o.charged

	// A lock keeps the second one from the rows until its client has left.
	locker := connect(t, pgcluster.Shared(t).DSN("postgres", "adult"))
	does(t, locker, "BEGIN")
	does(t, locker, "LOCK TABLE adult IN ACCESS EXCLUSIVE MODE")
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { left <- second.QueryRow(ctx, sql).Scan(new(int64)) }()
	eventually(t, func() bool {
		var waits bool
		err := locker.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted
			AND relation = 'adult'::regclass)`).Scan(&waits)
		return err == nil && waits
	}, "the second one reads")
	cancel()
	<-o.gaveUp
	does(t, locker, "ROLLBACK")
	if err := <-left; err == nil {
		t.Error("who has left is answered")
	}

	close(o.on)
	if err := <-told; err != nil {
		t.Fatal(err)
	}
	if n := o.given.Load(); n != 1 {
		t.Errorf("of two charges, one of which was read for and given up, rows were read %d times more", n)
	}
	if _, n := spent(t, f.connect(t)); n != 2 {
		t.Errorf("%d charges", n)
	}
}
