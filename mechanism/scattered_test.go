package mechanism

import (
	"math"
	"testing"

	"fugu/privacy"
	"fugu/sensitivity"
)

// What is left to chance in a movement counts in the norm of each kind of noise that hides it, and what chance may
// exceed counts in δ, once for each. By hand, of one component whose noise has the scale or deviation 20: E Z ≤ 3/20
// for a variance of 9, and Klein and Rio's bound is solved for x in closed form.
func TestWhatIsLeftToChanceIsPaidFor(t *testing.T) {
	scatter := func(components int) *sensitivity.Scatter {
		s := &sensitivity.Scatter{Rows: 1, Failure: 1e-6, Beside: 1e-7}
		for k := range components {
			s.Variance, s.Second, s.Extent = append(s.Variance, 9), append(s.Second, 10), append(s.Extent, 4)
			s.Cell, s.Layer = append(s.Cell, k), append(s.Layer, 0)
		}
		return s
	}
	// x² = L(2(v + 2be) + 3bx), with L = ln 1/Failure.
	most := func(e, v, b float64) float64 {
		l := -math.Log(1e-6)
		return e + 3*b*l/2 + math.Sqrt(9*b*b*l*l/4+2*l*(v+2*b*e))
	}
	laplace := most(3./20, 10./400, 8./20)
	gaussian := most(3./20, 9./400, math.Sqrt(2)*4/20)

	alone := func(n Noise) (with, without privacy.Loss) {
		zero := func() []float64 { return make([]float64, len(n.cells)) }
		s := sensitivity.Shift{Secret: "s", Along: zero(), Beside: zero()}
		for k := range n.cells {
			s.Along[k], s.Beside[k] = 2, 1
		}
		without = n.loss(s)
		s.Scatter = scatter(len(n.cells))
		return n.loss(s), without
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}

	with, without := alone(Noise{cells: []cell{{laplace: 20}}})
	near("Laplace noise", with.Pure, without.Pure+laplace)
	near("its κ²", with.Kappa2, without.Kappa2)
	near("its δ", with.Delta, without.Delta+1.1e-6)
	with, without = alone(Noise{cells: []cell{{sigma: 20}}})
	near("normal noise", math.Sqrt(with.Kappa2), math.Sqrt(without.Kappa2)+gaussian)
	near("its ε", with.Pure, without.Pure)
	near("its δ", with.Delta, without.Delta+1.1e-6)

	// Of both kinds each has its own component, and its own chance to fail.
	with, without = alone(Noise{cells: []cell{{laplace: 20}, {sigma: 20}}})
	near("both, ε", with.Pure, without.Pure+laplace)
	near("both, κ", math.Sqrt(with.Kappa2), math.Sqrt(without.Kappa2)+gaussian)
	near("both, δ", with.Delta, without.Delta+2.1e-6)
}
