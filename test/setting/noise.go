package setting

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"fugu/mechanism/published"
)

// Noise is the law of a mechanism's noise: Σ_i Laplace_i·y_i + Σ_j Normal_j·g_j.
type Noise = published.Noise

// Draw adds a draw of the noise to x, in floating point.
func Draw(x []float64, n Noise, rng *rand.Rand) {
	for _, v := range n.Laplace {
		y := rng.ExpFloat64()
		if rng.Uint64()&1 == 0 {
			y = -y
		}
		floats.AddScaled(x, y, v)
	}
	for _, v := range n.Normal {
		floats.AddScaled(x, rng.NormFloat64(), v)
	}
}

// Normals returns the covariance of the normal part of noise on m components: Σ_j Normal_j Normal_jᵀ.
func Normals(n Noise, m int) *mat.SymDense { return Noise{Normal: n.Normal}.Covariance(m) }

// Root returns vectors v_j with Σ v_j v_jᵀ the positive part of a symmetric matrix.
func Root(a mat.Symmetric) [][]float64 {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		panic("setting: eigenvalues do not converge")
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	var out [][]float64
	for j, l := range e.Values(nil) {
		if l > 0 {
			v := mat.Col(nil, j, &vectors)
			floats.Scale(math.Sqrt(l), v)
			out = append(out, v)
		}
	}
	return out
}

// Identity returns vectors of the given length along each of m components.
func Identity(m int, length float64) [][]float64 {
	out := make([][]float64, m)
	for k := range out {
		out[k] = make([]float64, m)
		out[k][k] = length
	}
	return out
}
