package ledger

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"fugu/ledger/audit"
)

// ahead is charge(n) before its answer is known.
func ahead(n any) Charge {
	return with(charge(n), func(c *Charge) {
		c.Ahead, c.Answer, c.Cells, c.Certificates = true, []byte("plan"), nil, certificate()
	})
}

// outcome is what comes of ahead(n).
func outcome(n any, a Answer) Outcome {
	c := charge(n)
	return Outcome{Key: c.Key, Charged: a, Dataset: c.Dataset, Epoch: c.Epoch, User: c.User, Answer: c.Answer,
		Cells: c.Cells}
}

func gives(t *testing.T, l Ledger, o Outcome) Answer {
	t.Helper()
	a, err := l.Give(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// What is charged ahead is paid for at once, is no answer until there is one, and then always that one.
func TestChargedAhead(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for _, o := range []Options{{}, {Key: bytes.Repeat([]byte{7}, KeyBytes)}} {
			l := p.open(t, o)
			a := must(t, l, with(ahead(1), func(c *Charge) { c.Shares = shares("bob") }))
			if !a.Pending || !a.Fresh || spent(t, l, "")[0].Loss.Pure < .25 ||
				spent(t, l, UserScope("bob"))[0].Loss.Pure < .25 {
				t.Fatalf("%+v", a)
			}
			if f, ok, err := l.Find(t.Context(), key(1)); ok || err != nil || !f.Pending || f.ID != a.ID ||
				string(f.Bytes) != "plan" {
				t.Errorf("found %+v, %v, %v", f, ok, err)
			}
			if again := must(t, l, ahead(1)); !again.Pending || again.Fresh || again.ID != a.ID ||
				spent(t, l, "")[0].Releases != 1 {
				t.Errorf("charged again: %+v", again)
			}
			if given, err := l.Given(t.Context(), "adult", 0, 10); err != nil || len(given) != 0 {
				t.Errorf("given: %+v, %v", given, err)
			}
			if _, err := l.Give(t.Context(), with2(outcome(1, a), func(o *Outcome) {
				o.Scopes = []string{UserScope("eve")}
			})); err == nil {
				t.Error("given to who has not paid")
			}
			first := gives(t, l, with2(outcome(1, a), func(o *Outcome) { o.Scopes = []string{UserScope("bob")} }))
			second := gives(t, l, with2(outcome(1, a), func(o *Outcome) { o.Answer = []byte("another draw") }))
			if first.Pending || !first.Fresh || second.Fresh || string(second.Bytes) != "answer 1" ||
				string(first.Bytes) != "answer 1" || len(second.Cells) != 1 || len(second.Certificates) != 1 {
				t.Errorf("gave %+v and %+v", first, second)
			}
			failing := must(t, l, ahead(2))
			if f := gives(t, l, with2(outcome(2, failing), func(o *Outcome) {
				o.Failed, o.Answer, o.Cells = true, nil, nil
			})); !f.Failed {
				t.Errorf("a failure is %+v", f)
			}
			closeLedger(t, l)
			l = p.open(t, o)
			if f, ok, err := l.Find(t.Context(), key(1)); !ok || err != nil || string(f.Bytes) != "answer 1" ||
				f.Cells[0].GroupKey == "" || f.Losses["income"].Pure != .25 {
				t.Errorf("found again %+v, %v, %v", f, ok, err)
			}
			if f, ok, err := l.Find(t.Context(), key(2)); !ok || err != nil || !f.Failed {
				t.Errorf("the failure is %+v, %v, %v", f, ok, err)
			}
			links(t, l)
			closeLedger(t, l)
			p.clear(t, p.open(t, o))
			if p.remote() {
				return // clearing leaves the chain's beginning, which has another key
			}
		}
	})
}

func with2(o Outcome, f func(*Outcome)) Outcome { f(&o); return o }

// eventsOf counts what the chain of a ledger tells of.
func eventsOf(t *testing.T, l Ledger) map[audit.Event]int {
	t.Helper()
	events := make(map[audit.Event]int)
	for _, link := range links(t, l) {
		e, err := link.Entry()
		if err != nil {
			t.Fatal(err)
		}
		events[e.Event]++
	}
	return events
}

// What is given up stays charged, and is charged again; what was found of it meanwhile is told to nobody.
func TestAbandoned(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		abandon := func(a Answer) {
			t.Helper()
			if err := l.Abandon(t.Context(), key(1), a.ID, "alice"); err != nil {
				t.Fatal(err)
			}
		}
		a := must(t, l, ahead(1))
		for range 2 { // the second time there is nothing to give up
			abandon(a)
		}
		if _, err := l.Give(t.Context(), outcome(1, a)); !errors.Is(err, ErrAbandoned) {
			t.Errorf("gave what was given up: %v", err)
		}

		// Who asks again pays again, and what is found of the charge that was given up is not the answer.
		again := must(t, l, ahead(1))
		if again.ID == a.ID || !again.Fresh || spent(t, l, "")[0].Releases != 2 {
			t.Errorf("charged again as %+v", again)
		}
		if _, err := l.Give(t.Context(), outcome(1, a)); !errors.Is(err, ErrAbandoned) {
			t.Errorf("gave for a charge what another has: %v", err)
		}
		abandon(a)
		if g := gives(t, l, outcome(1, again)); g.ID != again.ID {
			t.Errorf("gave %+v", g)
		}
		abandon(again)
		if _, ok, err := l.Find(t.Context(), key(1)); !ok || err != nil {
			t.Error("an answer was given up", err)
		}

		// Other data: what was read of those before is not theirs.
		waiting := must(t, l, ahead(2))
		advance(t, l, "", false)
		var stale *Stale
		if _, err := l.Give(t.Context(), outcome(2, waiting)); !errors.As(err, &stale) {
			t.Errorf("gave of other data: %v", err)
		}
		if n, err := l.Compact(t.Context(), now().AddDate(1, 0, 0), why); n != 1 || err != nil {
			t.Errorf("compacted %d, %v", n, err)
		}

		// The chain tells of all that, and elsewhere it is read as it was written.
		if events := eventsOf(t, l); events[audit.Release] != 3 || events[audit.Answered] != 1 ||
			events[audit.Abandoned] != 1 || events[audit.Compacted] != 1 {
			t.Errorf("the chain tells of %v", events)
		}
		var b bytes.Buffer
		head, err := l.Export(t.Context(), &b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Import(t.Context(), string(inFile(t)), Options{}, &b); err != nil || got.Hash != head.Hash {
			t.Errorf("imported %+v, %v", got, err)
		}
	})
}

// Malformed charges and outcomes are refused.
func TestMalformedAhead(t *testing.T) {
	l := fresh(t)
	for what, c := range map[string]Charge{
		"failed":  with(ahead(1), func(c *Charge) { c.Failed, c.Answer, c.Certificates = true, nil, nil }),
		"cells":   with(ahead(1), func(c *Charge) { c.Cells = charge(1).Cells }),
		"free":    with(ahead(1), func(c *Charge) { c.Mechanism = Derived }),
		"nothing": with(ahead(1), func(c *Charge) { c.Answer = nil }),
	} {
		if _, err := l.Charge(t.Context(), c); err == nil {
			t.Errorf("charged ahead: %s", what)
		}
	}
	a := must(t, l, ahead(1))
	for what, o := range map[string]Outcome{
		"nothing":            with2(outcome(1, a), func(o *Outcome) { o.Answer = nil }),
		"a failure of bytes": with2(outcome(1, a), func(o *Outcome) { o.Failed = true }),
		"another dataset":    with2(outcome(1, a), func(o *Outcome) { o.Dataset = "census" }),
		"another epoch":      with2(outcome(1, a), func(o *Outcome) { o.Epoch = 3 }),
	} {
		if _, err := l.Give(t.Context(), o); err == nil {
			t.Errorf("gave: %s", what)
		}
	}
	must(t, l, charge(2))
	if _, err := l.Give(t.Context(), outcome(3, a)); !errors.Is(err, ErrAbandoned) {
		t.Errorf("gave what nobody asked: %v", err)
	}
}

// An answer that was given cannot be changed, taken back to be drawn again, or given behind the chain's back.
func TestAuditFindsTamperingAhead(t *testing.T) {
	p := inFile(t)
	l := p.open(t, Options{})
	gives(t, l, outcome(1, must(t, l, ahead(1))))
	must(t, l, ahead(2))
	for _, s := range []string{`UPDATE answers SET begun = 1 WHERE id = 1`,
		`UPDATE answers SET begun = 2, key = replace(key, substr(key, 1, 1), '0') WHERE id = 2`,
		`UPDATE answers SET begun = 0 WHERE id = 2`, `UPDATE answers SET bytes = x'01' WHERE id = 1`,
		`UPDATE answers SET begun = 2, certificates = '[]' WHERE id = 2`} {
		if _, err := l.write.Exec(s); err == nil {
			t.Errorf("done: %s", s)
		}
	}
	closeLedger(t, l)
	sound, err := os.ReadFile(strings.TrimPrefix(string(p), "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		`UPDATE answers SET begun = 1 WHERE id = 1`,
		`UPDATE answers SET begun = 0 WHERE id = 1`,
		`UPDATE answers SET bytes = x'01' WHERE id = 1`,
		`UPDATE answers SET failed = 1, bytes = x'' WHERE id = 1`,
		`UPDATE answers SET begun = 2 WHERE id = 2`,
		`UPDATE answers SET begun = 0 WHERE id = 2`,
	} {
		to := inFile(t)
		path := strings.TrimPrefix(string(to), "sqlite:")
		if err := os.WriteFile(path, sound, 0o600); err != nil {
			t.Fatal(err)
		}
		raw(t, path, `DROP TRIGGER answers_fixed`, s)
		l, err := Open(context.Background(), string(to), Options{ReadOnly: true})
		if err == nil {
			_, err = l.Audit(t.Context(), nil)
			closeLedger(t, l)
		}
		if err == nil {
			t.Errorf("not found: %s", s)
		}
	}
	if _, err := p.open(t, Options{ReadOnly: true}).Audit(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
