package sensitivity

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	// leastPivot bounds the pivots of Q, whose diagonal is 1, and widestRange the eigenvalues, their inverses and
	// ratios, for a pencil that is made diagonal. A backward error of 1e-15 in Q and P is then one of at most about
	// 1e-9 in an eigenvalue (a condition of some m/leastPivot, times widestRange), far below what contour.rounding
	// allows for.
	leastPivot  = 1e-3
	widestRange = 1e3
)

// diagonal returns the pencil in the basis in which Q is the identity and P is diagonal, so that an evaluation takes as
// many multiplications as there are components: with Q = LLᵀ and L⁻¹PL⁻ᵀ = VΛVᵀ it is aΛ + bI, and a vector u is VᵀL⁻¹u
// there. Determinants are those of aP + bQ but for the constant det Q, which no experiment notices. It is the pencil
// itself where that has more than a few components, or rank-one terms left, or where it would cost digits.
func (x *pencil) diagonal() *pencil {
	m := len(x.order)
	if m > small || x.alone == m || len(x.wp) > 0 {
		return x
	}
	l, c, ok := x.whitened()
	if !ok {
		return x
	}

	// Eigenvalues that lie far apart, or far from 1, would cost digits.
	var eigen mat.EigenSym
	if !eigen.Factorize(c, x.mean) {
		return x
	}
	values := eigen.Values(nil) // in ascending order
	least, most := values[0], values[m-1]
	if !(least > 0 && most <= widestRange*least && most <= widestRange && least*widestRange >= 1) {
		return x
	}

	out := &pencil{elimination: newElimination(m, nil), p: values, q: make([]float64, m), mean: x.mean}
	for i := range out.q {
		out.q[i] = 1
	}
	if !x.mean {
		return out
	}

	// The vector whose quadratic form is wanted, in the new basis.
	var v mat.Dense
	eigen.VectorsTo(&v)
	var u, w mat.VecDense
	if u.SolveVec(l, mat.NewVecDense(m, x.u[0])) != nil {
		return x
	}
	w.MulVec(v.T(), &u)
	out.u = [][]float64{w.RawVector().Data}
	for _, v := range out.u[0] {
		if math.IsNaN(v) {
			return x
		}
		out.products = append(out.products, v*v)
	}
	return out
}

// whitened returns Q's Cholesky factor L and L⁻¹PL⁻ᵀ; ok is false where Q is too near to singular.
func (x *pencil) whitened() (l *mat.TriDense, c *mat.SymDense, ok bool) {
	m := len(x.order)
	p, q := mat.NewSymDense(m, nil), mat.NewSymDense(m, nil)
	for i := range m {
		p.SetSym(i, i, x.p[i])
		q.SetSym(i, i, x.q[i])
	}

	for n, i := range x.row {
		p.SetSym(i, x.col[n], x.po[n])
		q.SetSym(i, x.col[n], x.qo[n])
	}

	var chol mat.Cholesky
	if !chol.Factorize(q) {
		return nil, nil, false
	}
	l = &mat.TriDense{}
	chol.LTo(l)
	for i := range m {
		if v := l.At(i, i); !(v*v >= leastPivot) {
			return nil, nil, false
		}
	}

	// L⁻¹PL⁻ᵀ by solving twice; the mean of the two triangles takes the rounding off.
	var half, whole mat.Dense
	if half.Solve(l, p) != nil || whole.Solve(l, half.T()) != nil {
		return nil, nil, false
	}
	c = mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			c.SetSym(i, j, (whole.At(i, j)+whole.At(j, i))/2)
		}
	}
	return l, c, true
}
