package ledger

import (
	"context"
	"fmt"
	"testing"

	"fugu/privacy"
)

// filled is a ledger with n answers of two secrets each. Storing them does not wait for the disk: only what is measured
// does.
func filled(b *testing.B, p place, n int) *store {
	b.Helper()
	l := p.open(b, Options{})
	hurry := `PRAGMA synchronous = OFF`
	if p.remote() {
		hurry = `SET synchronous_commit = off`
	}
	if _, err := l.write.Exec(hurry); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		must(b, l, benchCharge(i))
	}
	closeLedger(b, l)
	if p.remote() { // what storing them has left to write is not what is measured
		if err := as(b, "postgres", p, `CHECKPOINT`); err != nil {
			b.Fatal(err)
		}
	}
	l = p.open(b, Options{Exclusive: true})
	b.Cleanup(func() { closeLedger(b, l) })
	return l
}

func benchCharge(i int) Charge {
	return with(charge(i), func(c *Charge) {
		c.Losses = map[string]privacy.Loss{"high_income": {Pure: 1e-6}, "private_sector": {Kappa2: 1e-9}}
		c.Limit.Epsilon = 100
		c.Answer = make([]byte, 500)
	})
}

func eachSize(b *testing.B, f func(b *testing.B, l *store, n int)) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint("SQLite/stored=", n), func(b *testing.B) { f(b, filled(b, inFile(b), n), n) })
		b.Run(fmt.Sprint("PostgreSQL/stored=", n), func(b *testing.B) { f(b, filled(b, inDatabase(b), n), n) })
	}
}

func BenchmarkCharge(b *testing.B) {
	eachSize(b, func(b *testing.B, l *store, n int) {
		i := n
		for b.Loop() {
			must(b, l, benchCharge(i))
			i++
		}
	})
}

func BenchmarkFind(b *testing.B) {
	eachSize(b, func(b *testing.B, l *store, n int) {
		i := 0
		for b.Loop() {
			if _, ok, err := l.Find(context.Background(), key(i*7919%n), ""); !ok || err != nil {
				b.Fatal(ok, err)
			}
			i++
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	eachSize(b, func(b *testing.B, l *store, _ int) {
		for b.Loop() {
			if err := l.verify(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
