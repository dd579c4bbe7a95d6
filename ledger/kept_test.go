package ledger

import (
	"bytes"
	"testing"

	"fugu/privacy"
)

// What twins are made from outlives compaction and a move to another ledger, says why it was drawn, and its key is of
// no dataset that has a budget.
func TestTwinsAreKept(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		sealed := Options{Key: lock32(1)}
		l := p.open(t, sealed)
		order := with(charge("order"), func(c *Charge) {
			c.Dataset, c.Mechanism, c.Losses = "orders of drawing", Ordering, map[string]privacy.Loss{"adult": {}}
		})
		must(t, l, order)
		must(t, l, with(charge("twin"), func(c *Charge) { c.Mechanism, c.Reason = Twin, "the census is new" }))
		must(t, l, charge("plain"))
		if _, err := l.Charge(t.Context(), with(order, func(c *Charge) {
			c.Key, c.Losses = key("dear"), charge(1).Losses
		})); err == nil {
			t.Error("an order of drawing that costs something")
		}

		if n, err := l.Compact(t.Context(), now().AddDate(0, 0, 1), why); n != 1 || err != nil {
			t.Fatalf("%d compacted, %v", n, err)
		}
		var dump bytes.Buffer
		if _, err := l.Export(t.Context(), &dump); err != nil {
			t.Fatal(err)
		}
		closeLedger(t, l)
		there := inFile(t)
		if _, err := Import(t.Context(), string(there), sealed, &dump); err != nil {
			t.Fatal(err)
		}

		for _, place := range []place{p, there} {
			l := place.open(t, sealed)
			for what, want := range map[string]bool{"order": true, "twin": true, "plain": false} {
				a, ok, err := l.Find(t.Context(), key(what))
				if ok != want || err != nil || ok && string(a.Bytes) != "answer "+what {
					t.Errorf("%s: %v, %v, %q", what, ok, err, a.Bytes)
				}
			}
			if names, err := l.Datasets(t.Context()); err != nil || len(names) != 1 || names[0] != "adult" {
				t.Errorf("datasets %q, %v", names, err)
			}
			if e, err := links(t, l)[2].Entry(); err != nil || e.Reason != "the census is new" || e.Mechanism != Twin {
				t.Errorf("%+v, %v", e, err)
			}
		}
	})
}
