package sensitivity

import (
	"math"
	"testing"
)

// Expected ratios are worked out by hand.
func TestLogRatio(t *testing.T) {
	block := func(size int, entries ...float64) Block { return Block{size, entries} }
	plain := func(blocks ...Block) Covariance { return Covariance{Blocks: blocks} }
	many := func(v float64) Covariance {
		var c Covariance
		for range 300 {
			c.Blocks = append(c.Blocks, block(1, v))
		}
		return c
	}

	if got, _ := LogRatio(plain(block(1, 2), block(1, 1e-9)), plain(block(1, 6), block(1, 1e-13)),
		[]float64{0, 1e-3}); math.Abs(got-math.Log(3)) > 1e-9 {
		t.Errorf("with a component that is negligible: %v", got)
	}
	for _, c := range []struct {
		name  string
		p, q  Covariance
		want  float64
		whole bool
	}{
		{"equal", plain(block(2, 2, 1, 1, 2)), plain(block(2, 2, 1, 1, 2)), 0, true},
		{"one component", plain(block(1, 2)), plain(block(1, 6)), math.Log(3), true},
		{"the larger of two", plain(block(1, 2), block(1, 8)), plain(block(1, 3), block(1, 2)), math.Log(4), true},
		// Equal variances, but the sum varies by 2(1+ρ) and the difference by 2(1-ρ): 0.4/1 for ρ = 0.6 and 0.
		{"correlation only", plain(block(2, 1, 0.6, 0.6, 1)), plain(block(2, 1, 0, 0, 1)), math.Log(1 / 0.4), true},
		{"units do not matter", plain(block(2, 1e12, 0.6e3, 0.6e3, 1e-6)), plain(block(2, 1e12, 0, 0, 1e-6)),
			math.Log(1 / 0.4), true},
		// I + 3vvᵀ, v of length 1, against I.
		{"rank one", Covariance{Blocks: []Block{block(1, 1), block(1, 1)}, Low: []RankOne{{3, []float64{0.6, 0.8}}}},
			plain(block(1, 1), block(1, 1)), math.Log(4), true},
		{"nothing varies in one direction", plain(block(2, 1, 1, 1, 1)), plain(block(2, 2, 2, 2, 2)), math.Log(2),
			true},
		{"only one varies", plain(block(2, 1, 1, 1, 1)), plain(block(2, 1, 0, 0, 1)), math.Inf(1), true},
		{"nothing varies", plain(block(1, 0)), plain(block(1, 0)), 0, true},
		{"many", many(6), many(2), math.Log(3), false},
	} {
		for range 2 {
			got, whole := LogRatio(c.p, c.q, make([]float64, 300))
			if whole != c.whole || !(math.Abs(got-c.want) < 1e-6 || got == c.want) {
				t.Errorf("%s: %v, %v; want %v, %v", c.name, got, whole, c.want, c.whole)
			}
			c.p, c.q = c.q, c.p
		}
	}
}
