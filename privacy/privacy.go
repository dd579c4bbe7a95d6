// Package privacy holds the checked quantities that every other package speaks in: the parameters ε and δ, and the
// privacy Loss of releases with its composition and conversion.
//
// It is a leaf: it knows no data, no policy and no mechanism, and imports nothing of ours.
package privacy

import (
	"fmt"
	"math"
	"strconv"
)

// Epsilon is the ε of (ε,δ)-indistinguishability: finite and positive. Make one with NewEpsilon.
type Epsilon float64

// Delta is the δ of (ε,δ)-indistinguishability: 0 ≤ δ < 1. Make one with NewDelta.
type Delta float64

// NewEpsilon checks that v is finite and positive.
func NewEpsilon(v float64) (Epsilon, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
		return 0, fmt.Errorf("epsilon must be a finite positive number, not %v", v)
	}
	return Epsilon(v), nil
}

// NewDelta checks that 0 ≤ v < 1.
func NewDelta(v float64) (Delta, error) {
	if math.IsNaN(v) || v < 0 || v >= 1 {
		return 0, fmt.Errorf("delta must be at least 0 and below 1, not %v", v)
	}
	return Delta(v), nil
}

// ParseEpsilon reads an ε from text; what NewEpsilon refuses, it refuses.
func ParseEpsilon(s string) (Epsilon, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("epsilon must be a finite positive number, not %q", s)
	}
	return NewEpsilon(v)
}

// ParseDelta reads a δ from text; what NewDelta refuses, it refuses.
func ParseDelta(s string) (Delta, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("delta must be at least 0 and below 1, not %q", s)
	}
	return NewDelta(v)
}

// Budget is the pair (ε,δ) that one release, or a dataset as a whole, may reach.
type Budget struct {
	Epsilon Epsilon
	Delta   Delta
}
