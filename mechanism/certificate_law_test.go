package mechanism

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/test/nightly"
)

// release is the exact law of F + Y·v + G under one value of the secret: a normal density times two normal tails.
type release struct {
	mean, v, a []float64 // a = S⁻¹v
	chol       mat.Cholesky
	lower      mat.TriDense
	t, vav     float64
}

func newRelease(t *testing.T, f proportion, c Calibration, shift sensitivity.Shift, p float64) *release {
	t.Helper()
	m := len(f.in)
	s := mat.NewSymDense(m, nil)
	cov := f.Covariance(p)
	for k := range m {
		floor := math.Ldexp(float64(c.Noise.cells[k].sigma), c.Noise.cells[k].exponent)
		for l := k; l < m; l++ {
			v := -f.n * (p*f.in[k]*f.in[l] + (1-p)*f.out[k]*f.out[l])
			if l == k {
				v += cov.Blocks[k].Entries[0] + floor*floor
			}
			s.SetSym(k, l, v)
		}
	}

	r := &release{mean: f.Mean(p), v: shift.Along, a: make([]float64, m)}
	if !r.chol.Factorize(s) {
		t.Fatal("not positive definite")
	}
	r.chol.LTo(&r.lower)
	d := c.Noise.directions[0]
	r.t = float64(d.scale) / float64(d.reach)
	if err := r.chol.SolveVecTo(mat.NewVecDense(m, r.a), mat.NewVecDense(m, r.v)); err != nil {
		t.Fatal(err)
	}
	r.vav = mat.Dot(mat.NewVecDense(m, r.v), mat.NewVecDense(m, r.a))
	return r
}

func (r *release) draw(g *rand.Rand) []float64 {
	m := len(r.mean)
	z := make([]float64, m)
	for k := range z {
		z[k] = g.NormFloat64()
	}
	var x mat.VecDense
	x.MulVec(&r.lower, mat.NewVecDense(m, z))
	y := r.t * g.ExpFloat64()
	if g.IntN(2) == 0 {
		y = -y
	}
	out := make([]float64, m)
	for k := range out {
		out[k] = r.mean[k] + x.AtVec(k) + y*r.v[k]
	}
	return out
}

// log returns the log density at x, up to a constant that is the same for all values of the secret.
func (r *release) log(t *testing.T, x []float64) float64 {
	t.Helper()
	m := len(x)
	z, w := mat.NewVecDense(m, nil), mat.NewVecDense(m, nil)
	b := 0.0
	for k := range x {
		z.SetVec(k, x[k]-r.mean[k])
		b += r.a[k] * z.AtVec(k)
	}
	if err := r.chol.SolveVecTo(w, z); err != nil {
		t.Fatal(err)
	}
	root := math.Sqrt(r.vav)
	up, down := b-1/r.t, b+1/r.t
	i, j := up*up/2/r.vav+privacy.LogPhi(up/root), down*down/2/r.vav+privacy.LogPhi(-down/root)
	return -r.chol.LogDet()/2 - mat.Dot(z, w)/2 - math.Log(root) + math.Max(i, j) + math.Log1p(math.Exp(-math.Abs(i-j)))
}

// The true δ of what is released, from n samples of its exact law at the binding pair and at others: no more than
// certified, by at most 6 standard errors (false alarm 1e-9 each); and the noise that translation alone asks for has a
// true δ above the budget, certain to 6 standard errors, or this would test nothing.
func TestCertifiedNoiseHidesUnequalCovariances(t *testing.T) {
	if testing.Short() {
		t.Skip("samples")
	}
	g := rand.New(rand.NewPCG(1, 9))
	n := nightly.Or(60_000, 20_000)
	for _, m := range []int{4, 16} {
		f := wide(m)
		r := f.request(8000, 24_000, budget(1, .001))
		r.Shifts[0] = thinned(r.Shifts[0], .01)
		c := calibrated(t, Directional, r)
		plain := r
		plain.Families = nil
		loose := calibrated(t, Directional, plain)
		x := c.Certificates[0]
		if x.Delta > .001 || x.Delta < .0008 {
			t.Errorf("m = %d: %+v", m, x)
		}
		delta := func(c Calibration, p, q float64) (float64, float64) {
			a, b := newRelease(t, f, c, r.Shifts[0], p), newRelease(t, f, c, r.Shifts[0], q)
			var sum, square float64
			for range n {
				y := a.draw(g)
				if d := -math.Expm1(1 + b.log(t, y) - a.log(t, y)); d > 0 {
					sum += d
					square += d * d
				}
			}

			d := sum / float64(n)
			return d, math.Sqrt((square/float64(n) - d*d) / float64(n))
		}
		q := math.Min(math.Max(x.Pair[0], x.Pair[1])-.05, x.Pair[0]+.05)
		for _, pair := range [][2]float64{{q + .05, q}, {q, q + .05}, {.15, .1}, {.6, .55}} {
			d, se := delta(c, pair[0], pair[1])
			t.Logf("m = %d, pair %v: δ = %.2g ± %.1g, certified %.2g", m, pair, d, se, x.Delta)
			if d-6*se > x.Delta {
				t.Errorf("m = %d, pair %v: δ = %g ± %g, certified %g", m, pair, d, se, x.Delta)
			}
		}

		worst := 0.0
		for _, pair := range [][2]float64{{q + .05, q}, {q, q + .05}} {
			d, se := delta(loose, pair[0], pair[1])
			worst = math.Max(worst, d-6*se)
		}
		if worst < .001 {
			t.Errorf("m = %d: without a certificate δ = %g already: the test has no teeth", m, worst)
		}
	}
}

// The probabilities of a rounded Laplace are those of the discrete one up to e^±1/2t, in closed form for small t.
func TestLaplaceDeviation(t *testing.T) {
	for _, scale := range []float64{1, 1.5, 4, 100} {
		x := 1 / (2 * scale)
		for k := range 10 {
			d := math.Tanh(x) * math.Exp(-float64(k)/scale)
			r := 1 - math.Exp(-x)
			if k > 0 {
				r = (math.Exp(-(float64(k)-.5)/scale) - math.Exp(-(float64(k)+.5)/scale)) / 2
			}
			if l := math.Abs(math.Log(r / d)); 2*l > laplaceDeviation(scale).Pure {
				t.Errorf("scale %g, at %d: log ratio %g", scale, k, l)
			}
		}
	}

	r := counts(3, budget(1, 1e-6))
	c := calibrated(t, Directional, r)
	var want float64
	for _, cell := range c.Noise.cells {
		want += gaussianDeviation(float64(cell.sigma)).Pure
	}
	want += 1 / float64(c.Noise.directions[0].scale)
	like := sensitivity.Covariance{Blocks: []sensitivity.Block{{Size: 3, Entries: make([]float64, 9)}}}
	if got := c.Noise.release(r.Shifts, like); math.Abs(got.Extra.Pure/want-1) > 1e-12 ||
		got.Laplace[3] != float64(c.Noise.directions[0].reach)/float64(c.Noise.directions[0].scale) {
		t.Errorf("extra %+v, want %g; Laplace %v", got.Extra, want, got.Laplace)
	}
}
