package sensitivity

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"fugu/privacy"
)

// affine is a family on a straight line of covariances, between that of 0 and that of 1, with means x·slope.
type affine struct {
	span     Span
	at0, at1 Covariance
	slope    []float64
	crooked  bool
}

func (f affine) Secret() string { return "s" }
func (f affine) Span() Span     { return f.span }
func (f affine) Affine() bool   { return !f.crooked }
func (f affine) Mean(x float64) []float64 {
	out := make([]float64, len(f.slope))
	for k, v := range f.slope {
		out[k] = x * v
	}
	return out
}
func (f affine) Covariance(x float64) Covariance {
	out := (Covariance{Blocks: zero(f.at0).Blocks}).Plus(1-x, f.at0)
	return out.Plus(x, f.at1)
}

func zero(c Covariance) Covariance {
	var out Covariance
	for _, b := range c.Blocks {
		out.Blocks = append(out.Blocks, Block{b.Size, make([]float64, len(b.Entries))})
	}
	return out
}

func ones(m int, v float64) []float64 {
	out := make([]float64, m)
	for k := range out {
		out[k] = v
	}
	return out
}

func family(r *rand.Rand, sizes []int) affine {
	m := 0
	for _, n := range sizes {
		m += n
	}
	v := vectors(r, m, 2)
	f := affine{span: Span{From: .5 * r.Float64()}, at0: random(r, sizes, v), at1: random(r, sizes, v)}
	f.span.To = f.span.From + .05 + .45*r.Float64()
	f.span.Within = (f.span.To - f.span.From) * (.1 + .9*r.Float64())
	for range m {
		f.slope = append(f.slope, 2*r.NormFloat64())
	}
	return f
}

func budgetOf(epsilon, delta float64) privacy.Budget {
	return privacy.Budget{Epsilon: privacy.Epsilon(epsilon), Delta: privacy.Delta(delta)}
}

// pairOf draws a pair of the span, every other time one that is as far apart as may be.
func pairOf(r *rand.Rand, s Span) (p, q float64) {
	w := s.Within
	if r.IntN(2) == 0 {
		w *= r.Float64()
	}
	q = s.From + (s.To-s.From-w)*r.Float64()
	return q + w, q
}

// For 30 random families of F, with a Gaussian noise that hides the mean: 100 random pairs of each, both orders, with
// their exact distributions (means inside, nothing set aside), stay within the certificate.
func TestCertificateCoversEveryPair(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	certified := 0
	for range 30 {
		f := family(r, []int{1, 2, 1, 3})
		m := 7
		n := variances(ones(m, 1)...)
		n = Covariance{Blocks: zero(f.at0).Blocks}.WithDiagonal(1, n.Diagonal())
		along, beside := make([]float64, m), ones(m, 1e-3)
		for k, v := range f.slope {
			along[k] = f.span.Within * v
		}
		b := budgetOf(.5+2*r.Float64(), .9)
		c, err := Certify(f, Release{Along: along, Beside: beside, Gaussian: n, Floor: ones(m, 1)}, b)
		if err != nil {
			if !errors.Is(err, ErrUncertified) {
				t.Fatal(err)
			}
			continue
		}

		certified++
		for range 100 {
			p, q := pairOf(r, f.span)
			mean := make([]float64, m)
			for k, v := range f.slope {
				mean[k] = (p-q)*v + 1e-3*(2*r.Float64()-1)
			}
			e := experiment(t, nil, 0, &Pair{f.Covariance(p).Plus(1, n), f.Covariance(q).Plus(1, n), mean})
			for _, x := range []*Experiment{e, e.Swapped()} {
				if d := x.Delta(float64(b.Epsilon)); d.Low > c.Delta {
					t.Fatalf("pair (%g,%g), swapped %v: %v above the certificate %+v", p, q, x.swapped, d, c)
				}
			}
		}
	}

	if certified < 20 {
		t.Errorf("only %d of 30 were certified", certified)
	}
}

// Noise along the direction beside a Gaussian floor, as released: scales differ, nothing else does. The certificate is
// not much above the worst of the pairs, and one for pairs less far apart is exceeded.
func TestCertificateIsTight(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	exceeded := 0
	const families = 6
	for range families {
		f := family(r, []int{1, 2, 1, 1, 2})
		n := Covariance{Blocks: zero(f.at0).Blocks}.WithDiagonal(1, ones(7, 1))
		release := Release{Laplace: []float64{.4}, Gaussian: n, Floor: ones(7, 1)}
		b := budgetOf(.7, .9)
		c, err := Certify(f, release, b)
		if err != nil {
			t.Fatal(err)
		}
		short := f
		short.span.Within *= .8
		s, err := Certify(short, release, b)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i := range 60 {
			p, q := pairOf(r, f.span)
			if i < 33 { // the widest, evenly
				q = f.span.From + (f.span.To-f.span.From-f.span.Within)*float64(i)/32
				p = q + f.span.Within
			}
			e := experiment(t, release.Laplace, 0, &Pair{P: f.Covariance(p).Plus(1, n), Q: f.Covariance(q).Plus(1, n)})
			worst = max(worst, e.Delta(.7).Low, e.Swapped().Delta(.7).Low)
		}

		if worst > c.Delta {
			t.Errorf("a pair has δ = %g, certified %g", worst, c.Delta)
		}
		if worst > 1e-7 && c.Delta > 1.3*worst {
			t.Errorf("certified %g, worst pair %g", c.Delta, worst)
		}
		if worst > s.Delta {
			exceeded++
		}
	}

	if exceeded < families-1 {
		t.Errorf("boxes shorter than within were exceeded in %d of %d families only: the test has no teeth", exceeded,
			families)
	}
}

func minus(c Covariance, d *mat.SymDense) *mat.SymDense {
	out := mat.NewSymDense(c.Len(), nil)
	out.CopySym(d)
	out.ScaleSym(-1, out)
	out.AddSym(out, dense(c))
	return out
}

// drawAside starts a search with random shares for a random family and release, and returns what hides the movement
// beside Along, were all of the floor's part for it set aside.
func drawAside(t *testing.T, r *rand.Rand) (s *search, hides []float64) {
	f := family(r, []int{1, 2, 2})
	floor := []float64{1, .5, 2, 1, 3}
	n := Covariance{Blocks: zero(f.at0).Blocks}.WithDiagonal(1, floor)
	four := Unseen{Rows: 1, At: []int{0, 1, 2, 3}, Cell: []int{0, 1, 1, 2}}
	release := Release{Along: vectors(r, 5, 1)[0], Beside: []float64{.1, 0, .3, .2, .1}, Gaussian: n, Floor: floor}
	four.Size = vectors(r, 4, 1)[0]
	last := Unseen{Rows: 1, At: []int{4}, Cell: []int{0}, Size: []float64{r.Float64()}}
	release.Unseen = [][]Unseen{{four}, {last}}
	for k, v := range four.Size {
		four.Size[k] = math.Abs(v)
	}

	hides, _ = release.besides()
	s, err := newSearch(f, release, budgetOf(1, .5))
	if err != nil {
		t.Fatal(err)
	}
	s.share = share{beside: .9 * r.Float64(), along: .9 * r.Float64()}
	return s, hides
}

// mixedOf is the mixture m of the covariances at both ends of the span, noise included, without what hides the movement
// beside Along.
func (s *search) mixedOf(m mix, hides []float64) *mat.SymDense {
	span := s.family.Span()
	out := dense(s.family.Covariance(span.From).Plus(1, s.release.Gaussian))
	other := dense(s.family.Covariance(span.To).Plus(1, s.release.Gaussian))
	for k, v := range hides {
		out.SetSym(k, k, out.At(k, k)-s.share.beside*v)
		other.SetSym(k, k, other.At(k, k)-s.share.beside*v)
	}
	out.ScaleSym(m[0], out)
	other.ScaleSym(m[1], other)
	out.AddSym(out, other)
	return out
}

// checkRest fails where more than there is has been set aside at a value between a and b, or where what is left of the
// covariances is not on the straight line from low to high.
func (s *search) checkRest(t *testing.T, a, b float64, part, low, high *mat.SymDense) {
	for i := range 11 {
		x := a + (b-a)*float64(i)/10
		rest := minus(s.family.Covariance(x).Plus(1, s.release.Gaussian), part)
		var eig mat.EigenSym
		if !eig.Factorize(rest, false) {
			t.Fatal("no eigenvalues")
		}
		if v := eig.Values(nil)[0]; v < 0 {
			t.Fatalf("more is set aside than there is at %g: eigenvalue %g", x, v)
		}

		line := mat.NewSymDense(5, nil)
		line.CopySym(low)
		line.ScaleSym(1-float64(i)/10, line)
		other := mat.NewSymDense(5, nil)
		other.CopySym(high)
		other.ScaleSym(float64(i)/10, other)
		line.AddSym(line, other)
		if !mat.EqualApprox(line, rest, 1e-9) {
			t.Fatal("what is left is not on a line")
		}
	}
}

// hiddenShift is vᵀC⁻¹v: the squared Gaussian shift of which noise of covariance C hides v.
func hiddenShift(t *testing.T, c *mat.SymDense, of []float64) float64 {
	var chol mat.Cholesky
	if !chol.Factorize(c) {
		t.Fatal("the part that hides Along is no covariance")
	}
	var y mat.VecDense
	v := mat.NewVecDense(len(of), of)
	if err := chol.SolveVecTo(&y, v); err != nil {
		t.Fatal(err)
	}
	return mat.Dot(v, &y)
}

// What is set aside in a box is part of what is there at every value in it, and hides what it is said to hide.
func TestSetAside(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		s, hides := drawAside(t, r)
		span := s.family.Span()
		a, b := span.From, span.From+span.Within
		p, q, kappa2, err := s.aside(a, b)
		if err != nil {
			t.Fatal(err)
		}

		low, high := s.mixedOf(q, hides), s.mixedOf(p, hides)
		part := minus(s.family.Covariance(a).Plus(1, s.release.Gaussian), low) // T: what is missing
		s.checkRest(t, a, b, part, low, high)

		// T hides Along and what is beside it by two parts of its own.
		for k, v := range hides {
			part.SetSym(k, k, part.At(k, k)-s.share.beside*v)
		}
		want := hiddenShift(t, part, s.release.Along)
		most := 0.0
		for _, list := range s.release.Unseen {
			everyMovement(5, list, func(u []float64) {
				kappa := 0.0
				for k, d := range s.release.Beside {
					if d += u[k]; d != 0 {
						kappa += d * d / (s.share.beside * hides[k])
					}
				}

				most = math.Max(most, kappa)
			})
		}
		want += most
		if kappa2 < want*(1-1e-9) || kappa2 > want*(1+1e-9) {
			t.Fatalf("κ² = %g, want %g", kappa2, want)
		}
	}
}

// The search for the worst pair may be wrong; the certificate may not.
func TestCoverTrustsNoSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	refused := 0
	for range 2 {
		f := family(r, []int{1, 2, 2})
		n := Covariance{Blocks: zero(f.at0).Blocks}.WithDiagonal(1, ones(5, 1))
		release := Release{Laplace: []float64{.4}, Gaussian: n, Floor: ones(5, 1)}
		right, err := Certify(f, release, budgetOf(.6, .9))
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSearch(f, release, budgetOf(.6, right.Delta/2))
		if err != nil {
			t.Fatal(err)
		}
		s.c, s.reached = 3, 1e-12
		if c, err := s.cover(); errors.Is(err, ErrUncertified) {
			refused++
		} else {
			t.Errorf("%+v, %v, half of %+v", c, err, right)
		}
	}

	if refused == 0 {
		t.Error("nothing was refused")
	}
}

func TestCertifyRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	f := family(r, []int{1, 1})
	good := Release{Laplace: []float64{.1}, Gaussian: variances(1, 1), Floor: ones(2, 1)}
	b := budgetOf(2, .5)
	if _, err := Certify(f, good, b); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*affine, *Release, *privacy.Budget){
		"not affine":     func(f *affine, _ *Release, _ *privacy.Budget) { f.crooked = true },
		"no pairs":       func(f *affine, _ *Release, _ *privacy.Budget) { f.span.Within = 0 },
		"NaN span":       func(f *affine, _ *Release, _ *privacy.Budget) { f.span.To = math.NaN() },
		"NaN covariance": func(f *affine, _ *Release, _ *privacy.Budget) { f.at1.Blocks[0].Entries[0] = math.NaN() },
		"singular":       func(f *affine, r *Release, _ *privacy.Budget) { f.at1.Blocks[0].Entries[0] = -50 },
		"noise length":   func(_ *affine, r *Release, _ *privacy.Budget) { r.Gaussian = variances(1) },
		"floor length":   func(_ *affine, r *Release, _ *privacy.Budget) { r.Floor = nil },
		"beside length":  func(_ *affine, r *Release, _ *privacy.Budget) { r.Beside = ones(1, 1) },
		"no floor": func(_ *affine, r *Release, _ *privacy.Budget) {
			r.Beside, r.Floor = ones(2, .01),
				ones(2, 0)
		},
		"NaN beside":      func(_ *affine, r *Release, _ *privacy.Budget) { r.Beside = []float64{math.NaN(), 0} },
		"NaN along":       func(_ *affine, r *Release, _ *privacy.Budget) { r.Along = []float64{math.NaN(), 0} },
		"far along":       func(_ *affine, r *Release, _ *privacy.Budget) { r.Along = []float64{50, 0} },
		"laplace above ε": func(_ *affine, r *Release, _ *privacy.Budget) { r.Laplace = []float64{20} },
		"NaN laplace":     func(_ *affine, r *Release, _ *privacy.Budget) { r.Laplace = []float64{math.NaN()} },
		"extra above ε":   func(_ *affine, r *Release, _ *privacy.Budget) { r.Extra.Pure = 2 },
		"extra above δ":   func(_ *affine, r *Release, _ *privacy.Budget) { r.Extra.Delta = .5 },
		"extra shift":     func(_ *affine, r *Release, _ *privacy.Budget) { r.Extra.Kappa2 = 1e-9 },
		"δ = 0":           func(_ *affine, _ *Release, b *privacy.Budget) { b.Delta = 0 },
		"ε = 0":           func(_ *affine, _ *Release, b *privacy.Budget) { b.Epsilon = 0 },
	} {
		r := rand.New(rand.NewPCG(7, 7))
		f := family(r, []int{1, 1})
		release, budget := good, b
		spoil(&f, &release, &budget)
		if c, err := Certify(f, release, budget); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
}
