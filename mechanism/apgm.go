package mechanism

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// apgm is the Attribute-Private Gaussian Mechanism: N(0,N) with
//
//	N ⪰ (Δ_iF/κ)² I - Cov(F|g_i)   for each attribute i,   N ⪰ 0,   Δ_iF = max ‖E(F|a) - E(F|b)‖₂
//
// [Zhang, Ohrimenko & Cummings, Algorithm 1, with κ in place of ε/c]: for one value that is the variance
// max_i max(0, (Δ_iF/κ)² - Var(F|g_i)). Of vectors they say that Δ_iF is a Euclidean distance and that the covariance
// takes the place of the variance; this is what follows from it: with Cov + N ⪰ (Δ_iF/κ)² I every movement of that
// length has Δᵀ(Cov+N)⁻¹Δ ≤ κ², whatever its direction. Attributes are met one after the other, each by the positive
// part of what the noise before it leaves to be done, which is the least for each.
//
// Their Algorithm 2, for F that is only nearly normal, is this one at the ε and δ of privacy.Approximated.
func apgm(cs []constraint, kappa float64) [][]float64 {
	m := len(cs[0].move)
	noise := mat.NewSymDense(m, nil)
	for _, c := range cs {
		// What the variance of F and the noise so far lacks of (Δ/κ)² in every direction.
		spread, lacking := floats.Norm(c.move, 2)/kappa, mat.NewSymDense(m, nil)
		lacking.AddSym(c.cov, noise)
		lacking.ScaleSym(-1, lacking)
		for k := range m {
			lacking.SetSym(k, k, lacking.At(k, k)+spread*spread)
		}
		for _, v := range positiveLines(lacking) {
			noise.SymRankOne(noise, 1, mat.NewVecDense(m, v))
		}
	}
	return positiveLines(noise)
}

// positiveLines are vectors v_j along the eigenvectors of a with Σ_j v_j v_jᵀ = a₊, its positive part; none where a has
// no eigenvectors that can be found.
func positiveLines(a *mat.SymDense) (lines [][]float64) {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return nil
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	for k, l := range e.Values(nil) {
		if l > 0 {
			lines = append(lines, scaled(mat.Col(nil, k, &vectors), math.Sqrt(l)))
		}
	}
	return lines
}
