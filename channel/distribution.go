package channel

import "math"

// Apart is what the shown value tells, in a divergence, of the law that its true value was drawn from: the greatest
// D_f(λ shown ‖ λ' shown) of any two laws λ and λ' of the true values, and so the ε with which the channel has D_f
// distribution privacy for all pairs of laws [Kawamoto & Murakami, Definition 11].
//
// It is that of two rows of the matrix. Let γ be a coupling of λ and λ'. What is shown are the mixtures Σ γ(x,x')
// P(·|x) and Σ γ(x,x') P(·|x'), and D_f is jointly convex, so that
//
//	D_f(λ shown ‖ λ' shown) ≤ Σ γ(x,x') D_f(P(·|x) ‖ P(·|x'))   (1)
//
// which is at most the greatest of the terms [Theorem 1], and point masses reach it. This proof is ours.
func (c Channel) Apart(d Divergence) float64 {
	return c.PerDistance(d, func(int, int) float64 { return 1 })
}

// PerDistance is the least s with D_f(P(·|x) ‖ P(·|x')) ≤ s·distance(x, x') for all x ≠ x'. By (1), with γ the coupling
// that moves values least, two laws are then shown within s times the earth mover's distance of them [Kawamoto &
// Murakami, Theorem 2]. With the distance 1 between any two values that is the total variation of the laws: if a share
// t of the rows changes its value, what is shown changes by Apart(d)·t at most. The distance is above 0 for x ≠ x'.
//
// For the max-divergence, which is no f-divergence, (1) is false, and there is no such bound: two laws that are near
// each other may be shown at the full ε where an output is possible under a rare value alone.
func (c Channel) PerDistance(d Divergence, distance func(x, y int) float64) (most float64) {
	rows := c.dense()
	for x := range rows {
		for y := range rows {
			if x != y {
				most = max(most, d.Of(rows[x], rows[y])/distance(x, y))
			}
		}
	}
	return most
}

// Epsilon is the least ε with which the channel has (ε,δ)-distribution privacy for all pairs of laws of its true
// values: Apart(Beyond(ε)) ≤ δ. At δ = 0 it is the channel's local ε, the max-divergence of two of its rows, and
// infinite where a shown value excludes a true one; it is infinite at greater δ, too, where more than that is excluded.
// Above 0 it is found by bisection, rounded up.
func (c Channel) Epsilon(delta float64) float64 {
	pure, rows := 0., c.dense()
	for x := range rows {
		for y := range rows {
			pure = max(pure, MaxDivergence(rows[x], rows[y]))
		}
	}
	if delta == 0 || c.Apart(Beyond(0)) <= delta {
		if delta > 0 {
			return 0
		}
		return pure
	}

	// Beyond a ratio of two weights, which is at most Whole, nothing is left but what is excluded.
	low, high := 0., min(pure, math.Log(Whole)+1)
	if c.Apart(Beyond(high)) > delta {
		return math.Inf(1)
	}
	for range 100 {
		if mid := (low + high) / 2; c.Apart(Beyond(mid)) <= delta {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// dense is the matrix of the channel, with its zeros.
func (c Channel) dense() [][]float64 {
	out := make([][]float64, len(c.rows))
	for x, row := range c.rows {
		out[x] = make([]float64, c.outputs)
		for _, e := range row {
			out[x][e.Output] = float64(e.Weight) / Whole
		}
	}
	return out
}
