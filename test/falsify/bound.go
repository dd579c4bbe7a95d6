package falsify

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// lower is the Clopper-Pearson lower confidence bound of a probability of which k of n independent trials are a sample:
// it lies above the probability with chance at most alarm.
func lower(k, n int, alarm float64) float64 {
	if k == 0 {
		return 0
	}
	// The p at which Pr(at least k of n) = I_p(k, n-k+1) is alarm.
	return crossing(func(p float64) bool { return mathext.RegIncBeta(float64(k), float64(n-k+1), p) <= alarm })
}

// upper is the upper bound: it lies below the probability with chance at most alarm.
func upper(k, n int, alarm float64) float64 { return 1 - lower(n-k, n, alarm) }

// crossing is the greatest p in [0,1], rounded down, up to which below holds.
func crossing(below func(p float64) bool) float64 {
	lo, hi := 0.0, 1.0
	for range 120 {
		mid := (lo + hi) / 2
		if below(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// needed is the ε that a (·,δ) promise needs if an event has probability at least p under one value and at most q under
// the other; -Inf if the event needs none.
func needed(p, q, delta float64) float64 {
	if p <= delta {
		return math.Inf(-1)
	}
	return math.Log((p - delta) / q)
}
