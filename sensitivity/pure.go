package sensitivity

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"fugu/privacy"
)

// ScaleCost bounds, for noise that is Laplace of scale b_k in each component alone, what the difference of the covariances
// of any pair of a family costs: with equal means the releases are (ε,0)-indistinguishable. A difference of means d
// costs Σ|d_k|/b_k more.
//
// Let Σ_p + A = Σ_q + B =: Σ_u with A, B positive semidefinite, and g_p(x) the density of N(0,Σ_p) plus the noise. Then g_u is
// E g_p(x-z), z ~ N(0,A), and the densities of Laplace noise give e^(-Σ|z_k|/b_k) g_p(x) ≤ g_p(x-z) ≤ e^(Σ|z_k|/b_k) g_p(x).
// With S_A = Σ_k √A_kk/b_k, Jensen's inequality, once for e^(-x) and once for the weights √A_kk/(b_k S_A) of e^(S|z|):
//
//	g_p ≤ e^(√(2/π) S_A) g_u          g_u ≤ E e^(S_B|N(0,1)|) g_q = 2 e^(S_B²/2) Φ(S_B) g_q
//
// For affine families A and B grow with |p-q|, so the widest pairs are the worst, wherever they are; bent ones go by boxes.
func ScaleCost(f Family, b []float64) (float64, error) {
	sp := f.Span()
	if !Known(f) {
		return 0, ErrNotAffine
	}
	if !(sp.From < sp.To && sp.Within > 0) || f.Covariance(sp.From).Len() != len(b) {
		return 0, errors.New("scale cost: no pairs, or scales of other components")
	}
	if f.Affine() {
		return scaleCost(f, sp.From, sp.To, math.Min(1, sp.Within/(sp.To-sp.From)), b)
	}
	worst := 0.0
	last := math.Max(sp.From, sp.To-sp.Within)
	n := max(1, int(math.Ceil(coarse*(last-sp.From)/sp.Within)))
	for i := range n {
		q0, q1 := sp.From+(last-sp.From)*float64(i)/float64(n), sp.From+(last-sp.From)*float64(i+1)/float64(n)
		c, err := scaleCost(f, q0, math.Min(sp.To, q1+sp.Within), 1, b)
		if err != nil {
			return 0, err
		}
		worst = math.Max(worst, c)
	}
	return worst, nil
}

// scaleCost is ScaleCost for the pairs of [from,to] that are at most the share w of it apart, along a straight line; what
// leaves the line, R_p-R_q, adds at most 4ρ to A and B.
func scaleCost(f Family, from, to, w float64, b []float64) (float64, error) {
	rho, err := bend(f, from, to)
	if err != nil {
		return 0, err
	}
	d := f.Covariance(to).Plus(-1, f.Covariance(from))
	var s [2]float64 // of the increase and the decrease
	var parts [2][]float64
	for i := range parts {
		parts[i] = make([]float64, len(b))
	}
	base := 0
	for _, block := range d.Blocks {
		var eig mat.EigenSym
		if !eig.Factorize(mat.NewSymDense(block.Size, append([]float64(nil), block.Entries...)), true) {
			return 0, errors.New("scale cost: no eigenvalues")
		}
		var v mat.Dense
		eig.VectorsTo(&v)
		for j, l := range eig.Values(nil) {
			side := 0
			if l < 0 {
				side = 1
			}
			for k := range block.Size {
				parts[side][base+k] += math.Abs(l) * v.At(k, j) * v.At(k, j)
			}
		}
		base += block.Size
	}
	// An entry e of x and y is e/2·((x+y)(x+y)ᵀ - (x-y)(x-y)ᵀ).
	for _, e := range d.merged() {
		for i := range parts {
			parts[i][e.Row] += math.Abs(e.Value) / 2
			parts[i][e.Col] += math.Abs(e.Value) / 2
		}
	}
	// Weights of one vector add up before they are split: those of p and q have opposite signs.
	weights := make([]float64, len(d.Low))
	for i, t := range d.Low {
		j := 0
		for ; j < i; j++ {
			if slices.Equal(d.Low[j].Vector, t.Vector) {
				break
			}
		}
		weights[j] += t.Weight
	}
	for i, weight := range weights {
		side := 0
		if weight < 0 {
			side = 1
		}
		for k, v := range d.Low[i].Vector {
			parts[side][k] += math.Abs(weight) * v * v
		}
	}
	for i := range parts {
		for k, v := range parts[i] {
			if rho != nil {
				v += 4 * rho[k]
			}
			s[i] += math.Sqrt(w*v) / b[k]
		}
	}
	cost := func(a, b float64) float64 {
		return math.Sqrt(2/math.Pi)*a + math.Ln2 + b*b/2 + privacy.LogPhi(b)
	}
	worst := math.Max(cost(s[0], s[1]), cost(s[1], s[0])) * (1 + 1e-9)
	if !(worst >= 0 && finite(worst)) {
		return 0, errors.New("scale cost: not finite")
	}
	return worst, nil
}
