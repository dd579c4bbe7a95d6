package mechanism

import (
	"math"
	"slices"

	"fugu/privacy"
	"fugu/sensitivity"
)

// wasserstein is the Wasserstein Mechanism, or the approximate one.
//
//	U_k   the norm's unit of component k      h_k   its lattice
//	W   = max over secrets of sup over its pairs of W∞(f_θi, f_θj), or of the W for which all pairs are (W,δ)-close
//	noise of component k: Laplace(max(W·U_k/ε, h_k)), independent
//
// (ε,0)-, respectively (ε,δ)-distribution private [Chen & Ohrimenko, Theorems 3.1 and 3.2, in the norm Σ_k |x_k|/U_k].
// That needs no assumption on F but the Close itself. Where a Shift bounds coupled datasets, it is one: they are
// within its Beside but for its Failure. Otherwise, where the request has no Close for a secret, translation gives one:
// W∞(f, f+d) = ‖d‖₁ for every law f with a mean [the coupling by translation moves everything by d; by convexity of the
// norm no coupling moves less], and the mechanism is that of expm-laplace.
//
// The couplings of different statements differ, so closeness does not compose; what is charged is the loss by noise
// alone, as for every mechanism: of what the Shifts say. Where a statement is the only one about its secrets, they say
// what its Close does (sensitivity.Close.Shift), and releases of it add up by that.
func wasserstein(kind Kind) mechanism {
	return mechanism{
		kind:  kind,
		holds: closeEnough,
		design: func(r Request) (design, error) {
			return designWasserstein(kind, r)
		},
		certify: func(r Request, n Noise, losses map[string]privacy.Loss) ([]Certificate, error) {
			return certifyClose(kind, r, n, losses)
		},
	}
}

func designWasserstein(kind Kind, r Request) (design, error) {
	// The noise is that of expm-laplace in a norm of its own for each component: the widest that any secret asks for.
	scale := make([]float64, len(r.Components))
	for _, s := range r.Shifts {
		c, _ := r.close(s)
		if err := r.checkFailure(kind, c.Delta); err != nil {
			return nil, err
		}
		for k := range scale {
			scale[k] = math.Max(scale[k], c.W*c.Unit[k]/float64(r.Budget.Epsilon))
		}
	}

	return func(inflate float64) Noise {
		n := Noise{cells: make([]cell, len(r.Components))}
		for k, c := range r.Components {
			own := math.Max(scale[k], c.Lattice)
			n.cells[k].exponent = gridFor(own)
			n.cells[k].laplace = steps(inflate*own, n.cells[k].exponent)
		}

		return n
	}, nil
}

// close returns how close the pairs of a secret are, with a unit for each component, and whether the request says so.
func (r Request) close(s sensitivity.Shift) (close sensitivity.Close, given bool) {
	for _, c := range r.Close {
		if c.Secret != s.Secret {
			continue
		}
		if c.Unit == nil {
			c.Unit = slices.Repeat([]float64{1}, len(r.Components))
		}
		return c, true
	}
	return sensitivity.Close{Secret: s.Secret, Unit: r.units(), W: s.Norm1(r.units()), Delta: s.Failure}, false
}

// closeEnough checks the promise for the integer scales used: moving by W costs at most W·max_k U_k/b_k, and rounding F
// separately before and after at most a step in each component.
func closeEnough(r Request, n Noise) bool {
	for _, s := range r.Shifts {
		c, _ := r.close(s)
		most, rounding := 0.0, 0.0
		for k, own := range n.cells {
			most = math.Max(most, c.Unit[k]/math.Ldexp(float64(own.laplace), own.exponent))
			rounding += slack / float64(own.laplace)
		}
		if !(c.W*most+rounding <= float64(r.Budget.Epsilon)) || c.Delta > float64(r.Budget.Delta) {
			return false
		}
	}
	return true
}

// certifyClose certifies secrets with a Close by it, whatever their distributions are; the others like every mechanism.
func certifyClose(kind Kind, r Request, n Noise, losses map[string]privacy.Loss) ([]Certificate, error) {
	given := map[string]sensitivity.Close{}
	for _, s := range r.Shifts {
		if c, ok := r.close(s); ok {
			given[s.Secret] = c
		}
	}

	// Distributions of these need not be looked at, and may be too different for a certificate.
	rest := r
	rest.Families = nil
	for _, f := range r.Families {
		if _, ok := given[f.Secret()]; !ok {
			rest.Families = append(rest.Families, f)
		}
	}

	certificates, err := rest.certify(kind, n, losses)
	for i, c := range certificates {
		if g, ok := given[c.Secret]; ok {
			certificates[i].Delta, certificates[i].Estimation = g.Delta, 0
		}
	}
	return certificates, err
}
