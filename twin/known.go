package twin

import (
	"fmt"
	"math"
	"sync"
)

// known is what S does about rows that analysts know one by one. Who knows K rows of a class sees how many of them are
// in the twin: hypergeometric(N_c, m_c, K). For every pair and every m_c this is (ε,δ)-indistinguishable, for each
// class, so that with K's the losses of all classes add up to the policy's, however the known rows divide over the
// classes. (K in each of them is more than there are: for K above 1 fewer rows are taken than could be.)
type known struct {
	rows  int64   // K; 0: none
	move  int64   // k: a pair differs by so many rows of a class
	rate  float64 // ε
	table int64   // rows of all classes
	delta float64
	memo  *sync.Map // of most: a design is asked by many at once
}

// inError says in an error that known rows are the reason.
func (k known) inError() string {
	if k.rows == 0 {
		return ""
	}
	return fmt.Sprintf(" with known_rows %d", k.rows)
}

// most is the largest number of rows that may be taken of a class with least rows or more.
//
// The hypergeometric laws in N have a monotone likelihood ratio in the number seen: more is seen the smaller N is. So
// of two laws the tests at a threshold are best, the pair (N,N+j) is told apart the better the larger j is, and all
// pairs (N,N+k) with a ≤ N < b less well than (a, b-1+k). With fewer rows taken less is told: a part of a sample is
// made of it.
func (k known) most(least int64) int64 {
	if k.rows == 0 {
		return math.MaxInt64
	}
	// What holds of a smaller least holds: sizes in steps are as good, and are worked out once.
	if step := k.move / 8; step > 1 && least > step {
		least -= least % step
	}
	if k.memo == nil {
		return k.search(least)
	}
	if m, ok := k.memo.Load(least); ok {
		return m.(int64)
	}
	m := k.search(least)
	k.memo.Store(least, m)
	return m
}

func (k known) search(least int64) int64 {
	lo, hi := int64(0), least-1
	for lo < hi {
		m := lo + (hi-lo+1)/2
		if k.holds(least, m) {
			lo = m
		} else {
			hi = m - 1
		}
	}
	return lo
}

// holds reports whether m rows of a class of least or more tell little enough.
func (k known) holds(least, m int64) bool {
	if k.rows >= least {
		return false // they may be the whole class
	}
	// Far from its smallest size a class tells less, so that coarser steps do.
	for n := least; ; {
		width := max(1, k.move/64, (n-least)/2)
		if !k.hides(n, n+width-1+k.move, m) {
			return false
		}
		if n += width; n > k.table {
			return true
		}
	}
}

// hides reports whether the laws for classes of a and of b rows are within the loss, a < b.
func (k known) hides(a, b, m int64) bool {
	p, q := hypergeometric(a, k.rows)(m), hypergeometric(b, k.rows)(m)
	up, down := 0., 0.
	for h := range p {
		if k.delta == 0 {
			if math.IsInf(p[h], -1) != math.IsInf(q[h], -1) || !math.IsInf(p[h], -1) &&
				math.Abs(p[h]-q[h]) > k.rate*(1-1e-9) {
				return false
			}
			continue
		}
		up += math.Max(0, math.Exp(p[h])-math.Exp(k.rate+q[h]))
		down += math.Max(0, math.Exp(q[h])-math.Exp(k.rate+p[h]))
	}
	return max(up, down) <= k.delta*(1-1e-6)
}

// hypergeometric returns the logarithms of the probabilities that h of K marked rows are among m of n, h = 0 … K:
// C(K,h)·[m]_h·[n-m]_{K-h}/[n]_K with falling factorials. The logarithms are sums of K small numbers each; those that
// m is not in are worked out once for all m that are asked.
func hypergeometric(n, k int64) func(m int64) []float64 {
	falling := func(x int64) []float64 {
		out := make([]float64, k+1)
		for i := range k {
			out[i+1] = out[i] + math.Log(math.Max(0, float64(x-i)))
		}
		return out
	}

	// Neither the ways to choose the marked ones nor the denominator depend on m.
	all, ways := falling(n)[k], make([]float64, k+1)
	for h := int64(1); h <= k; h++ {
		ways[h] = ways[h-1] + (math.Log(float64(k-h+1)) - math.Log(float64(h)))
	}

	return func(m int64) []float64 {
		in, rest, out := falling(m), falling(n-m), make([]float64, k+1)
		for h := range k + 1 {
			out[h] = ways[h] + in[h] + rest[k-h] - all
		}
		return out
	}
}

// part is a share of ε and δ between K and the rows that are known.
type part struct{ epsilon, delta, knownEpsilon, knownDelta float64 }

// parts are the ways to share: chance has its δ first, and where rows are known each class has the same loss.
func (s Spec) parts(classes int, slack float64) (out []part) {
	left := s.Delta - slack
	if s.KnownRows == 0 {
		out = append(out, part{epsilon: s.Epsilon, delta: left})
		return out
	}
	if s.KnownRows == 1 {
		classes = 1 // the row is of one class only, whose loss may be all of it
	}
	for i := 1; i < 10; i++ {
		f := float64(i) / 10
		out = append(out, part{epsilon: f * s.Epsilon, delta: left / 2,
			knownEpsilon: (1 - f) * s.Epsilon / float64(classes), knownDelta: left / 2 / float64(classes)})
	}
	return out
}
