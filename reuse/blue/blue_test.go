package blue

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// problem is a random design: partitions of a small grid into a few cells, some without values, with noise that is
// correlated.
func problem(r *rand.Rand) (points, values int, parts []Partition, noise *mat.SymDense) {
	points = 2 + r.IntN(12)
	for range 1 + r.IntN(4) {
		part := make(Partition, points)
		cells := 1 + r.IntN(points)
		for p := range part {
			part[p] = values + r.IntN(cells)
			if r.IntN(8) == 0 {
				part[p] = -1
			}
		}

		values += cells
		parts = append(parts, part)
	}
	a := mat.NewDense(values, values+2, nil)
	for i := range values {
		unit := math.Exp(4 * r.Float64())
		for j := range values + 2 {
			a.Set(i, j, unit*r.NormFloat64())
		}
	}

	noise = mat.NewSymDense(values, nil)
	noise.SymOuterK(1, a)
	for i := range values {
		noise.SetSym(i, i, noise.At(i, i)*1.5)
	}
	return points, values, parts, noise
}

// dense solves it by the definition: the least w'Σw with H w = h, from the Lagrangian's singular system by its
// pseudo-inverse. ok: there is a w with H w = h.
func dense(points, values int, parts []Partition, noise *mat.SymDense, in []bool) (variance float64, ok bool) {
	n := values + points
	k := mat.NewDense(n, n, nil)
	b := mat.NewVecDense(n, nil)
	for i := range values {
		for j := range values {
			k.Set(i, j, noise.At(i, j))
		}
	}

	unit := noise.At(0, 0) // of the equations, so that they are in scale
	for _, part := range parts {
		for p, v := range part {
			if v >= 0 {
				k.Set(v, values+p, unit)
				k.Set(values+p, v, unit)
			}
		}
	}

	for p := range points {
		if in[p] {
			b.SetVec(values+p, unit)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(k, mat.SVDFull) {
		return 0, false
	}
	rank := 0
	for _, s := range svd.Values(nil) {
		if s > 1e-10*svd.Values(nil)[0] {
			rank++
		}
	}

	var x mat.VecDense
	svd.SolveVecTo(&x, b, rank)
	var rest mat.VecDense
	rest.MulVec(k, &x)
	rest.SubVec(&rest, b)
	w := x.SliceVec(0, values)
	return mat.Inner(w, noise, w), mat.Norm(&rest, math.Inf(1)) < 1e-6*unit
}

// chosen are points at random, or half of the time a union of cells, so that there are weights.
func chosen(r *rand.Rand, points int, parts []Partition) []bool {
	in := make([]bool, points)
	for p := range in {
		in[p] = r.IntN(2) == 0
	}
	if r.IntN(2) == 0 {
		part := parts[r.IntN(len(parts))]
		keep := r.Uint64()
		for p, v := range part {
			in[p] = v >= 0 && keep>>(v%64)&1 == 1
		}
	}
	return in
}

// checkCounted fails unless the weights count the points of a set once, and no others.
func checkCounted(t *testing.T, w []float64, parts []Partition, in []bool) {
	t.Helper()
	for p := range in {
		sum := 0.0
		for _, part := range parts {
			if part[p] >= 0 {
				sum += w[part[p]]
			}
		}
		if want := map[bool]float64{true: 1}[in[p]]; math.Abs(sum-want) > 1e-6 {
			t.Fatalf("point %d counts %v times, want %v", p, sum, want)
		}
	}
}

// Weights are those of dense least squares, where there are any, and there are where there are.
func TestWeightsAreLeastSquares(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	found, none := 0, 0
	for range 3000 {
		points, values, parts, noise := problem(r)
		in := chosen(r, points, parts)
		if !slices.Contains(in, true) {
			continue
		}
		want, ok := dense(points, values, parts, noise, in)
		design, of := NewDesign(values, parts, points)
		classes, got := Classes(of, func(p int) bool { return in[p] })
		var w []float64
		if got && len(design.Classes) > 0 {
			e, err := New(design, func(k, l int) float64 { return noise.At(k, l) })
			if err != nil {
				t.Fatal(err)
			}
			if w, err = e.Weights(classes); err != nil && !errors.Is(err, ErrUndetermined) {
				t.Fatal(err)
			}
			got = err == nil
		}

		if got != ok {
			t.Fatalf("determined %v, want %v", got, ok)
		}
		if !ok {
			none++
			continue
		}
		found++
		checkCounted(t, w, parts, in)
		v := mat.Inner(mat.NewVecDense(values, w), noise, mat.NewVecDense(values, w))
		if math.Abs(v-want) > 1e-6*want {
			t.Fatalf("variance %v, want %v", v, want)
		}
	}

	if found < 500 || none < 500 {
		t.Errorf("%d with weights, %d without: the test shows little", found, none)
	}
}

// Two independent values of one sum, and one of a part: by hand.
func TestWeightsByHand(t *testing.T) {
	// x1, x2; y1 = x1+x2 twice, variances 1 and 3; y3 = x1, variance 2. x1+x2: y1 and y2 by 3/4 and 1/4, y3 tells
	// nothing.
	design, of := NewDesign(3, []Partition{{0, 0}, {1, 1}, {2, -1}}, 2)
	e, err := New(design, func(k, l int) float64 {
		if k != l {
			return 0
		}
		return []float64{1, 3, 2}[k]
	})

	if err != nil {
		t.Fatal(err)
	}
	classes, _ := Classes(of, func(int) bool { return true })
	w, err := e.Weights(classes)
	if err != nil || math.Abs(w[0]-.75) > 1e-9 || math.Abs(w[1]-.25) > 1e-9 || w[2] != 0 {
		t.Errorf("%v %v", w, err)
	}
	classes, _ = Classes(of, func(p int) bool { return p == 1 })
	w, err = e.Weights(classes)
	if err != nil || math.Abs(w[0]-.75) > 1e-9 || math.Abs(w[1]-.25) > 1e-9 || w[2] != -1 {
		t.Errorf("the rest: %v %v", w, err)
	}
}

// An error says what is wrong with a design, with the noise, or with what is asked for.
func TestErrors(t *testing.T) {
	constant := func(int, int) float64 { return 1 } // two values have one noise: it cannot be inverted
	single := [][]int{{0}}
	for want, c := range map[string]struct {
		Design
		noise Covariance
	}{
		"not 0 and 0":   {Design{}, constant},
		"not 401 and 1": {Design{Values: MaxValues + 1, Classes: single}, constant},
		"not 0 and 1":   {Design{Classes: single}, constant},
		"not 1 and 0":   {Design{Values: 1}, constant},
		fmt.Sprintf("not 1 and %d", MaxClasses+1): {Design{Values: 1, Classes: make([][]int, MaxClasses+1)}, constant},
		"noise cannot be inverted":                {Design{Values: 2, Classes: [][]int{{0, 1}}}, constant},
	} {
		if _, err := New(c.Design, c.noise); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", c.Design, err, want)
		}
	}

	// One value of two points says nothing of one of them.
	e, err := New(Design{Values: 1, Classes: [][]int{{0}, {0}}}, constant)
	if err != nil {
		t.Fatal(err)
	}
	if w, err := e.Weights([]int{1}); !errors.Is(err, ErrUndetermined) {
		t.Errorf("%v, %v", w, err)
	}
}

// As large a problem as is taken on: two tables of which both determine everything.
func BenchmarkLargest(b *testing.B) {
	half := MaxValues / 2
	parts := []Partition{make(Partition, half), make(Partition, half)}
	for p := range half {
		parts[0][p], parts[1][p] = p, half+p
	}
	for range b.N {
		design, of := NewDesign(MaxValues, parts, half)
		e, err := New(design, func(k, l int) float64 {
			if k == l {
				return 2
			}
			return 1e-3
		})
		if err != nil {
			b.Fatal(err)
		}
		classes, _ := Classes(of, func(p int) bool { return p < half/2 })
		if _, err := e.Weights(classes); err != nil {
			b.Fatal(err)
		}
	}
}
