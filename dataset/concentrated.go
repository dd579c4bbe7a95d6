package dataset

import (
	"fmt"
	"math"

	"fugu/policy"
	"fugu/sensitivity"
)

// concentrated says how close the laws of every pair of a secret are, of which a policy declares the means and how far
// from them F is: |F_k - E F_k| ≤ c_k for all k but for the probability β, under each value.
//
//	D_k     the most that the means of a pair differ in component k
//	U_k     D_k + 2c_k: the norm's unit, what component k needs by itself
//	W       max over pairs Σ_k |E F_k - E F'_k|/U_k + 2 Σ_k c_k/U_k, at most the number of components
//	δ       2β
//
// [Chen & Ohrimenko, Theorem 3.3, in the norm Σ_k |x_k|/U_k.] Whatever coupling of the two laws is taken, F and F' are
// both near their means but for 2β, and then W apart at most. So the coupling depends on nothing, neither on a
// session's delta nor on its mechanism, and one serves all answers to the statement.
func concentrated(p *policy.Policy, l policy.Law, spans []sensitivity.Span) (sensitivity.Close, error) {
	delta := 2 * l.Concentrated.ButFor
	if left := leftOut(p); delta > left {
		return sensitivity.Close{}, fmt.Errorf("secret %s: two distributions that are each near their means but "+
			"for %v are near each other but for %v, and of privacy.delta the mechanism %s leaves %v for that: write "+
			"a larger within and a smaller but_for, or a larger delta", l.Secret, l.Concentrated.ButFor, delta,
			p.Privacy.Mechanism, left)
	}

	// Each component is measured by what it needs itself, so that one of large numbers does not outweigh the others.
	n := len(l.Concentrated.Within)
	differ := func(s sensitivity.Span, k int) float64 {
		return math.Abs(l.Means[l.Index(s.From)][k] - l.Means[l.Index(s.To)][k])
	}
	unit, radius := make([]float64, n), 0.0
	for k, c := range l.Concentrated.Within {
		for _, s := range spans {
			unit[k] = math.Max(unit[k], differ(s, k)+2*c)
		}
		radius += c / unit[k]
	}
	if n == 1 { // one number is measured as it is
		unit, radius = []float64{1}, l.Concentrated.Within[0]
	}

	// The pair that is furthest apart decides.
	apart := 0.0
	for _, s := range spans {
		sum := 0.0
		for k, u := range unit {
			sum += differ(s, k) / u
		}
		apart = math.Max(apart, sum)
	}
	c, err := sensitivity.Concentrated(l.Secret, sensitivity.Tails{Apart: apart, Within: radius,
		ButFor: l.Concentrated.ButFor})
	if n > 1 {
		c.Unit = unit
	}
	return c, err
}
