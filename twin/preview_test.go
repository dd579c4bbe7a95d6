package twin

import (
	"math"
	"testing"
)

// What known rows tell of the share .25 against .30, ε = 1 of the noise. The prototype's numbers, 1.18, 2.12 and 8.8, are
// those of a total δ between .002 and .003: at .001, all of which the truncation of the noise has, they would be 5.9, ∞, ∞.
func TestLossOfKnownRows(t *testing.T) {
	d := adult(t, 0)
	counts, other := []int64{8806, 35222 - 8806}, []int64{10567, 35222 - 10567}
	for _, c := range []struct {
		known       int64
		delta       float64
		least, most float64
	}{
		{0, .001, 1, 1 + 2*lossStep}, {1, .002, 1.17, 1.18}, {10, .002, 2.15, 2.25}, {100, .002, 10.9, 11}, {100, .003, 7.4, 7.5},
		{1, .001, 5.8, 6}, {10, .001, math.Inf(1), math.Inf(1)},
	} {
		if got := d.Loss(c.known, counts, other, c.delta); !(c.least <= got && got <= c.most) {
			t.Errorf("%d known rows, δ = %v: ε = %.3f, want %v to %v", c.known, c.delta, got, c.least, c.most)
		}
	}
}
