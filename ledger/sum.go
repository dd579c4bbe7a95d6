package ledger

import (
	"math"

	"fugu/privacy"
)

// plus returns the loss of both, each part rounded up: however many losses are added one after the other, the total is
// never below their sum.
func plus(a, b privacy.Loss) privacy.Loss {
	return privacy.Loss{Pure: addUp(a.Pure, b.Pure), Kappa2: addUp(a.Kappa2, b.Kappa2), Delta: addUp(a.Delta, b.Delta)}
}

// addUp returns the least float64 that is at least a+b. The rounding error of the nearest float64 is itself a float64
// [Knuth, The Art of Computer Programming, volume 2, section 4.2.2, theorem B], and its sign says whether to step up.
func addUp(a, b float64) float64 {
	s := a + b
	bb := s - a
	if (a-(s-bb))+(b-bb) > 0 {
		return math.Nextafter(s, math.Inf(1))
	}
	return s
}
