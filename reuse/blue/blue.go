package blue

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Covariance is that of the noise of two of the values.
type Covariance func(k, l int) float64

// MaxValues and MaxClasses bound a problem: it takes a few hundredths of a second.
const (
	MaxValues  = 400
	MaxClasses = 400
)

// ErrUndetermined says that the values do not determine a sum: no weights of them are unbiased for it.
var ErrUndetermined = errors.New("the values do not determine the sum")

const (
	rankless = 1e-9 // eigenvalues below this share of the greatest are taken for 0
	exact    = 1e-9 // by how much Hw may miss h, at any point
)

// Design says which values each class of points is in: points that are in the same ones are one class.
type Design struct {
	Values  int
	Classes [][]int // the values of each
}

// Estimator finds weights for one design and one covariance of noise.
type Estimator struct {
	design Design
	scale  []float64    // 1/√Σ_kk
	whiten mat.Cholesky // of the correlations
	vector mat.Dense    // of M in those units
	value  []float64
}

// New prepares the estimator of a design of at least one value and one class, and at most MaxValues and MaxClasses. The
// covariance of the noise has to be finite and invertible. The error says what is not so.
func New(d Design, noise Covariance) (*Estimator, error) {
	n, classes := d.Values, len(d.Classes)
	if n == 0 || classes == 0 || n > MaxValues || classes > MaxClasses {
		return nil, fmt.Errorf("a design has 1 to %d values and 1 to %d classes, and not %d and %d", MaxValues,
			MaxClasses, n, classes)
	}

	// Correlations have a condition that does not depend on units.
	e := &Estimator{design: d, scale: make([]float64, n)}
	for k := range n {
		e.scale[k] = 1 / math.Sqrt(noise(k, k))
	}
	c := mat.NewSymDense(n, nil)
	for k := range n {
		for l := k; l < n; l++ {
			c.SetSym(k, l, noise(k, l)*e.scale[k]*e.scale[l])
		}
	}

	if !e.whiten.Factorize(c) || e.whiten.Cond() > 1e12 {
		return nil, errors.New("the covariance of the noise cannot be inverted")
	}

	// X = L⁻¹ S H', so that M = X'X.
	x := mat.NewDense(n, classes, nil)
	for p, in := range d.Classes {
		for _, k := range in {
			x.Set(k, p, e.scale[k])
		}
	}

	var lower mat.TriDense
	e.whiten.LTo(&lower)
	if err := x.Solve(&lower, mat.DenseCopyOf(x)); err != nil {
		return nil, fmt.Errorf("the covariance of the noise cannot be inverted: %w", err)
	}
	m := mat.NewSymDense(classes, nil)
	m.SymOuterK(1, x.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(m, true) {
		return nil, errors.New("the design has no eigenvectors that can be computed")
	}
	e.value = eigen.Values(nil)
	eigen.VectorsTo(&e.vector)
	return e, nil
}

// Weights returns those of the best estimate of the sum over the classes, one for each value. The error is
// ErrUndetermined, or says that they cannot be computed.
func (e *Estimator) Weights(wanted []int) ([]float64, error) {
	n, classes := e.design.Values, len(e.design.Classes)
	h := mat.NewVecDense(classes, nil)
	for _, p := range wanted {
		h.SetVec(p, 1)
	}

	// M⁺ h, of the eigenvalues that are not 0 but for rounding.
	var g mat.VecDense
	g.MulVec(e.vector.T(), h)
	for i, v := range e.value {
		if v > rankless*e.value[classes-1] {
			g.SetVec(i, g.AtVec(i)/v)
		} else {
			g.SetVec(i, 0)
		}
	}

	g.MulVec(&e.vector, mat.VecDenseCopyOf(&g))
	w := mat.NewVecDense(n, nil)
	for p, in := range e.design.Classes {
		for _, k := range in {
			w.SetVec(k, w.AtVec(k)+g.AtVec(p)*e.scale[k])
		}
	}

	if err := e.whiten.SolveVecTo(w, mat.VecDenseCopyOf(w)); err != nil {
		return nil, fmt.Errorf("computing weights: %w", err)
	}
	out := make([]float64, n)
	for k := range out {
		out[k] = tidy(w.AtVec(k) * e.scale[k])
	}

	// h is in the range of M if Hw = h, and only then.
	for p, in := range e.design.Classes {
		rest := -h.AtVec(p)
		for _, k := range in {
			rest += out[k]
		}
		if !(math.Abs(rest) <= exact) {
			return nil, ErrUndetermined
		}
	}
	return out, nil
}

// tidy takes away what rounding leaves of 0 and of whole numbers, which most weights are.
func tidy(w float64) float64 {
	if r := math.Round(w); math.Abs(w-r) < 1e-9 {
		return r
	}
	return w
}

// Partition is a set of disjoint cells: the value of each point, -1 for none.
type Partition []int

// NewDesign divides the points by the values that they are in, of all partitions; those in none are in no class. It
// returns the class of each point, -1 for none.
func NewDesign(values int, parts []Partition, points int) (Design, []int) {
	d, of := Design{Values: values}, make([]int, points)
	found := map[string]int{}
	for p := range points {
		var in []int
		var name []byte
		for _, part := range parts {
			if k := part[p]; k >= 0 {
				in = append(in, k)
				name = append(name, byte(k), byte(k>>8), byte(k>>16), byte(k>>24))
			}
		}

		if in == nil {
			of[p] = -1
			continue
		}

		// Points that are in the same values cannot be told apart by them.
		class, ok := found[string(name)]
		if !ok {
			class = len(d.Classes)
			found[string(name)] = class
			d.Classes = append(d.Classes, in)
		}

		of[p] = class
	}
	return d, of
}

// Classes returns the classes that make up a set of points, in order; false: none do, as a class has points inside and
// outside of it, or a point of it is in no value.
func Classes(of []int, in func(point int) bool) ([]int, bool) {
	const inside, outside = 1, 2
	seen := map[int]int{}
	for p, class := range of {
		side := outside
		if in(p) {
			side = inside
		}
		switch {
		case class < 0 && side == inside:
			return nil, false
		case class >= 0:
			seen[class] |= side
		}
	}

	// A class on both sides cannot be taken in part.
	var out []int
	for class, sides := range seen {
		if sides == inside|outside {
			return nil, false
		}
		if sides == inside {
			out = append(out, class)
		}
	}

	slices.Sort(out)
	return out, true
}
