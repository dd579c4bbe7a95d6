package sensitivity

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The Laplace noise that a probe finds room for is about what there is room for: with a little less of a shift the
// release is within its budget where the probe looks, and with a quarter more it is not; and at the δ of the budget
// ε is no more than the budget's.
func TestProbe(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	const epsilon, delta = 2, .05
	b := budgetOf(epsilon, delta)
	found := 0
	for range 20 {
		f := family(r, []int{1, 2})
		floor := ones(3, 1+4*r.Float64())
		release := Release{Beside: ones(3, .1*r.Float64()), Floor: floor,
			Gaussian: Covariance{Blocks: zero(f.at0).Blocks}.WithDiagonal(1, floor)}
		p, err := NewProbe(f, release, b)
		if err != nil {
			t.Fatal(err)
		}
		if e := p.EpsilonAt(delta); (e <= epsilon) != (p.Delta() <= delta) {
			t.Errorf("δ = %g at the budget's ε, and ε = %g at its δ", p.Delta(), e)
		}
		within := p.Delta() <= .9*delta
		shift := p.Laplace(release)
		if !within {
			continue
		}

		found++
		for factor, fits := range map[float64]bool{.95: true, 1.25: false} {
			with := release
			with.Laplace = []float64{factor * shift}
			q, err := NewProbe(f, with, b)
			if err != nil {
				t.Fatal(err)
			}
			if (q.Delta() <= delta) != fits {
				t.Errorf("room for a shift of %g, and with %g of it δ = %g", shift, factor, q.Delta())
			}
		}
	}
	if found < 5 {
		t.Errorf("in %d releases only there is room for more noise", found)
	}
}

// The largest shift is found to 2e-3 of it from below, wherever the guess is, and no more than the most there may be.
func TestLargestShift(t *testing.T) {
	const edge = 1.234
	for _, guess := range []float64{.1, 1.2, edge, 1.3, 40} {
		for _, most := range []float64{.5, 1.25, 100} {
			got, ok := largestShift(guess, most, func(x float64) bool { return x <= edge })
			if want := math.Min(edge, most); guess > most {
				continue // no guess
			} else if !ok || got > want || got < want*(1-2.1e-3) {
				t.Errorf("from %v, of %v: %v, %v; want %v", guess, most, got, ok, want)
			}
		}
	}
	if got, ok := largestShift(1, 2, func(float64) bool { return false }); ok {
		t.Errorf("%v fits where nothing does", got)
	}
}
