package ledger

import (
	"context"
	"reflect"
	"testing"

	"fugu/ledger/audit"
	"fugu/privacy"
)

// derived is a charge of an answer from the past.
func derived(n any) Charge {
	return with(charge(n), func(c *Charge) { c.Mechanism, c.Losses = Derived, map[string]privacy.Loss{"income": {}} })
}

// An answer from the past is there like any other, in the chain too, and nothing has been spent: not even as a number of
// releases, by which a first one is told from others; and it is there when nothing is left.
func TestDerivedAnswerCostsNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		// A first release may lose what several may not: nothing at all can be charged behind it.
		whole := privacy.Loss{Kappa2: 0.25}
		if limit := charge(0).Limit; !whole.Allowed(limit, 1) || whole.Allowed(limit, 2) {
			t.Fatal("the test shows nothing")
		}
		all := must(t, l, with(charge(1), func(c *Charge) { c.Losses = map[string]privacy.Loss{"income": whole} }))
		if _, err := l.Charge(t.Context(), charge(2)); err == nil {
			t.Fatal("there is something left: the test shows nothing")
		}
		before := spent(t, l, Everybody)
		a := must(t, l, with(derived(3), func(c *Charge) { c.Shares = shares("alice") }))
		if got := spent(t, l, Everybody); !reflect.DeepEqual(got, before) || before[0].Releases != 1 {
			t.Errorf("spent %+v, and %+v before", got, before)
		}
		if got := spent(t, l, UserScope("alice")); len(got) > 0 {
			t.Errorf("alice spent %+v", got)
		}
		closeLedger(t, l)
		l = p.open(t, Options{}) // which verifies it
		for _, scopes := range [][]string{nil, {UserScope("alice")}} {
			if b, ok, err := l.Find(t.Context(), key(3), scopes...); err != nil || !ok || string(b.Bytes) != "answer 3" {
				t.Errorf("%q: %+v %v %v", scopes, b, ok, err)
			}
		}
		if again := must(t, l, with(derived(3), func(c *Charge) { c.Shares, c.Answer = shares("alice"), []byte("other") })); again.ID != a.ID || again.Fresh || string(again.Bytes) != "answer 3" {
			t.Errorf("again %+v", again)
		}
		entries, _ := told(t, l)
		if e := entries[2]; e.Event != audit.Release || e.Mechanism != Derived || e.Losses["income"] != (privacy.Loss{}) || e.Content == "" {
			t.Errorf("in the chain: %+v", e)
		}
		// Others, who have not paid for what it is made of, are not told it for its price.
		if _, err := l.Charge(t.Context(), with(derived(3), func(c *Charge) { c.Shares = shares("bob") })); err == nil {
			t.Error("bob joined it")
		}
		// It is nothing to compute others from, and nothing that a joint account counts with.
		given, err := l.Given(t.Context(), "adult", 0, 10)
		if want := []Given{{ID: all.ID, Key: key(1), Bytes: []byte("answer 1")}}; err != nil || !reflect.DeepEqual(given, want) {
			t.Errorf("given %+v %v", given, err)
		}
		if past, err := l.History(t.Context(), "adult", 0); err != nil || len(past) != 1 {
			t.Errorf("history %+v %v", past, err)
		}
		must(t, l, with(joint(4, all.ID), func(c *Charge) { c.Limit.Epsilon = 20 }))
		if given, err = l.Given(t.Context(), "adult", 0, 1); err != nil || len(given) != 1 || given[0].Key != key(4) {
			t.Errorf("the last %+v %v", given, err)
		}
	})
}

// What says that it is free, and is not, is refused; and a charge cannot hide behind the name afterwards.
func TestDerivedAnswerIsFree(t *testing.T) {
	l := fresh(t)
	for name, change := range map[string]func(*Charge){
		"a cost":         func(c *Charge) { c.Losses = map[string]privacy.Loss{"income": {Kappa2: 1e-300}} },
		"a failure":      func(c *Charge) { c.Failed, c.Answer, c.Cells = true, nil, nil },
		"a certificate":  func(c *Charge) { c.Certificates = certificate() },
		"another epoch":  func(c *Charge) { c.Epoch = 1 },
		"without losses": func(c *Charge) { c.Losses = nil },
	} {
		if _, err := l.Charge(context.Background(), with(derived(name), change)); err == nil {
			t.Errorf("%s: charged", name)
		}
	}
	must(t, l, charge(1))
	rows, err := l.write.Query(`SELECT name FROM sqlite_master WHERE type = 'trigger'`)
	if err != nil {
		t.Fatal(err)
	}
	var triggers []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		triggers = append(triggers, name)
	}
	_ = rows.Close()
	for _, name := range triggers {
		if _, err := l.write.Exec(`DROP TRIGGER ` + name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.write.Exec(`UPDATE answers SET mechanism = '` + Derived + `'`); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Audit(context.Background(), nil); err == nil {
		t.Error("a charge that was renamed is not found")
	}
	if _, err := l.write.Exec(`DELETE FROM totals`); err != nil {
		t.Fatal(err)
	}
	if err := l.verify(context.Background()); err == nil {
		t.Error("a charge that was renamed is in no total, and that is not found")
	}
}
