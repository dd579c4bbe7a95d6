package privacy

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Tolerance is the error (a standard deviation) up to which a value need not be drawn afresh: Absolute, in the value's
// own units, or Relative, as a multiple of the error that a fresh answer would have. The zero Tolerance allows none.
type Tolerance struct{ Absolute, Relative float64 }

// ParseTolerance reads a number, "25", or a share of a fresh answer's error, "110%"; "0" is none.
func ParseTolerance(s string) (Tolerance, error) {
	text, share := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return Tolerance{}, errors.New("an error is a finite number, or a percentage, of at least 0")
	}
	if share {
		return Tolerance{Relative: v / 100}, nil
	}
	return Tolerance{Absolute: v}, nil
}

// Allows reports whether a value may have this error, where a fresh one would have that.
func (t Tolerance) Allows(sd, fresh float64) bool {
	const rounding = 1 + 1e-9
	return sd <= t.Absolute*rounding || sd <= t.Relative*fresh*rounding
}

// String writes t as ParseTolerance reads it.
func (t Tolerance) String() string {
	if t.Relative > 0 {
		return strconv.FormatFloat(100*t.Relative, 'g', 12, 64) + "%"
	}
	return strconv.FormatFloat(t.Absolute, 'g', 12, 64)
}
