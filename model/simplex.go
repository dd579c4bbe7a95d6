package model

import (
	"math"
	"slices"
)

// Simplex is every pair of vectors of shares that add up to 1, each share in [From, To], of total variation distance at
// most Within.
type Simplex struct{ From, To, Within float64 }

// bounds returns the least and the greatest Σ p_c v_c over the vectors p: the share that From leaves is given to the
// largest values first, up to To.
func (s *Simplex) bounds(v []float64) (low, high float64) {
	return -s.greatest(scaled(v, -1)), s.greatest(v)
}

func (s *Simplex) greatest(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	left, total := 1-s.From*float64(len(v)), 0.0
	for i := len(sorted) - 1; i >= 0; i-- {
		more := math.Max(0, math.Min(left, s.To-s.From))
		total += (s.From + more) * sorted[i]
		left -= more
	}
	return total
}

// quotients bounds (Σ p_c s_c)/(Σ p_c c_c) over the vectors p, where the denominator is positive: it is at least λ for
// some p exactly if Σ p_c (s_c - λ c_c) ≥ 0 for some p (Dinkelbach).
func (s *Simplex) quotients(sum, count []float64) (low, high float64) {
	return -s.quotient(scaled(sum, -1), count), s.quotient(sum, count)
}

func (s *Simplex) quotient(sum, count []float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1) // the quotient is between those of the classes
	for i, c := range count {
		if c > 0 {
			lo, hi = math.Min(lo, sum[i]/c), math.Max(hi, sum[i]/c)
		}
	}

	rest := make([]float64, len(sum))

	// The greatest quotient is where the greatest of sum - quotient · count is 0, which falls with the quotient.
	for range 100 {
		mid := lo + (hi-lo)/2
		for i := range rest {
			rest[i] = sum[i] - mid*count[i]
		}
		if s.greatest(rest) > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
