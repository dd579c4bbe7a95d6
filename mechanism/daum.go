package mechanism

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// daum is the directional mechanism with adversarial uncertainty: noise σ²vvᵀ along the direction v of each move, with
// the least σ² that meets its constraints,
//
//	σ² = max(0, (α/κ)² - 1/(vᵀΣ⁻¹v)),   Δ = αv
//
// [Chen & Ohrimenko, Algorithm 1, solved, with κ in place of ε/c]: by the matrix determinant lemma that is where
// Δᵀ(Σ+σ²vvᵀ)⁻¹Δ = α²/(1/(vᵀΣ⁻¹v) + σ²) falls to κ².
func daum(cs []constraint, kappa float64) [][]float64 {
	var lines [][]float64
	same := map[*float64]int{} // the two ends of a span have the same direction: the longer line serves both
	for _, c := range cs {
		length := floats.Norm(c.move, 2)
		if length == 0 {
			continue
		}

		// What the covariance itself hides needs no noise.
		v := scaled(c.move, 1/length)
		lacking := (length/kappa)*(length/kappa) - 1/quadratic(c.cov, v)
		if lacking <= 0 {
			continue
		}
		v = scaled(v, math.Sqrt(lacking))

		j, ok := same[&c.move[0]]
		switch {
		case !ok:
			same[&c.move[0]] = len(lines)
			lines = append(lines, v)
		case floats.Norm(lines[j], 2) < floats.Norm(v, 2):
			lines[j] = v
		}
	}
	return lines
}
