package sensitivity

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// dense writes a covariance out.
func dense(c Covariance) *mat.SymDense {
	m := c.Len()
	s := mat.NewSymDense(m, nil)
	base := 0
	for _, b := range c.Blocks {
		for i := range b.Size {
			for j := i; j < b.Size; j++ {
				s.SetSym(base+i, base+j, b.Entries[i*b.Size+j])
			}
		}
		base += b.Size
	}

	for _, e := range c.Off {
		s.SetSym(e.Row, e.Col, s.At(e.Row, e.Col)+e.Value)
	}
	for _, t := range c.Low {
		for i := range m {
			for j := i; j < m; j++ {
				s.SetSym(i, j, s.At(i, j)+t.Weight*t.Vector[i]*t.Vector[j])
			}
		}
	}
	return s
}

// random draws a positive definite covariance with blocks of the given sizes and low-rank terms of both signs.
func random(r *rand.Rand, sizes []int, vectors [][]float64) Covariance {
	var c Covariance
	for _, n := range sizes {
		root := make([]float64, n*n)
		for i := range root {
			root[i] = r.NormFloat64()
		}
		b := Block{n, make([]float64, n*n)}
		for i := range n {
			for j := range n {
				for k := range n {
					b.Entries[i*n+j] += root[i*n+k] * root[j*n+k]
				}
			}
			b.Entries[i*n+i] += 2
		}

		c.Blocks = append(c.Blocks, b)
	}
	for i, v := range vectors {
		c.Low = append(c.Low, RankOne{[]float64{.8, -.1 * r.Float64()}[i%2], v})
	}
	return c
}

func vectors(r *rand.Rand, m, n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		for range m {
			out[i] = append(out[i], r.NormFloat64()/math.Sqrt(float64(m)))
		}
	}
	return out
}

// spectrum returns the eigenvalues of Q^-½ P Q^-½, and Q^-½ mean in the basis of its eigenvectors.
func spectrum(t testing.TB, p, q Covariance, mean []float64) (rho, shift []float64) {
	t.Helper()
	var chol mat.Cholesky
	if !chol.Factorize(dense(q)) {
		t.Fatal("not positive definite")
	}
	var l mat.TriDense
	chol.LTo(&l)
	var x, y mat.Dense
	if err := x.Solve(&l, dense(p)); err != nil {
		t.Fatal(err)
	}
	if err := y.Solve(&l, x.T()); err != nil {
		t.Fatal(err)
	}
	m := p.Len()
	s := mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			s.SetSym(i, j, (y.At(i, j)+y.At(j, i))/2)
		}
	}

	var eig mat.EigenSym
	if !eig.Factorize(s, true) {
		t.Fatal("no eigenvalues")
	}
	var v, a, b mat.Dense
	eig.VectorsTo(&v)
	if mean == nil {
		mean = make([]float64, m)
	}
	if err := a.Solve(&l, mat.NewDense(m, 1, mean)); err != nil {
		t.Fatal(err)
	}
	b.Mul(v.T(), &a)
	for i := range m {
		shift = append(shift, b.At(i, 0))
	}
	return eig.Values(nil), shift
}

// K is compared with the sum over the eigenvalues of the dense pencil, at real and complex points, in both orders; with
// a thousand turns of the phase in between.
func TestLogDeterminants(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		var sizes []int
		m := 0
		for range 1 + r.IntN(5) {
			sizes = append(sizes, 1+r.IntN(3))
			m += sizes[len(sizes)-1]
		}

		own := vectors(r, m, 2)
		shared := vectors(r, m, 2)
		p, q := random(r, sizes, append(shared, own[0])), random(r, sizes, append(shared, own[1]))
		mean := vectors(r, m, 1)[0]
		e := experiment(t, nil, .3, &Pair{p, q, mean})
		rho, shift := spectrum(t, p, q, mean)
		for range 20 {
			s := complex(math.Exp(4*r.Float64()-3), 30*r.NormFloat64())
			inside := true
			want := s * (s + 1) * .15
			for i, v := range rho {
				d := 1 + s - s*complex(v, 0) // α + (1-α)ρ
				inside = inside && real(d) > 1e-6
				want += (-cmplx.Log(d) - s*complex(math.Log(v), 0) + s*(s+1)*complex(shift[i]*shift[i], 0)/d) / 2
			}

			got, ok := e.smooth(s)
			if !inside {
				continue
			}
			if _, real := e.smooth(complex(real(s), 0)); !real {
				continue // the blocks alone leave the domain earlier
			}
			if !ok || cmplx.Abs(got-want) > 1e-8*(1+cmplx.Abs(want)) {
				t.Fatalf("K(%v) = %v, %v, want %v", s, got, ok, want)
			}
		}

		back, ok := e.Swapped().smooth(.1)
		other, _ := experiment(t, nil, .3, &Pair{q, p, mean}).smooth(.1)
		if !ok || cmplx.Abs(back-other) > 1e-9 {
			t.Fatalf("swapped: %v, want %v", back, other)
		}
	}
}

// Negative terms that outweigh the blocks, but not together with the positive ones.
func TestOrderOfRankOneTerms(t *testing.T) {
	c := Covariance{Blocks: variances(1, 1).Blocks, Low: []RankOne{{-1.5, []float64{1, 0}}, {1, []float64{1, .01}}}}
	for range 2 {
		e := experiment(t, nil, 0, &Pair{P: c, Q: variances(.6, 1)})
		if want := math.Log(mat.Det(dense(c))); math.Abs(e.detP-want-math.Log(1/.6)) > 1e-9 {
			t.Errorf("ln det %g, want %g", e.detP, want+math.Log(1/.6))
		}
		c.Low[0], c.Low[1] = c.Low[1], c.Low[0]
	}
}
