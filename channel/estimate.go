package channel

import "math"

// Radius is the ℓ1 distance within which the law of a column of so many values is of its frequencies in so many rows
// that were drawn independently, but for a chance of delta [Grosse et al., equation 37; Weissman et al. 2003]. It is at
// most 2, the distance of any two laws, and 0 for a column of one value.
func Radius(values int, rows int64, delta float64) float64 {
	if values < 2 {
		return 0
	}
	return min(2, math.Sqrt(2/float64(rows)*(logSubsets(values)-math.Log(delta))))
}

// logSubsets is ln(2^n - 2) for n > 1: so many sets of values have a chance that is neither 0 nor 1.
func logSubsets(n int) float64 {
	return float64(n)*math.Ln2 + math.Log1p(-math.Exp2(float64(1-n)))
}

// Grown is what ε, kept for an estimate, comes to for every law within the radius of it [Grosse et al., equation 38].
// It is infinite where the radius is 2e^-ε or more.
func Grown(epsilon, radius float64) float64 {
	left := 1 - radius*math.Exp(epsilon)/2
	if left <= 0 {
		return math.Inf(1)
	}
	return epsilon - math.Log(left)
}

// Shrunk is the ε for an estimate that comes to epsilon for every law within the radius, the inverse of Grown [equation
// 43].
func Shrunk(epsilon, radius float64) float64 {
	return epsilon - math.Log1p(radius/2*math.Exp(epsilon))
}

// Failure bounds the chance that a channel that keeps epsilon for the frequencies of so many rows does not keep grown
// for the law they were drawn from [Grosse et al., Corollary 3].
func Failure(epsilon, grown float64, values int, rows int64) float64 {
	apart := math.Exp(-epsilon) - math.Exp(-grown)
	return min(1, math.Exp(logSubsets(values)-2*float64(rows)*apart*apart))
}

// LaplaceLeakage is what a bit, coded as -1 and 1, leaks if Laplace noise of that scale is added to it, for every law
// of the ball whose rarer value has the chance rarer [Grosse et al., equation 50].
func LaplaceLeakage(scale, rarer, radius float64) float64 {
	return 2/scale - math.Log1p((rarer-radius/2)*math.Expm1(2/scale))
}

// LaplaceScale is the least scale of the noise with which a bit leaks at most epsilon, found by bisection from above;
// it is 0 if none is needed.
func LaplaceScale(epsilon, rarer, radius float64) float64 {
	low, high := 0., 2/epsilon // at 2/ε it keeps local differential privacy
	for range 200 {
		if mid := (low + high) / 2; mid > 0 && LaplaceLeakage(mid, rarer, radius) <= epsilon {
			high = mid
		} else {
			low = mid
		}
	}
	if high < 1e-12/epsilon {
		return 0
	}
	return high
}
