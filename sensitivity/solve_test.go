package sensitivity

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// What Solve finds is what a dense solution has, and Form what its matrix product has: of components by themselves, of
// blocks, of entries between blocks, of rank-one terms that add and that take away, and of more components than are
// written out.
func TestSolveIsAsDense(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 3))
	for _, sizes := range [][]int{{1}, {3, 1}, {5, 4, 3}, {1, 1, 4, 1, 6, 1, 1, 3}, make([]int, 200)} {
		m := 0
		for i := range sizes {
			sizes[i] = max(1, sizes[i])
			m += sizes[i]
		}
		c := random(r, sizes, vectors(r, m, 4))
		if m > 3 {
			c.Off = []Entry{{0, m - 1, .3}, {1, m - 2, -.2}, {0, m - 1, .1}}
		}
		v := vectors(r, m, 1)[0]
		got, err := c.Solve(v)
		if err != nil {
			t.Fatalf("%v: %v", sizes, err)
		}

		var want mat.VecDense
		d := dense(c)
		if err := want.SolveVec(d, mat.NewVecDense(m, v)); err != nil {
			t.Fatal(err)
		}
		for k, x := range got {
			if math.Abs(x-want.AtVec(k)) > 1e-10*mat.Norm(&want, 2) {
				t.Errorf("%d components: %g at %d, dense %g", m, x, k, want.AtVec(k))
			}
		}
		if form, inner := c.Form(v), mat.Inner(mat.NewVecDense(m, v), d, mat.NewVecDense(m, v)); math.Abs(form/
			inner-1) > 1e-12 {
			t.Errorf("%d components: a form of %g, dense %g", m, form, inner)
		}
	}
}

// What is not positive definite has no solution, whether blocks or a rank-one term make it so.
func TestSolveRefuses(t *testing.T) {
	for name, c := range map[string]Covariance{
		"a block":    {Blocks: []Block{{2, []float64{1, 2, 2, 1}}}},
		"a variance": {Blocks: []Block{{1, []float64{0}}}},
		"no number":  {Blocks: []Block{{1, []float64{math.NaN()}}}},
	} {
		if x, err := c.Solve(make([]float64, c.Len())); err == nil {
			t.Errorf("%s: %v", name, x)
		}
	}
	const m = 20
	c := Covariance{Low: []RankOne{{-.06, make([]float64, m)}}}
	for k := range m {
		c.Blocks, c.Low[0].Vector[k] = append(c.Blocks, Block{1, []float64{1}}), 1
	}
	if x, err := c.Solve(c.Low[0].Vector); !errors.Is(err, errNotPositive) {
		t.Errorf("a term that takes away: %v, %v", x, err)
	}
	// What is left of the variance along the term is lost in rounding, though it is above 0.
	c.Low[0].Weight = -(1 - 1e-9) / m
	if x, err := c.Solve(c.Low[0].Vector); !errors.Is(err, errNotPositive) {
		t.Errorf("a term that takes away all but rounding: %v, %v", x, err)
	}
	c.Low[0].Weight = -.04
	if x, err := c.Solve(c.Low[0].Vector); err != nil || math.Abs(x[0]-5) > 1e-12 {
		t.Errorf("a term that takes away less: %v, %v", x, err)
	}
}

// A multiple of a covariance is added in every part of it: in blocks, between blocks and along vectors, also where it
// has variances alone in its blocks.
func TestPlusIsTheSum(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 4))
	sizes, m := []int{3, 1, 2}, 6
	c, d := random(r, sizes, vectors(r, m, 2)), random(r, sizes, vectors(r, m, 1))
	single := random(r, []int{1, 1, 1, 1, 1, 1}, vectors(r, m, 2))
	c.Off = []Entry{{0, 5, .1}, {3, 4, -.2}}
	d.Off, single.Off = []Entry{{0, 4, .3}, {0, 5, -.1}}, []Entry{{1, 3, .2}}
	for _, w := range []float64{.3, -.2, 2} {
		for name, d := range map[string]Covariance{"the same blocks": d, "single ones": single} {
			got, a, b := dense(c.Plus(w, d)), dense(c), dense(d)
			for k := range m {
				for l := range m {
					if want := a.At(k, l) + w*b.At(k, l); math.Abs(got.At(k, l)-want) > 1e-12 {
						t.Errorf("%s, %v times: %v at (%d, %d), want %v", name, w, got.At(k, l), k, l, want)
					}
				}
			}
		}
	}
}
