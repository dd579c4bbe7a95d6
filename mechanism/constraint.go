package mechanism

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"fugu/sensitivity"
)

// constraint asks for noise N with Δᵀ(Σ+N)⁻¹Δ ≤ κ², under a covariance Σ that holds the floor. All in units: component
// k divided by u_k.
type constraint struct {
	move []float64     // Δ
	cov  *mat.SymDense // Σ
}

// structure gives the vectors v_j of noise Σ_j v_j v_jᵀ that meets the constraints, in units.
type structure func(cs []constraint, kappa float64) [][]float64

// plusLines returns s + Σ_j v_j v_jᵀ.
func plusLines(s *mat.SymDense, lines [][]float64) *mat.SymDense {
	out := mat.NewSymDense(s.SymmetricDim(), nil)
	out.CopySym(s)
	for _, v := range lines {
		out.SymRankOne(out, 1, mat.NewVecDense(len(v), v))
	}
	return out
}

// quadratic is vᵀS⁻¹v, +Inf where S has no inverse.
func quadratic(s mat.Symmetric, v []float64) float64 {
	var chol mat.Cholesky
	var x mat.VecDense
	if !chol.Factorize(s) || chol.SolveVecTo(&x, mat.NewVecDense(len(v), v)) != nil {
		return math.Inf(1)
	}
	return mat.Dot(&x, mat.NewVecDense(len(v), v))
}

func scaled(v []float64, by float64) []float64 { return floats.ScaleTo(make([]float64, len(v)), by, v) }

// dense writes a covariance out, in units.
func (r Request) dense(c sensitivity.Covariance) *mat.SymDense {
	out, k := mat.NewSymDense(c.Len(), nil), 0
	for _, b := range c.Blocks {
		for i := range b.Size {
			for j := i; j < b.Size; j++ {
				out.SetSym(k+i, k+j, b.Entries[i*b.Size+j])
			}
		}
		k += b.Size
	}

	// What is outside of the blocks is added before all is measured in units.
	for _, e := range c.Off {
		out.SetSym(e.Row, e.Col, out.At(e.Row, e.Col)+e.Value)
	}
	for _, l := range c.Low {
		out.SymRankOne(out, l.Weight, mat.NewVecDense(len(l.Vector), l.Vector))
	}
	for i := range k {
		for j := i; j < k; j++ {
			out.SetSym(i, j, out.At(i, j)/r.Components[i].Unit/r.Components[j].Unit)
		}
	}
	return out
}
