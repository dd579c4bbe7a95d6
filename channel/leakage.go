package channel

import (
	"fmt"
	"math"
	"slices"
)

// Ball are the laws of a column's values that are possible: all whose ℓ1 distance to Center is at most Radius. Radius 0
// is the center alone, and 2 is every law.
type Ball struct {
	Center []float64
	Radius float64
}

// Validate is an error if the center is no law with chances above 0, or the radius not between 0 and 2.
func (b Ball) Validate() error {
	sum := 0.
	for x, p := range b.Center {
		if !(p > 0 && p <= 1) {
			return fmt.Errorf("the chance of value %d is %g, and must be above 0", x, p)
		}
		sum += p
	}
	if math.Abs(sum-1) > 1e-9 {
		return fmt.Errorf("the chances of the values add up to %.12g", sum)
	}
	if !(b.Radius >= 0 && b.Radius <= 2) {
		return fmt.Errorf("the radius %g is not between 0 and 2", b.Radius)
	}
	return nil
}

// least is the smallest mean of v under a law of the ball: half of the radius moves from where v is greatest to where
// it is smallest. It is exact, also where a greatest value has less than that to give.
func (b Ball) least(v []float64) float64 {
	order := make([]int, len(v))
	for x := range order {
		order[x] = x
	}
	slices.SortFunc(order, func(a, c int) int {
		switch {
		case v[a] > v[c]:
			return -1
		case v[a] < v[c]:
			return 1
		}
		return a - c
	})
	low := v[order[len(order)-1]]

	// The greatest values give first, as long as there is something left to move.
	mean, move := 0., b.Radius/2
	for _, x := range order {
		taken := min(move, b.Center[x])
		move -= taken
		mean += (b.Center[x]-taken)*v[x] + taken*low
	}
	return mean
}

// Leakage is what the shown value y tells at most of its row's true value, in nats, if the law of the true values is
// any of the ball: ln max P(y|x) / P(y), the pointwise maximal leakage [Grosse et al., Theorem 1] in the worst case
// [Corollary 1]. It is 0 for an output that is never shown.
func (c Channel) Leakage(y int, laws Ball) float64 {
	column := c.Column(y)
	most := slices.Max(column)
	if most == 0 {
		return 0
	}
	return math.Log(most / laws.least(column))
}

// Capacity is the greatest Leakage of an output: [Grosse et al., Definition 5] for the ball.
func (c Channel) Capacity(laws Ball) float64 {
	most := 0.
	for y := range c.outputs {
		most = max(most, c.Leakage(y, laws))
	}
	return most
}
