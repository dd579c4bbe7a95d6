package ledger

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fugu/privacy"
	"fugu/test/nightly"
	"fugu/test/patient"
	_ "fugu/test/seeded" // what rapid draws is the same at every run
)

const day = 24 * time.Hour

// model is what a ledger should be, without a disk.
type model struct {
	answers map[Key]Charge         // the first one of each key
	paid    map[[2]string]bool     // key, scope
	totals  map[[2]string]*Account // scope, secret; of the period
	period  int
	epoch   int64
	now     time.Time
	began   time.Time // the period; zero: not under a policy that renews
	*store
}

func (m *model) charge(t *rapid.T, c Charge) {
	c.Epoch = m.epoch
	c.Key = key(fmt.Sprint(c.Key, m.epoch))
	first, stored := m.answers[c.Key]
	if !stored {
		first = c
	}
	var pay []Share
	for _, x := range append([]Share{{"", c.Limit}}, c.Shares...) {
		if !m.paid[[2]string{string(c.Key), x.Scope}] {
			pay = append(pay, x)
		}
	}
	due := len(pay) > 0 && c.Renew > 0 && !m.began.IsZero() && m.now.Sub(m.began) >= c.Renew
	over := map[string]bool{}
	for _, x := range pay {
		for secret, loss := range first.Losses {
			releases := 1
			if a := m.totals[[2]string{x.Scope, secret}]; a != nil && !due {
				releases = a.Loss.Releases()
				loss = loss.Plus(a.Loss) // exact: all losses are sixteenths
			}
			if !loss.Allowed(x.Limit, releases) {
				over[x.Scope] = true
			}
		}
	}
	a, err := m.Charge(context.Background(), c)
	var x *Exhausted
	if len(over) > 0 {
		if !errors.As(err, &x) || !over[x.Scope] {
			t.Fatalf("over the limits of %v: %v", over, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if a.Fresh == stored || !bytes.Equal(a.Bytes, first.Answer) || !reflect.DeepEqual(a.Losses, first.Losses) {
		t.Fatalf("got %+v, want %+v (stored %v)", a, first, stored)
	}
	m.answers[c.Key] = first
	m.book(c, first, pay, due)
}

// book is what a charge does to the totals: those of a period that is due begin anew.
func (m *model) book(c, first Charge, pay []Share, due bool) {
	switch {
	case due:
		clear(m.totals)
		m.period++
		for m.now.Sub(m.began) >= c.Renew {
			m.began = m.began.Add(c.Renew)
		}
	case len(pay) > 0 && c.Renew > 0 && m.began.IsZero():
		m.began = m.now
	}
	for _, x := range pay {
		m.paid[[2]string{string(c.Key), x.Scope}] = true
		for secret, loss := range first.Losses {
			a := m.totals[[2]string{x.Scope, secret}]
			if a == nil {
				a = &Account{Secret: secret}
				m.totals[[2]string{x.Scope, secret}] = a
			}
			a.Loss, a.Releases = a.Loss.Plus(loss), a.Releases+1
		}
	}
}

func (m *model) advance(t *rapid.T, independent bool) {
	m.epoch++
	e, err := m.Advance(context.Background(),
		Epoch{Dataset: "adult", Independent: independent, User: "root", Reason: "new rows"})
	if err != nil || e.Number != m.epoch {
		t.Fatalf("%+v, %v", e, err)
	}
	if independent {
		clear(m.totals)
		m.period++
		if m.now.After(m.began) {
			m.began = m.now
		}
	}
}

func (m *model) check(t *rapid.T) {
	for _, scope := range []string{"", "alice", "bob"} {
		accounts, err := m.Spent(context.Background(), "adult", scope)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for id, want := range m.totals {
			if id[0] == scope {
				n++
				found := false
				for _, a := range accounts {
					found = found || a == *want
				}
				if !found {
					t.Fatalf("scope %q: %+v, want %+v", scope, accounts, *want)
				}
			}
		}
		if n != len(accounts) {
			t.Fatalf("scope %q: %d accounts, want %d", scope, len(accounts), n)
		}
		for k := range m.answers {
			if _, ok, err := m.Find(context.Background(), k, scope); err != nil ||
				ok != m.paid[[2]string{string(k), scope}] {
				t.Fatalf("find for %q: %v, %v", scope, ok, err)
			}
		}
	}
}

// Any sequence of charges has the outcome that the model has, across closing and opening again.
func TestLedgerBehavesLikeItsModel(t *testing.T) {
	patient.Test(t)
	everywhere(t, func(t *testing.T, p place) {
		// What shows last is a period that begins where it should not: 35 sequences find it. A step takes ten times as
		// long in PostgreSQL.
		checks := nightly.Or(200, 50)
		if p.remote() {
			checks = 8
		}
		tries(t, checks)
		rapid.Check(t, func(t *rapid.T) {
			m := &model{answers: map[Key]Charge{}, paid: map[[2]string]bool{}, totals: map[[2]string]*Account{},
				now: time.UnixMicro(1e15).UTC()}
			reopen := func(t *rapid.T) { m.reopen(t, p) }
			reopen(t)
			defer func() {
				p.clear(t, m.store)
				_ = m.Close()
			}()
			n := 0
			sixteenths := rapid.Custom(func(t *rapid.T) privacy.Loss {
				return privacy.Loss{Pure: float64(rapid.IntRange(0, 8).Draw(t, "pure")) / 16,
					Kappa2: float64(rapid.IntRange(0, 1).Draw(t, "kappa2")) / 16}
			})
			t.Repeat(map[string]func(*rapid.T){
				"charge": func(t *rapid.T) {
					n++
					c := charge(rapid.IntRange(0, 9).Draw(t, "key"))
					for _, user := range rapid.SampledFrom([][]string{nil, {"alice"}, {"bob"},
						{"alice", "bob"}}).Draw(t, "shares") {
						c.Shares = append(c.Shares,
							Share{user, privacy.Budget{Epsilon: privacy.Epsilon(rapid.IntRange(1, 2).Draw(t, "share")),
								Delta: 0.01}})
					}
					c.Renew = rapid.SampledFrom([]time.Duration{0, 0, day, 3 * day}).Draw(t, "renew")
					c.Losses = rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), sixteenths, 1, 3).Draw(t,
						"losses")
					c.Limit.Epsilon = privacy.Epsilon(rapid.IntRange(1, 4).Draw(t, "limit"))
					c.Answer = fmt.Append(nil, n)
					m.charge(t, c)
				},
				"advance": func(t *rapid.T) { m.advance(t, rapid.Bool().Draw(t, "independent")) },
				"clock": func(t *rapid.T) { // forward and back
					m.now = m.now.Add(time.Duration(rapid.IntRange(-4, 8).Draw(t, "half days")) * day / 2)
				},
				"audit": func(t *rapid.T) {
					if _, err := m.Audit(context.Background(), nil); err != nil {
						t.Fatal(err)
					}
				},
				"reopen": reopen,
				"":       m.check,
			})
		})
	})
}

// reopen closes the ledger, if it is open, and opens it with the model's clock.
func (m *model) reopen(t *rapid.T, p place) {
	if m.store != nil {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Open(context.Background(), string(p), Options{Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	m.store = l.(*store)
	m.clock = func(context.Context, queryer) (time.Time, error) { return m.now, nil }
}

// tries has rapid try so many examples until the test ends.
func tries(t *testing.T, checks int) {
	t.Helper()
	checksFlag := flag.Lookup("rapid.checks")
	before := checksFlag.Value.String()
	if n, err := strconv.Atoi(before); err != nil || n != 100 { // somebody asked for others
		return
	}
	if err := checksFlag.Value.Set(strconv.Itoa(checks)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = checksFlag.Value.Set(before) })
}
