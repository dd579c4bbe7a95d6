package published

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"fugu/sensitivity"
)

// CountGiven is the law of a count S of n rows, each 0 or 1, given that one of them is row (0 or 1) and that S is known
// to be in [from, to]; the other rows are independent and 1 with probability p [Seeman, Reimherr & Slavković, section
// 4.4 and Example 4]. So without bounds S - row is binomial of n-1 rows. W∞ between the laws for row 0 at p = z0 and
// row 1 at p = z1 is the paper's Δ_z.
func CountGiven(n, row int, p float64, from, to int) (sensitivity.Atoms, error) {
	if n < 1 || row != 0 && row != 1 || !(p >= 0 && p <= 1) {
		return sensitivity.Atoms{}, fmt.Errorf("no count of %d rows of which one is %d, the others with p = %v", n, row,
			p)
	}

	// Row itself adds its value, and the others are binomial.
	var points [][]float64
	var weights []float64
	total := 0.0
	for s := max(from, row); s <= min(to, n-1+row); s++ {
		w := binomial(n-1, s-row, p)
		points, weights = append(points, []float64{float64(s)}), append(weights, w)
		total += w
	}

	// Given that the count is within its bounds.
	if !(total > 0) {
		return sensitivity.Atoms{}, fmt.Errorf("a count of %d rows is never between %d and %d", n, from, to)
	}
	for i := range weights {
		weights[i] /= total
	}
	return sensitivity.Weighted(points, weights)
}

// binomial is the probability of k among n, by logarithms: factorials overflow.
func binomial(n, k int, p float64) float64 {
	if p == 0 || p == 1 {
		if k == n*int(p) {
			return 1
		}
		return 0
	}
	factorial := func(x int) float64 {
		v, _ := math.Lgamma(float64(x) + 1)
		return v
	}
	return math.Exp(factorial(n) - factorial(k) - factorial(n-k) + float64(k)*math.Log(p) +
		float64(n-k)*math.Log1p(-p))
}

// MeanShift is Δ_z of a mean whose joint law with one row's value and public statistics Z is normal: how far the
// conditional mean moves when that value moves by delta, cross·V⁻¹·(delta, 0, …), with cross the covariances of the
// mean with (value, Z) and V the covariance of these [Examples 1 and 3]. Both laws of a pair have one covariance, so W∞
// is the distance of their means.
//
// The paper's equation 16 has z - μ_Z in the places of the zeros. But z is the same under both values of a pair: it
// cancels in the difference of the means that its equation 34 gives.
func MeanShift(cross []float64, v *mat.SymDense, delta float64) (float64, error) {
	if v == nil || v.SymmetricDim() != len(cross) || len(cross) == 0 {
		return 0, errors.New("covariances of different dimensions")
	}
	moved := mat.NewVecDense(len(cross), nil)
	moved.SetVec(0, delta)
	var chol mat.Cholesky
	var x mat.VecDense
	if !chol.Factorize(v) || chol.SolveVecTo(&x, moved) != nil {
		return 0, errors.New("a covariance without an inverse: what is public tells the row's value")
	}
	return mat.Dot(&x, mat.NewVecDense(len(cross), cross)), nil
}

// Spherical is E‖z‖² of noise of density ∝ exp(-‖z‖₂/b) on R^d, in units of b²: ‖z‖ has a Gamma law of shape d, so it
// is d(d+1). It is the Laplace noise of a K-norm mechanism whose K is the Euclidean ball.
func Spherical(d int) float64 { return float64(d) * float64(d+1) }

// Projected is E‖Pz‖² of the same noise on R^d1, P the projection on a subspace of d2 dimensions: a share d2/d1 of
// Spherical(d1), as its law is invariant under rotations. Drawn on the subspace it is Spherical(d2), (d2+1)/(d1+1)
// times that, for the same loss: the ratio of Corollary 13's rates, d1·d2 to d1². The rates themselves are upper
// bounds; they are larger than these by d1/d2.
func Projected(d1, d2 int) float64 { return Spherical(d1) * float64(d2) / float64(d1) }
