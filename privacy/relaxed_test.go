package privacy

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestRelaxationsAsPublished(t *testing.T) {
	b, err := Approximated{Eta: .001, Lambda: .1}.Guarantee(Budget{1, .01})
	if want := (1+math.Exp(1.1))*.001 + math.Exp(.1)*.01; err != nil || !near(float64(b.Epsilon), 1.2, 1e-12) ||
		!near(float64(b.Delta), want, 1e-12) {
		t.Errorf("%v, %v", b, err)
	}
	if b, err = (Nearby{W: 3, Lambda: .5}).Guarantee(Budget{1, .01}); err != nil || b.Epsilon != 2 ||
		!near(float64(b.Delta), .0164872, 1e-5) {
		t.Errorf("%v, %v", b, err)
	}
	if s, err := (Nearby{W: 3, Lambda: .5}).Scale(); s != 6 || err != nil {
		t.Errorf("%v, %v", s, err)
	}
	if b, err = (Approximated{}).Guarantee(Budget{1, .01}); b != (Budget{1, .01}) || err != nil {
		t.Errorf("an exact model: %v, %v", b, err)
	}
}

// The guarantees against the definition, on finite laws without noise: F over four values, f and f̃ close, f̃_i and
// f̃_j (ε,δ)-indistinguishable; then f_i and f_j are what the theorem says.
func TestApproximatedHoldsOnFiniteLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		law := func(name string) []float64 {
			p := rapid.SliceOfN(rapid.Float64Range(.05, 1), 4, 4).Draw(t, name)
			return normalised(p)
		}
		fi, fj := law("f_i"), law("f_j")
		bend := func(p []float64, name string) []float64 {
			q := make([]float64, 4)
			for i, w := range rapid.SliceOfN(rapid.Float64Range(-.3, .3), 4, 4).Draw(t, name) {
				q[i] = p[i] * math.Exp(w)
			}
			return normalised(q)
		}

		gi, gj := bend(fi, "bend i"), bend(fj, "bend j") // f̃
		epsilon := rapid.Float64Range(.01, 2).Draw(t, "ε")
		eta := rapid.Float64Range(0, .05).Draw(t, "η")
		delta := math.Max(stick(gi, gj, epsilon), stick(gj, gi, epsilon))
		lambda := 0.0
		for _, p := range [][2][]float64{{fi, gi}, {gi, fi}, {fj, gj}, {gj, fj}} {
			lambda = math.Max(lambda, divergence(p[0], p[1], eta))
		}
		b, err := Approximated{eta, lambda}.Guarantee(Budget{Epsilon(epsilon), Delta(delta)})
		if err != nil {
			return // no guarantee below δ = 1
		}
		if got := stick(fi, fj, float64(b.Epsilon)); got > float64(b.Delta)+1e-12 {
			t.Fatalf("δ = %g, promised %v", got, b)
		}
	})
}

func normalised(p []float64) []float64 {
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// stick is sup_S P(S) - e^ε Q(S).
func stick(p, q []float64, epsilon float64) (sum float64) {
	for i := range p {
		sum += math.Max(0, p[i]-math.Exp(epsilon)*q[i])
	}
	return sum
}

// divergence is the η-approximate max-divergence, over all 15 events.
func divergence(p, q []float64, eta float64) float64 {
	most := 0.0
	for s := 1; s < 16; s++ {
		var a, b float64
		for i := range p {
			a, b = a+p[i]*float64(s>>i&1), b+q[i]*float64(s>>i&1)
		}
		if a > eta {
			most = math.Max(most, math.Log((a-eta)/b))
		}
	}
	return most
}

func TestRelaxationsInvert(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Budget{Epsilon(rapid.Float64Range(.1, 5).Draw(t, "ε")), Delta(rapid.Float64Range(1e-6, .1).Draw(t, "δ"))}
		a := Approximated{rapid.Float64Range(0, 1e-7).Draw(t, "η"), rapid.Float64Range(0, .04).Draw(t, "λ")}
		for _, r := range []interface {
			Guarantee(Budget) (Budget, error)
			Calibrate(Budget) (Budget, error)
		}{a, Nearby{W: 1, Lambda: a.Lambda + .001, Failure: 1e-7}} {
			inner, err := r.Calibrate(b)
			if _, nearby := r.(Nearby); err != nil && nearby {
				t.Fatalf("%+v: nothing is left of %v: %v", r, b, err)
			} else if err != nil {
				continue // η alone is beyond δ
			}
			outer, err := r.Guarantee(inner)
			if err != nil || !near(float64(outer.Epsilon), float64(b.Epsilon), 1e-9) ||
				!near(float64(outer.Delta), float64(b.Delta), 1e-9) {
				t.Fatalf("%+v: %v inside, %v outside, %v", r, inner, outer, err)
			}
		}
	})
}

func TestRelaxationsRefuse(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	b := Budget{1, .01}
	// The small negative ones would have a guarantee that is better than the one for f̃ itself.
	for _, a := range []Approximated{{nan, 0}, {0, nan}, {-1, 0}, {0, -1}, {1, 0}, {.5, 1}, {0, inf}, {0, 800},
		{-1e-4, 0}, {0, -.1}} {
		if g, err := a.Guarantee(b); err == nil {
			t.Errorf("%+v: %v", a, g)
		}
		if g, err := a.Calibrate(b); err == nil {
			t.Errorf("%+v calibrates at %v", a, g)
		}
		if l := a.Loss(Loss{Kappa2: 1}, b); (a.Eta < 0 || a.Lambda < 0) && l.Valid() {
			t.Errorf("%+v loses %v", a, l)
		}
	}

	for _, n := range []Nearby{{nan, 1, 0}, {1, nan, 0}, {-1, 1, 0}, {1, 0, 0}, {1, -1, 0}, {inf, 1, 0}, {1, inf, 0},
		{1, 1, -1}, {1, 1, nan}, {1e200, 1e-200, 0}} {
		if g, err := n.Guarantee(b); err == nil {
			t.Errorf("%+v: %v", n, g)
		}
		if g, err := n.Calibrate(b); err == nil {
			t.Errorf("%+v calibrates at %v", n, g)
		}
	}

	if g, err := (Approximated{0, .5}).Calibrate(b); err == nil {
		t.Errorf("nothing is left of ε: %v", g)
	}
}

// What is charged for releases one by one is, at the limit, at least what Theorem 4.6 says of all of them together.
func TestLossOfApproximatedCoversAll(t *testing.T) {
	held := 0
	rapid.Check(t, func(t *rapid.T) {
		a := Approximated{rapid.Float64Range(0, 1e-3).Draw(t, "η"), rapid.Float64Range(0, .2).Draw(t, "λ")}
		limit := Epsilon(rapid.Float64Range(.5, 5).Draw(t, "ε"))
		var all, charged Loss
		for range rapid.IntRange(1, 5).Draw(t, "releases") {
			l := losses(t)
			l.Pure, l.Kappa2, l.Delta = l.Pure/50, l.Kappa2/10, l.Delta/10
			all, charged = all.Plus(l), charged.Plus(a.Loss(l, Budget{limit, .5}))
		}

		reached := charged.DeltaAt(float64(limit))
		if reached > .5 || float64(limit) <= 2*a.Lambda {
			return
		}
		held++
		inner := limit - Epsilon(2*a.Lambda)
		b, err := a.Guarantee(Budget{inner, Delta(all.DeltaAt(float64(inner)))})
		if err != nil || float64(b.Delta) > reached*(1+1e-9) || math.Abs(float64(b.Epsilon-limit)) > 1e-12 {
			t.Fatalf("charged %+v, δ = %g, but all of %+v are %v, %v", charged, reached, all, b, err)
		}
	})

	if held == 0 {
		t.Error("no releases were within their limit")
	}
}

// The factor of κ² against the Gaussian δ itself: multiplying δ by e^λ is never more than multiplying κ by e^(3λ/2).
func TestWiderKappaCoversTheFactor(t *testing.T) {
	for epsilon := 0.0; epsilon <= 30; epsilon += .25 {
		for kappa := .02; kappa < 12; kappa *= 1.07 {
			for _, lambda := range []float64{1e-3, .01, .1, .5, 2} {
				if wide := GaussianDelta(epsilon, kappa*math.Exp(1.5*lambda)); wide <= .5 &&
					wide < math.Exp(lambda)*GaussianDelta(epsilon, kappa)*(1-1e-9) {
					t.Fatalf("ε = %g, κ = %g, λ = %g: %g against %g", epsilon, kappa, lambda, wide,
						math.Exp(lambda)*GaussianDelta(epsilon, kappa))
				}
			}
		}
	}
}

// By hand: with λ = .1 and η = 1e-6 under ε = 2, and 2λ for what Laplace noise hides.
func TestLossesOfRelaxations(t *testing.T) {
	l := Loss{Pure: .5, Kappa2: .04, Delta: 1e-5}
	limit := Budget{2, .01}
	want := Loss{Pure: .7, Kappa2: .04 * 1.3498588, Delta: 1e-5*1.1051709 + (1+6.6858944)*1e-6}
	if got := (Approximated{1e-6, .1}).Loss(l, limit); !near(got.Pure, want.Pure, 1e-9) ||
		!near(got.Kappa2, want.Kappa2, 1e-7) || !near(got.Delta, want.Delta, 1e-7) {
		t.Errorf("%+v, want %+v", got, want)
	}

	if got := (Nearby{5, .1, 1e-6}).Loss(l); math.Abs(got.Delta-1.1e-5) > 1e-18 || got.Pure != .7 || got.Kappa2 != .04 {
		t.Errorf("%+v", got)
	}
	if (Approximated{1e-6, .1}).Loss(l, Budget{2, .6}).Valid() || (Nearby{5, 0, 0}).Loss(l).Valid() {
		t.Error("a loss where there is no bound")
	}
	// Calibrated under the limit, a pure release and what is added to it are within the statement's own budget.
	b := Budget{.8, 1e-4}
	inner, err := Approximated{1e-6, .1}.Under(limit.Epsilon, b).Calibrate(b)
	if err != nil || !near(float64(inner.Epsilon), .6, 1e-9) ||
		!near(float64(inner.Delta), (1e-4-7.6858944e-6)/1.1051709, 1e-7) {
		t.Errorf("%v, %v", inner, err)
	}
}
