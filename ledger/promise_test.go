package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fugu/privacy"
)

// promising is a charge that was compared with the promise newest, and adds texts, of one table each.
func promising(n any, newest int64, texts ...string) Charge {
	return with(charge(n), func(c *Charge) {
		c.Promised, c.Limit.Epsilon = &newest, 100
		for i, text := range texts {
			c.Promises = append(c.Promises, Promise{Table: fmt.Sprint("public.t", i), Text: []byte(text)})
		}
	})
}

// promised is what the ledger holds of the dataset's promises: the period, the number of the newest, the texts.
func promised(t *testing.T, l Ledger, c Charge) (period, newest int64, texts string) {
	t.Helper()
	p, err := l.Promised(t.Context(), c.Dataset, c.Renew)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range p.Tables {
		texts += fmt.Sprintf("%d %s %s,", x.Period, x.Table, x.Text)
		if x.Entry < 1 || x.At.IsZero() {
			t.Errorf("a promise of entry %d, at %v", x.Entry, x.At)
		}
	}
	return p.Period, p.Newest, texts
}

// holds checks what the ledger holds of promises, and returns the number of the newest.
func holds(t *testing.T, l Ledger, c Charge, period int64, some bool, want string) int64 {
	t.Helper()
	got, newest, texts := promised(t, l, c)
	if got != period || (newest > 0) != some || texts != want {
		t.Errorf("period %d, newest %d, promises %q; want period %d, some %t, %q", got, newest, texts, period, some,
			want)
	}
	return newest
}

// A charge keeps what it promises, and one that was not compared with the newest promise is refused without a trace.
func TestChargesPromise(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for _, o := range []Options{{}, {Key: lock32(1)}} {
			if o.Key != nil {
				p = inFile(t)
			}
			l := p.open(t, o)
			holds(t, l, charge(0), 0, false, "")
			must(t, l, promising(1, 0, "wide"))
			first := holds(t, l, charge(0), 0, true, "0 public.t0 wide,")
			must(t, l, promising(2, first)) // it promises the same
			second := promising(3, first, "narrow", "beside")
			must(t, l, second)
			newest := holds(t, l, charge(0), 0, true, "0 public.t0 narrow,0 public.t1 beside,")
			if newest <= first {
				t.Errorf("entry %d comes behind %d", newest, first)
			}

			// Whoever was compared with less begins anew; whoever has paid already is told what was paid for.
			before, _ := told(t, l)
			for name, c := range map[string]Charge{"none": promising(4, 0, "wide"), "the first": promising(4, first),
				"one that is none": promising(4, newest+1)} {
				if _, err := l.Charge(t.Context(), c); !errors.Is(err, ErrPromised) {
					t.Errorf("compared with %s: %v", name, err)
				}
			}
			if _, err := l.Charge(t.Context(), charge(4)); err == nil ||
				!strings.Contains(err.Error(), "promises nothing") {
				t.Errorf("without a promise: %v", err)
			}
			must(t, l, second)
			if after, _ := told(t, l); len(after) != len(before) {
				t.Errorf("%d entries, and %d before", len(after), len(before))
			}

			// What tells nothing new, and what twins have told, promises nothing here; another dataset has its own.
			must(t, l, with(charge("free"), func(c *Charge) {
				c.Mechanism, c.Losses["income"] = Derived, privacy.Loss{}
			}))
			must(t, l, with(promising("twin", 0), func(c *Charge) { c.Mechanism, c.Promised = Twin, nil }))
			must(t, l, with(promising("census", 0, "wide"), func(c *Charge) { c.Dataset = "census" }))
			holds(t, l, charge(0), 0, true, "0 public.t0 narrow,0 public.t1 beside,")
			closeLedger(t, l)
			closeLedger(t, p.open(t, o)) // verifies
		}
	})
}

// A charge that is refused for its price promises nothing.
func TestRefusedChargesDoNotPromise(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		var x *Exhausted
		c := with(promising(1, 0, "wide"), func(c *Charge) { c.Limit.Epsilon = .125 })
		if _, err := l.Charge(t.Context(), c); !errors.As(err, &x) {
			t.Errorf("charged: %v", err)
		}
		holds(t, l, c, 0, false, "")
	})
}

// A share that pays for what was told before promises as whoever asked first did.
func TestSharesPromise(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		must(t, l, promising(1, 0, "wide"))
		newest := holds(t, l, charge(0), 0, true, "0 public.t0 wide,")
		joining := func(newest int64) Charge {
			return with(promising(1, newest), func(c *Charge) { c.User, c.Shares = "bob", shares("bob") })
		}
		if _, err := l.Charge(t.Context(), joining(0)); !errors.Is(err, ErrPromised) {
			t.Errorf("compared with none: %v", err)
		}
		must(t, l, joining(newest))
		must(t, l, joining(0)) // all is paid for
	})
}

// A period that begins has no promise, whatever has it begin; data that depend on those of before go on with it.
func TestPromisesOfPeriods(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		c := new(clock).drive(l)
		renewed := func(n any, newest int64, texts ...string) Charge {
			return with(promising(n, newest, texts...), func(c *Charge) { c.Renew = 30 * day })
		}
		must(t, l, renewed(1, 0, "narrow"))
		first := holds(t, l, renewed(0, 0), 0, true, "0 public.t0 narrow,")
		c.pass(30 * day)
		holds(t, l, renewed(0, 0), 1, false, "0 public.t0 narrow,")
		if _, err := l.Charge(t.Context(), renewed(2, first)); !errors.Is(err, ErrPromised) {
			t.Errorf("by the promise of another period: %v", err)
		}
		holds(t, l, renewed(0, 0), 1, false, "0 public.t0 narrow,") // nothing began either
		must(t, l, renewed(2, 0, "wide"))
		second := holds(t, l, renewed(0, 0), 1, true, "1 public.t0 wide,")

		if _, err := l.Reset(t.Context(), "adult", why); err != nil {
			t.Fatal(err)
		}
		holds(t, l, renewed(0, 0), 2, false, "1 public.t0 wide,")
		must(t, l, renewed(3, 0, "wider"))
		third := holds(t, l, renewed(0, 0), 2, true, "2 public.t0 wider,")
		advance(t, l, "", false)
		must(t, l, with(renewed(4, third), func(c *Charge) { c.Epoch = 1 }))
		advance(t, l, "", true)
		holds(t, l, renewed(0, 0), 3, false, "2 public.t0 wider,")
		if second <= first || third <= second {
			t.Errorf("entries %d, %d, %d", first, second, third)
		}

		// A policy that renews no more stays in the period that there is.
		must(t, l, with(promising(5, 0, "last"), func(c *Charge) { c.Epoch = 2 }))
		holds(t, l, charge(0), 3, true, "3 public.t0 last,")
		closeLedger(t, l)
		closeLedger(t, p.open(t, Options{}))
	})
}

// What was charged ahead of its answer has promised; that it is given, or given up, promises nothing more.
func TestPromisesAhead(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		c := with(promising(1, 0, "wide"), func(c *Charge) { c.Ahead, c.Cells = true, nil })
		a := must(t, l, c)
		newest := holds(t, l, c, 0, true, "0 public.t0 wide,")
		must(t, l, promising(2, newest, "narrow"))
		if _, err := l.Give(t.Context(), Outcome{Key: c.Key, Charged: a, Dataset: c.Dataset, User: c.User,
			Answer: []byte("given")}); err != nil {
			t.Fatal(err)
		}
		holds(t, l, c, 0, true, "0 public.t0 narrow,")
	})
}

// Of proxies that promise at once one is first, and the others look again.
func TestRaceForAPromise(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		ls := handles(t, p, 4)
		var won [64]bool
		together(func(i int) {
			_, err := ls[i%len(ls)].Charge(context.Background(), promising(i, 0, fmt.Sprint("promise ", i)))
			if won[i] = err == nil; err != nil && !errors.Is(err, ErrPromised) {
				t.Error(err)
			}
		})
		n := 0
		for i, first := range won {
			if first {
				n++
				holds(t, ls[0], charge(0), 0, true, fmt.Sprintf("0 public.t0 promise %d,", i))
			}
		}
		if n != 1 {
			t.Errorf("%d were first", n)
		}
	})
}

func TestPromisesAreChecked(t *testing.T) {
	l := fresh(t)
	for name, c := range map[string]Charge{
		"compared with none": with(promising(1, 0, "x"), func(c *Charge) { c.Promised = nil }),
		"below zero":         promising(1, -1),
		"no text":            promising(1, 0, ""),
		"no table":           with(promising(1, 0, "x"), func(c *Charge) { c.Promises[0].Table = "" }),
		"no UTF-8":           with(promising(1, 0, "x"), func(c *Charge) { c.Promises[0].Table = "\xff" }),
		"two of one table":   with(promising(1, 0, "x", "y"), func(c *Charge) { c.Promises[1].Table = "public.t0" }),
		"of what is free": with(promising(1, 0), func(c *Charge) {
			c.Mechanism, c.Losses["income"] = Derived, privacy.Loss{}
		}),
	} {
		if _, err := l.Charge(t.Context(), c); err == nil {
			t.Errorf("charged: %s", name)
		}
	}
}
