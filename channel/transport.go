package channel

import (
	"fmt"
	"math"
	"slices"
)

// Move is a part of a plan of transport: so much of the probability of the value From goes to the value To.
type Move struct {
	From, To int
	Mass     float64
}

// Plan moves the law from to the law to, both over the same ordered values, and each value as short a way as there is:
// the north-west corner rule, which is optimal for every cost that grows with the distance as the absolute one does, in
// one dimension [Hoffman 1963; Kawamoto & Murakami, section II-G]. The moves are in the order of From, then To, and
// less than two for each value.
func Plan(from, to []float64) []Move {
	var out []Move
	i, j := 0, 0
	for left, room := 0., 0.; ; {
		// What is left of this value and the room that is at that one may be rounding, which goes with the next.
		for ; left <= tiny && i < len(from); i++ {
			left += from[i]
		}
		for ; room <= tiny && j < len(to); j++ {
			room += to[j]
		}
		mass := min(left, room)
		if mass <= tiny {
			return out
		}
		out = append(out, Move{From: i - 1, To: j - 1, Mass: mass})
		left, room = left-mass, room-mass
	}
}

// tiny is a probability that is rounding.
const tiny = 1e-15

// Distance is the earth mover's distance of two laws over the ordered values, in the values' unit: what a value moves
// by on average, by Plan [Kawamoto & Murakami, Proposition 2].
func Distance(values, from, to []float64) float64 {
	out, ahead := 0., 0.
	for k := range len(values) - 1 {
		ahead += from[k] - to[k]
		out += math.Abs(ahead) * (values[k+1] - values[k])
	}
	return out
}

// Transport are channels, one for each class, by which every class shows the law target: the utility-optimal coupling
// mechanism [Kawamoto & Murakami, Definitions 16 and 18]. classes has each class' law over the ordered values. A value
// that a class does not have by its law, but may have in a table, shows a draw of the target.
func Transport(classes [][]float64, target []float64) ([]Channel, error) {
	if err := law(target); err != nil {
		return nil, fmt.Errorf("channel: target: %w", err)
	}
	var out []Channel
	for k, from := range classes {
		if len(from) != len(target) {
			return nil, fmt.Errorf("channel: class %d has %d values, and the target %d", k, len(from), len(target))
		}
		if err := law(from); err != nil {
			return nil, fmt.Errorf("channel: class %d: %w", k, err)
		}

		matrix := make([][]float64, len(from))
		for x := range matrix {
			if matrix[x] = make([]float64, len(target)); from[x] <= tiny {
				copy(matrix[x], target)
			}
		}

		// What a value keeps or gives away by the plan is how it is shown.
		for _, m := range Plan(from, target) {
			matrix[m.From][m.To] = m.Mass
		}
		c, err := New(normal(matrix))
		if err != nil {
			return nil, fmt.Errorf("class %d: %w", k, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// MaxDivergence is D∞(p‖q) = ln max p/q, in nats, infinite where q excludes what p has.
//
// If the classes' true laws are λ1 and λ2, and Transport was given λ̃1 and λ̃2, what the two classes show is within
// D∞(λ1‖λ̃1) + D∞(λ̃2‖λ2) of each other [Kawamoto & Murakami, Theorem 3].
func MaxDivergence(p, q []float64) float64 {
	out := 0.
	for x := range p {
		if p[x] > 0 {
			out = max(out, math.Log(p[x]/q[x]))
		}
	}
	return out
}

// law is an error if p are not probabilities that add up to 1.
func law(p []float64) error {
	sum := 0.
	for _, q := range p {
		sum += q
	}
	if len(p) == 0 || slices.Min(p) < 0 || !(math.Abs(sum-1) <= 1e-9) {
		return fmt.Errorf("the chances add up to %.12g, and must be a law", sum)
	}
	return nil
}
