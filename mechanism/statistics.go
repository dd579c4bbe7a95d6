package mechanism

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
)

// Statistics is a vector of exact values of F on protected rows. Nothing reads it but Noise.Release: it has no
// accessor, and formatting, logging and encoding show only that something is withheld. The values are behind a closure,
// so that printing a struct with Statistics in an unexported field, where no method of ours is called, shows none
// either.
type Statistics struct {
	reveal func() []*big.Rat
}

const withheld = "[withheld]"

var errWithheld = errors.New("statistics on protected rows are withheld")

// NewStatistics takes a copy of the values, one for each component of F.
func NewStatistics(values []*big.Rat) Statistics {
	own := make([]*big.Rat, len(values))
	for k, v := range values {
		if v != nil {
			own[k] = new(big.Rat).Set(v)
		}
	}
	return Statistics{reveal: func() []*big.Rat { return own }}
}

// Format implements fmt.Formatter: every verb prints "[withheld]".
func (Statistics) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, withheld) }

// String implements fmt.Stringer.
func (Statistics) String() string { return withheld }

// LogValue implements slog.LogValuer.
func (Statistics) LogValue() slog.Value { return slog.StringValue(withheld) }

// MarshalJSON always fails.
func (Statistics) MarshalJSON() ([]byte, error) { return nil, errWithheld }

// MarshalText always fails.
func (Statistics) MarshalText() ([]byte, error) { return nil, errWithheld }

// MarshalBinary always fails.
func (Statistics) MarshalBinary() ([]byte, error) { return nil, errWithheld }
