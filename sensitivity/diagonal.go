package sensitivity

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// apart are the orders of up to small components that do not meet.
var apart = func() (out [small + 1]*elimination) {
	for m := range out {
		out[m] = newElimination(m, nil)
	}
	return out
}()

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
	root, c, ok := x.whitened()
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

	out := &pencil{elimination: apart[m], p: values, q: make([]float64, m), mean: x.mean}
	for i := range out.q {
		out.q[i] = 1
	}
	if !x.mean {
		return out
	}

	// The vector whose quadratic form is wanted, in the new basis.
	var v mat.Dense
	eigen.VectorsTo(&v)
	u := mat.VecDenseCopyOf(mat.NewVecDense(m, x.u[0]))
	blas64.Trsv(blas.Trans, root, u.RawVector())
	var w mat.VecDense
	w.MulVec(v.T(), u)
	out.u = [][]float64{w.RawVector().Data}
	for _, v := range out.u[0] {
		if math.IsNaN(v) {
			return x
		}
		out.products = append(out.products, v*v)
	}
	return out
}

// whitened returns Lᵀ of Q's Cholesky factor L, and L⁻¹PL⁻ᵀ; ok is false where Q is too near to singular.
func (x *pencil) whitened() (root blas64.Triangular, c *mat.SymDense, ok bool) {
	m := len(x.order)
	q := blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: m, Data: make([]float64, m*m)}
	p := blas64.General{Rows: m, Cols: m, Stride: m, Data: make([]float64, m*m)}
	for i := range m {
		p.Data[i*m+i], q.Data[i*m+i] = x.p[i], x.q[i]
	}
	for n, i := range x.row { // below the diagonal
		j := x.col[n]
		p.Data[i*m+j], p.Data[j*m+i], q.Data[j*m+i] = x.po[n], x.po[n], x.qo[n]
	}

	// Pivots bound how near to singular Q is, so that nothing is lost by solving without a look at its condition.
	root, ok = lapack64.Potrf(q)
	for i := range m {
		if v := root.Data[i*m+i]; !ok || !(v*v >= leastPivot) {
			return root, nil, false
		}
	}
	blas64.Trsm(blas.Left, blas.Trans, 1, root, p)
	blas64.Trsm(blas.Right, blas.NoTrans, 1, root, p)

	// The mean of the two triangles takes the rounding off.
	c = mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			c.SetSym(i, j, (p.Data[i*m+j]+p.Data[j*m+i])/2)
		}
	}
	return root, c, true
}
