package joint

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Twelve inner products at a time are each what they are by themselves, at every length and wherever vectors begin.
func TestDots(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 4, 8, 20, 1000} {
		vector := func() []float64 {
			out := make([]float64, n+lanes+1)[1:]
			for k := range out {
				out[k] = rng.NormFloat64()
			}
			return out
		}

		var left, right [][]float64
		var rows [lanes]*float64
		var columns [abreast]*float64
		for r := range rows {
			left = append(left, vector())
			rows[r] = &left[r][0]
		}

		for c := range columns {
			right = append(right, vector())
			columns[c] = &right[c][0]
		}
		var out [lanes * abreast]float64
		dots(n, &rows, &columns, &out)
		for r := range left {
			for c := range right {
				want := 0.0
				for k := range n {
					want += left[r][k] * right[c][k]
				}
				if got := out[r*abreast+c]; math.Abs(got-want) > 1e-12*float64(n) {
					t.Errorf("%d entries, row %d, column %d: %g, want %g", n, r, c, got, want)
				}
			}
		}
	}
}
