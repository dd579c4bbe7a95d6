package published

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"fugu/privacy"
	"fugu/sensitivity"
)

// apart is W∞ between counts given that a row is 0, with the others' probability z0, and that it is 1, with z1.
func apart(t *testing.T, n int, z0, z1 float64, from, to int) float64 {
	t.Helper()
	zero, err := CountGiven(n, 0, z0, from, to)
	if err != nil {
		t.Fatal(err)
	}
	one, err := CountGiven(n, 1, z1, from, to)
	if err != nil {
		t.Fatal(err)
	}
	c, err := sensitivity.WInfinity(zero, one)
	if err != nil || c.Delta > 1e-9 {
		t.Fatal(c, err)
	}
	return c.W
}

// Figure 4 of Seeman et al., n = 100; and without a limit n, as they say.
func TestFigure4OfSeeman(t *testing.T) {
	for _, c := range []struct{ z0, z1, want float64 }{
		{.5, .5, 1}, {.4, .6, 21}, {.3, .7, 41}, {.1, .9, 81}, {0, 1, 100},
	} {
		near(t, "Δz", apart(t, 100, c.z0, c.z1, 0, 100), c.want, 0)
	}
}

// Examples 2 and 4: that a count is known to be k-anonymous, or t-close to a public share, leaves its Δz at 1. With
// dependent rows it does bind it: two counts between k and n-k are n-2k apart at most.
func TestBoundsOnACount(t *testing.T) {
	for _, p := range []float64{.1, .3, .5} {
		for _, within := range [][2]int{{0, 100}, {5, 95}, {20, 80}, {40, 60}, {25, 35}} {
			near(t, "Δz", apart(t, 100, p, p, within[0], within[1]), 1, 0)
		}
	}
	if w := apart(t, 100, .1, .9, 40, 60); w > 20 || w <= 1 {
		t.Errorf("Δz = %v between 40 and 60", w)
	}
	for _, c := range []struct {
		n, row   int
		p        float64
		from, to int
	}{{10, 1, .5, 11, 20}, {0, 0, .5, 0, 1}, {10, 2, .5, 0, 10}, {10, 1, 1.5, 0, 10}, {10, 1, math.NaN(), 0, 10}} {
		if law, err := CountGiven(c.n, c.row, c.p, c.from, c.to); err == nil {
			t.Errorf("%+v: %v", c, law)
		}
	}
}

// Examples 1 and 3, n = 100 rows of variance 1 in a range of 1. What is public and independent leaves Δ/n. The public
// sum of the first half of the rows tells all of what its rows add, so Δz is 0 for them; of the sum with noise of
// variance τ it is what the noise hides. And what depends on the rows otherwise may leave more than Δ/n.
func TestConditionalMean(t *testing.T) {
	const n = 100.
	shift := func(cross []float64, v ...float64) float64 {
		t.Helper()
		s, err := MeanShift(cross, mat.NewSymDense(len(cross), v), 1)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	near(t, "nothing public", shift([]float64{1 / n}, 1), 1/n, 1e-15)
	near(t, "independent", shift([]float64{1 / n, 0}, 1, 0, 0, 7), 1/n, 1e-15)
	near(t, "half of the rows", shift([]float64{1 / n, .5}, 1, 1, 1, n/2), 0, 1e-15)
	// The half with noise of variance τ: (τ/n)/(n/2-1+τ) = .01·51/100 at τ = 51.
	near(t, "with noise", shift([]float64{1 / n, .5}, 1, 1, 1, n/2+51), .0051, 1e-15)
	// The sum of the half with this row taken away instead of added: (50+48)/49 times as much as alone.
	if more := shift([]float64{1 / n, .48}, 1, -1, -1, n/2); more <= 1/n {
		t.Errorf("a public sum that falls with the row leaves %v", more)
	}
	if _, err := MeanShift([]float64{1, 1}, mat.NewSymDense(2, []float64{1, 1, 1, 1}), 1); err == nil {
		t.Error("the row's value itself is public")
	}
}

// Theorems 9 and 10: mixing the outputs' laws over the counts given each value of a row, the ratio of probabilities is
// within e^ε, and nearly as large as e^(ε/2) somewhere; with a σ of half the size it is not within e^ε. The base
// measure allows what is public alone, so that no other output is ever given.
func TestExponentialKeepsEpsilon(t *testing.T) {
	const n, epsilon = 40, 1.
	for _, c := range []struct{ z0, z1 float64 }{{.5, .5}, {.3, .7}} {
		delta := apart(t, n, c.z0, c.z1, 0, n)
		base := make([]float64, n+1)
		for y := 5; y <= 30; y++ {
			base[y] = 1
		}
		ratio := func(sigma float64) float64 {
			zero, one := toldCount(t, 0, c.z0, sigma, epsilon, base), toldCount(t, 1, c.z1, sigma, epsilon, base)
			most := 0.0
			for y := range base {
				if base[y] == 0 {
					if zero[y] != 0 || one[y] != 0 {
						t.Errorf("output %d contradicts what is public", y)
					}
					continue
				}
				most = math.Max(most, math.Abs(math.Log(one[y]/zero[y])))
			}
			return most
		}
		if r := ratio(delta); !(r <= epsilon && r >= epsilon/4) {
			t.Errorf("(%g, %g): log ratio %g at σ = Δz = %g", c.z0, c.z1, r, delta)
		}
		if r := ratio(delta / 4); r <= epsilon {
			t.Errorf("(%g, %g): log ratio %g at a quarter of Δz", c.z0, c.z1, r)
		}
	}
}

// toldCount is the law of what the exponential mechanism tells of a count of rows, given that one of them is row (0 or
// 1) and that the others are 1 with probability p. The K-norm gradient mechanism of the square tells the same.
func toldCount(t *testing.T, row int, p, sigma float64, epsilon privacy.Epsilon,
	base []float64) []float64 {
	t.Helper()
	n := len(base) - 1
	out := make([]float64, n+1)
	for s := row; s <= n-1+row; s++ {
		loss, bound := make([]float64, n+1), make([]float64, n+1)
		for y := range loss {
			loss[y], bound[y] = math.Abs(float64(y-s)), sigma
		}
		given, err := Exponential(loss, base, sigma, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		again, err := KNormGradient(loss, bound, base, epsilon) // of (y-s)²/2, whose gradient is y-s
		if err != nil {
			t.Fatal(err)
		}
		for y, v := range given {
			near(t, "gradient of a square", again[y], v, 1e-12)
			out[y] += binomial(n-1, s-row, p) * v
		}
	}
	return out
}

// Both mechanisms refuse what is no loss, and what bounds none.
func TestExponentialRefuses(t *testing.T) {
	for _, bad := range []func() ([]float64, error){
		func() ([]float64, error) { return Exponential(nil, nil, 1, 1) },
		func() ([]float64, error) { return Exponential([]float64{-1}, nil, 1, 1) },
		func() ([]float64, error) { return Exponential([]float64{1}, nil, 0, 1) },
		func() ([]float64, error) { return Exponential([]float64{1}, []float64{1, 1}, 1, 1) },
		func() ([]float64, error) { return Exponential([]float64{math.Inf(1)}, nil, 1, 1) },
		func() ([]float64, error) { return Exponential([]float64{1}, nil, 1, 0) },
		func() ([]float64, error) { return KNormGradient([]float64{1}, []float64{0}, nil, 1) },
		func() ([]float64, error) { return KNormGradient([]float64{1}, nil, nil, 1) },
	} {
		if out, err := bad(); err == nil {
			t.Errorf("%v", out)
		}
	}
}

// Theorem 11: the gradient mechanism's error of a median falls with 1/n, the exponential mechanism's with 1/√n.
func TestMedianErrors(t *testing.T) {
	var errs [2][2]float64 // by n = 400, 1600, and by mechanism
	for i, n := range []int{400, 1600} {
		e, k, err := MedianErrors(n, 1)
		if err != nil {
			t.Fatal(err)
		}
		errs[i] = [2]float64{e, k}
	}
	near(t, "exponential: √4", errs[0][0]/errs[1][0], 2, .1)
	near(t, "gradient: 4", errs[0][1]/errs[1][1], 4, .2)
}

// Corollary 13: what Projected and Spherical say is what draws come to. Of 20,000 draws of ‖z‖², whose standard
// deviation is at most 2.3 times its mean here, the mean is within 5 standard errors, .082 of it: two-sided 6e-7 a
// number, by seeds that are fixed.
func TestSphericalErrors(t *testing.T) {
	const draws = 20_000
	rng := rand.New(rand.NewPCG(13, 0))
	for _, d := range [][2]int{{2, 1}, {10, 9}, {20, 5}} {
		drawn := func(from, kept int) float64 {
			radius := distuv.Gamma{Alpha: float64(from), Beta: 1, Src: rng}
			total := 0.0
			for range draws {
				all, part := 0.0, 0.0
				for k := range from {
					x := rng.NormFloat64()
					all += x * x
					if k < kept {
						part += x * x
					}
				}
				r := radius.Rand()
				total += r * r * part / all
			}
			return total / draws
		}
		near(t, "projected", drawn(d[0], d[1])/Projected(d[0], d[1]), 1, .082)
		near(t, "drawn", drawn(d[1], d[1])/Spherical(d[1]), 1, .082)
		near(t, "ratio", Spherical(d[1])/Projected(d[0], d[1]), float64(d[1]+1)/float64(d[0]+1), 1e-12)
	}
}
