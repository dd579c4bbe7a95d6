package sensitivity

import (
	"math"
	"math/rand/v2"
	"testing"
)

// One cell of two components, worked by hand: variances 4 and 9, second moments 5 and 20, extents 1 and 3, metric 2 and
// 3.
func TestScatterByHand(t *testing.T) {
	s := &Scatter{Variance: []float64{4, 9}, Second: []float64{5, 20}, Extent: []float64{1, 3}, Cell: []int{0, 0},
		Layer: []int{0, 0}, Rows: 1, Failure: math.Exp(-2)}
	solve := func(e, v, b float64) float64 { // the root by bisection of the exponent that Klein and Rio give
		lo, hi := 0.0, 1e6
		for range 200 {
			x := (lo + hi) / 2
			if x*x/(2*(v+2*b*e)+3*b*x) < 2 {
				lo = x
			} else {
				hi = x
			}
		}

		return e + lo
	}
	// Euclidean: e = √(4/4 + 9/9), v = min(2, 5/4 + 20/9), b = √2·√(1/4 + 9/9).
	if got, want := s.Norm2([]float64{2, 3}), solve(math.Sqrt2, 2, math.Sqrt(2*1.25)); math.Abs(got-want) > 1e-9*want {
		t.Errorf("Norm2 %g, want %g", got, want)
	}
	// Sum: e = 2/2 + 3/3, v = (√5/2 + √20/3)², b = 2·(1/2 + 3/3).
	root := math.Sqrt(5)/2 + math.Sqrt(20)/3
	if got, want := s.Norm1([]float64{2, 3}), solve(2, root*root, 3); math.Abs(got-want) > 1e-9*want {
		t.Errorf("Norm1 %g, want %g", got, want)
	}
	s.Rows = 2
	if got, want := s.Norm2([]float64{2, 3}), solve(math.Sqrt2, 2, 2*math.Sqrt(2*1.25)); math.Abs(
		got-want) > 1e-9*want {
		t.Errorf("Norm2 of two rows %g, want %g", got, want)
	}

	// In cells of their own: v = 20/9, b by the larger cell; in layers of their own the cells add up again.
	s.Rows, s.Cell, s.Variance = 1, []int{0, 1}, []float64{400, 900}
	if got, want := s.Norm2([]float64{2, 3}), solve(math.Sqrt(200), 20./9, math.Sqrt2); math.Abs(got-want) > 1e-9*want {
		t.Errorf("Norm2 of two cells %g, want %g", got, want)
	}
	if got, want := s.Norm1([]float64{2, 3}), solve(20, 5./4+20./9, 2); math.Abs(got-want) > 1e-9*want {
		t.Errorf("Norm1 of two cells %g, want %g", got, want)
	}
	s.Layer = []int{0, 1}
	if got, want := s.Norm2([]float64{2, 3}), solve(math.Sqrt(200), 5./4+20./9,
		math.Sqrt(2*1.25)); math.Abs(got-want) > 1e-9*want {
		t.Errorf("Norm2 of two layers %g, want %g", got, want)
	}

	if got, want := s.Norm1([]float64{2, 3}), solve(20, root*root, 3); math.Abs(got-want) > 1e-9*want {
		t.Errorf("Norm1 of two layers %g, want %g", got, want)
	}
	if got, want := s.Norm2([]float64{2, math.Inf(1)}), solve(10, 5./4, math.Sqrt(0.5)); math.Abs(
		got-want) > 1e-9*want {
		t.Errorf("Norm2 of the first component %g, want %g", got, want)
	}
}

// 2000 rows replaced by 2000 others, each in one of 200 cells: the norms of 20,000 such differences are within the
// bound of failure 1e-4 and reach half of it; 20 of 20,000 beyond it would be a false alarm below 1e-11.
func TestScatterOfManyCells(t *testing.T) {
	const rows, cells, T = 2000, 200, 20_000
	s := &Scatter{Rows: 1, Failure: 1e-4}
	one := make([]float64, cells)
	for k := range cells {
		one[k] = 1
		s.Variance = append(s.Variance, 2*rows*(1./cells)*(1-1./cells))
		s.Second = append(s.Second, 2*rows*(1./cells))
		s.Extent, s.Cell, s.Layer = append(s.Extent, 1), append(s.Cell, k), append(s.Layer, 0)
	}

	if err := s.Check(cells); err != nil {
		t.Fatal(err)
	}
	norm2, norm1 := s.Norm2(one), s.Norm1(one)
	r := rand.New(rand.NewPCG(1, 2))
	beyond2, beyond1, most2, most1 := 0, 0, 0.0, 0.0
	for range T {
		var d [cells]float64
		for range rows {
			d[r.IntN(cells)]++
			d[r.IntN(cells)]--
		}
		square, sum := 0.0, 0.0
		for _, x := range d {
			square, sum = square+x*x, sum+math.Abs(x)
		}
		if math.Sqrt(square) > norm2 {
			beyond2++
		}
		if sum > norm1 {
			beyond1++
		}
		most2, most1 = math.Max(most2, math.Sqrt(square)/norm2), math.Max(most1, sum/norm1)
	}

	if beyond2 > 20 || beyond1 > 20 || most2 < 0.5 || most1 < 0.5 {
		t.Errorf("%d beyond the Euclidean bound, %d beyond the sum's; they come to %.2f and %.2f of them", beyond2,
			beyond1, most2, most1)
	}
}

func TestScatterIsStacked(t *testing.T) {
	part := func(cells ...int) *Scatter {
		n := len(cells)
		s := &Scatter{Variance: make([]float64, n), Second: make([]float64, n), Extent: make([]float64, n), Cell: cells,
			Layer: make([]int, n), Rows: 1, Failure: 0.01, Beside: 0.02}
		for k := range n {
			s.Variance[k], s.Second[k], s.Extent[k] = float64(k+1), float64(2*k+2), 1
		}
		return s
	}

	shift := func(secret string, s *Scatter) Shift {
		return Shift{Secret: secret, Along: make([]float64, len(s.Cell)), Beside: make([]float64, len(s.Cell)),
			Scatter: s}
	}
	stacked := Stack([][]Shift{{shift("a", part(0, 1))}, {shift("b", part(0)), shift("a", part(0))}}, []int{2, 1})
	a := stacked[0].Scatter
	if err := a.Check(3); err != nil {
		t.Fatal(err)
	}
	if a.Variance[2] != 1 || a.Second[1] != 4 || a.Failure != 0.01 || a.Beside != 0.04 {
		t.Errorf("stacked %+v", a)
	}
	one := []float64{1, 1, 1}
	layers := Scatter{Variance: []float64{1, 2, 1}, Second: []float64{2, 4, 2}, Extent: []float64{1, 1, 1},
		Cell: []int{0, 1, 2}, Layer: []int{0, 0, 1}, Rows: 1, Failure: 0.01}
	if a.Norm2(one) != layers.Norm2(one) || a.Norm1(one) != layers.Norm1(one) {
		t.Error("two statements over the same rows are not two layers")
	}
	if b := stacked[1].Scatter; b.Norm2(one) != part(0).Norm2([]float64{1}) {
		t.Error("components that a secret does not move count")
	}
}
