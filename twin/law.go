package twin

import (
	"cmp"
	"math/big"
	"slices"
)

// Outcome is a value of the noisy counts with its probability.
type Outcome struct {
	Counts      []int64
	Probability *big.Rat
}

// Law is the law of the noisy counts of a table with these counts, as Draw draws it, with x in the place of e^(-ε/k) of
// Unit: every probability is a ratio of polynomials in x with whole coefficients, so that a rational x, 0 < x < 1, gives
// rational ones. It is for tests on small tables.
func (d *Design) Law(x *big.Rat, counts []int64) []Outcome { return d.noise.law(x, counts) }

// Unit is the exponent of x in Law: what is drawn has x = e^(-num/den). A pair is hidden as well as x^-steps = e^ε.
func (d *Design) Unit() (num, den uint64, steps int64) {
	num, den = d.noise.unit()
	return num, den, d.noise.steps()
}

// power is x^n, n ≥ 0.
func power(x *big.Rat, n int64) *big.Rat {
	e := big.NewInt(n)
	return new(big.Rat).SetFrac(new(big.Int).Exp(x.Num(), e, nil), new(big.Int).Exp(x.Denom(), e, nil))
}

// normalised divides weights by their total, and puts them in order.
func normalised[K cmp.Ordered](weights map[K]*big.Rat, total *big.Rat, counts func(K) []int64) (out []Outcome) {
	for key, w := range weights {
		out = append(out, Outcome{counts(key), new(big.Rat).Quo(w, total)})
	}
	slices.SortFunc(out, func(a, b Outcome) int { return slices.Compare(a.Counts, b.Counts) })
	return out
}
