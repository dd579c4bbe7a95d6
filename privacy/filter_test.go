package privacy

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// adaptive is E_P (1-e^(ε-L))₊ of the strategy that begins with a Gaussian shift of squared size k and goes on as is
// worst: with a pure loss or with another shift, of the most that allowed lets it have after the first. By Simpson's
// rule.
func adaptive(epsilon, k float64, allowed func(Loss) bool) float64 {
	most := func(with func(v float64) Loss) float64 {
		lo, hi := 0.0, 1e3
		for range 60 {
			mid := (lo + hi) / 2
			if allowed(with(mid)) {
				lo = mid
			} else {
				hi = mid
			}
		}

		return lo
	}
	pure := most(func(v float64) Loss { return Loss{Pure: v, Kappa2: k} })
	shift := most(func(v float64) Loss { return Loss{Kappa2: k + v} })
	// Of a pure loss e the worst is a coin of probability e^e/(1+e^e): its hockey stick at x.
	coin := func(x float64) float64 {
		switch {
		case x >= pure:
			return 0
		case x <= -pure:
			return -math.Expm1(x)
		}

		return (math.Exp(pure) - math.Exp(x)) / (1 + math.Exp(pure))
	}
	const panels = 20_000
	root, total := math.Sqrt(k), 0.0
	for i := range panels + 1 {
		z := -12 + 24*float64(i)/panels
		w := 2 + 2*float64(i%2)
		if i == 0 || i == panels {
			w = 1
		}
		left := epsilon - (k/2 + root*z) // of ε, under P
		total += w * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * math.Max(coin(left),
			GaussianDelta(left, math.Sqrt(shift)))
	}
	return total * 24 / panels / 3
}

// A strategy that chooses its second kind of noise by its first answer has more than δ where the formula for fixed
// losses is the limit, and never where SpentAt is.
func TestLimitHoldsForStrategies(t *testing.T) {
	for _, b := range []Budget{{1, .001}, {1, 1e-5}, {5, .001}, {20, .01}} {
		naive, worst := 0.0, 0.0
		for _, share := range []float64{.02, .05, .1, .2, .3, .5, .7, .9} {
			k := share * Kappa(b) * Kappa(b)
			naive = math.Max(naive, adaptive(float64(b.Epsilon), k, func(l Loss) bool { return l.Within(b) }))
			worst = math.Max(worst, adaptive(float64(b.Epsilon), k, func(l Loss) bool { return l.Allowed(b, 2) }))
		}
		if worst > float64(b.Delta) {
			t.Errorf("%v: a strategy has δ = %g", b, worst)
		}
		if naive < 1.2*float64(b.Delta) {
			t.Errorf("%v: the formula for fixed losses gives %g, no more than δ: the test shows nothing", b, naive)
		}
	}
}

// The shares of the corners add up to no more than all of δ.
func TestSharesOfCorners(t *testing.T) {
	if total := failureShare + gaussianShare + levelsShare/float64(len(levels))*float64(len(levels)); total > 1 {
		t.Errorf("the shares add up to %v", total)
	}
	for i, k := range levels {
		if i > 0 && !(k > levels[i-1]) {
			t.Errorf("level %d is not above the one before", i)
		}
	}
}

func TestSpentIsNeverLessThanForFixedLosses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := losses(t)
		delta := math.Exp(rapid.Float64Range(-14, -3).Draw(t, "ln δ"))
		spent := l.SpentAt(delta, 2)
		if fixed := l.EpsilonAt(delta); spent < fixed*(1-1e-12) {
			t.Fatalf("%v: %g, and %g for fixed losses", l, spent, fixed)
		}
		more := l.Plus(losses(t))
		if after := more.SpentAt(delta, 3); after < spent {
			t.Fatalf("%v has spent %g, and %v %g", l, spent, more, after)
		}
	})
}

// What a limit costs: twenty statements of ε = 1 whose noise is Laplace but for a small floor stay below 20.
func TestLimitLeavesRoom(t *testing.T) {
	b := Budget{20, .01}
	if l := (Loss{Pure: 20 * .97, Kappa2: 20 * .0003, Delta: 20e-15}); !l.Allowed(b, 20) {
		t.Errorf("%v spends %g", l, l.SpentAt(.01, 20))
	}
	exact := Kappa(b) * Kappa(b)
	if l := (Loss{Pure: 1e-12, Kappa2: .85 * exact}); !l.Allowed(b, 100) {
		t.Errorf("normal noise alone spends %g at %g of κ*²", l.SpentAt(.01, 100), .85)
	}
	if l := (Loss{Pure: 19.99, Delta: 1e-5}); !l.Allowed(b, 80) || (Loss{Pure: 20.01}).Allowed(b, 80) ||
		(Loss{Pure: 1, Delta: .0051}).Allowed(b, 3) {
		t.Error("pure losses add up, and failures have half of δ")
	}
	if l := (Loss{Pure: 1, Delta: .005}); !l.Allowed(b, 3) || !l.Below(1.01, .01, 3) {
		t.Error("failures have less than half of δ")
	}
}

// Below says what SpentAt does, for first and later releases, on both sides of it.
func TestBelowIsWhatIsSpent(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		l := Loss{Kappa2: math.Exp(r.Float64()*20 - 14), Delta: []float64{0, 1e-9, .01}[r.IntN(3)]}
		if r.IntN(2) == 0 {
			l.Pure = r.Float64() * 2
		}
		delta, releases := []float64{1e-6, 1e-3, .1}[r.IntN(3)], r.IntN(3)
		spent := l.SpentAt(delta, releases)
		if math.IsInf(spent, 1) {
			if l.Below(1e9, delta, releases) {
				t.Fatalf("%+v at %g of %d: below, of no end", l, delta, releases)
			}
			continue
		}
		if !l.Below(spent*(1+1e-6)+1e-9, delta, releases) || l.Below(spent*(1-1e-6)-1e-9, delta, releases) {
			t.Fatalf("%+v at %g of %d: not below %g", l, delta, releases, spent)
		}
	}
}
