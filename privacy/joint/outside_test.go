package joint

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/test/patient"
)

// dense is Sigma0, D and N of components over random rows of two classes, most of which nearly repeat each other.
func dense(r *rand.Rand, size int, p, q float64) (sigma, d *mat.SymDense, noise []float64) {
	const rows, n = 60, 1000.
	class := func(scale float64) *mat.SymDense {
		x := mat.NewDense(rows, size, nil)
		for i := range rows {
			common := r.NormFloat64()
			for k := range size {
				x.Set(i, k, scale*(common*float64(k%3)+r.NormFloat64()*math.Pow(10, -float64(k%4))))
			}
		}

		var c mat.SymDense
		c.SymOuterK(1./rows, x.T())
		return &c
	}
	one, other := class(1), class(2*r.Float64())
	sigma, d = mat.NewSymDense(size, nil), mat.NewSymDense(size, nil)
	for k := range size {
		for l := range k + 1 {
			a, b := one.At(k, l), other.At(k, l)
			sigma.SetSym(k, l, n*(math.Min(p, q)*a+math.Min(1-p, 1-q)*b))
			d.SetSym(k, l, n*(p-q)*(a-b))
		}
		noise = append(noise, math.Exp(6*r.NormFloat64()))
	}
	return sigma, d, noise
}

// whitened is W = L⁻¹DL⁻ᵀ of the first of the components.
func whitened(sigma, d *mat.SymDense, noise []float64, size int) *mat.Dense {
	s, part := mat.NewSymDense(size, nil), mat.NewSymDense(size, nil)
	for k := range size {
		for l := range k + 1 {
			s.SetSym(k, l, sigma.At(k, l))
			part.SetSym(k, l, d.At(k, l))
		}
		s.SetSym(k, k, s.At(k, k)+noise[k])
	}

	var chol mat.Cholesky
	if !chol.Factorize(s) {
		panic("a covariance that is not positive")
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	var half, w mat.Dense
	if half.Solve(&lower, part) != nil || w.Solve(&lower, half.T()) != nil {
		panic("a covariance that cannot be inverted")
	}
	return &w
}

// The Frobenius norm of W with components outside of a stack is at most what Outside makes of the stack's own, and W's
// eigenvalues are at most Bend, whatever the covariances of the outside ones are. Without the rows that stand for them
// it would be too little.
func TestOutsideIsAnUpperBound(t *testing.T) {
	patient.Test(t)
	r := rand.New(rand.NewPCG(13, 2))
	missed := 0
	for range 300 {
		p := .05 + .4*r.Float64()
		q := p + .05 + .2*r.Float64()
		size := 2 + r.IntN(12)
		inside := 1 + r.IntN(size-1)
		sigma, d, noise := dense(r, size, p, q)
		pair := Pair{P: []float64{p, 1 - p}, Q: []float64{q, 1 - q}}
		all, part := whitened(sigma, d, noise, size), whitened(sigma, d, noise, inside)
		beside, total := 0.0, 0.0
		for k, n := range noise {
			share := sigma.At(k, k) / (sigma.At(k, k) + n)
			total += share
			if k >= inside {
				beside += share
			}
		}

		square := mat.Norm(all, 2) * mat.Norm(all, 2)
		stack := mat.Norm(part, 2) * mat.Norm(part, 2)
		c := Cost{G: stack, Slope: math.Inf(1), Bend: pair.Bend(false)}.Outside(beside, total)
		if square > c.G*(1+1e-9) {
			t.Fatalf("‖W‖² = %g of %d components, bounded by %g from the %g of %d", square, size, c.G, stack, inside)
		}
		if square > stack*(1+1e-9) {
			missed++
		}
		var eigen mat.EigenSym
		sym := mat.NewSymDense(size, nil)
		for k := range size {
			for l := range k + 1 {
				sym.SetSym(k, l, (all.At(k, l)+all.At(l, k))/2)
			}
		}

		if !eigen.Factorize(sym, false) {
			t.Fatal("no eigenvalues")
		}
		for _, v := range eigen.Values(nil) {
			if math.Abs(v) > c.Slope*(1+1e-9) {
				t.Fatalf("an eigenvalue of %g, and a slope of %g", v, c.Slope)
			}
		}
	}

	if missed < 250 {
		t.Errorf("the stack alone would do in all but %d: it is no test", missed)
	}
}

// What the values of a secret say of how far covariances bend.
func TestBend(t *testing.T) {
	patient.Test(t)
	for _, c := range []struct {
		pair         Pair
		distribution bool
		want         float64
	}{
		{Pair{P: []float64{.9, .1}, Q: []float64{.85, .15}}, false, .5},
		{Pair{P: []float64{.4, .6}, Q: []float64{.45, .55}}, false, .125},
		{Pair{P: []float64{.2, .3, .5}, Q: []float64{.2, .4, .4}}, false, 1. / 3},
		{Pair{P: []float64{1, 0}, Q: []float64{.9, .1}}, false, math.Inf(1)},
		{Pair{P: []float64{.9, .1}, Q: []float64{.85, .15}}, true, math.Inf(1)},
		{Pair{Move: 3}, false, 0},
	} {
		if got := c.pair.Bend(c.distribution); !(math.Abs(got-c.want) < 1e-12 || got == c.want) {
			t.Errorf("%+v: %g, want %g", c.pair, got, c.want)
		}
	}
}

// ε is never less than what the exact law of a Gaussian shift, Laplace noise and unequal variances needs, and infinite
// where nothing is known.
func TestEpsilonIsAnUpperBound(t *testing.T) {
	patient.Test(t)
	for _, c := range []struct {
		kappa2, y float64
		count     int
		laplace   []float64
	}{
		{.5, 0, 0, nil}, {4, 0, 0, []float64{1, .5}}, {.01, .2, 20, nil}, {.01, .2, 400, nil},
		{1, .05, 100, []float64{.8}}, {.2, .4, 3, []float64{.1, .1, .1, .1}},
		{0, .1, 50, nil}, {2, .3, 60, []float64{2}},
	} {
		var pair *sensitivity.Pair
		if c.count > 0 {
			pair = &sensitivity.Pair{}
			for i := range c.count {
				v := math.Exp(c.y * float64(1-2*(i%2)))
				pair.P.Blocks = append(pair.P.Blocks, sensitivity.Block{Size: 1, Entries: []float64{v}})
				pair.Q.Blocks = append(pair.Q.Blocks, sensitivity.Block{Size: 1, Entries: []float64{1}})
			}
		}

		e, err := sensitivity.NewExperiment(c.laplace, c.kappa2, pair)
		if err != nil {
			t.Fatal(err)
		}
		var beside Beside
		for _, a := range c.laplace {
			beside = beside.Plus(Beside{Pure: a, Squares: a * a})
		}
		u := 2 * math.Sinh(c.y/2)
		// With all of the noise for both: the shares of it that each has make the bound larger.
		cost := Cost{Kappa2: c.kappa2, G: float64(c.count) * u * u, Slope: math.Expm1(c.y), Bend: 1}
		for _, delta := range []float64{.01, 1e-5} {
			got := cost.Epsilon(delta, beside)
			if exact := e.Delta(got).Low; exact > delta || math.IsInf(got, 1) {
				t.Errorf("%+v: ε = %g at δ = %g, where the exact δ is %g", c, got, delta, exact)
			}
		}
	}

	for _, b := range []Beside{{Delta: .01}, {Pure: math.Inf(1)}, {Close: 1e6}} {
		if got := (Cost{Kappa2: 1}).Epsilon(.01, b); !math.IsInf(got, 1) {
			t.Errorf("%+v: ε = %g", b, got)
		}
	}
	if got, want := (Cost{Kappa2: 1}).Epsilon(.01, Beside{Close: .25}),
		(privacy.Loss{Kappa2: 1}).EpsilonAt(.01*math.Exp(-.25))+.5; math.Abs(got-want) > 1e-3*want {
		t.Errorf("ε = %g of what is close, want %g", got, want)
	}
}

// Terms side by side are the components of the first and then of the second, over the same rows.
func TestConcat(t *testing.T) {
	column := func(at int, values ...float64) []Group {
		return []Group{{Cells: []int16{0, -1, 0}, Columns: []Column{{At: []int{at}, Values: values}}}}
	}
	one, err := NewTerms(3, 1, column(0, 1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	two, err := NewTerms(3, 2, column(1, 4, 5, 6))
	if err != nil {
		t.Fatal(err)
	}

	both, err := Concat(one, two)
	if err != nil || both.Width() != 3 || both.Rows() != 3 {
		t.Fatalf("%+v, %v", both, err)
	}
	if got := both.Combined([]float64{1, 10, 100}); !slices.Equal(got, []float64{401, 0, 603}) {
		t.Errorf("got %v", got)
	}

	other, err := NewTerms(2, 1, []Group{{Cells: []int16{0, 0}, Columns: []Column{{At: []int{0}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, terms := range map[string][]*Terms{"none": nil, "other rows": {one, other}} {
		if got, err := Concat(terms...); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Two equal addends in noise of their own variance: λ = sd·all/variance = 2 for each, and so 2/3. Without normal noise
// each counts as 1, and what does not move as 0.
func TestWeight(t *testing.T) {
	if got := Weight([]float64{1, 1, 0}, 1); math.Abs(got-4./3) > 1e-15 {
		t.Errorf("got %v", got)
	}
	if got := Weight([]float64{1, 0, math.Inf(1)}, 0); got != 2 {
		t.Errorf("without normal noise: %v", got)
	}
}
