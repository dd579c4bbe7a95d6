package ledger

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fugu/test/badnet"
)

// freezing is a ledger in PostgreSQL behind a network that can freeze.
func freezing(t *testing.T) (*store, place, *badnet.Network) {
	t.Helper()
	p := inDatabase(t)
	config, err := pgx.ParseConfig(string(p))
	if err != nil {
		t.Fatal(err)
	}
	n, err := badnet.New(fmt.Sprintf("127.0.0.1:%d", config.Port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	u, err := url.Parse(string(p))
	if err != nil {
		t.Fatal(err)
	}
	u.Host = n.Address()
	return place(u.String()).open(t, Options{}), p, n
}

// impatient has a ledger wait for nothing longer than a moment.
func (l *store) impatient() { l.waiting, l.patience = 300*time.Millisecond, 300*time.Millisecond }

// patiently runs f, which has to end although the ledger says nothing.
func patiently(t *testing.T, what string, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatalf("%s does not end", what)
		return nil
	}
}

// A ledger that says nothing is given up after a while: nothing is found, charged or known then, and all of it is an
// error. When it speaks again, all goes on.
func TestHangingLedgerIsGivenUp(t *testing.T) {
	l, _, n := freezing(t)
	ctx := context.Background()
	must(t, l, charge(1))
	l.impatient()
	n.Set(badnet.Weather{Frozen: true})
	for what, f := range map[string]func() error{
		"Find":     func() error { _, _, err := l.Find(ctx, key(1), ""); return err },
		"Charge":   func() error { _, err := l.Charge(ctx, charge(2)); return err },
		"Spent":    func() error { _, err := l.Spent(ctx, "adult", ""); return err },
		"Releases": func() error { _, err := l.Releases(ctx, "adult", 1); return err },
		"Scopes":   func() error { _, err := l.Scopes(ctx, "adult"); return err },
	} {
		if err := patiently(t, what, f); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", what, err)
		}
	}
	n.Reset()
	n.Set(badnet.Weather{})
	l.waiting, l.patience = 0, postgresPatience
	for i := range 2 {
		if a, err := l.Charge(ctx, charge(1+i)); err != nil || a.Fresh != (i == 1) {
			t.Errorf("charge %d: %+v, %v", i, a, err)
		}
	}
	if got := spent(t, l, ""); got[0].Releases != 2 {
		t.Errorf("%+v", got)
	}
}

// freezeIn has a network freeze after a time. Once thaw has returned it does so no more, however late it was.
func freezeIn(n *badnet.Network, after time.Duration) (thaw func()) {
	done := make(chan struct{})
	timer := time.AfterFunc(after, func() {
		n.Set(badnet.Weather{Frozen: true})
		close(done)
	})
	return func() {
		if !timer.Stop() {
			<-done
		}
		n.Set(badnet.Weather{})
	}
}

// A ledger that hangs in the midst of a charge: while it writes, when it commits, and with the network frozen as well.
// The client is told of an error; the charge is booked once or not at all, and once it is asked for again.
func TestLedgerHangsAmidACharge(t *testing.T) {
	for name, trigger := range map[string]string{
		"writing": `CREATE TRIGGER slow BEFORE INSERT ON totals FOR EACH ROW EXECUTE FUNCTION slow()`,
		"commit": `CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON totals DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION slow()`,
	} {
		for _, frozen := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", frozen ", frozen), func(t *testing.T) {
				l, p, n := freezing(t)
				l.impatient()
				if err := as(t, "postgres", p,
					`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
						'BEGIN PERFORM pg_sleep(2); RETURN NEW; END'`, trigger); err != nil {
					t.Fatal(err)
				}
				thaw := func() {}
				if frozen {
					l.patience = time.Second
					thaw = freezeIn(n, 200*time.Millisecond)
				}
				err := patiently(t, "Charge", func() error {
					_, err := l.Charge(context.Background(), charge(1))
					return err
				})
				if err == nil {
					t.Error("charged by a ledger that hangs")
				}
				n.Reset()
				thaw()
				l.waiting, l.patience = 0, postgresPatience
				a := must(t, l, charge(1))
				if string(a.Bytes) != "answer 1" {
					t.Errorf("%+v", a)
				}
				if got := spent(t, l, ""); got[0].Releases != 1 {
					t.Errorf("%+v", got)
				}
				if err := l.verify(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
