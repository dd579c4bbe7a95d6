package mechanism

import "math"

// apgm is the Attribute-Private Gaussian Mechanism for one value: N(0,σ²),
//
//	σ² = max over attributes i of max(0, (Δ_iF/κ)² - Var(F|g_i))
//
// [Zhang, Ohrimenko & Cummings, Algorithm 1, with κ in place of ε/c]. Their Algorithm 2, for F that is only nearly
// normal, is this one at the ε and δ of privacy.Approximated.
func apgm(cs []constraint, kappa float64) [][]float64 {
	lacking := 0.0
	for _, c := range cs {
		lacking = math.Max(lacking, (c.move[0]/kappa)*(c.move[0]/kappa)-c.cov.At(0, 0))
	}
	if lacking == 0 {
		return nil
	}
	return [][]float64{{math.Sqrt(lacking)}}
}
