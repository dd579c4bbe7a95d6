package ledger

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"fugu/ledger/audit"
	"fugu/privacy"
)

// clock is a clock that a test sets, for any number of handles.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) drive(ls ...*store) *clock {
	c.set(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	for _, l := range ls {
		l.clock = func(context.Context, queryer) (time.Time, error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.now, nil
		}
	}
	return c
}

func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

func (c *clock) pass(d time.Duration) { c.set(c.now.Add(d)) }

// monthly is a charge under a policy whose budget, of four of them, is renewed every thirty days.
func monthly(n any) Charge { return with(charge(n), func(c *Charge) { c.Renew = 30 * day }) }

// drain charges until the budget is spent, and returns how many answers it paid for.
func drain(t *testing.T, l Ledger, name string) (given int) {
	t.Helper()
	for {
		_, err := l.Charge(context.Background(), monthly(fmt.Sprint(name, given)))
		var x *Exhausted
		if errors.As(err, &x) {
			return given
		} else if err != nil {
			t.Fatal(err)
		}
		if given++; given > 20 {
			t.Fatal("nothing stops")
		}
	}
}

func standing(t *testing.T, l Ledger, renew time.Duration) Standing {
	t.Helper()
	s, err := l.Standing(context.Background(), "adult", renew)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// However the clock goes, a period is one budget: what a jump ahead begins is one, and going back begins none.
func TestPeriodIsOneBudget(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		c := new(clock).drive(l)
		steps := []struct {
			name   string
			pass   time.Duration
			given  int
			period int64
		}{
			{"the first", 0, 4, 0},
			{"29 days", 29 * day, 0, 0},
			{"an hour before the end", 23 * time.Hour, 0, 0},
			{"the end", time.Hour, 4, 1},
			{"at once", 0, 0, 1},
			{"back", -40 * day, 0, 1},
			{"and there again", 40 * day, 0, 1},
			{"half a year ahead", 183 * day, 4, 2},
			{"back to where it was", -183 * day, 0, 2},
			{"a month after that", 30 * day, 0, 2},
			{"ahead again", 153 * day, 0, 2},
			{"the bounds stay multiples of thirty days", 26 * day, 0, 2},
			{"the next one", day, 4, 3},
		}
		for _, s := range steps {
			c.pass(s.pass)
			before := standing(t, l, 30*day)
			if before.Due != (s.given > 0 && s.period > 0) || before.Period != s.period {
				t.Errorf("%s: %+v, want period %d", s.name, before, s.period)
			}
			if got := drain(t, l, s.name); got != s.given {
				t.Errorf("%s: %d answers, want %d", s.name, got, s.given)
			}
			if got := spent(t, l, Everybody); got[0].Loss.Pure != 1 {
				t.Errorf("%s: spent %+v", s.name, got)
			}
			if got := standing(t, l, 30*day); got != (Standing{Period: s.period}) {
				t.Errorf("%s: %+v", s.name, got)
			}
		}
		if got := standing(t, l, 0); got != (Standing{Period: 3}) {
			t.Errorf("a policy that no longer renews: %+v", got)
		}
		var began []string
		entries, _ := told(t, l)
		for _, e := range entries {
			if e.Event == audit.NewPeriod {
				began = append(began, fmt.Sprint(e.Period, " ", e.Reason, " ", e.Began.Format(time.DateOnly), " ", e.At.Format(time.DateOnly)))
			}
		}
		want := []string{"0 first 2026-01-01 2026-01-01", "1 renewal 2026-01-31 2026-01-31", "2 renewal 2026-07-30 2026-08-02", "3 renewal 2026-08-29 2026-08-29"}
		if !reflect.DeepEqual(began, want) {
			t.Errorf("the chain has %q, want %q", began, want)
		}
	})
}

// A policy that never renews does not, and one that begins to counts from then.
func TestNeverRenewed(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		c := new(clock).drive(l)
		for i := range 4 {
			must(t, l, charge(i))
		}
		c.pass(1000 * day)
		var x *Exhausted
		if _, err := l.Charge(t.Context(), charge(4)); !errors.As(err, &x) {
			t.Fatal(err)
		}
		wider := with(monthly(5), func(c *Charge) { c.Limit.Epsilon = 1.25 })
		must(t, l, wider) // the first charge under a policy that renews
		c.pass(30*day - time.Microsecond)
		if n := drain(t, l, "early"); n > 0 {
			t.Errorf("%d answers before the first period was over", n)
		}
		c.pass(time.Microsecond)
		if n := drain(t, l, "then"); n != 4 {
			t.Errorf("%d answers", n)
		}
		// An answer of the period before is free, as ever.
		if a := must(t, l, with(wider, func(c *Charge) { c.Answer = []byte("another") })); a.Fresh {
			t.Error("charged again")
		}
	})
}

// Shares renew with the total, and an answer of a former period is charged to a share in the period in which it is told.
func TestSharesRenewWithTheTotal(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		c := new(clock).drive(l)
		of := func(n int, user string) Charge {
			return with(monthly(n), func(c *Charge) { c.User, c.Shares = user, []Share{{user, privacy.Budget{Epsilon: 0.25}}} })
		}
		must(t, l, of(1, "alice"))
		var x *Exhausted
		if _, err := l.Charge(t.Context(), of(2, "alice")); !errors.As(err, &x) || x.Scope != "alice" {
			t.Errorf("alice's is spent: %v", err)
		}
		c.pass(30 * day)
		if a := must(t, l, of(1, "bob")); a.Fresh {
			t.Error("drawn again")
		}
		if got := spent(t, l, Everybody); len(got) > 0 {
			t.Errorf("everybody has paid for that in the period before: %+v", got)
		}
		if _, err := l.Charge(t.Context(), of(3, "bob")); !errors.As(err, &x) || x.Scope != "bob" {
			t.Errorf("bob's is spent: %v", err)
		}
		must(t, l, of(2, "alice"))
		for scope, n := range map[string]int{Everybody: 1, "alice": 1, "bob": 1} {
			if got := spent(t, l, scope); len(got) != 1 || got[0].Releases != n {
				t.Errorf("%q: %+v", scope, got)
			}
		}
		if _, err := l.Audit(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
}

// Many at the end of a period, through four handles: one period begins, and it is one budget.
func TestRaceAtTheEndOfAPeriod(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		ls := handles(t, p, 4)
		c := new(clock).drive(ls...)
		for i := range 4 {
			must(t, ls[0], monthly(fmt.Sprint("before", i)))
		}
		c.pass(90 * day)
		var mu sync.Mutex
		won := 0
		together(func(i int) {
			_, err := ls[i%4].Charge(context.Background(), monthly(i))
			var x *Exhausted
			if err != nil && !errors.As(err, &x) {
				t.Errorf("%d: %v", i, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			}
		})
		if got := standing(t, ls[0], 30*day); won != 4 || got != (Standing{Period: 1}) {
			t.Errorf("%d answers, %+v", won, got)
		}
	})
}

// The clock of a ledger in PostgreSQL is the server's, and one of the moment.
func TestServerClock(t *testing.T) {
	l := inDatabase(t).open(t, Options{})
	tx, err := l.read.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	var last, start, end time.Time
	for i := range 3 {
		if err := tx.QueryRowContext(t.Context(), `SELECT now(), clock_timestamp()`).Scan(&start, &last); err != nil {
			t.Fatal(err)
		}
		got, err := l.clock(t.Context(), tx)
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.QueryRowContext(t.Context(), `SELECT clock_timestamp()`).Scan(&end); err != nil {
			t.Fatal(err)
		}
		if got.Before(last) || got.After(end) || !got.After(start) || got.Location() != time.UTC {
			t.Errorf("%d: %v, between %v and %v", i, got, last, end)
		}
	}
}
