package privacy

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	_ "fugu/test/seeded" // what rapid draws is the same at every run
)

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*math.Abs(want) }

func TestParametersAreChecked(t *testing.T) {
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if e, err := NewEpsilon(v); err == nil {
			t.Errorf("epsilon %v accepted as %v", v, e)
		}
	}
	for _, v := range []float64{-1e-300, 1, 2, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if d, err := NewDelta(v); err == nil {
			t.Errorf("delta %v accepted as %v", v, d)
		}
	}

	for _, s := range []string{"", "x", "0", "-1", "NaN", "Inf", "1e999", "1 ", "1;2"} {
		if e, err := ParseEpsilon(s); err == nil {
			t.Errorf("epsilon %q accepted as %v", s, e)
		}
		if d, err := ParseDelta(s); err == nil && s != "0" {
			t.Errorf("delta %q accepted as %v", s, d)
		}
	}

	if e, err := ParseEpsilon("0.25"); e != .25 || err != nil {
		t.Errorf("epsilon 0.25: %v, %v", e, err)
	}
	if d, err := ParseDelta("1e-6"); d != 1e-6 || err != nil {
		t.Errorf("delta 1e-6: %v, %v", d, err)
	}
	if d, err := NewDelta(0); d != 0 || err != nil {
		t.Errorf("delta 0: %v, %v", d, err)
	}
}

// ε/κ*, to be compared with √(2 ln(1.25/δ)) = 3.776 of the classical Gaussian mechanism.
func TestKappaAsPublished(t *testing.T) {
	for epsilon, want := range map[Epsilon]float64{.2: 1.980, 1: 2.575, 5: 3.449} {
		if got := float64(epsilon) / Kappa(Budget{epsilon, .001}); math.Abs(got-want) > 5e-4 {
			t.Errorf("ε = %g: ε/κ* = %.5f, want %.3f", epsilon, got, want)
		}
	}
	if k := Kappa(Budget{Epsilon: 1}); k != 0 {
		t.Errorf("κ* at δ = 0 is %g", k)
	}
	if k := Kappa(Budget{Epsilon: 1, Delta: 1}); k < 1e300 || math.IsInf(k, 1) {
		t.Errorf("κ* at δ = 1, where every one is allowed, is %g", k)
	}
}

// At ε = 0, δ is the total variation distance 2Φ(κ/2)-1.
func TestGaussianDeltaAtZeroIsTotalVariation(t *testing.T) {
	for _, kappa := range []float64{1e-6, .1, 1, 3, 12} {
		if got, want := GaussianDelta(0, kappa), math.Erf(kappa/2/math.Sqrt2); !near(got, want, 1e-9) {
			t.Errorf("κ = %g: %g, want %g", kappa, got, want)
		}
	}
}

// The definition itself: ∫ (φ(x) - e^ε φ(x-κ))₊ dx by Simpson's rule.
func TestGaussianDeltaIsTheHockeyStick(t *testing.T) {
	for _, epsilon := range []float64{-1, 0, .2, 1, 5} {
		for _, kappa := range []float64{.05, .5, 1, 3} {
			// The integrand is positive where x < κ/2 - ε/κ.
			const panels = 20_000
			hi := kappa/2 - epsilon/kappa
			lo := math.Min(hi, 0) - 40
			var sum float64
			for i := 0; i <= panels; i++ {
				x := lo + (hi-lo)*float64(i)/panels
				w := 2 + 2*float64(i%2)
				if i == 0 || i == panels {
					w = 1
				}
				sum += w * (math.Exp(-x*x/2) - math.Exp(epsilon-(x-kappa)*(x-kappa)/2)) / math.Sqrt(2*math.Pi)
			}

			want := sum * (hi - lo) / panels / 3
			if got := GaussianDelta(epsilon, kappa); math.Abs(got-want) > 1e-12 {
				t.Errorf("ε = %g, κ = %g: %g, want %g", epsilon, kappa, got, want)
			}
		}
	}
}

func TestGaussianDeltaExtremes(t *testing.T) {
	for _, test := range []struct{ epsilon, kappa, want float64 }{
		{1, 0, 0}, {0, 0, 0}, {-1, 0, 1 - math.Exp(-1)},
		{1e3, 1, 0}, {1e6, 1e3, 0}, {1e300, 1, 0}, // e^ε overflows, the product does not
		{1, 1e6, 1}, {1, 1e150, 1}, {700, 1e6, 1},
		{1, 1e-300, 0},
		{math.NaN(), 1, 1}, {1, math.NaN(), 1}, {1, -1, 1}, {1, math.Inf(1), 1},
	} {
		if got := GaussianDelta(test.epsilon, test.kappa); math.IsNaN(got) || math.Abs(got-test.want) > 1e-15 {
			t.Errorf("ε = %g, κ = %g: %g, want %g", test.epsilon, test.kappa, got, test.want)
		}
	}
}

func TestLogPhi(t *testing.T) {
	// ln Φ(x) from the continued fraction of Mills' ratio, in 200-bit arithmetic.
	mills := func(x float64) float64 {
		f := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
		r := f(x)
		for k := 2000; k > 0; k-- {
			r.Quo(f(float64(k)), r)
			r.Add(r, f(x))
		}

		m, _ := r.Float64()
		return -x*x/2 - math.Log(2*math.Pi)/2 - math.Log(m)
	}
	for _, x := range []float64{2, 5, 10, 29.999, 30, 30.001, 37, 38.6, 100, 1e4, 1e8} {
		if got, want := LogPhi(-x), mills(x); !near(got, want, 1e-12) {
			t.Errorf("ln Φ(-%g) = %.17g, want %.17g", x, got, want)
		}
	}

	for x, want := range map[float64]float64{0: -math.Ln2, 1: math.Log(.8413447460685429), 40: 0, 1e300: 0} {
		if got := LogPhi(x); math.Abs(got-want) > 1e-15 {
			t.Errorf("ln Φ(%g) = %g, want %g", x, got, want)
		}
	}
}

func TestGaussianDeltaIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.Float64Range(0, 20).Draw(t, "ε")
		k := math.Exp(rapid.Float64Range(-7, 3).Draw(t, "ln κ"))
		more := 1 + rapid.Float64Range(0, 2).Draw(t, "more")
		d := GaussianDelta(e, k)
		if d < 0 || d > 1 {
			t.Fatalf("δ = %g", d)
		}
		if up := GaussianDelta(e, k*more); up < d-1e-14 {
			t.Fatalf("δ falls with κ: %g, %g", d, up)
		}
		if down := GaussianDelta(e*more, k); down > d+1e-14 {
			t.Fatalf("δ grows with ε: %g, %g", d, down)
		}
	})
}

func TestKappaInvertsGaussianDelta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Budget{
			Epsilon(math.Exp(rapid.Float64Range(-7, 4).Draw(t, "ln ε"))),
			Delta(math.Exp(rapid.Float64Range(-25, -.1).Draw(t, "ln δ"))),
		}
		k := Kappa(b)
		if at := GaussianDelta(float64(b.Epsilon), k); at > float64(b.Delta) {
			t.Fatalf("δ(ε;κ*) = %g", at)
		}
		if above := GaussianDelta(float64(b.Epsilon), k*(1+1e-4)); above <= float64(b.Delta) {
			t.Fatalf("κ* = %g is not the largest: δ = %g a little above", k, above)
		}
		classical := float64(b.Epsilon) / math.Sqrt(2*math.Log(1.25/float64(b.Delta)))
		if b.Epsilon < 1 && k < classical {
			t.Fatalf("κ* = %g is worse than the classical %g", k, classical)
		}
	})
}

func TestLossOfOneKind(t *testing.T) {
	pure := Loss{Pure: .75}
	if pure.DeltaAt(.75) != 0 || pure.DeltaAt(.7499) != 1 || pure.EpsilonAt(0) != .75 {
		t.Errorf("pure loss: δ(.75) = %g, δ(.7499) = %g, ε(0) = %g", pure.DeltaAt(.75), pure.DeltaAt(.7499),
			pure.EpsilonAt(0))
	}
	gaussian := Loss{Kappa2: 4}
	if got, want := gaussian.DeltaAt(1.5), GaussianDelta(1.5, 2); got != want {
		t.Errorf("gaussian loss: %g, want %g", got, want)
	}
	both := Loss{Pure: .5, Kappa2: 4, Delta: .01}
	if got, want := both.DeltaAt(1.5), GaussianDelta(1, 2)+.01; got != want {
		t.Errorf("both losses: %g, want %g", got, want)
	}
	failing := Loss{Delta: .01}
	if failing.DeltaAt(1) != .01 || !math.IsInf(failing.EpsilonAt(.009), 1) || failing.EpsilonAt(.01) != 0 {
		t.Errorf("failure probability: %g, %g, %g", failing.DeltaAt(1), failing.EpsilonAt(.009), failing.EpsilonAt(.01))
	}
	if !(Loss{Pure: 1, Kappa2: .01, Delta: 1e-9}).Within(Budget{2, 1e-6}) ||
		(Loss{Pure: 1, Kappa2: 1, Delta: 1e-9}).Within(Budget{2, 1e-6}) {
		t.Error("Within does not tell a small loss from a large one")
	}
}

func TestBadLossesArePrivateAtNothing(t *testing.T) {
	for _, l := range []Loss{{Pure: -1}, {Pure: math.NaN()}, {Pure: math.Inf(1)}, {Kappa2: -1}, {Kappa2: math.NaN()},
		{Kappa2: math.Inf(1)}, {Delta: -1}, {Delta: math.NaN()}} {
		if l.Valid() || l.DeltaAt(10) != 1 || !math.IsInf(l.EpsilonAt(.5), 1) || l.Within(Budget{10, .5}) {
			t.Errorf("%+v: valid %v, δ(10) = %g, ε(.5) = %g", l, l.Valid(), l.DeltaAt(10), l.EpsilonAt(.5))
		}
	}
}

func losses(t *rapid.T) Loss {
	return Loss{
		Pure:   rapid.Float64Range(0, 5).Draw(t, "pure"),
		Kappa2: rapid.Float64Range(0, 9).Draw(t, "κ²"),
		Delta:  rapid.Float64Range(0, .01).Draw(t, "δ"),
	}
}

func TestEpsilonInvertsDelta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := losses(t)
		d := l.Delta + math.Exp(rapid.Float64Range(-20, -1).Draw(t, "ln δ"))
		e := l.EpsilonAt(d)
		if at := l.DeltaAt(e); at > d {
			t.Fatalf("δ(ε(%g)) = %g", d, at)
		}
		if below := e - 1e-4*(1+e); below > l.Pure && l.DeltaAt(below) <= d {
			t.Fatalf("ε = %g is not the smallest", e)
		}
	})
}

// A composition is worth at least each part, at most what adding (ε,δ) gives, and does not depend on the order.
func TestComposition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := losses(t), losses(t)
		ab, ba := a.Plus(b), b.Plus(a)
		if ab != ba || a.Plus(Loss{}) != a {
			t.Fatalf("%+v and %+v", ab, ba)
		}
		e1 := a.Pure + rapid.Float64Range(.01, 5).Draw(t, "ε1")
		e2 := b.Pure + rapid.Float64Range(.01, 5).Draw(t, "ε2")
		if basic := a.DeltaAt(e1) + b.DeltaAt(e2); ab.DeltaAt(e1+e2) > basic+1e-12 {
			t.Fatalf("δ(%g) = %g, basic composition has %g", e1+e2, ab.DeltaAt(e1+e2), basic)
		}
		if at := e1 + b.Pure; ab.DeltaAt(at) < math.Max(a.DeltaAt(at), b.DeltaAt(at))-1e-12 {
			t.Fatalf("the whole is less than a part at ε = %g", at)
		}
	})

	n := Loss{}
	for range 100 {
		n = n.Plus(Loss{Kappa2: .01})
	}
	if got, want := n.EpsilonAt(1e-3), (Loss{Kappa2: 1}).EpsilonAt(1e-3); !near(got, want, 1e-9) {
		t.Errorf("100 releases of κ = .1: ε = %g, one of κ = 1: %g", got, want)
	}
}
