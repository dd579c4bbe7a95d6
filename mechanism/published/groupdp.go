package published

import (
	"fmt"
	"math"

	"fugu/privacy"
)

// GroupLaplace and GroupGaussian are differential privacy for a group of k records [Dwork & Roth, Theorems 2.2 and 3.6,
// 3.22]: the baseline that Chen & Ohrimenko compare with, k = n the whole dataset. They assume nothing of the data.
// ranges holds the most by which one record can change each component.

// GroupLaplace: Laplace(k·Δ_1/ε) in each component, (ε,0) for groups of k.
func GroupLaplace(ranges []float64, k int, b privacy.Budget) (Noise, error) {
	one, _, err := group(ranges, k, b, laplace)
	if err != nil {
		return Noise{}, err
	}
	return Noise{Laplace: independent(len(ranges), one/float64(b.Epsilon))}, nil
}

// GroupGaussian: N(0,(c·k·Δ_2/ε)²) in each component, (ε,δ) for groups of k and ε < 1.
func GroupGaussian(ranges []float64, k int, b privacy.Budget) (Noise, error) {
	_, two, err := group(ranges, k, b, gaussian)
	if err != nil {
		return Noise{}, err
	}
	return Noise{Normal: independent(len(ranges), Analytic(b)*two/float64(b.Epsilon))}, nil
}

// group checks what is asked, and returns by how much k records change the components together, in the L1 and the L2
// norm.
func group(ranges []float64, k int, b privacy.Budget, l law) (one, two float64, err error) {
	if err := check(b, l); err != nil {
		return 0, 0, err
	}
	if len(ranges) == 0 || k < 1 {
		return 0, 0, fmt.Errorf("no sensitivity of %d components to %d records", len(ranges), k)
	}
	for i, r := range ranges {
		if !(r >= 0) || !finite(r) {
			return 0, 0, fmt.Errorf("component %d changes by %v with one record", i, r)
		}
		one, two = one+r*float64(k), math.Hypot(two, r*float64(k))
	}
	return one, two, nil
}
