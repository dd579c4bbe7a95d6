package privacy

import "math"

// Meaning is what (ε,δ)-indistinguishability, in both orders, comes to in other measures of how far what is seen under
// one value of a secret is from what is seen under the other [Kawamoto & Murakami, Definition 11 and Table I; Seeman,
// Reimherr & Slavkovic, Lemma 4]. Each number is reached by some pair of laws.
//
// Any two laws that are (ε,δ)-indistinguishable are what one channel makes of the two laws
//
//	P*  δ   (1-δ) e^ε/(1+e^ε)   (1-δ) 1/(1+e^ε)     0
//	Q*  0   (1-δ) 1/(1+e^ε)     (1-δ) e^ε/(1+e^ε)   δ
//
// [Kairouz, Oh & Viswanath, "The Composition Theorem for Differential Privacy", ICML 2015, Theorem 3.4], and what a
// channel makes of two laws is no further apart in any f-divergence. So D_f(P*‖Q*) is the most in each of them.
type Meaning struct {
	Right          float64 // the chance to name the right one of two values that are equally probable beforehand
	Odds           float64 // what odds of one value against another change by, as a factor, but for δ
	TotalVariation float64
	Hellinger      float64 // its square: 1 - Σ √(pq), between 0 and 1
	KL             float64 // in nats; infinite for δ > 0: what δ is the chance of may exclude the other value
	ChiSquared     float64 // likewise
}

// Meaning is what the budget says of two values of a secret that nobody may tell apart.
func (b Budget) Meaning() Meaning {
	e, d := float64(b.Epsilon), float64(b.Delta)
	half := math.Tanh(e / 2) // (e^ε-1)/(e^ε+1)
	out := Meaning{
		Odds:           math.Exp(e),
		TotalVariation: d + (1-d)*half,
		Hellinger:      d + (1-d)*(1-1/math.Cosh(e/2)),
		KL:             e * half,
		ChiSquared:     4 * math.Sinh(e/2) * math.Sinh(e/2),
	}
	if d > 0 {
		out.KL, out.ChiSquared = math.Inf(1), math.Inf(1)
	}
	// Whoever names the value under which what he sees is more probable is right in (1 + TV)/2 of all cases, and nobody
	// is more often.
	out.Right = (1 + out.TotalVariation) / 2
	return out
}

// Steps is what the budget says of two values that so many steps lead from one to the other of, each to a value that
// nobody may tell from the last: (kε, δ (e^(kε)-1)/(e^ε-1)). A transformation that is k-stable, which takes values one
// step apart to values at most k apart, is answered at that [Kawamoto & Murakami, Definition 13 and Table II; of groups
// of rows Dwork & Roth, Theorem 2.2]. δ is 1 where nothing is promised.
//
// If P_0(S) ≤ e^ε P_1(S) + δ, and so on, then P_0(S) ≤ e^(kε) P_k(S) + δ (1 + e^ε + … + e^((k-1)ε)).
func (b Budget) Steps(k int) (epsilon, delta float64) {
	e := float64(b.Epsilon)
	return float64(k) * e, math.Min(1, float64(b.Delta)*math.Expm1(float64(k)*e)/math.Expm1(e))
}

// RightBeyond is Meaning's Right of two values so many steps apart: of the total variation by Steps, and of as many
// times that of one step, the lesser.
func (b Budget) RightBeyond(k int) float64 {
	e, d := b.Steps(k)
	apart := float64(k) * b.Meaning().TotalVariation
	if d < 1 {
		apart = math.Min(apart, d+(1-d)*math.Tanh(e/2))
	}
	return (1 + math.Min(1, apart)) / 2
}
