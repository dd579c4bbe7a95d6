package sensitivity

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"fugu/privacy"
)

// ScaleCost bounds, for noise that is Laplace of scale b_k in each component alone, what the difference of the
// covariances of any pair of a family costs: with equal means the releases are (ε,0)-indistinguishable. A difference of
// means d costs Σ|d_k|/b_k more.
//
// Let Σ_p + A = Σ_q + B =: Σ_u with A, B positive semidefinite, and g_p(x) the density of N(0,Σ_p) plus the noise. Then
// g_u is E g_p(x-z), z ~ N(0,A), and the densities of Laplace noise give e^(-Σ|z_k|/b_k) g_p(x) ≤ g_p(x-z) ≤
// e^(Σ|z_k|/b_k) g_p(x). With S_A = Σ_k √A_kk/b_k, Jensen's inequality, once for e^(-x) and once for the weights
// √A_kk/(b_k S_A) of e^(S|z|):
//
//	g_p ≤ e^(√(2/π) S_A) g_u          g_u ≤ E e^(S_B|N(0,1)|) g_q = 2 e^(S_B²/2) Φ(S_B) g_q
//
// For affine families A and B grow with |p-q|, so the widest pairs are the worst, wherever they are; bent ones go by
// boxes.
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

	// The boxes of Certify, each with the pairs whose smaller value is in one part of the span.
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

// scaleCost is ScaleCost for the pairs of [from,to] that are at most the share w of it apart, along a straight line;
// what leaves the line, R_p-R_q, adds at most 4ρ to A and B.
func scaleCost(f Family, from, to, w float64, b []float64) (float64, error) {
	rho, err := bend(f, from, to, b)
	if err != nil {
		return 0, err
	}
	d := f.Covariance(to).Plus(-1, f.Covariance(from)).per(b)
	parts, err := d.increase()
	if err != nil {
		return 0, err
	}
	s := [2]float64{rootSum(parts[0], rho, w, b), rootSum(parts[1], rho, w, b)}

	// Either way of splitting holds; the last digits may be rounding.
	worst := math.Min(bothOrders(s), diagonalCost(d, rho, w, b)) * (1 + 1e-9)
	if !(worst >= 0 && finite(worst)) {
		return 0, errors.New("scale cost: not finite")
	}
	return worst, nil
}

// increase splits a difference of covariances into an increase A and a decrease B, and returns their diagonals. Where
// the difference is in units of the noise, what two components have in common is shared out between them by how much
// noise each has.
func (c Covariance) increase() (parts [2][]float64, err error) {
	m := c.Len()
	parts = [2][]float64{make([]float64, m), make([]float64, m)}
	side := func(weight float64) []float64 {
		if weight < 0 {
			return parts[1]
		}
		return parts[0]
	}

	// An eigenvector of a block that grows goes to A, one that shrinks to B.
	base := 0
	for _, block := range c.Blocks {
		var eig mat.EigenSym
		if !eig.Factorize(mat.NewSymDense(block.Size, append([]float64(nil), block.Entries...)), true) {
			return parts, errors.New("scale cost: no eigenvalues")
		}
		var v mat.Dense
		eig.VectorsTo(&v)
		for j, l := range eig.Values(nil) {
			for k := range block.Size {
				side(l)[base+k] += math.Abs(l) * v.At(k, j) * v.At(k, j)
			}
		}
		base += block.Size
	}

	// An entry e of x and y is e/2·((x+y)(x+y)ᵀ - (x-y)(x-y)ᵀ).
	for _, e := range c.merged() {
		for i := range parts {
			parts[i][e.Row] += math.Abs(e.Value) / 2
			parts[i][e.Col] += math.Abs(e.Value) / 2
		}
	}
	for _, t := range c.shared() {
		for k, v := range t.Vector {
			side(t.Weight)[k] += math.Abs(t.Weight) * v * v
		}
	}
	return parts, nil
}

// bothOrders is the cost of S_A and S_B, whichever of the two belongs to p.
func bothOrders(s [2]float64) float64 {
	cost := func(a, b float64) float64 {
		return math.Sqrt(2/math.Pi)*a + math.Ln2 + b*b/2 + privacy.LogPhi(b)
	}
	return math.Max(cost(s[0], s[1]), cost(s[1], s[0]))
}

// rootSum is S of the diagonal of A or B, in units of b.
func rootSum(diagonal, rho []float64, w float64, b []float64) (sum float64) {
	for k, v := range diagonal {
		if rho != nil {
			v += 4 * rho[k] / b[k] / b[k]
		}
		sum += math.Sqrt(w * v)
	}
	return sum
}

// diagonalCost is the cost with A and B diagonal: d, in units of b, is Σ_q-Σ_p, and what they leave of it is between
// components. Σ_p + A and Σ_q + B have one diagonal then, and so have all covariances on the straight line between
// them, along which
//
//	∂g/∂Σ_kl = ∂²g/∂x_k∂x_l,   |∂²g/∂x_k∂x_l| ≤ g/(b_k b_l)   for k ≠ l
//
// [the heat equation of the normal density; the derivative of each Laplace density is at most 1/b of it]: ln g changes
// by no more than Σ_{k<l} |d_kl|. That is less than what a split into A and B costs where the entries are small in
// these units, as a count is that has little noise beside a sum that has much.
func diagonalCost(d Covariance, rho []float64, w float64, b []float64) float64 {
	var s [2]float64
	var parts [2][]float64
	for i, sign := range []float64{1, -1} {
		for _, v := range d.Diagonal() {
			parts[i] = append(parts[i], math.Max(0, sign*v))
		}
		s[i] = rootSum(parts[i], rho, w, b)
	}

	// What is left is between components: of the blocks, the entries, and the rank-one terms.
	between := 0.0
	for _, block := range d.Blocks {
		for i := range block.Size {
			for j := range i {
				between += math.Abs(block.Entries[i*block.Size+j])
			}
		}
	}

	for _, e := range d.merged() {
		between += math.Abs(e.Value)
	}

	// Σ_{k<l} |v_k v_l| = ((Σ|v_k|)² - Σv_k²)/2.
	for _, t := range d.shared() {
		sum, squares := 0.0, 0.0
		for _, v := range t.Vector {
			sum, squares = sum+math.Abs(v), squares+v*v
		}
		between += math.Abs(t.Weight) * (sum*sum - squares) / 2
	}
	return bothOrders(s) + w*between
}

// shared are the rank-one terms with those of one vector added up: those of two values have opposite signs.
func (c Covariance) shared() []RankOne {
	var out []RankOne
	for _, t := range c.Low {
		i := slices.IndexFunc(out, func(o RankOne) bool { return slices.Equal(o.Vector, t.Vector) })
		if i < 0 {
			i = len(out)
			out = append(out, RankOne{Vector: t.Vector})
		}
		out[i].Weight += t.Weight
	}
	return out
}
