package sensitivity

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Close says that for every pair of a secret some coupling of the two distributions of F moves all of its mass but
// Delta by at most W in the norm Σ_k |x_k-y_k|/Unit_k: (W,δ)-closeness [Chen & Ohrimenko, Definition 3.2]. Delta = 0 is
// W∞ ≤ W [Definition 3.1].
type Close struct {
	Secret string
	Unit   []float64 // one for each component of F; nil: all 1
	W      float64
	Delta  float64
}

// Shift is the closeness as a bound on coupled datasets, for F of m components: under the couplings that it speaks of F
// moves within the ball Σ_k |x_k|/Unit_k ≤ W, but for the probability Delta. What it costs adds up over releases of the
// same F, for which one coupling serves; the coupling of another F is another one.
func (c Close) Shift(m int) Shift {
	ball := Unseen{Rows: 1}
	for k := range m {
		size := c.W
		if c.Unit != nil {
			size *= c.Unit[k]
		}
		ball.At, ball.Cell, ball.Size = append(ball.At, k), append(ball.Cell, k), append(ball.Size, size)
	}
	return Shift{Secret: c.Secret, Along: make([]float64, m), Beside: make([]float64, m), Unseen: []Unseen{ball},
		Failure: c.Delta, Coupled: true}
}

// WInfinity returns the ∞-Wasserstein distance of two distributions in the L1 norm, as a Close whose Delta is 0 for
// samples, and what rounding the weights may hide (below 1e-9 for up to 500 atoms) otherwise. In one dimension it is
// sup_u |Q_a(u) - Q_b(u)|, Q the quantile functions.
func WInfinity(a, b Atoms) (Close, error) {
	if len(a.points) == 0 || len(b.points) == 0 || a.dimension() != 1 || b.dimension() != 1 || a.blur+b.blur > 0 {
		return Closest(a, b, 0)
	}

	// On a line the monotone transport is the best one for every cost: it pairs the masses in order, from the left.
	a, b, err := common(a, b)
	if err != nil {
		return Close{}, err
	}
	a, b = a.sorted(), b.sorted()
	w, i, j := 0.0, 0, 0

	leftA, leftB := a.mass[0], b.mass[0]
	for {
		w = math.Max(w, a.distance(a.points[i], b.points[j]))
		step := min(leftA, leftB)
		leftA, leftB = leftA-step, leftB-step
		if leftA == 0 {
			if i++; i == len(a.mass) {
				return Close{W: w}, nil
			}
			leftA = a.mass[i]
		}

		if leftB == 0 {
			j++
			leftB = b.mass[j]
		}
	}
}

// Closest returns the smallest W for which the distributions are (W,δ)-close in the norm of both, 0 ≤ δ < 1: see In.
// The Delta of the result is what the best transport at that W leaves behind: at most δ, and what rounding the weights
// may hide.
//
// All but δ can be moved by at most W if and only if a transport along the pairs of points at most W apart carries 1-δ:
// a maximum flow. That is monotone in W and changes only at the distances of the points, so W is found by bisection.
func Closest(a, b Atoms, delta float64) (Close, error) {
	if !(delta >= 0 && delta < 1) {
		return Close{}, fmt.Errorf("δ must be at least 0 and below 1, not %v", delta)
	}
	if len(a.points) == 0 || len(b.points) == 0 {
		return Close{}, errors.New("a distribution without points")
	}

	a, b, err := common(a, b)
	if err != nil {
		return Close{}, err
	}
	if len(a.points)*len(b.points) > maxPairs {
		return Close{}, fmt.Errorf("%d × %d points are too many to transport", len(a.points), len(b.points))
	}

	// On a line a sweep is a maximum flow.
	carried := func(w float64) int64 { return flow(a, b, w) }
	if a.dimension() == 1 {
		a, b = a.sorted(), b.sorted()
		carried = func(w float64) int64 { return sweep(a, b, w) }
	}

	// The candidates for W.
	distances := make([]float64, 1, 1+len(a.points)*len(b.points)) // 0, and those of all pairs
	for _, x := range a.points {
		for _, y := range b.points {
			distances = append(distances, a.distance(x, y))
		}
	}

	slices.Sort(distances)
	distances = slices.Compact(distances)
	blur := a.blur + b.blur
	need := a.total - int64(math.Floor(delta*float64(a.total)*(1+1e-15))) - blur
	lo, hi := 0, len(distances)-1 // the largest distance carries everything
	for lo < hi {
		if mid := (lo + hi) / 2; carried(distances[mid]) >= need {
			hi = mid
		} else {
			lo = mid + 1
		}
	}

	// The laws that were meant are within blur of the rounded ones.
	w := distances[hi]
	return Close{W: w, Delta: float64(a.total-carried(w)+blur) / float64(a.total)}, nil
}

// maxPairs bounds the work of a transport.
const maxPairs = 1 << 24

// Widest returns the Close of the pairs of a secret: the least that covers each pair of laws that Ψ names.
func Widest(secret string, laws []Atoms, pairs [][2]int, delta float64) (Close, error) {
	if len(pairs) == 0 {
		return Close{}, fmt.Errorf("secret %s has no pairs", secret)
	}
	out := Close{Secret: secret}
	for _, p := range pairs {
		if min(p[0], p[1]) < 0 || max(p[0], p[1]) >= len(laws) {
			return Close{}, fmt.Errorf("secret %s: no distributions %v", secret, p)
		}
		c, err := Closest(laws[p[0]], laws[p[1]], delta)
		if err != nil {
			return Close{}, fmt.Errorf("secret %s, pair %v: %w", secret, p, err)
		}
		out.W, out.Delta = math.Max(out.W, c.W), math.Max(out.Delta, c.Delta)
	}
	return out, nil
}

// Tails are what is known of the distributions of F beside their means.
type Tails struct {
	Apart  float64 // Δ_{E,1}: how far the means of a pair are apart at most, in the norm ‖·‖₁
	Within float64 // c: ‖F - E F‖₁ ≤ c under every distribution, but for ButFor
	ButFor float64 // δ/2: the probability that F is further from its mean
}

// Concentrated returns a Close from means and tails alone: all pairs are (Δ_{E,1} + 2c, δ)-close [Chen & Ohrimenko,
// Theorem 3.3].
func Concentrated(secret string, t Tails) (Close, error) {
	delta := 2 * t.ButFor
	if !(t.Apart >= 0 && t.Within >= 0 && delta >= 0 && delta < 1) || !finite(t.Apart+2*t.Within) {
		return Close{}, fmt.Errorf("secret %s: no bound from Δ = %v, c = %v, δ = %v", secret, t.Apart, t.Within, delta)
	}
	return Close{Secret: secret, W: t.Apart + 2*t.Within, Delta: delta}, nil
}
