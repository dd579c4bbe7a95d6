package ledger

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func advance(t testing.TB, l Ledger, label string, independent bool) Epoch {
	t.Helper()
	e, err := l.Advance(context.Background(),
		Epoch{Dataset: "adult", Label: label, Independent: independent, User: "root",
			Reason: "the table of a new year"})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Other data end what was asked of the old ones; the budget carries on.
func TestEpochCarriesTheBudgetOn(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		must(t, l, charge("old"))
		first := advance(t, l, "", false)
		if first.Number != 1 || first.At.IsZero() {
			t.Errorf("%+v", first)
		}
		if got := standing(t, l, 0); got != (Standing{Epoch: 1}) {
			t.Errorf("%+v", got)
		}
		var stale *Stale
		for name, c := range map[string]Charge{"begun before": charge("new"), "answered before": charge("old"),
			"of another that is to come": with(charge("new"), func(c *Charge) { c.Epoch = 2 })} {
			if a, err := l.Charge(t.Context(), c); !errors.As(err, &stale) || stale.Dataset != "adult" ||
				a.Bytes != nil {
				t.Errorf("%s: %+v, %v", name, a, err)
			}
		}
		// The caller's keys tell epochs apart; where they do not, the old answer is not taken for one of the new data.
		if a, err := l.Charge(t.Context(), with(charge("old"), func(c *Charge) { c.Epoch = 1 })); err == nil {
			t.Errorf("an old answer for new data: %+v", a)
		}
		must(t, l, with(charge("new"), func(c *Charge) { c.Epoch = 1 }))
		if got := spent(t, l, Everybody); got[0].Loss.Pure != 0.5 || got[0].Releases != 2 {
			t.Errorf("spent %+v", got)
		}
		must(t, l, with(charge("elsewhere"), func(c *Charge) { c.Dataset = "census" })) // whose data are the old ones
		closeLedger(t, l)
		entries, _ := told(t, p.open(t, Options{ReadOnly: true}))
		var events []string
		for _, e := range entries {
			events = append(events, fmt.Sprint(e.Event, " ", e.Dataset, " ", e.Epoch, " ", e.User, " ", e.Reason))
		}
		want := []string{"begin  0  ", "release adult 0 alice ", "epoch adult 1 root the table of a new year",
			"release adult 1 alice ", "release census 0 alice "}
		if !reflect.DeepEqual(events, want) {
			t.Errorf("%q, want %q", events, want)
		}
	})
}

// Only data that are said to be independent have a budget of their own.
func TestIndependentEpochBeginsANewBudget(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		c := new(clock).drive(l)
		epoch := int64(0)
		fill := func(name string) int {
			for i := range 20 {
				_, err := l.Charge(t.Context(), with(monthly(fmt.Sprint(name, i)), func(c *Charge) { c.Epoch = epoch }))
				var x *Exhausted
				if errors.As(err, &x) {
					return i
				} else if err != nil {
					t.Fatal(err)
				}
			}
			t.Fatal("nothing stops")
			return 0
		}
		fill("old")
		epoch = advance(t, l, "", false).Number
		if n := fill("dependent"); n > 0 {
			t.Errorf("%d answers about data that depend on the old ones", n)
		}
		c.pass(20 * day)
		epoch = advance(t, l, "", true).Number
		if got := standing(t, l, 30*day); got != (Standing{Epoch: 2, Period: 1}) {
			t.Errorf("%+v", got)
		}
		if n := fill("independent"); n != 4 {
			t.Errorf("%d answers about independent data", n)
		}
		c.pass(29 * day) // the period began with the epoch
		if n := fill("early"); n > 0 {
			t.Errorf("%d answers before the period was over", n)
		}
		c.pass(day)
		if n := fill("renewed"); n != 4 {
			t.Errorf("%d answers in the next period", n)
		}
		if _, err := l.Audit(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
}

func TestLabelsOfEpochs(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		c := new(clock).drive(l)
		must(t, l, monthly(1))
		for i, step := range []struct {
			label       string
			independent bool
			number      int64
			period      int64
			begins      bool // an entry
		}{
			{"2026-Q1", true, 0, 0, true}, // names the epoch that there is: that is no new draw
			{"2026-Q1", true, 0, 0, false},
			{"2026-Q2", false, 1, 0, true},
			{"2026-Q3", true, 2, 1, true},
			{"2026-Q3", true, 2, 1, false},
			{"", false, 3, 1, true},
			{"2026-Q4", true, 3, 1, true},
		} {
			before, _ := told(t, l)
			c.pass(day)
			e := advance(t, l, step.label, step.independent)
			after, _ := told(t, l)
			if got := standing(t, l, 30*day); e.Number != step.number || e.Label != step.label ||
				got != (Standing{Epoch: step.number, Label: step.label, Period: step.period}) {
				t.Errorf("step %d: %+v, %+v", i, e, got)
			}
			if (len(after) > len(before)) != step.begins {
				t.Errorf("step %d: %d entries before, %d after", i, len(before), len(after))
			}
		}
		var stale *Stale
		for _, label := range []string{"2026-Q1", "2026-Q3"} {
			_, err := l.Advance(t.Context(),
				Epoch{Dataset: "adult", Label: label, User: "root", Reason: "an old policy"})
			if !errors.As(err, &stale) || stale.Label != label || !strings.Contains(err.Error(), label) {
				t.Errorf("back to %s: %v", label, err)
			}
		}
		for _, e := range []Epoch{{User: "root", Reason: "x"}, {Dataset: "adult", Reason: "x"},
			{Dataset: "adult", User: "root"}, {Dataset: "adult", User: "root", Reason: "\xff"}} {
			if _, err := l.Advance(t.Context(), e); err == nil {
				t.Errorf("%+v", e)
			}
		}
	})
}

// Proxies that take in one policy at the same time begin one epoch, and no charge of before is booked after.
func TestRaceForAnEpoch(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		ls := handles(t, p, 4)
		advance(t, ls[0], "old", false)
		var mu sync.Mutex
		var begun atomic.Bool
		numbers := map[int64]int{}
		together(func(i int) {
			l := ls[i%4]
			if i%2 == 0 {
				e := advance(t, l, "new", true)
				begun.Store(true)
				mu.Lock()
				defer mu.Unlock()
				numbers[e.Number]++
				return
			}
			late := begun.Load()
			_, err := l.Charge(context.Background(), charge(i))
			var stale *Stale
			var x *Exhausted
			switch {
			case err == nil && late:
				t.Errorf("%d: charged for data that were gone", i)
			case err != nil && !errors.As(err, &stale) && !errors.As(err, &x):
				t.Errorf("%d: %v", i, err)
			}
		})
		if !reflect.DeepEqual(numbers, map[int64]int{1: 32}) {
			t.Errorf("epochs %v", numbers)
		}
		if got := standing(t, ls[0], 0); got != (Standing{Epoch: 1, Label: "new", Period: 1}) {
			t.Errorf("%+v", got)
		}
		if _, err := ls[0].Audit(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
}
