package mechanism

import (
	"fmt"
	"io"
	"math/bits"
)

// Integers draws integers exactly, from a reader of random bytes and in integer arithmetic only: no probability is
// rounded. After the first error every draw is meaningless, and Err says why.
type Integers struct{ source source }

// MaxRatio is the largest numerator and denominator of a scale and of an exponent.
const MaxRatio = maxScale

// NewIntegers allows some draws samples of the reader; more are an error, as is a reader that is not random.
func NewIntegers(random io.Reader, draws int) *Integers {
	return &Integers{*newSource(random, draws)}
}

// Err is the first error.
func (i *Integers) Err() error { return i.source.err }

// Below draws uniformly from 0 … n-1, n ≥ 1.
func (i *Integers) Below(n uint64) uint64 { return i.source.below(n) }

// Yes is true with probability exp(-times·a/b), b from 1 to MaxRatio and a up to MaxRatio.
func (i *Integers) Yes(times, a, b uint64) bool {
	if b < 1 || b > MaxRatio || a > MaxRatio {
		i.source.err = fmt.Errorf("an exponent of %d/%d cannot be drawn", a, b)
		return false
	}
	hi, lo := bits.Mul64(times, a)
	if hi >= b {
		// The exponent is 2^64 or more: what has this probability is never seen, and Div64 would panic.
		return false
	}
	whole, rest := bits.Div64(hi, lo, b)
	return i.source.bernoulliExp(whole, rest, b)
}

// Laplace draws an integer x with probability proportional to exp(-|x|·s/t), s and t from 1 to MaxRatio
// [Canonne, Kamath & Steinke 2020, Algorithm 2].
func (i *Integers) Laplace(t, s uint64) int64 {
	r := &i.source
	if t < 1 || t > MaxRatio || s < 1 || s > MaxRatio {
		r.err = fmt.Errorf("a scale of %d/%d cannot be drawn", t, s)
		return 0
	}
	for r.err == nil {
		// u + t·v is geometric of ratio exp(-1/t); so many whole s are in it with the ratio exp(-s/t).
		u := r.below(t)
		if !r.bernoulliExp(0, u, t) {
			continue
		}
		v := uint64(0)
		for r.err == nil && r.bernoulliExp(1, 0, 1) {
			v++
		}
		if v >= 1<<12 { // probability e^-4096
			r.err = errExhausted
			return 0
		}

		x := int64((u + t*v) / s)
		if r.below(2) == 0 {
			return x
		}
		if x != 0 { // zero has only one sign
			return -x
		}
	}
	return 0
}
