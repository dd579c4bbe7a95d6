package joint

import "gonum.org/v1/gonum/blas/blas64"

// dot is the inner product of x and as much of y.
func dot(x, y []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	return blas64.Dot(blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(x), Inc: 1, Data: y})
}
