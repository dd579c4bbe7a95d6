package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
)

func refusal(n int) Refusal {
	return Refusal{At: now(), User: "alice", Dataset: "adult", Code: "PV001", Statement: fmt.Sprintf("%016x", n),
		Times: 1}
}

func TestRefusalsAreInTheChain(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		must(t, l, with(charge(1), func(c *Charge) { c.Statement = "00ff" }))
		many := refusal(1)
		many.Times, many.Until = 3, many.At.Add(time.Second)
		if err := l.Refuse(t.Context(), []Refusal{many, refusal(2)}, 7); err != nil {
			t.Fatal(err)
		}
		must(t, l, charge(2))
		if err := l.Refuse(t.Context(), nil, 0); err != nil {
			t.Fatal(err)
		}
		entries, _ := told(t, l)
		var got []string
		for _, e := range entries {
			got = append(got, fmt.Sprint(e.Event, " ", e.User, " ", e.Dataset, " ", e.Code, " ", e.Statement, " ",
				e.Times))
		}
		want := []string{"begin     0", "release alice adult  00ff 0", "lost     7",
			"refused alice adult PV001 0000000000000001 3", "refused alice adult PV001 0000000000000002 0",
			"release alice adult   0"}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("%q, want %q", got, want)
		}
		if e := entries[3]; !e.At.Equal(many.At) || !e.Until.Equal(many.Until) {
			t.Errorf("%+v", e)
		}
		// A batch is written as a whole or not at all, and says nothing in words.
		for what, f := range map[string]func(*Refusal){
			"an error's text": func(r *Refusal) {
				r.Code = "syntax error at 'secret'"
			}, "a statement": func(r *Refusal) { r.Statement = "SELECT 'x'" },
			"no user": func(r *Refusal) {
				r.User = ""
			}, "no time": func(r *Refusal) { r.At = time.Time{} }, "no times": func(r *Refusal) { r.Times = 0 },
			"a long statement": func(r *Refusal) {
				r.Statement = strings.Repeat("a", 65)
			}, "bytes": func(r *Refusal) { r.Dataset = "\xff" },
		} {
			bad := refusal(3)
			f(&bad)
			if l.Refuse(t.Context(), []Refusal{refusal(4), bad}, 0) == nil {
				t.Errorf("%s was written", what)
			}
		}
		if again, _ := told(t, p.open(t, Options{ReadOnly: true})); len(again) != len(entries) {
			t.Errorf("%d entries, want %d", len(again), len(entries))
		}
		if p.open(t, Options{ReadOnly: true}).Refuse(t.Context(), []Refusal{refusal(5)}, 0) == nil {
			t.Error("a ledger for reading was written to")
		}
	})
}

// books is a ledger that can be down, and notes what it is given.
type books struct {
	Ledger
	mu       sync.Mutex
	down     bool
	refusals []Refusal
	lost     int64
	written  chan struct{}
}

func (b *books) Refuse(_ context.Context, refusals []Refusal, lost int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() {
		select {
		case b.written <- struct{}{}:
		default:
		}
	}()
	if b.down {
		return errors.New("down")
	}
	b.refusals = append(b.refusals, refusals...)
	b.lost += lost
	return nil
}

func (b *books) told() (times, lost int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.refusals {
		times += r.Times
	}
	return times, b.lost
}

// manyRefusals are ways to refuse, with the entries that come of them and the refusals that are only counted.
var manyRefusals = []struct {
	name    string
	add     func(r *Refusals)
	entries int
	lost    int64
}{
	{"one", func(r *Refusals) { r.Add(refusal(1)) }, 1, 0},
	{"the same again and again", func(r *Refusals) {
		for range 10_000 {
			r.Add(refusal(1))
		}
	}, 1, 0},
	{"as many as can wait", func(r *Refusals) {
		for i := range 2 * refusalsWaiting {
			r.Add(refusal(i))
		}
	}, refusalsWaiting, refusalsWaiting},
	{"from many at a time", func(r *Refusals) {
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				for range 100 {
					r.Add(refusal(i))
				}
			})
		}
		all.Wait()
	}, 16, 0},
	{"more of a user than an hour may have", func(r *Refusals) {
		r.mu.Lock()
		r.written["alice"], r.total = refusalsOfUser, refusalsOfUser
		r.mu.Unlock()
		x := refusal(1)
		r.Add(x)
		x.User = "bob"
		r.Add(x)
	}, 1, 1},
	{"and in the next hour", func(r *Refusals) {
		r.mu.Lock()
		r.written["alice"], r.total, r.hour = refusalsOfUser, refusalsOfAll, r.hour.Add(-time.Hour)
		r.mu.Unlock()
		r.Add(refusal(1))
	}, 1, 0},
	{"of all users", func(r *Refusals) {
		r.mu.Lock()
		r.total = refusalsOfAll
		r.mu.Unlock()
		r.Add(refusal(1))
	}, 0, 1},
	{"what no entry can hold", func(r *Refusals) { r.Add(Refusal{User: "alice", Code: "an error's words"}) }, 0, 1},
	{"a name that is too long, and no text", func(r *Refusals) {
		r.Add(Refusal{User: "a\x00\xff" + strings.Repeat("é", nameBytes), Code: "PV001"})
	}, 1, 0},
}

// Every refusal is in the books or is counted as one that is not, whatever there are of them and whether the ledger is
// up.
func TestRefusalsAreBoundedAndCounted(t *testing.T) {
	for _, tt := range manyRefusals {
		t.Run(tt.name, func(t *testing.T) {
			var b *books
			for together := false; !together; {
				b = &books{}
				began := time.Now()
				r := NewRefusals(b, slog.New(slog.DiscardHandler))
				tt.add(r)
				together = time.Since(began) < refusalsTogether // otherwise some may have been written before the rest
				r.Close()
			}
			if _, lost := b.told(); len(b.refusals) != tt.entries || lost != tt.lost {
				t.Errorf("%d entries and %d lost, want %d and %d", len(b.refusals), lost, tt.entries, tt.lost)
			}
			if tt.name == "the same again and again" && b.refusals[0].Times != 10_000 {
				t.Errorf("%+v", b.refusals[0])
			}
		})
	}
}

func TestRefusalsOfALedgerThatIsDownAreCounted(t *testing.T) {
	b := &books{down: true, written: make(chan struct{}, 1)}
	r := NewRefusals(b, slog.New(slog.DiscardHandler))
	r.Add(refusal(1))
	r.Add(refusal(1))
	r.Add(refusal(2))
	<-b.written // failed
	b.mu.Lock()
	b.down = false
	b.mu.Unlock()
	r.Add(refusal(3))
	r.Close()
	if times, lost := b.told(); times != 1 || lost != 3 {
		t.Errorf("%d told and %d lost, want 1 and 3", times, lost)
	}
}

// Of a batch that was cut off half-way nothing is in the chain, and the chain is whole.
func TestRefusalsWhenTheLedgerIsCutOff(t *testing.T) {
	p := inDatabase(t)
	l := p.open(t, Options{})
	if err := as(t, "postgres", p,
		`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fugu ledger'`); err != nil {
		t.Fatal(err)
	}
	r := NewRefusals(l, slog.New(slog.DiscardHandler))
	for i := range 100 {
		r.Add(refusal(i))
	}
	r.Close()
	entries, _ := told(t, p.open(t, Options{ReadOnly: true}))
	if n := len(entries); n != 101 {
		t.Errorf("%d entries: connections that the server ended are no reason to lose any", n)
	}
}
