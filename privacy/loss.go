package privacy

import (
	"math"
)

// Loss is what releases can have told, so far, about one secret: an upper bound that adds up under adaptive
// composition.
//
// A release whose noise is a Laplace part and an independent Gaussian part, and whose statistic moves by a known vector
// between the two values of a secret pair, is at most as revealing as one Laplace release of pure loss Pure together
// with one Gaussian shift of squared size Kappa2, except with probability Delta. Pure losses add [Dwork & Roth, Theorem
// 3.16], squared Gaussian shifts add [Dong, Roth & Su, Corollary 3.3], failure probabilities add (union bound).
type Loss struct {
	Pure   float64 `json:"pure"`   // Σ ε of Laplace noise
	Kappa2 float64 `json:"kappa2"` // Σ κ² of Gaussian noise
	Delta  float64 `json:"delta"`  // probability that the bound does not hold
}

// Plus returns the loss of both.
func (l Loss) Plus(m Loss) Loss {
	return Loss{Pure: l.Pure + m.Pure, Kappa2: l.Kappa2 + m.Kappa2, Delta: l.Delta + m.Delta}
}

// Max returns a loss that is at least both, part by part.
func (l Loss) Max(m Loss) Loss {
	return Loss{Pure: math.Max(l.Pure, m.Pure), Kappa2: math.Max(l.Kappa2, m.Kappa2), Delta: math.Max(l.Delta, m.Delta)}
}

// Valid reports whether each part is finite and not negative.
func (l Loss) Valid() bool {
	ok := func(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }
	return ok(l.Pure) && ok(l.Kappa2) && ok(l.Delta)
}

// DeltaAt returns a δ for which what was released is (ε,δ)-indistinguishable: δ(ε-Pure; √Kappa2) + Delta.
// [Dwork & Roth, Theorem 3.16: a pure ε1 composed with an (ε2,δ) guarantee is (ε1+ε2,δ).]
func (l Loss) DeltaAt(epsilon float64) float64 {
	if !l.Valid() || epsilon < l.Pure {
		return 1
	}
	g := GaussianDelta(epsilon-l.Pure, math.Sqrt(l.Kappa2))
	if l.Kappa2 > 0 {
		g = math.Max(g, math.SmallestNonzeroFloat64) // it underflows, but no Gaussian loss is free of δ
	}
	return math.Min(1, g+l.Delta)
}

// EpsilonAt returns the smallest ε, rounded up, with DeltaAt(ε) ≤ δ; +Inf where there is none.
func (l Loss) EpsilonAt(delta float64) float64 {
	if !l.Valid() || !(l.Delta <= delta) || delta == 0 && l.Kappa2 > 0 {
		return math.Inf(1)
	}
	if l.DeltaAt(l.Pure) <= delta {
		return l.Pure
	}

	// What is not pure takes more, and no more than this: δ(ε;κ) ≤ Φ(κ/2-ε/κ) ≤ exp(-(ε/κ-κ/2)²/2).
	at := func(epsilon float64) Point { return Point{epsilon, Excess(l.DeltaAt(epsilon), delta)} }
	left := math.Max(delta-l.Delta, math.SmallestNonzeroFloat64)
	step := l.Kappa2/2 + math.Sqrt(-2*l.Kappa2*math.Log(left))
	lo, hi := at(l.Pure), at(math.Nextafter(l.Pure+step, math.Inf(1)))
	for hi.Over() { // but for rounding
		if lo, step = hi, 2*step; math.IsInf(lo.At, 1) {
			return lo.At
		}
		hi = at(l.Pure + step)
	}

	_, hi = Narrowed(func(epsilon float64) float64 { return at(epsilon).Is }, lo, hi, 0)
	return hi.At
}

// Within reports whether the loss stays inside the budget.
func (l Loss) Within(b Budget) bool { return l.DeltaAt(float64(b.Epsilon)) <= float64(b.Delta) }
