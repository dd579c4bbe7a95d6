package published

import "fugu/privacy"

// ExpmLaplace: Laplace(Δ_{E,1}/ε) in each component, (ε,0)-distribution private if the two distributions of each pair
// are translations of each other [Chen & Ohrimenko, Theorem 4.1].
func ExpmLaplace(m Model, b privacy.Budget) (Noise, error) {
	if err := m.checkWith(b, laplace); err != nil {
		return Noise{}, err
	}
	return Noise{Laplace: independent(m.components(), m.Sensitivity(1)/float64(b.Epsilon))}, nil
}

// ExpmGaussian: N(0,σ²) in each component, σ = c·Δ_{E,2}/ε, (ε,δ)-distribution private for translations and ε < 1
// [Theorem 4.2].
func ExpmGaussian(m Model, b privacy.Budget) (Noise, error) {
	if err := m.checkWith(b, gaussian); err != nil {
		return Noise{}, err
	}
	return Noise{Normal: independent(m.components(), Analytic(b)*m.Sensitivity(2)/float64(b.Epsilon))}, nil
}
