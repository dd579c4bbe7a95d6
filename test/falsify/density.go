package falsify

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"fugu/privacy"
)

// Density is the logarithm of a density at x, up to a constant that does not depend on θ.
type Density func(x []float64) float64

// Ratio is the likelihood-ratio test, by Neyman and Pearson's lemma the best there is, where the density of the
// transcript under each value of the secret is known.
func Ratio(density func(theta float64) Density) Test {
	return Test{"likelihood ratio", func(pair [2]float64, _, _ [][]float64) Score {
		p, q := density(pair[0]), density(pair[1])
		return func(x []float64) float64 { return p(x) - q(x) }
	}}
}

// Laplaces is the density of independent Laplace values around mean.
func Laplaces(mean, scale []float64) Density {
	return func(x []float64) float64 {
		total := 0.0
		for k, v := range x {
			total -= math.Abs(v-mean[k]) / scale[k]
		}
		return total
	}
}

// Normals is the density of N(mean, cov) plus y·along, y ~ Laplace(1); along may be nil.
//
// With a = alongᵀ cov⁻¹ along and w = alongᵀ cov⁻¹ (x-mean)/a, the quadratic form is that of what w leaves plus
// a(w-y)², and the integral over y is a Laplace value convolved with N(0,1/a): two tails of the normal distribution.
func Normals(mean []float64, cov mat.Symmetric, along []float64) (Density, error) {
	m := len(mean)
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		return nil, fmt.Errorf("density: the covariance of %d components is not positive definite", m)
	}
	var precision mat.SymDense
	if err := chol.InverseTo(&precision); err != nil {
		return nil, fmt.Errorf("density: %w", err)
	}

	constant := -chol.LogDet() / 2
	weights, a := make([]float64, m), 0.0 // cov⁻¹ along
	for k := range along {
		for l := range along {
			weights[k] += precision.At(k, l) * along[l]
		}
		a += weights[k] * along[k]
	}

	inverse := precision.RawSymmetric().Data // upper triangle, row by row
	return func(x []float64) float64 {
		square, w := 0.0, 0.0
		for k := range m {
			dk := x[k] - mean[k]
			w += weights[k] * dk
			row := inverse[k*m:]
			square += row[k] * dk * dk
			for l := k + 1; l < m; l++ {
				square += 2 * row[l] * dk * (x[l] - mean[l])
			}
		}
		if a == 0 { // no direction
			return constant - square/2
		}

		sd := 1 / math.Sqrt(a)
		w /= a
		return constant - (square-a*w*w)/2 + convolved(w, sd) - math.Log(a)/2
	}, nil
}

// convolved is the log density at w of Laplace(1) plus N(0,sd²).
func convolved(w, sd float64) float64 {
	right := -w + privacy.LogPhi(w/sd-sd)
	left := w + privacy.LogPhi(-w/sd-sd)
	most := math.Max(left, right)
	return sd*sd/2 - math.Ln2 + most + math.Log(math.Exp(left-most)+math.Exp(right-most))
}
