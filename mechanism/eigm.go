package mechanism

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// eigm is the Eigenvector Gaussian Mechanism: along each eigenvector v_k of the mean of the covariances, N(0,σ_k²) with
//
//	σ_k² = max over Σ of max(0, (Δ_{E,2}/κ)² - v_kᵀΣv_k)
//
// [Chen & Ohrimenko, Theorem 4.5, with κ in place of ε/c]: where the v_k are eigenvectors of Σ too, Σ+N ⪰
// (Δ_{E,2}/κ)²I.
func eigm(cs []constraint, kappa float64) [][]float64 {
	m := len(cs[0].move)
	mean, delta2 := mat.NewSymDense(m, nil), 0.0
	for _, c := range cs {
		mean.AddSym(mean, c.cov)
		delta2 = math.Max(delta2, floats.Norm(c.move, 2))
	}

	var e mat.EigenSym
	if !e.Factorize(mean, true) {
		return nil
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	var lines [][]float64
	for k := range m {
		v := mat.Col(nil, k, &vectors)
		// Along an eigenvector noise makes up for what the data's own variance lacks.
		lacking := 0.0
		for _, c := range cs {
			var image mat.VecDense
			image.MulVec(c.cov, mat.NewVecDense(m, v))
			lacking = math.Max(lacking, (delta2/kappa)*(delta2/kappa)-floats.Dot(v, image.RawVector().Data))
		}

		if lacking > 0 {
			lines = append(lines, scaled(v, math.Sqrt(lacking)))
		}
	}
	return lines
}
