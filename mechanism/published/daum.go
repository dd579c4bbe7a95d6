package published

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"fugu/privacy"
)

// Daum: N(0, σ² vvᵀ) for the unit vector v to which all differences of means are parallel, with the least σ² for which
// Σ + (σ² - (αc/ε)²) vvᵀ is positive semidefinite for every pair, α = Δμᵀv: σ² = max over pairs of
// max(0, (αc/ε)² - 1/(vᵀΣ⁻¹v)). (ε,δ)-distribution private if F is normal with the same Σ for both distributions of a
// pair [Chen & Ohrimenko, Algorithm 1 and Theorem A.1, solved].
func Daum(m Model, v []float64, b privacy.Budget) (Noise, error) {
	if err := m.checkAlong([][]float64{v}, b, gaussian); err != nil {
		return Noise{}, err
	}
	lacking := 0.0
	for _, p := range m.Pairs {
		spread := Analytic(b) * floats.Dot(v, m.difference(p)) / float64(b.Epsilon)
		lacking = math.Max(lacking, spread*spread-1/inverse(m.pooled(p), v))
	}
	if lacking == 0 {
		return Noise{}, nil
	}
	return Noise{Normal: [][]float64{scaled(v, math.Sqrt(lacking))}}, nil
}
