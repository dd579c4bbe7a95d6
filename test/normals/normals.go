// Package normals is the exact law of two centred normal vectors, by which tests judge what covariances tell. It knows
// nothing of how Fugu bounds that.
package normals

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"fugu/sensitivity"
)

// Ratios are the eigenvalues of p in units of q: the factors by which the variances of independent combinations differ.
// Both are n by n; the test fails where q is not positive definite.
func Ratios(t testing.TB, p, q *mat.SymDense) []float64 {
	t.Helper()
	var chol mat.Cholesky
	if !chol.Factorize(q) {
		t.Fatal("a covariance that is not positive")
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	var half, whole mat.Dense
	if err := half.Solve(&lower, p); err != nil {
		t.Fatal(err)
	}
	if err := whole.Solve(&lower, half.T()); err != nil {
		t.Fatal(err)
	}

	// Of the two halves, which differ by rounding, the mean is symmetric.
	w := mat.NewSymDense(q.SymmetricDim(), nil)
	for i := range q.SymmetricDim() {
		for j := range i + 1 {
			w.SetSym(i, j, (whole.At(i, j)+whole.At(j, i))/2)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(w, false) {
		t.Fatal("no eigenvalues")
	}
	return eigen.Values(nil)
}

// Delta is δ(ε) of N(0,p) and N(0,q), the greater of both orders, from below.
func Delta(t testing.TB, p, q *mat.SymDense, epsilon float64) float64 {
	t.Helper()
	var a, b sensitivity.Covariance
	for _, v := range Ratios(t, p, q) {
		a.Blocks = append(a.Blocks, sensitivity.Block{Size: 1, Entries: []float64{v}})
		b.Blocks = append(b.Blocks, sensitivity.Block{Size: 1, Entries: []float64{1}})
	}
	most := 0.0
	for _, pair := range []sensitivity.Pair{{P: a, Q: b}, {P: b, Q: a}} {
		e, err := sensitivity.NewExperiment(nil, 0, &pair)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, e.Delta(epsilon).Low)
	}
	return most
}
