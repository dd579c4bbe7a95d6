package privacy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// ε and κ are what halving finds: they keep δ, and the next number does not. Where rounding has δ go up and down more
// than one number does, as it is the difference of two, that is so of the number next to them all the same.
func TestRootsAreTheLast(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 1))
	for range 20_000 {
		l := Loss{Pure: math.Exp(r.Float64()*20 - 14), Kappa2: math.Exp(r.Float64()*16 - 12)}
		if r.IntN(2) == 0 {
			l.Delta = math.Exp(-20 - 10*r.Float64())
		}
		delta := math.Exp(-r.Float64() * 18)
		if e := l.EpsilonAt(delta); math.IsInf(e, 1) {
			if l.Delta <= delta {
				t.Fatalf("%+v at %g has no ε", l, delta)
			}
		} else if l.DeltaAt(e) > delta || e > l.Pure && l.DeltaAt(math.Nextafter(e, 0)) <= delta {
			t.Fatalf("%+v at %g: %v is not the least", l, delta, e)
		}

		k := Kappa(Budget{Epsilon(l.Pure), Delta(delta)})
		if GaussianDelta(l.Pure, k) > delta || GaussianDelta(l.Pure, math.Nextafter(k, math.Inf(1))) <= delta {
			t.Fatalf("ε = %g, δ = %g: κ = %v is not the largest", l.Pure, delta, k)
		}
	}
}

// A root takes some fifteen evaluations, and one that is hard to find not more than halving alone by far: here of what
// EpsilonAt looks for, of functions that are flat, steep or broken, and of one that is nowhere 0.
func TestNarrowedIsQuick(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 2))
	total, roots := 0, 0
	for range 2000 {
		l := Loss{Pure: r.Float64(), Kappa2: math.Exp(r.Float64()*12 - 8)}
		delta := math.Exp(-1 - r.Float64()*14)
		f := func(x float64) float64 { total++; return Excess(l.DeltaAt(x), delta) }
		lo, hi := Point{l.Pure, f(l.Pure)}, Point{l.Pure + 30, f(l.Pure + 30)}
		if lo.Over() && !hi.Over() {
			Narrowed(f, lo, hi, 0)
			roots++
		}
	}
	if roots < 1000 || total > 22*roots {
		t.Errorf("%d evaluations for %d roots", total, roots)
	}

	for name, f := range map[string]func(float64) float64{
		"a cube":          func(x float64) float64 { return math.Pow(x-.3, 3) },
		"a flat one":      func(x float64) float64 { return math.Pow(x-.3, 21) },
		"a step":          func(x float64) float64 { return math.Copysign(1, x-.3) },
		"a cliff":         func(x float64) float64 { return math.Expm1(1000 * (x - .3)) },
		"an infinite one": func(x float64) float64 { return math.Log(x / .3) },
		"no number":       func(x float64) float64 { return -math.Sqrt(.3 - x) },
	} {
		count := 0
		counted := func(x float64) float64 { count++; return f(x) }
		lo, hi := Narrowed(counted, Point{0, f(0)}, Point{1, f(1)}, 0)
		if hi.At != math.Nextafter(lo.At, 1) || lo.Over() == hi.Over() || count > 160 {
			t.Errorf("%s: between %v and %v after %d", name, lo, hi, count)
		}
		if math.Abs(lo.At-.3) > 1e-15 {
			t.Errorf("%s: the root is not at %v", name, lo.At)
		}
	}
}
