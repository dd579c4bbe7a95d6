package twin

import (
	"cmp"
	"math"
	"math/big"
	"slices"
)

// Outcome is a value of the noisy counts with its probability.
type Outcome struct {
	Counts      []int64
	Probability *big.Rat
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

// quantiles is how many points of the noise an expectation goes through.
const quantiles = 24

// Expected is what comes of one class, on average over K, of a table with given counts. Where these are not the true
// counts it is public, and tells nothing.
type Expected struct {
	Noisy    float64 // rows: the mean of Ñ_c
	Noise    float64 // rows: the root mean square of Ñ_c - N_c
	Taken    float64 // rows: the mean of m_c, how many are taken
	Sampling float64 // rows: the root mean square error of the count of half of the class, by the sampling alone
}

// sums adds up what is expected.
type sums struct{ noisy, noise, taken, sampling []float64 }

func (s *sums) add(counts, noisy, taken []int64, weight float64) {
	if s.noisy == nil {
		n := len(counts)
		s.noisy, s.noise, s.taken, s.sampling = make([]float64, n), make([]float64, n), make([]float64, n),
			make([]float64, n)
	}
	for c := range counts {
		n, m := float64(counts[c]), math.Max(1, float64(taken[c]))
		off := float64(noisy[c]) - n
		s.noisy[c] += weight * float64(noisy[c])
		s.noise[c] += weight * off * off
		s.taken[c] += weight * float64(taken[c])
		// A share of one half, estimated from m of n rows and scaled up to n of them.
		s.sampling[c] += weight * n * n / 4 * math.Max(0, 1/m-1/math.Max(1, n))
	}
}

func (s *sums) expected() []Expected {
	out := make([]Expected, len(s.noisy))
	for c := range out {
		out[c] = Expected{s.noisy[c], math.Sqrt(s.noise[c]), s.taken[c], math.Sqrt(s.sampling[c])}
	}
	return out
}
