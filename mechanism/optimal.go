package mechanism

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// maxAutoInherent bounds the components for which Auto looks for the noise of OptimalGaussian in a joint account.
const maxAutoInherent = 64

// optimalGaussian is optimal as a mechanism. Auto looks for its noise where an account counts the randomness of the
// data.
func optimalGaussian() mechanism {
	m := inherent(OptimalGaussian, maxInherent, optimal)
	m.joint = func(r Request) bool { return r.known() && len(r.Components) <= maxAutoInherent }
	return m
}

// optimal is the Optimal Gaussian Mechanism: the least noise of all, Σ_k sd_k²/u_k², for a constraint
//
//	Δᵀ(Σ+N)⁻¹Δ ≤ κ²   ⟺   N ⪰ A = ΔΔᵀ/κ² - Σ        (Schur complement; N ⪰ 0)
//
// is the positive part of A, of rank at most 1. For several constraints they are met one after the other, each by what
// the noise before it leaves to be done, which is feasible; then each line in turn is made as short as all constraints
// allow, until nothing gives.
func optimal(cs []constraint, kappa float64) [][]float64 {
	var lines [][]float64
	for _, c := range cs {
		if v := positivePart(plusLines(c.cov, lines), c.move, kappa); v != nil {
			lines = append(lines, v)
		}
	}

	if len(lines) < 2 {
		return lines
	}

	feasible := func() bool {
		for _, c := range cs {
			if !(quadratic(plusLines(c.cov, lines), c.move) <= kappa*kappa*(1+1e-12)) {
				return false
			}
		}
		return true
	}

	// Lines that came first may be shortened by what later ones hide, each as far as all pairs stay hidden.
	for range 4 {
		gained := false
		for j, v := range lines {
			lo, hi := 0., 1.
			for range 12 {
				mid := (lo + hi) / 2
				if lines[j] = scaled(v, mid); feasible() {
					hi = mid
				} else {
					lo = mid
				}
			}

			lines[j] = scaled(v, hi)
			gained = gained || hi < 1-1e-3
		}
		if !gained {
			break
		}
	}
	return lines
}

// positivePart returns v with vvᵀ = (ΔΔᵀ/κ² - S)₊, S positive definite; nil if that is 0. Its eigenvalue t > 0 solves
// Δᵀ(S+tI)⁻¹Δ = κ², and its eigenvector is along (S+tI)⁻¹Δ.
func positivePart(s mat.Symmetric, move []float64, kappa float64) []float64 {
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return scaled(move, 1/kappa) // ΔΔᵀ/κ² is enough
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	values := e.Values(nil)
	var b mat.VecDense
	b.MulVec(vectors.T(), mat.NewVecDense(len(move), move))
	at := func(t float64) float64 {
		sum := 0.0
		for k, l := range values {
			if v := b.AtVec(k); v != 0 {
				sum += v * v / math.Max(l+t, math.SmallestNonzeroFloat64)
			}
		}

		return sum
	}
	if at(0) <= kappa*kappa {
		return nil
	}

	// The sum falls with t: by halving, from where noise alone in every direction would be enough.
	lo, hi := 0., floats.Dot(move, move)/(kappa*kappa) // where Δᵀ(tI)⁻¹Δ = κ²
	for range 100 {
		if mid := lo + (hi-lo)/2; at(mid) > kappa*kappa {
			lo = mid
		} else {
			hi = mid
		}
	}

	for k, l := range values {
		b.SetVec(k, b.AtVec(k)/(l+hi))
	}
	var q mat.VecDense
	q.MulVec(&vectors, &b)
	return scaled(q.RawVector().Data, math.Sqrt(hi)/mat.Norm(&q, 2))
}
