package model

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "fugu/test/seeded" // what rapid draws is the same at every run
)

// The bounds of a linear function and of a quotient over the simplex: no vector lies beyond, and some vertex comes to
// them.
func TestSimplexBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 5).Draw(t, "k")
		s := &Simplex{From: rapid.Float64Range(0, 0.9/float64(k)).Draw(t, "from"),
			To: rapid.Float64Range(1.1/float64(k), 1).Draw(t, "to")}
		draw := func(name string, low, high float64) []float64 {
			return rapid.SliceOfN(rapid.Float64Range(low, high), k, k).Draw(t, name)
		}
		sum, count := draw("sum", -10, 10), draw("count", 0.01, 1)
		low, high := s.bounds(sum)
		qlow, qhigh := s.quotients(sum, count)
		reachedLow, reachedHigh := math.Inf(1), math.Inf(-1)
		for _, p := range vertices(s, k) {
			v, c := 0.0, 0.0
			for i := range p {
				v, c = v+p[i]*sum[i], c+p[i]*count[i]
			}
			if v < low-1e-9 || v > high+1e-9 || v/c < qlow-1e-9*(1+math.Abs(qlow)) || v/c > qhigh+
				1e-9*(1+math.Abs(qhigh)) {
				t.Fatalf("%v gives %g and %g, bounds [%g, %g] and [%g, %g]", p, v, v/c, low, high, qlow, qhigh)
			}

			reachedLow, reachedHigh = math.Min(reachedLow, v/c), math.Max(reachedHigh, v/c)
		}
		if reachedLow > qlow+1e-6*(1+math.Abs(qlow)) || reachedHigh < qhigh-1e-6*(1+math.Abs(qhigh)) {
			t.Fatalf("quotients reach [%g, %g], bounds [%g, %g]", reachedLow, reachedHigh, qlow, qhigh)
		}
	})
}

// vertices lists the extreme points: all shares but one at an end of the range.
func vertices(s *Simplex, k int) (out [][]float64) {
	for free := range k {
		for mask := range 1 << k {
			p, rest := make([]float64, k), 1.0
			for i := range k {
				if i == free {
					continue
				}
				p[i] = s.From
				if mask>>i&1 == 1 {
					p[i] = s.To
				}
				rest -= p[i]
			}

			if rest >= s.From && rest <= s.To {
				p[free] = rest
				out = append(out, p)
			}
		}
	}
	return out
}
