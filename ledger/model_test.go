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

	"pgregory.net/rapid"

	"fugu/privacy"
)

// model is what a ledger should be, without a disk.
type model struct {
	answers map[Key]Charge         // the first one of each key
	paid    map[[2]string]bool     // key, scope
	totals  map[[2]string]*Account // scope, secret
	*store
}

func (m *model) charge(t *rapid.T, c Charge) {
	first, stored := m.answers[c.Key]
	if !stored {
		first = c
	}
	over := false
	if !m.paid[[2]string{string(c.Key), c.Scope}] {
		for secret, loss := range first.Losses {
			if a := m.totals[[2]string{c.Scope, secret}]; a != nil {
				loss = loss.Plus(a.Loss) // exact: all losses are sixteenths
			}
			over = over || !loss.Within(c.Limit)
		}
	}
	a, err := m.Charge(context.Background(), c)
	var x *Exhausted
	if over {
		if !errors.As(err, &x) {
			t.Fatalf("over the limit: %v", err)
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
	if pay := [2]string{string(c.Key), c.Scope}; !m.paid[pay] {
		m.paid[pay] = true
		for secret, loss := range first.Losses {
			a := m.totals[[2]string{c.Scope, secret}]
			if a == nil {
				a = &Account{Secret: secret}
				m.totals[[2]string{c.Scope, secret}] = a
			}
			a.Loss, a.Releases = a.Loss.Plus(loss), a.Releases+1
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
			if _, ok, err := m.Find(context.Background(), k, scope); err != nil || ok != m.paid[[2]string{string(k), scope}] {
				t.Fatalf("find for %q: %v, %v", scope, ok, err)
			}
		}
	}
}

// Any sequence of charges has the outcome that the model has, across closing and opening again.
func TestLedgerBehavesLikeItsModel(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		if p.remote() { // a step takes ten times as long
			few(t, 8)
		}
		rapid.Check(t, func(t *rapid.T) {
			m := &model{answers: map[Key]Charge{}, paid: map[[2]string]bool{}, totals: map[[2]string]*Account{}}
			reopen := func(t *rapid.T) {
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
			}
			reopen(t)
			defer func() {
				p.clear(t, m.store)
				_ = m.Close()
			}()
			n := 0
			sixteenths := rapid.Custom(func(t *rapid.T) privacy.Loss {
				return privacy.Loss{Pure: float64(rapid.IntRange(0, 8).Draw(t, "pure")) / 16, Kappa2: float64(rapid.IntRange(0, 1).Draw(t, "kappa2")) / 16}
			})
			t.Repeat(map[string]func(*rapid.T){
				"charge": func(t *rapid.T) {
					n++
					c := charge(rapid.IntRange(0, 9).Draw(t, "key"))
					c.Scope = rapid.SampledFrom([]string{"", "alice", "bob"}).Draw(t, "scope")
					c.Losses = rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), sixteenths, 1, 3).Draw(t, "losses")
					c.Limit.Epsilon = privacy.Epsilon(rapid.IntRange(1, 4).Draw(t, "limit"))
					c.Answer = fmt.Append(nil, n)
					m.charge(t, c)
				},
				"reopen": reopen,
				"":       m.check,
			})
		})
	})
}

// few makes rapid try fewer examples until the test ends.
func few(t *testing.T, checks int) {
	t.Helper()
	checksFlag := flag.Lookup("rapid.checks")
	before := checksFlag.Value.String()
	if n, err := strconv.Atoi(before); err != nil || n != 100 { // somebody asked for more
		return
	}
	if err := checksFlag.Value.Set(strconv.Itoa(checks)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = checksFlag.Value.Set(before) })
}
