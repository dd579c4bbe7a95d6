package answer

import (
	"math"
	"testing"

	"fugu/mechanism"
)

// The parts of a value's noise have together the variance that the mechanism's law has, and each that of its own law:
// 2b² of Laplace noise, σ² of normal noise, and a twelfth of the square of a step.
func TestPartsOfNoiseHaveItsVariance(t *testing.T) {
	for _, o := range []mechanism.Own{{Laplace: 3}, {Sigma: 2}, {Step: 1},
		{Laplace: 3, Extra: .5, Sigma: 2, Step: 10}} {
		total := 0.
		parts := ownParts(o)
		for _, p := range parts {
			want := map[string]float64{"laplace": 2, "normal": 1, "uniform": 1. / 12}[p.Law] * p.Scale * p.Scale
			if math.Abs(p.Variance-want) > 1e-12*want || !(want > 0) || p.Source != "own" || p.Along != 1 {
				t.Errorf("%+v: %+v has no variance of %v", o, p, want)
			}
			total += p.Variance
		}
		if want := o.Variance(); math.Abs(total-want) > 1e-12*want {
			t.Errorf("%+v: a variance of %v, and its parts have %v", o, want, total)
		}
	}
}
