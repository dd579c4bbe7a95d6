package sensitivity

import (
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// A pencil made diagonal says the same of ratios of determinants, and of quadratic forms, as the factors of the
// matrices.
func TestDiagonalPencils(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	made := 0
	for n := range 200 {
		sizes := [][]int{{3}, {2, 1, 4}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {12}}[n%4]
		m := 0
		for _, s := range sizes {
			m += s
		}
		low := vectors(r, m, 2)
		p, q := random(r, sizes, low), random(r, sizes, low)
		var mean []float64
		if n%3 > 0 {
			mean = vectors(r, m, 1)[0]
		}
		x, err := newPencil(p, q, mean, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := x.diagonal()
		if d == x {
			continue
		}
		made++
		if d.alone != m || d.mean != x.mean {
			t.Fatalf("%d of %d components alone, mean %v", d.alone, m, d.mean)
		}
		det, _, ok := x.logDet(0, 1) // Q, which is the identity in the other
		if !ok {
			t.Fatal("Q is not positive definite")
		}
		for range 20 {
			a, b := complex(r.Float64(), 30*r.NormFloat64()), complex(r.Float64(), 30*r.NormFloat64())
			wantDet, wantQuad, ok := x.logDet(a, b)
			gotDet, gotQuad, same := d.logDet(a, b)
			if !ok || !same {
				t.Fatalf("a %v, b %v: %v and %v", a, b, ok, same)
			}
			if cmplx.Abs(gotDet+det-wantDet) > 1e-9*(1+cmplx.Abs(wantDet)) ||
				cmplx.Abs(gotQuad-wantQuad) > 1e-9*(1e-3+cmplx.Abs(wantQuad)) {
				t.Errorf("a %v, b %v: %v and %v, not %v and %v", a, b, gotDet+det, gotQuad, wantDet, wantQuad)
			}
		}

		// Outside the domain neither gives a value.
		if _, _, ok := d.logDet(-1, 0); ok {
			t.Error("-P is positive definite")
		}
	}
	if made < 100 {
		t.Errorf("%d of 200 pencils were made diagonal", made)
	}
}

// What would cost digits stays as it is.
func TestPencilsThatAreNotMadeDiagonal(t *testing.T) {
	one := Covariance{Blocks: []Block{{2, []float64{1, .5, .5, 1}}}}
	for name, c := range map[string][2]Covariance{
		"nearly singular Q":   {one, {Blocks: []Block{{2, []float64{1, .9999, .9999, 1}}}}},
		"far apart":           {one.Plus(5000, one), one},
		"one eigenvalue tiny": {{Blocks: []Block{{2, []float64{1, .99999, .99999, 1}}}}, one},
		"P not positive":      {{Blocks: []Block{{2, []float64{1, 2, 2, 1}}}}, one},
	} {
		x, err := newPencil(c[0], c[1], nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if x.diagonal() != x {
			t.Errorf("%s: made diagonal", name)
		}
	}
}

// A Laplace part on a line is M there over M on the real axis, whatever the shift.
func TestLaplacePart(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 1000 {
		c, a := r.ExpFloat64(), 3*r.ExpFloat64()
		s := complex(c, 40*r.NormFloat64())
		want := cmplx.Exp((s-complex(c, 0))*complex(a, 0)) * laplaceM(s, a) / laplaceM(complex(c, 0), a)
		if got := newLaplacePart(c, a).ratio(s); cmplx.Abs(got-want) > 1e-11*cmplx.Abs(want) {
			t.Errorf("shift %v at %v: %v, not %v", a, s, got, want)
		}
	}
}
