package mechanism

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// source draws exact samples from a reader of random bytes, in integer arithmetic only. The first error sticks: after
// it every draw is meaningless and err says why.
type source struct {
	r    *bufio.Reader
	left int // words that may still be drawn
	err  error
}

var errExhausted = errors.New("the random source keeps being rejected")

// newSource allows draws samples. A sample takes some 20 words; a source that takes 1000 for each is not random, and
// would keep a rejection loop running for ever.
func newSource(random io.Reader, draws int) *source {
	return &source{r: bufio.NewReaderSize(random, min(4096, 256*draws+64)), left: 1000*draws + 10_000}
}

func (s *source) word() uint64 {
	if s.err != nil {
		return 0
	}
	if s.left--; s.left < 0 {
		s.err = errExhausted
		return 0
	}
	b, err := s.r.Peek(8)
	if err != nil {
		s.err = fmt.Errorf("read random bytes: %w", err)
		return 0
	}
	u := binary.LittleEndian.Uint64(b)
	_, _ = s.r.Discard(8)
	return u
}

// below draws uniformly from 0 … n-1, n ≥ 1, by rejection.
func (s *source) below(n uint64) uint64 {
	if n == 1 {
		return 0
	}
	mask := uint64(1)<<bits.Len64(n-1) - 1
	for s.err == nil {
		if u := s.word() & mask; u < n {
			return u
		}
	}
	return 0
}

// bernoulliExp is true with probability exp(-(whole + a/b)), a < b
// [Canonne, Kamath & Steinke 2020, Algorithm 1].
func (s *source) bernoulliExp(whole, a, b uint64) bool {
	for ; whole > 0; whole-- {
		if s.err != nil || !s.bernoulliExpFraction(1, 1) {
			return false
		}
	}
	return s.bernoulliExpFraction(a, b)
}

// bernoulliExpFraction is true with probability exp(-a/b), a ≤ b: the number of successes of independent trials with
// probabilities a/b·1/k, k = 1, 2, …, before the first failure is even with that probability.
func (s *source) bernoulliExpFraction(a, b uint64) bool {
	k := uint64(1)
	for s.err == nil && s.below(b) < a && s.below(k) == 0 {
		k++
	}
	return k%2 == 1
}

// laplace draws an integer x with probability proportional to exp(-|x|/t), 1 ≤ t ≤ maxScale
// [Canonne, Kamath & Steinke 2020, Algorithm 2].
func (s *source) laplace(t uint64) int64 {
	for s.err == nil {
		// The remainder by t and the quotient are drawn apart: u with weight e^(-u/t), v geometrically.
		u := s.below(t)
		if !s.bernoulliExp(0, u, t) {
			continue
		}
		v := uint64(0)
		for s.err == nil && s.bernoulliExp(1, 0, 1) {
			v++
		}
		if v >= 1<<12 { // probability e^-4096
			s.err = errExhausted
			return 0
		}

		x := int64(u + t*v)
		if s.below(2) == 0 {
			return x
		}
		if x != 0 { // zero has only one sign
			return -x
		}
	}
	return 0
}

// gaussian draws an integer x with probability proportional to exp(-x²/2σ²), 1 ≤ σ ≤ 2^30
// [Canonne, Kamath & Steinke 2020, Algorithm 3, with Laplace proposals of scale t = σ].
func (s *source) gaussian(sigma uint64) int64 {
	for s.err == nil {
		x := s.laplace(sigma)
		// Accept with probability exp(-(|x| - σ²/t)²/2σ²).
		away := x
		if away < 0 {
			away = -away
		}
		if away -= int64(sigma); away < 0 {
			away = -away
		}
		hi, lo := bits.Mul64(uint64(away), uint64(away)) // away < 2^12·σ, so hi < 2σ², as Div64 requires
		whole, rest := bits.Div64(hi, lo, 2*sigma*sigma)
		if s.bernoulliExp(whole, rest, 2*sigma*sigma) {
			return x
		}
	}
	return 0
}
