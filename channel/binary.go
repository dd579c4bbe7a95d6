package channel

import (
	"fmt"
	"math"
)

// Binary is the channel of a column of two values that says most of them, by any utility that is convex in the columns,
// within epsilon for every law of the ball [Grosse et al., Theorem 5]. It exists in the first privacy region, while ε ≤
// -ln(p - β/2) for the commoner value's chance p, and where β is at most twice the rarer value's.
func Binary(epsilon float64, laws Ball) (Channel, error) {
	if err := laws.Validate(); err != nil {
		return Channel{}, fmt.Errorf("channel: %w", err)
	}
	if len(laws.Center) != 2 {
		return Channel{}, fmt.Errorf("channel: %d values, and the binary channel takes two", len(laws.Center))
	}
	p, half := max(laws.Center[0], laws.Center[1]), laws.Radius/2
	switch {
	case !(epsilon >= 0):
		return Channel{}, fmt.Errorf("channel: ε = %g is below 0", epsilon)
	case half > 1-p:
		return Channel{}, fmt.Errorf("channel: the radius %g is more than twice the chance %g of the rarer value",
			laws.Radius, 1-p)
	case epsilon > -math.Log(p-half):
		return Channel{}, fmt.Errorf("channel: ε = %g is beyond the first privacy region, which ends at %.6g", epsilon,
			-math.Log(p-half))
	}

	e := math.Exp(epsilon)
	whole := 1 + laws.Radius*e
	common := e * (1 - p + half) / whole // P(the commoner is shown | it is true)
	rare := e * (p + half) / whole       // P(the rarer is shown | it is true)
	// The commoner value may be either of the two.
	matrix := [][]float64{{common, 1 - common}, {1 - rare, rare}}
	if laws.Center[0] < laws.Center[1] {
		matrix = [][]float64{{rare, 1 - rare}, {1 - common, common}}
	}
	return New(matrix)
}
