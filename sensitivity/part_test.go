package sensitivity

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The part of a family has the means, covariances and bends of its components.
func TestPartOfAFamily(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 1))
	f := bowed{affine: family(r, []int{2, 1, 3}), bow: []float64{1, 2, 3, 4, 5, 6}, lies: 1}
	f.at0.Off, f.at1.Off = []Entry{{1, 2, .1}, {2, 5, .2}}, []Entry{{1, 2, .3}, {2, 5, .1}}
	at := []int{1, 2, 5}
	p := Part(f, at)
	if _, ok := p.(Bent); !ok || p.Affine() != f.Affine() {
		t.Fatal("the part is of another kind")
	}
	for _, x := range []float64{.1, .4, .6} {
		c, whole, mean := p.Covariance(x), f.Covariance(x), f.Mean(x)
		if c.Len() != len(at) {
			t.Fatalf("%d components", c.Len())
		}
		for i, k := range at {
			if got := p.Mean(x)[i]; got != mean[k] {
				t.Errorf("mean %g, want %g", got, mean[k])
			}
			for j, l := range at {
				if got, want := c.At(i, j), whole.At(k, l); math.Abs(got-want) > 1e-12 {
					t.Errorf("covariance of %d and %d: %g, want %g", k, l, got, want)
				}
			}
		}
	}

	for _, scale := range [][]float64{nil, {1, 2, 3}} {
		rho, whole := p.(Bent).Bend(.1, .2)(scale), f.Bend(.1, .2)(nil)
		for i, k := range at {
			if rho[i] != whole[k] {
				t.Errorf("bend of %d: %g, want %g", k, rho[i], whole[k])
			}
		}
	}
}

// The part of a shift is what the whole is where the other components do not count.
func TestPartOfAShift(t *testing.T) {
	s := Shift{Secret: "s", Along: []float64{1, -2, 3, 0}, Beside: []float64{.1, .2, .3, .4},
		Error: []float64{1, 2, 3, 4},
		Unseen: []Unseen{
			{Rows: 2, At: []int{0, 1, 2, 3}, Cell: []int{0, 0, 1, 2}, Size: []float64{1, 2, 3, 4},
				Shown: []bool{true, true, false, false}, Sign: 1},
			{Rows: 1, At: []int{0}, Cell: []int{7}, Size: []float64{5}},
		},
		Scatter: &Scatter{Variance: []float64{1, 2, 3, 4}, Second: []float64{1, 2, 3, 4}, Extent: []float64{1, 1, 1, 1},
			Cell: []int{0, 0, 1, 2}, Layer: []int{0, 0, 0, 0}, Rows: 1, Failure: .01}}
	at, sd, inf := []int{1, 3}, []float64{2, 3}, math.Inf(1)
	whole := []float64{inf, 2, inf, 3}
	p := s.Part(at)
	if len(p.Unseen) != 1 || p.Unseen[0].Check(2) != nil || p.Scatter.Check(2) != nil || p.Error[1] != 4 {
		t.Fatalf("%+v", p)
	}
	for name, pair := range map[string][2]float64{
		"norm 1": {p.Norm1(sd), s.Norm1(whole)}, "norm 2": {p.Norm2(sd), s.Norm2(whole)},
		"scatter 1": {p.Scatter.Norm1(sd), s.Scatter.Norm1(whole)}, "scatter 2": {p.Scatter.Norm2(sd),
			s.Scatter.Norm2(whole)},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-12*pair[1] {
			t.Errorf("%s: %g, want %g", name, pair[0], pair[1])
		}
	}
}
