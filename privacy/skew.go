package privacy

import "math"

// Shape is what the law of a sum differs in from a normal one: its skewness κ₃/σ³ and its excess kurtosis κ₄/σ⁴, where
// σ is the standard deviation of the sum with all noise that it is released with. Both are 0 of a normal law.
type Shape struct{ Skewness, Kurtosis float64 }

// logDensity is that of a law of this shape at x of its standard deviations from its mean, but for what rows add beyond
// the second order of Edgeworth's series, 1 + γ/6 He₃ + τ/24 He₄ + γ²/72 He₆ times the normal density, He Hermite's
// polynomials. It is the logarithm of that, to the same order: so it holds in the tails as well, where the series
// itself is negative, and is Cramér's there [Petrov, "Sums of Independent Random Variables", 1975, chapters VI and
// VIII].
func (s Shape) logDensity(x float64) float64 {
	square := x * x
	return -square/2 + s.Skewness*x*(square-3)/6 + s.Kurtosis*((square-6)*square+3)/24 +
		s.Skewness*s.Skewness*((36-9*square)*square-15)/72
}

const (
	farOut   = 8 // standard deviations, beyond which a normal law has 1e-15
	fineness = 1. / 256
	// wholly is by how much the probabilities of a law may add up to something else than 1 for its shape to say what it
	// is like.
	wholly = .01
	// leftOut is by what factor a shape counts, for the orders that are left out, and leftOutSkewed how much more of it
	// for each unit of skewness: of 50 rare bits a third is left out. No theorem gives them, and of some dozens of rows
	// with gaps they are too little: one sum is certified by its own law instead (package rowsum).
	leftOut, leftOutSkewed = 1.2, 1.5
)

// SkewedDelta returns how much more δ(ε) two laws of these shapes have than two normal ones, in the worse of both
// orders: their means are κ apart, in units of the root of the mean of their variances, the first is the higher, and r
// times as wide. +Inf: they are not nearly normal.
//
// Where both have one width and the skewness γ it is, to the first order in γ, φ(ε/κ - κ/2)·|γ|ε/3: as if κ were |γ|ε/3
// more.
func SkewedDelta(epsilon, kappa, r float64, first, second Shape) float64 {
	if first == (Shape{}) && second == (Shape{}) {
		return 0
	}
	skewed, ok := shapedDeltas(epsilon, kappa, r, first, second)
	normal, _ := shapedDeltas(epsilon, kappa, r, Shape{}, Shape{})
	if !ok {
		return math.Inf(1)
	}
	factor := leftOut + leftOutSkewed*max(math.Abs(first.Skewness), math.Abs(second.Skewness))
	return factor * max(0, skewed[0]-normal[0], skewed[1]-normal[1])
}

// shapedDeltas are δ(ε) = ∫ max(0, p - e^ε q) of two laws as in SkewedDelta, and of the same in the other order. They
// are false where a law's probabilities do not add up to 1.
func shapedDeltas(epsilon, kappa, r float64, first, second Shape) (deltas [2]float64, ok bool) {
	wide, narrow := math.Sqrt(2*r*r/(1+r*r)), math.Sqrt(2/(1+r*r))
	factor, masses := math.Exp(epsilon), [2]float64{}
	density := func(s Shape, x, sd float64) float64 {
		if math.Abs(x) > farOut {
			return 0
		}
		return math.Exp(s.logDensity(x)) / (sd * math.Sqrt(2*math.Pi))
	}
	for y := -farOut * narrow; y <= kappa+farOut*wide; y += fineness {
		p, q := density(first, (y-kappa)/wide, wide), density(second, y/narrow, narrow)
		masses[0], masses[1] = masses[0]+p*fineness, masses[1]+q*fineness
		deltas[0] += fineness * math.Max(0, p-factor*q)
		deltas[1] += fineness * math.Max(0, q-factor*p)
	}
	return deltas, math.Abs(masses[0]-1) <= wholly && math.Abs(masses[1]-1) <= wholly
}

// SkewedKappa returns a κ' with which normal laws tell no less, at every ε up to limit, than two laws of this shape
// that are κ apart. +Inf: they are not nearly normal.
func SkewedKappa(limit, kappa float64, shape Shape) float64 {
	most := kappa
	reach := math.Min(limit, kappa*(kappa/2+5)) // beyond, both tell less than 3e-7
	for part := 1.0; part > .1; part /= 2 {
		epsilon := part * reach
		delta := GaussianDelta(epsilon, kappa) + SkewedDelta(epsilon, kappa, 1, shape, shape)
		if !(delta < 1) {
			return math.Inf(1)
		}
		most = max(most, Kappa(Budget{Epsilon(epsilon), Delta(delta)}))
	}
	return most
}
