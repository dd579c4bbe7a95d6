package published

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"fugu/privacy"
)

// Eigm: along each common eigenvector v_k of the covariances, N(0,σ_k²) with σ_k² = max_θ max(0, (c·Δ_{E,2}/ε)² -
// λ_θk²), λ_θk² = v_kᵀ Σ_θ v_k. (ε,δ)-distribution private if F is normal, Σ_θi = Σ_θj for every pair and all Σ_θ have
// the same eigenvectors [Chen & Ohrimenko, Theorem 4.5]. Here they are those of the mean of all covariances.
func Eigm(m Model, b privacy.Budget) (Noise, error) {
	if err := m.checkWith(b, gaussian); err != nil {
		return Noise{}, err
	}

	mean := mat.NewSymDense(m.components(), nil)
	for _, l := range m.Laws {
		mean.AddSym(mean, l.Cov)
	}
	mean.ScaleSym(1/float64(len(m.Laws)), mean)
	_, vectors, err := eigen(mean)
	if err != nil {
		return Noise{}, err
	}

	// Noise is needed only where the rows do not vary enough themselves.
	spread := Analytic(b) * m.Sensitivity(2) / float64(b.Epsilon)
	var n Noise
	for k := range m.components() {
		v := mat.Col(nil, k, vectors)
		lacking := 0.0
		for _, l := range m.Laws {
			var image mat.VecDense
			image.MulVec(l.Cov, mat.NewVecDense(len(v), v))
			lacking = math.Max(lacking, spread*spread-floats.Dot(v, image.RawVector().Data))
		}

		if lacking > 0 {
			n.Normal = append(n.Normal, scaled(v, math.Sqrt(lacking)))
		}
	}
	return n, nil
}
