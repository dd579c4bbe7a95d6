package published

import (
	"errors"

	"fugu/privacy"
)

// ErrNoise says that the randomness of the data alone is not enough.
var ErrNoise = errors.New("the statistic needs noise")

// NoNoise: F itself is (ε,δ)-distribution private if it is normal, with the same Σ for both distributions of a pair,
// and Δμᵀ Σ⁻¹ Δμ ≤ (ε/c)² for every pair [Chen & Ohrimenko, Theorem 4.4]; otherwise ErrNoise.
func NoNoise(m Model, b privacy.Budget) (Noise, error) {
	if err := m.checkWith(b, gaussian); err != nil {
		return Noise{}, err
	}
	most := float64(b.Epsilon) / Analytic(b)
	for _, p := range m.Pairs {
		if !(inverse(m.pooled(p), m.difference(p)) <= most*most) {
			return Noise{}, ErrNoise
		}
	}
	return Noise{}, nil
}
