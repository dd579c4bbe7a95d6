package falsify

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"
)

// The closed form against the integral over y of normal density times Laplace density.
func TestNormalsWithACommonLaplaceValue(t *testing.T) {
	mean, along := []float64{1, -2, 3}, []float64{2, -.3, .7}
	cov := mat.NewSymDense(3, []float64{4, 1, .5, 1, 2, -.3, .5, -.3, 1})
	closed, err := Normals(mean, cov, along)
	if err != nil {
		t.Fatal(err)
	}
	normal, _ := distmv.NewNormal(mean, cov, nil)
	integral := func(x []float64) float64 {
		f := func(y float64) float64 {
			at := []float64{x[0] - y*along[0], x[1] - y*along[1], x[2] - y*along[2]}
			return math.Exp(normal.LogProb(at)) * distuv.Laplace{Scale: 1}.Prob(y)
		}
		return math.Log(quad.Fixed(f, -40, 0, 2000, nil, 0) + quad.Fixed(f, 0, 40, 2000, nil, 0))
	}
	base := []float64{1, -2, 3}
	constant := closed(base) - integral(base)
	for _, x := range [][]float64{{0, 0, 0}, {5, -3, 4}, {-6, 1, 2}, {20, -5, 9}, {-30, 3, -8}} {
		if got, want := closed(x)-constant, integral(x); math.Abs(got-want) > 1e-8 {
			t.Errorf("at %v: %g, integrated %g", x, got, want)
		}
	}
}

func TestNormalsRefusesSingularCovariance(t *testing.T) {
	if _, err := Normals([]float64{0, 0}, mat.NewSymDense(2, []float64{1, 1, 1, 1}), nil); err == nil {
		t.Error("accepted")
	}
}
