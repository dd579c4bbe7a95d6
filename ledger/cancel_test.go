package ledger

import (
	"context"
	"errors"
	"testing"
	"time"

	"fugu/privacy"
)

func TestReleasesAreTheLastOfTheirDataset(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		ctx := context.Background()
		l := p.open(t, Options{})
		for i := range 5 {
			must(t, l, with(charge(i), func(c *Charge) { c.Losses = map[string]privacy.Loss{"s": {Pure: 0.01}} }))
			must(t, l, with(charge(-1-i), func(c *Charge) { c.Dataset = "census" }))
			if i == 3 {
				break
			}
		}
		got, err := l.Releases(ctx, "adult", 3)
		if err != nil || len(got) != 3 || string(got[0].Bytes) != "answer 3" || string(got[2].Bytes) != "answer 1" {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := l.Releases(ctx, "nowhere", 3); err != nil || len(got) != 0 {
			t.Errorf("%+v, %v", got, err)
		}
		if got := spent(t, l, "nobody"); len(got) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestCanceledContextChargesNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		l := p.open(t, Options{})
		if _, err := l.Charge(ctx, charge(1)); !errors.Is(err, context.Canceled) {
			t.Errorf("charge: %v", err)
		}
		if _, _, err := l.Find(ctx, key(1), ""); !errors.Is(err, context.Canceled) {
			t.Errorf("find: %v", err)
		}
		if len(spent(t, l, "")) > 0 {
			t.Error("charged")
		}

		// While another one writes, a charge waits no longer than its context, and the writer finishes undisturbed.
		conn, err := l.write.Conn(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel = context.WithCancel(context.Background())
		waiting := make(chan error)
		go func() {
			_, err := l.Charge(ctx, charge(1))
			waiting <- err
		}()
		cancel()
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("waiting charge: %v", err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		must(t, l, charge(1))
	})
}

func TestCancelingDoesNotBreakATransactionOff(t *testing.T) {
	ls := handles(t, inFile(t), 2)
	other, err := ls[1].write.Begin()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		_, err := ls[0].Charge(ctx, charge(1)) // waits for the other handle inside SQLite
		done <- err
	}()
	for ls[0].write.Stats().InUse == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("canceled in its transaction: %v", err)
	}
	if got := spent(t, ls[1], ""); len(got) != 1 {
		t.Errorf("spent %+v", got)
	}
}

func TestClosedLedgerFails(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		must(t, l, charge(1))
		closeLedger(t, l)
		if _, err := l.Charge(context.Background(), charge(2)); err == nil {
			t.Error("charged")
		}
		if _, _, err := l.Find(context.Background(), key(1), ""); err == nil {
			t.Error("found")
		}
	})
}
