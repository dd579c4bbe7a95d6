package published

import (
	"fmt"

	"fugu/privacy"
	"fugu/sensitivity"
)

// Wasserstein: Laplace(W/ε) in each of m components is (ε,δ)-distribution private, W and δ those of c: Δ_W and 0 in the
// Wasserstein Mechanism [Chen & Ohrimenko, Theorem 3.1], (W,δ)-closeness in the approximate one [Theorem 3.2]. It
// assumes nothing of F beyond c.
func Wasserstein(c sensitivity.Close, m int, epsilon privacy.Epsilon) (Noise, error) {
	if err := check(privacy.Budget{Epsilon: epsilon, Delta: privacy.Delta(c.Delta)}, laplace); err != nil {
		return Noise{}, err
	}
	if !(c.W >= 0) || !finite(c.W) || m < 1 || c.Unit != nil && len(c.Unit) != m {
		return Noise{}, fmt.Errorf("no Wasserstein mechanism for W = %v in %d components", c.W, m)
	}
	out := Noise{Laplace: independent(m, c.W/float64(epsilon))}
	for k, u := range c.Unit {
		out.Laplace[k][k] *= u
	}
	return out, nil
}
