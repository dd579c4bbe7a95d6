package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"fugu/ledger/audit"
	"fugu/privacy"
)

func open(t testing.TB, path string, o Options) *store {
	t.Helper()
	l, err := Open(context.Background(), "sqlite:"+path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.(*store).read.Close() }) // a test that fails half-way
	return l.(*store)
}

func fresh(t testing.TB) *store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "fugu.db"), Options{})
}

func closeLedger(t testing.TB, l Ledger) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func key(n any) Key {
	sum := sha256.Sum256(fmt.Append(nil, n))
	return Key(hex.EncodeToString(sum[:]))
}

// charge is a plain charge of ε 0.25 for one secret, out of 1.
func charge(n any) Charge {
	return Charge{
		Key: key(n), Dataset: "adult", User: "alice",
		Losses:    map[string]privacy.Loss{"income": {Pure: 0.25}},
		Limit:     privacy.Budget{Epsilon: 1, Delta: 0.01},
		Requested: privacy.Budget{Epsilon: 0.25, Delta: 0.001},
		Mechanism: "expm-laplace", Assumption: "translation",
		Answer: fmt.Append(nil, "answer ", n),
		Cells: []Cell{{Column: "avg", GroupKey: `{"sex":"Ünïcode 日本"}`, Value: "38.6", SD: 0.1, Lower: 38.4,
			Upper: 38.799999999999997, Secret: "income"}},
	}
}

// certificate is for the charge of charge.
func certificate() []audit.Certificate {
	return []audit.Certificate{{Secret: "income", Mechanism: "directional",
		Assumptions: []string{"gaussian", "translation"}, Pair: [2]float64{.15, .1},
		Epsilon: 0.25, Delta: 9.9e-4, Estimation: -1}}
}

// shares are of users, each as large as the limit of charge.
func shares(users ...string) (out []Share) {
	for _, u := range users {
		out = append(out, Share{UserScope(u), charge(0).Limit})
	}
	return out
}

func with(c Charge, f func(*Charge)) Charge { f(&c); return c }

func must(t testing.TB, l Ledger, c Charge) Answer {
	t.Helper()
	a, err := l.Charge(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func spent(t testing.TB, l Ledger, scope string) []Account {
	t.Helper()
	a, err := l.Spent(context.Background(), "adult", scope)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAnswerComesBackAsItWasStored(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		ctx := context.Background()
		all := charge("all")
		all.Certificates = certificate()
		all.Losses = map[string]privacy.Loss{"income": {Pure: 0.1, Kappa2: 1e-300, Delta: 5e-324}, "sector": {}}
		failure := Charge{Key: key("failure"), Dataset: "adult", User: "bob", Losses: all.Losses, Limit: all.Limit,
			Requested: all.Requested, Failed: true}
		binary := with(charge("binary"), func(c *Charge) {
			c.Answer, c.Cells, c.User = []byte{0, 0xff, 0}, nil, "o'brien \"x\""
		})

		l := p.open(t, Options{})
		before := time.Now().Add(-time.Microsecond)
		var want []Answer
		for _, c := range []Charge{all, failure, binary} {
			a := must(t, l, c)
			if !a.Fresh || a.At.Before(before) || a.At.After(time.Now()) {
				t.Errorf("fresh %v at %v", a.Fresh, a.At)
			}
			expected := Answer{ID: a.ID, Bytes: c.Answer, Failed: c.Failed, Mechanism: c.Mechanism,
				Assumption: c.Assumption,
				Requested:  c.Requested, Losses: c.Losses, Cells: c.Cells, Certificates: c.Certificates, At: a.At,
				Fresh: true}
			if !reflect.DeepEqual(a, expected) {
				t.Errorf("charge returned\n%+v, want\n%+v", a, expected)
			}
			a.Fresh = false
			if a.Bytes == nil {
				a.Bytes = []byte{}
			}
			want = append([]Answer{a}, want...)
		}
		check := func(l Ledger) {
			t.Helper()
			got, err := l.Releases(ctx, "adult", 10)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("releases\n%+v, %v, want\n%+v", got, err, want)
			}
			for i, k := range []Key{binary.Key, failure.Key, all.Key} {
				a, ok, err := l.Find(ctx, k, "")
				if err != nil || !ok || !reflect.DeepEqual(a, want[i]) {
					t.Errorf("found\n%+v, %v, %v, want\n%+v", a, ok, err, want[i])
				}
			}
		}
		check(l)
		closeLedger(t, l)
		l = p.open(t, Options{})
		check(l)
		closeLedger(t, l)
		l = p.open(t, Options{ReadOnly: true})
		check(l)
		if _, err := l.Charge(ctx, charge("late")); err == nil {
			t.Error("a read-only ledger charged")
		}
		closeLedger(t, l)
	})
}

func TestSameKeyIsPaidOncePerScope(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		ctx := context.Background()
		l := p.open(t, Options{})
		first := must(t, l, with(charge(1), func(c *Charge) { c.Shares = shares("alice") }))

		other := with(charge(1), func(c *Charge) { c.Shares, c.Answer = shares("alice"), []byte("another draw") })
		if a := must(t, l, other); a.ID != first.ID || string(a.Bytes) != string(first.Bytes) || a.Fresh {
			t.Errorf("asked again: %+v", a)
		}
		finds(t, l, false, "bob")
		finds(t, l, false, "alice", "bob") // one of two has not paid
		for _, scopes := range [][]string{nil, {Everybody}, {"alice"}} {
			finds(t, l, true, scopes...)
		}

		// What bob pays is the price of the answer that he gets, not of the one that he brings. Everybody has paid it.
		bob := with(other, func(c *Charge) {
			c.Shares, c.User = shares("bob"), "bob"
			c.Losses = map[string]privacy.Loss{"income": {}, "sector": {Pure: 1}}
		})
		if a := must(t, l, bob); a.ID != first.ID || string(a.Bytes) != string(first.Bytes) || a.Fresh ||
			!reflect.DeepEqual(a.Losses, first.Losses) {
			t.Errorf("bob: %+v", a)
		}
		for _, scope := range []string{Everybody, "alice", "bob"} {
			if got, want := spent(t, l, scope),
				[]Account{{"income", privacy.Loss{Pure: 0.25}, 1}}; !reflect.DeepEqual(got, want) {
				t.Errorf("%q: %+v, want %+v", scope, got, want)
			}
			finds(t, l, true, scope)
		}

		// Who cannot pay does not get what others paid for.
		carol := with(bob, func(c *Charge) { c.Shares = shares("carol"); c.Shares[0].Limit.Epsilon = 0.2 })
		var x *Exhausted
		if a, err := l.Charge(ctx, carol); !errors.As(err, &x) || a.Bytes != nil || x.Scope != "carol" {
			t.Errorf("carol: %+v, %v", a, err)
		}
		finds(t, l, false, "carol")
		if got, err := l.Scopes(ctx, "adult"); err != nil ||
			!reflect.DeepEqual(got, []string{Everybody, "alice", "bob"}) {
			t.Errorf("scopes %q, %v", got, err)
		}
		if got, err := l.Releases(ctx, "adult", 10); err != nil || len(got) != 1 {
			t.Errorf("%d releases, %v", len(got), err)
		}

		// A key is of one dataset.
		elsewhere := with(charge(1), func(c *Charge) { c.Dataset = "census" })
		if _, err := l.Charge(ctx, elsewhere); err == nil || errors.As(err, &x) {
			t.Errorf("the key of another dataset: %v", err)
		}
	})
}

// finds holds who finds the answer of key 1 to who has paid for it.
func finds(t *testing.T, l Ledger, paid bool, scopes ...string) {
	t.Helper()
	if _, ok, err := l.Find(t.Context(), key(1), scopes...); ok != paid || err != nil {
		t.Errorf("%q find: %v, %v; have paid: %v", scopes, ok, err, paid)
	}
}

func TestFailureIsStoredAndPaidLikeAnAnswer(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		failure := with(charge(1), func(c *Charge) { c.Failed, c.Answer, c.Cells = true, nil, nil })
		must(t, l, failure)
		if a := must(t, l, charge(1)); !a.Failed || len(a.Bytes) != 0 {
			t.Errorf("a later success replaced a stored failure: %+v", a)
		}
		if got := spent(t, l, ""); len(got) != 1 || got[0].Loss.Pure != 0.25 || got[0].Releases != 1 {
			t.Errorf("spent %+v", got)
		}
	})
}

// malformed are ways to spoil a charge.
var malformed = map[string]func(*Charge){
	"no key":             func(c *Charge) { c.Key = "" },
	"short key":          func(c *Charge) { c.Key = c.Key[2:] },
	"upper-case key":     func(c *Charge) { c.Key = Key(strings.Repeat("AB", 32)) },
	"key that is no hex": func(c *Charge) { c.Key = Key(strings.Repeat("xy", 32)) },
	"no dataset":         func(c *Charge) { c.Dataset = "" },
	"no user":            func(c *Charge) { c.User = "" },
	"no losses":          func(c *Charge) { c.Losses = nil },
	"nameless secret":    func(c *Charge) { c.Losses = map[string]privacy.Loss{"": {Pure: 0.1}} },
	"negative loss":      func(c *Charge) { c.Losses = map[string]privacy.Loss{"a": {Pure: -0.1}} },
	"negative kappa2": func(c *Charge) {
		c.Losses = map[string]privacy.Loss{"a": {Kappa2: -0.1}}
	},
	"negative delta": func(c *Charge) { c.Losses = map[string]privacy.Loss{"a": {Delta: -0.1}} },
	"NaN loss": func(c *Charge) {
		c.Losses = map[string]privacy.Loss{"a": {Pure: math.NaN()}}
	},
	"NaN delta beside": func(c *Charge) {
		c.Losses = map[string]privacy.Loss{"a": {}, "b": {Delta: math.NaN()}}
	},
	"infinite loss": func(c *Charge) {
		c.Losses = map[string]privacy.Loss{"a": {Kappa2: math.Inf(1)}}
	},
	"no limit":                func(c *Charge) { c.Limit = privacy.Budget{} },
	"infinite limit":          func(c *Charge) { c.Limit.Epsilon = privacy.Epsilon(math.Inf(1)) },
	"NaN limit":               func(c *Charge) { c.Limit.Epsilon = privacy.Epsilon(math.NaN()) },
	"limit of delta 1":        func(c *Charge) { c.Limit.Delta = 1 },
	"negative limit delta":    func(c *Charge) { c.Limit.Delta = -0.1 },
	"no request":              func(c *Charge) { c.Requested.Epsilon = 0 },
	"no answer":               func(c *Charge) { c.Answer = nil },
	"no mechanism":            func(c *Charge) { c.Mechanism = "" },
	"no assumption":           func(c *Charge) { c.Assumption = "" },
	"failure with an answer":  func(c *Charge) { c.Failed = true; c.Cells = nil },
	"failure with cells":      func(c *Charge) { c.Failed = true; c.Answer = nil },
	"scope that is no text":   func(c *Charge) { c.Shares = shares("a\xff") },
	"a share of everybody's":  func(c *Charge) { c.Shares = shares("") },
	"a share twice":           func(c *Charge) { c.Shares = shares("bob", "bob") },
	"a share without a limit": func(c *Charge) { c.Shares = []Share{{Scope: "bob"}} },
	"a period below zero":     func(c *Charge) { c.Renew = -time.Hour },
	"an epoch below zero":     func(c *Charge) { c.Epoch = -1 },
	"user with NUL":           func(c *Charge) { c.User = "a\x00b" },
	"secret that is no text": func(c *Charge) {
		c.Losses = map[string]privacy.Loss{"\xff": {Pure: 0.1}}
	},
	"cell that is no text": func(c *Charge) { c.Cells = []Cell{{GroupKey: "\xff"}} },
	"cell with NaN":        func(c *Charge) { c.Cells = []Cell{{SD: math.NaN()}} },
	"cell with infinity":   func(c *Charge) { c.Cells = []Cell{{Upper: math.Inf(1)}} },
	"certificate of another secret": func(c *Charge) {
		c.Certificates = certificate()
		c.Certificates[0].Secret = "sector"
	},
	"certificate with NaN": func(c *Charge) {
		c.Certificates = certificate()
		c.Certificates[0].Delta = math.NaN()
	},
	"certificate with infinity": func(c *Charge) {
		c.Certificates = certificate()
		c.Certificates[0].Estimation = math.Inf(1)
	},
	"certificate that is no text": func(c *Charge) {
		c.Certificates = certificate()
		c.Certificates[0].Assumptions = []string{"\xff"}
	},
	"failure with a certificate": func(c *Charge) {
		c.Failed, c.Answer, c.Cells, c.Certificates = true, nil, nil, certificate()
	},
	"cell upside down":              func(c *Charge) { c.Cells = []Cell{{Lower: 1}} },
	"terms that count with nothing": func(c *Charge) { c.Terms = []byte("terms") },
	"terms of no bytes":             func(c *Charge) { c.Terms, c.After = []byte{}, new(int64) },
	"terms of a failure": func(c *Charge) {
		c.Failed, c.Answer, c.Cells, c.Terms, c.After = true, nil, nil, []byte("terms"), new(int64)
	},
	"counting with what cannot be": func(c *Charge) {
		before := int64(-1)
		c.Terms, c.After = []byte("terms"), &before
	},
	"a statement in the place of its fingerprint": func(c *Charge) { c.Statement = "SELECT 38.6" },
	"a fingerprint that is too long":              func(c *Charge) { c.Statement = strings.Repeat("ab", 33) },
}

func TestMalformedChargeIsRefused(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		for name, spoil := range malformed {
			t.Run(name, func(t *testing.T) {
				c := with(charge(name), spoil)
				if c.check() == nil {
					t.Error("not seen before the transaction")
				}
				if a, err := l.Charge(context.Background(), c); err == nil {
					t.Errorf("charged: %+v", a)
				}
			})
		}
		if got, err := l.Scopes(context.Background(), "adult"); err != nil || len(got) > 0 {
			t.Errorf("something was booked: %q, %v", got, err)
		}
		if _, _, err := l.Find(context.Background(), "abc", ""); err == nil {
			t.Error("found by a malformed key")
		}
		if _, err := l.Releases(context.Background(), "adult", 0); err == nil {
			t.Error("a limit of 0")
		}
	})
}
