package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"fugu/ledger/audit"
	"fugu/privacy"
)

var why = Why{Operator: "carol", Reason: "the year's data are published"}

// links returns the chain.
func links(t *testing.T, l Ledger) (out []audit.Link) {
	t.Helper()
	if _, err := l.Audit(t.Context(), func(l audit.Link) error { out = append(out, l); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// busy is a ledger in which everything has happened that can.
func busy(t *testing.T, p place, o Options) *store {
	t.Helper()
	l := p.open(t, o)
	for i := range 4 { // all that there is
		must(t, l, with(charge(i), func(c *Charge) { c.Certificates, c.Statement = certificate(), "00ff" }))
	}
	must(t, l, with(charge("census"), func(c *Charge) { c.Dataset = "census" }))
	if _, err := l.Reset(t.Context(), "adult", why); err != nil {
		t.Fatal(err)
	}
	must(t, l, with(charge(4), func(c *Charge) { c.Failed, c.Answer, c.Cells = true, nil, nil }))
	if err := l.Refuse(t.Context(), []Refusal{refusal(1)}, 3); err != nil {
		t.Fatal(err)
	}
	if n, err := l.Compact(t.Context(), l.answerTime(t, 3), why); n != 2 || err != nil {
		t.Fatalf("%d compacted, %v", n, err)
	}
	must(t, l, charge(0)) // anew
	must(t, l, with(charge(3), func(c *Charge) { c.Shares = []Share{{"bob", c.Limit}} }))
	return l
}

// answerTime is when an answer was given.
func (l *store) answerTime(t *testing.T, id int64) time.Time {
	t.Helper()
	var at int64
	if err := l.read.QueryRow(`SELECT at FROM answers WHERE id = $1`, id).Scan(&at); err != nil {
		t.Fatal(err)
	}
	return time.UnixMicro(at)
}

// A reset makes the limit count from there; nothing of before is forgotten, and what was given stays given.
func TestReset(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		for i := range 4 {
			must(t, l, charge(i))
		}
		other := must(t, l, with(charge("census"), func(c *Charge) { c.Dataset = "census" }))
		var x *Exhausted
		if _, err := l.Charge(t.Context(), charge(4)); !errors.As(err, &x) {
			t.Fatal(err)
		}
		for what, w := range map[string]Why{"no reason": {"carol", " "}, "nobody": {"", "because"},
			"bytes": {"carol", "\xff"}, "a book": {"carol", strings.Repeat("x", maxReason+1)}} {
			if _, err := l.Reset(t.Context(), "adult", w); err == nil {
				t.Errorf("reset for %s", what)
			}
		}
		if _, err := l.Reset(t.Context(), "adlut", why); err == nil {
			t.Error("a dataset that is not there was reset")
		}
		head, err := l.Reset(t.Context(), "adult", why)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := head.Entry(); err != nil || e.Event != audit.NewPeriod || e.Reason != "reset" ||
			e.Dataset != "adult" || e.Number != 7 || e.Period != 1 {
			t.Errorf("%+v %v", e, err)
		}
		if e, err := links(t, l)[6].Entry(); err != nil || e.Event != audit.Reset || e.User != "carol" ||
			e.Reason != why.Reason || e.Dataset != "adult" || e.Period != 1 {
			t.Errorf("%+v %v", e, err)
		}
		if _, err := l.Reset(t.Context(), "adult", why); err == nil {
			t.Error("reset again, with nothing charged since")
		}
		if got := spent(t, l, ""); len(got) != 0 {
			t.Errorf("spent %+v", got)
		}
		if a, ok, err := l.Find(t.Context(), key(1), ""); !ok || err != nil || string(a.Bytes) != "answer 1" {
			t.Errorf("an answer of before: %+v %v", a, err)
		}
		if a := must(t, l, charge(1)); a.Fresh || len(spent(t, l, "")) != 0 {
			t.Errorf("an answer of before was charged again: %+v", a)
		}
		for i := range 4 {
			must(t, l, charge(10+i))
		}
		if _, err := l.Charge(t.Context(), charge(14)); !errors.As(err, &x) || x.Spent.Pure != 1 {
			t.Errorf("the budget is not the same as before: %v", err)
		}
		if c, err := l.Spent(t.Context(), "census", ""); err != nil || len(c) != 1 || c[0].Releases != 1 {
			t.Errorf("another dataset: %+v %v", c, err)
		}
		closeLedger(t, l)
		toldAfterReset(t, p, other.ID)
	})
}

// toldAfterReset opens the ledger of TestReset again, which tells what was charged before and since; other is an answer
// that was charged between the two.
func toldAfterReset(t *testing.T, p place, other int64) {
	t.Helper()
	l := p.open(t, Options{})
	totals, err := l.Totals(t.Context(), "adult")
	if err != nil || len(totals) != 2 || !totals[0].Past || totals[0].Loss.Pure != 1 || totals[1].Past ||
		totals[1].Period != 1 || totals[1].Loss.Pure != 1 || totals[1].Releases != 4 {
		t.Errorf("%+v %v", totals, err)
	}
	if ds, err := l.Datasets(t.Context()); err != nil || !reflect.DeepEqual(ds, []string{"adult", "census"}) {
		t.Errorf("%q %v", ds, err)
	}
	ps, err := l.Payments(t.Context(), "adult", "", 5)
	if err != nil || len(ps) != 5 || ps[0].Past || !ps[4].Past || ps[4].Answer >= other ||
		ps[0].User != "alice" || ps[0].Loss.Pure != .25 || ps[0].Mechanism != "expm-laplace" {
		t.Errorf("%+v %v", ps, err)
	}
	if ps, err := l.Payments(t.Context(), "adult", "bob", 5); err != nil || len(ps) != 0 {
		t.Errorf("%+v %v", ps, err)
	}
	if n := len(links(t, l)); n != 12 {
		t.Errorf("%d entries", n)
	}
	if _, err := p.open(t, Options{ReadOnly: true}).Reset(t.Context(), "adult", why); err == nil {
		t.Error("a ledger for reading was reset")
	}
}

// Compacted answers are gone for good: who asks again pays again, for another answer.
func TestCompact(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{Key: lock32(1)})
		for i := range 3 {
			must(t, l, charge(i))
		}
		failure := must(t, l, with(charge("failure"), func(c *Charge) {
			c.Losses, c.Failed, c.Answer, c.Cells = map[string]privacy.Loss{"income": {}}, true, nil, nil
		}))
		if n, err := l.Compact(t.Context(), l.answerTime(t, 1), why); n != 0 || err != nil {
			t.Errorf("%d compacted, though none is older: %v", n, err)
		}
		if _, err := l.Compact(t.Context(), now(), Why{}); err == nil {
			t.Error("compacted for no reason")
		}

		// Two answers lose their content.
		before := links(t, l)
		if n, err := l.Compact(t.Context(), l.answerTime(t, 3), why); n != 2 || err != nil {
			t.Fatalf("%d compacted: %v", n, err)
		}
		var left string
		if err := l.read.QueryRow(`SELECT count(*) FROM answers WHERE sealed = 0 AND length(bytes) = 1
			AND cells = '[]'`).Scan(&left); err != nil || left != "2" {
			t.Errorf("%s without content, %v", left, err)
		}
		closeLedger(t, l)
		l = p.open(t, Options{Key: lock32(1)})
		toldOfCompacting(t, before, links(t, l))

		// They are found no more, and cost again; what was not to be compacted is there.
		if _, ok, err := l.Find(t.Context(), key(0), ""); ok || err != nil {
			t.Errorf("found: %v", err)
		}
		a := must(t, l, with(charge(0), func(c *Charge) { c.Answer = []byte("other") }))
		if !a.Fresh || string(a.Bytes) != "other" || spent(t, l, "")[0].Loss.Pure != 1 {
			t.Errorf("asked again: %+v, %+v", a, spent(t, l, ""))
		}
		var x *Exhausted
		if _, err := l.Charge(t.Context(), charge(1)); !errors.As(err, &x) {
			t.Errorf("a compacted answer was given without budget: %v", err)
		}
		if a, ok, err := l.Find(t.Context(), key(2), ""); !ok || err != nil || string(a.Bytes) != "answer 2" {
			t.Errorf("an answer that was not to be compacted: %+v %v", a, err)
		}
		if a, ok, _ := l.Find(t.Context(), key("failure"), ""); !ok || a.ID != failure.ID {
			t.Error("a failure was compacted")
		}

		// Once more: those are done, and the new ones have their turn.
		if n, err := l.Compact(t.Context(), now().Add(time.Hour), why); n != 2 || err != nil {
			t.Errorf("%d compacted, %v", n, err)
		}
		links(t, l)
		if r, err := l.Releases(t.Context(), "adult", 10); err != nil || len(r) != 5 {
			t.Errorf("%d releases, %v", len(r), err)
		}
	})
}

// toldOfCompacting holds a chain to telling of that carol compacted two answers, after what it told before.
func toldOfCompacting(t *testing.T, before, after []audit.Link) {
	t.Helper()
	if len(after) != len(before)+1 || !reflect.DeepEqual(after[:len(before)], before) {
		t.Fatal("the chain of before is another")
	}
	if e, _ := after[len(before)].Entry(); e.Event != audit.Compacted || e.Dropped.Answers != 2 || e.User != "carol" {
		t.Errorf("%+v", e)
	}
}

// A ledger goes from store to store and comes back as it was, link by link; and the chain goes on.
func TestExportImport(t *testing.T) {
	for name, o := range map[string]Options{"open": {}, "sealed": {Key: lock32(1)}} {
		t.Run(name, func(t *testing.T) {
			first := inFile(t)
			l := busy(t, first, o)
			want := links(t, l)
			var texts []string
			for _, p := range []place{inDatabase(t), inFile(t), inDatabase(t)} {
				var out bytes.Buffer
				head, err := l.Export(t.Context(), &out)
				if err != nil || head != want[len(want)-1] {
					t.Fatalf("%+v %v", head, err)
				}
				texts = append(texts, out.String())
				closeLedger(t, l)
				if got, err := Import(t.Context(), string(p), o, bytes.NewReader(out.Bytes())); err != nil ||
					got != head {
					t.Fatalf("%+v %v", got, err)
				}
				if _, err := Import(t.Context(), string(p), o, bytes.NewReader(out.Bytes())); err == nil ||
					!strings.Contains(err.Error(), "a ledger already") {
					t.Errorf("imported into a ledger: %v", err)
				}
				l = p.open(t, o)
				if got := links(t, l); !reflect.DeepEqual(got, want) {
					t.Errorf("another chain: %+v", got)
				}
			}
			if texts[0] != texts[1] || texts[1] != texts[2] {
				t.Error("what was exported is not the same")
			}
			if sealed := !strings.Contains(texts[0], "38.6"); sealed != (o.Key != nil) {
				t.Errorf("sealed: %v", sealed)
			}
			// Answers, budgets and ids go on from where they were.
			if a, ok, err := l.Find(t.Context(), key(2), ""); !ok || err != nil || string(a.Bytes) != "answer 2" {
				t.Errorf("%+v %v", a, err)
			}
			a := must(t, l, charge("next"))
			if got := spent(t, l, ""); got[0].Loss.Pure != .75 || a.ID != 8 {
				t.Errorf("answer %d, spent %+v", a.ID, got)
			}
			if got := links(t, l); len(got) != len(want)+1 || !reflect.DeepEqual(got[:len(want)], want) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// What is not a whole export, unchanged, leaves no ledger behind.
func TestImportRefuses(t *testing.T) {
	l := busy(t, inFile(t), Options{Key: lock32(1)})
	var out bytes.Buffer
	if _, err := l.Export(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	sound := out.String()
	lines := strings.SplitAfter(sound, "\n")
	end := lines[len(lines)-2]
	withReset := strings.Replace(sound, end,
		fmt.Sprintf("{\"table\":\"periods\",\"row\":[\"census\",1,9,9,\"reset\"]}\n%s",
			strings.Replace(end, fmt.Sprintf("%d", len(lines)-3), fmt.Sprintf("%d", len(lines)-2), 1)), 1)
	refused := func(name string, p place, key []byte, text string) {
		t.Helper()
		if _, err := Import(context.Background(), string(p), Options{Key: key}, strings.NewReader(text)); err == nil {
			t.Errorf("imported: %s", name)
		} else if _, err := Open(context.Background(), string(p), Options{ReadOnly: true, Key: key}); !errors.Is(err,
			os.ErrNotExist) {
			t.Errorf("%s: a ledger was left behind: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "something else": "{}", "a letter": "Dear Sir",
		"another format":  strings.Replace(sound, `"fugu_ledger":1`, `"fugu_ledger":2`, 1),
		"other columns":   strings.Replace(sound, `"assumption"`, `"assumptions"`, 1),
		"the end missing": strings.Join(lines[:len(lines)-2], ""),
		"a line missing":  strings.Replace(sound, lines[3], "", 1),
		"half of it":      sound[:len(sound)/2], "a line twice": strings.Replace(sound, lines[3], lines[3]+lines[3], 1),
		"more":                     sound + end,
		"another table":            strings.Replace(sound, `{"table":"periods"`, `{"table":"sqlite_schema"`, 1),
		"a number for a text":      strings.Replace(sound, `["adult","","income"`, `["adult",1,"income"`, 1),
		"another user":             strings.Replace(sound, `"alice"`, `"aline"`, 1),
		"a charge less":            strings.Replace(sound, `"income","alice"`, `"sector","alice"`, 1),
		"a reset that was not":     withReset,
		"another end of the chain": strings.Replace(sound, `"hash":"`, `"hash":"0`, 1),
	} {
		if text == sound {
			t.Fatalf("%s: nothing is different", name)
		}
		refused(name, inFile(t), lock32(1), text)
	}
	refused("another key", inFile(t), bytes.Repeat([]byte{9}, KeyBytes), sound)
	refused("no key", inFile(t), nil, sound)
	refused("half of it, in PostgreSQL", inDatabase(t), lock32(1), sound[:len(sound)/2])
	refused("another key, in PostgreSQL", inDatabase(t), bytes.Repeat([]byte{9}, KeyBytes), sound)
}
