package mechanism

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"fugu/privacy"
)

// groups are counts that add up to a hundred rows for each group, moved by a secret among themselves alone.
func groups(d int, b privacy.Budget) Request {
	r := counts(d, b)
	total := 0.0
	for k := range d {
		r.Shifts[0].Along[k] = float64(k%5) - 2
		total += r.Shifts[0].Along[k]
	}
	r.Shifts[0].Along[0] -= total
	of := Sum{Total: big.NewRat(int64(100*d), 1)}
	for k := range d {
		r.Components[k].Integer, of.Components = true, append(of.Components, k)
	}
	r.Sums = []Sum{of}
	return r
}

// Of d equal scales the variance given the sum is (2d-1)(d-1)/(d(d+1)) b², (2d-1)/(2d+2) of what projection leaves,
// 2(d-1)/d b²; of two scales it is that of one Laplace number at both rates.
func TestGivenZeroInClosedForm(t *testing.T) {
	for _, d := range []int{2, 3, 5, 16, 64} {
		scales := make([]float64, d)
		for k := range scales {
			scales[k] = 3
		}
		sd, _ := givenZero(scales)
		n := float64(d)
		want := 9 * (2*n - 1) * (n - 1) / (n * (n + 1))
		if got := sd[d-1] * sd[d-1]; math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%d scales: variance %v, want %v", d, got, want)
		}
		if projected := 9 * 2 * (n - 1) / n; math.Abs(want/projected-(2*n-1)/(2*n+2)) > 1e-12 {
			t.Errorf("%d scales: %v of what projection leaves", d, want/projected)
		}
	}
	for _, b := range [][]float64{{1, 1}, {1, 7}, {1000, 1}} {
		sd, mean := givenZero(b)
		rate := 1/b[0] + 1/b[1]
		for k := range b {
			if math.Abs(sd[k]*rate/math.Sqrt2-1) > 1e-6 || math.Abs(mean[k]*rate-1) > 1e-6 {
				t.Errorf("%v: sd %v and mean size %v, rate %v", b, sd[k], mean[k], rate)
			}
		}
	}
}

// zeroLaw is the law of discrete Laplace noise of three scales given that it adds up to zero, by its first two numbers.
func zeroLaw(scales [3]float64, reach int64) map[[2]int64]float64 {
	law, total := map[[2]int64]float64{}, 0.0
	for x := -reach; x <= reach; x++ {
		for y := -reach; y <= reach; y++ {
			p := math.Exp(-math.Abs(float64(x))/scales[0] - math.Abs(float64(y))/scales[1] -
				math.Abs(float64(x+y))/scales[2])
			law[[2]int64{x, y}] = p
			total += p
		}
	}
	for at := range law {
		law[at] /= total
	}
	return law
}

// drawZero draws that law and no other: Pearson's chi-square of 40,000 draws over the pairs that are expected 20 times,
// all others as one, has a false alarm of 1e-7 (seeds are fixed). Draws that are projected on the plane, as real
// numbers rounded, do not pass.
func TestDrawZeroIsExact(t *testing.T) {
	const n = 40_000
	scales := [3]float64{2, 3, 5}
	law := zeroLaw(scales, 120)
	test := func(draw func(*source) [2]int64) float64 {
		src := newSource(seeded(31), 100*n)
		seen, chi, bins := map[[2]int64]float64{}, 0.0, 0.0
		for range n {
			seen[draw(src)]++
		}
		rest, others := 1.0, float64(n)
		for at, p := range law {
			if n*p < 20 {
				continue
			}
			chi, bins = chi+(seen[at]-n*p)*(seen[at]-n*p)/(n*p), bins+1
			rest, others = rest-p, others-seen[at]
		}
		chi += (others - n*rest) * (others - n*rest) / (n * rest)
		if src.err != nil {
			t.Fatal(src.err)
		}
		return distuv.ChiSquared{K: bins}.Survival(chi)
	}
	if p := test(func(s *source) [2]int64 {
		z := s.drawZero([]int64{2, 3, 5})
		if z[0]+z[1]+z[2] != 0 {
			t.Fatalf("%v does not add up to zero", z)
		}
		return [2]int64{z[0], z[1]}
	}); p < falseAlarm {
		t.Errorf("p = %g", p)
	}
	if p := test(func(s *source) [2]int64 {
		z := [3]float64{float64(s.laplace(2)), float64(s.laplace(3)), float64(s.laplace(5))}
		off := (z[0] + z[1] + z[2]) / 38 // of variances 4, 9 and 25
		return [2]int64{int64(math.Round(z[0] - 4*off)), int64(math.Round(z[1] - 9*off))}
	}); p > falseAlarm {
		t.Errorf("projected draws pass: p = %g", p)
	}
}

// For every output on the plane the ratio of its probabilities under two laws of F on the plane is that of independent
// noise, so that the same bound holds; and at F and F' it is reached: exp of Σ |F_k-F'_k|/b_k.
func TestPlaneKeepsEveryRatio(t *testing.T) {
	scales := [3]float64{2, 3, 5}
	law := zeroLaw(scales, 60)
	free := func(x, y, z int64) float64 {
		return math.Exp(-math.Abs(float64(x))/scales[0] - math.Abs(float64(y))/scales[1] -
			math.Abs(float64(z))/scales[2])
	}
	type point = [3]int64
	p := map[point]float64{{10, 10, 10}: .5, {12, 9, 9}: .5} // F, in two laws
	q := map[point]float64{{14, 8, 8}: .3, {11, 11, 8}: .7}
	most := 0.0
	for x := int64(0); x <= 25; x++ {
		for y := int64(0); y <= 25; y++ {
			var on, off [2]float64
			for i, f := range []map[point]float64{p, q} {
				for at, w := range f {
					on[i] += w * law[[2]int64{x - at[0], y - at[1]}]
					off[i] += w * free(x-at[0], y-at[1], 30-x-y-at[2])
				}
			}
			if math.Abs(on[0]/on[1]/(off[0]/off[1])-1) > 1e-9 {
				t.Fatalf("at %d, %d: %v on the plane, %v of independent noise", x, y, on[0]/on[1], off[0]/off[1])
			}
			one, other := law[[2]int64{x - 10, y - 10}], law[[2]int64{x - 14, y - 8}]
			most = math.Max(most, math.Log(one/other))
		}
	}
	if want := 4./2 + 2./3 + 2./5; math.Abs(most-want) > 1e-9 {
		t.Errorf("the loss of a pair is %v, want %v", most, want)
	}
}

// A total that is public costs nothing and leaves every promise as it is: losses and certificates are those without it,
// and the noise is the less by the closed form.
func TestTotalsLeaveLossesAlone(t *testing.T) {
	for _, d := range []int{2, 5, 16} {
		for _, kind := range []Kind{ExpmLaplace, Wasserstein, ExpmGaussian, Directional} {
			b := budget(1, 1e-3)
			if kind == ExpmLaplace || kind == Wasserstein {
				b = budget(1, 0)
			}
			r := groups(d, b)
			bound := calibrated(t, kind, r)
			r.Sums = nil
			free := calibrated(t, kind, r)
			if fmt.Sprint(bound.Losses, bound.Certificates) != fmt.Sprint(free.Losses, free.Certificates) {
				t.Errorf("%s of %d: %v %v, without the total %v %v", kind, d, bound.Losses, bound.Certificates,
					free.Losses, free.Certificates)
			}
			n := float64(d)
			ratio := bound.SD[d-1] * bound.SD[d-1] / (free.SD[d-1] * free.SD[d-1])
			switch kind {
			case ExpmLaplace, Wasserstein:
				if want := (2*n - 1) / (2*n + 2) * (n - 1) / n; math.Abs(ratio-want) > 1e-6 {
					t.Errorf("%s of %d: %v of the variance, want %v", kind, d, ratio, want)
				}
			case ExpmGaussian:
				if want := (n - 1) / n; math.Abs(ratio-want) > 1e-6 {
					t.Errorf("%s of %d: %v of the variance, want %v", kind, d, ratio, want)
				}
			default:
				if !(ratio < 1) {
					t.Errorf("%s of %d: %v of the variance", kind, d, ratio)
				}
			}
		}
	}
}

// What is released on a plane adds up before it is rounded for people, and has the noise that is said; so has normal
// noise after projection. The variance of 4,000 draws of Laplace noise given the sum, of which the fourth moment is at
// most six squared variances, is within 6 standard errors, .22 of it: 2e-9 for each, by seeds that are fixed.
func TestReleasedOnThePlane(t *testing.T) {
	for _, kind := range []Kind{ExpmLaplace, ExpmGaussian, Directional} {
		r := groups(3, budget(.01, 1e-3)) // so that whole numbers do not matter
		c := calibrated(t, kind, r)
		random := seeded(7)
		squares := make([]float64, 3)
		const n = 4000
		for range n {
			release, err := c.Noise.Release(random, NewStatistics([]*big.Rat{big.NewRat(100, 1), big.NewRat(150, 1),
				big.NewRat(50, 1)}))
			if err != nil {
				t.Fatal(err)
			}
			got, _ := release.Numbers()
			if sum := got[0] + got[1] + got[2]; kind == ExpmLaplace && math.Abs(sum-300) > 1.5 {
				t.Fatalf("released %v, before it is brought to the total", got)
			}
			if release, err = release.SummingTo(c.Noise, r.Sums); err != nil {
				t.Fatal(err)
			}
			got, _ = release.Numbers()
			if got[0]+got[1]+got[2] != 300 {
				t.Fatalf("released %v", got)
			}
			for k, f := range []float64{100, 150, 50} {
				squares[k] += (got[k] - f) * (got[k] - f) / n
			}
		}
		for k, v := range squares {
			if ratio := v / (c.SD[k] * c.SD[k]); math.Abs(ratio-1) > .22 {
				t.Errorf("%s: value %d has %.3f times the variance that is said", kind, k, ratio)
			}
		}
	}
}

// A total that the rows do not have is none that the release tells: off by one row or by a thousand, the values add up
// to what is public.
func TestFalseTotalIsNotTold(t *testing.T) {
	r := groups(3, budget(1, 0))
	c := calibrated(t, ExpmLaplace, r)
	for _, off := range []int64{1, -2, 1000} {
		for seed := range byte(20) {
			release, err := c.Noise.Release(seeded(seed), NewStatistics([]*big.Rat{big.NewRat(100+off, 1),
				big.NewRat(150, 1), big.NewRat(50, 1)}))
			if err != nil {
				t.Fatal(err)
			}
			got, _ := release.Numbers()
			if sum := got[0] + got[1] + got[2]; math.Abs(sum-300) > 1.5 {
				t.Fatalf("%d rows too many: the values add up to %v", off, sum)
			}
		}
	}
}

// A row of the table that is in none of the groups is shared out among them: F is the mean of what it is with the row
// in one group after the other. So what is hidden where the row is in a group is hidden where it is in none, whatever
// the scales are; left out, a row that leaves its group would move F by half of that.
func TestRowsInNoGroupAreShared(t *testing.T) {
	const one = 1 << 20 // steps
	rng := rand.New(rand.NewPCG(1, 9))
	for range 100 {
		d := 2 + rng.IntN(9)
		p := hyperplane{total: big.NewInt(int64(7 * d * one))}
		scale, before, after := make([]float64, d), make([]*big.Int, d), make([]*big.Int, d)
		for k := range d {
			p.of = append(p.of, k)
			scale[k] = math.Exp(2 * rng.NormFloat64())
			before[k], after[k] = big.NewInt(7*one), big.NewInt(7*one)
		}
		from := rng.IntN(d) // the group that a row is in, of one set of rows, and of another it is in none
		after[from].Sub(after[from], big.NewInt(one))
		p.project(before)
		p.project(after)

		moved, most, steps := 0.0, 0.0, 0.0
		for k := range d {
			want := float64(one) / float64(d)
			if k == from {
				want -= one
			}
			got := float64(after[k].Int64() - before[k].Int64())
			if math.Abs(got-want) >= 1 {
				t.Errorf("of %d groups: %v steps in group %d, want %v", d, got, k, want)
			}
			moved += math.Abs(got) / scale[k]
			steps += 1 / scale[k]
			if k != from {
				most = math.Max(most, one/scale[from]+one/scale[k]) // the row is in k now
			}
		}
		if moved > most+steps {
			t.Errorf("of %d groups: moved by %v, and by %v where the row is in a group", d, moved, most)
		}
	}
}

// Projected normal noise is the noise given the plane, and hides a shift on the plane as all of it does: with P the
// projection in the metric of the noise's Σ, PΣPᵀ is Σ - ΣAᵀ(AΣAᵀ)⁻¹AΣ, and vᵀ(PΣPᵀ)⁺v = vᵀΣ⁻¹v for Av = 0.
func TestProjectedNormalNoiseIsConditional(t *testing.T) {
	c := calibrated(t, ExpmGaussian, groups(5, budget(1, 1e-3)))
	const d = 5
	sigma := mat.NewSymDense(d, nil)
	along := []float64{3, -1, -4, 1, 1} // shared noise on the plane, so that Σ is no diagonal
	for k := range d {
		for l := range k + 1 {
			sigma.SetSym(k, l, c.Noise.Covariance(k, l)*float64(1+k)+2*along[k]*along[l])
		}
	}
	ones := mat.NewVecDense(d, []float64{1, 1, 1, 1, 1})
	var with mat.VecDense
	with.MulVec(sigma, ones)
	project := mat.NewDense(d, d, nil)
	project.Outer(-1/mat.Dot(ones, &with), &with, ones)
	for k := range d {
		project.Set(k, k, project.At(k, k)+1)
	}
	var left, half mat.Dense
	half.Mul(project, sigma)
	left.Mul(&half, project.T())
	given := mat.NewDense(d, d, nil)
	given.Outer(-1/mat.Dot(ones, &with), &with, &with)
	given.Add(given, sigma)
	if !mat.EqualApprox(&left, given, 1e-9*mat.Norm(sigma, 2)) {
		t.Errorf("projected %v, given the plane %v", mat.Formatted(&left), mat.Formatted(given))
	}

	// In coordinates of the plane, all but the last component, given has an inverse.
	shift := mat.NewVecDense(d, []float64{5, -3, -1, 2, -3})
	var chol, part mat.Cholesky
	inner := mat.NewSymDense(d-1, nil)
	for k := range d - 1 {
		for l := range k + 1 {
			inner.SetSym(k, l, given.At(k, l))
		}
	}
	if !chol.Factorize(sigma) || !part.Factorize(inner) {
		t.Fatal("no inverse")
	}
	var x, y mat.VecDense
	first := mat.NewVecDense(d-1, []float64{5, -3, -1, 2})
	if chol.SolveVecTo(&x, shift) != nil || part.SolveVecTo(&y, first) != nil {
		t.Fatal("no solution")
	}
	if whole, on := mat.Dot(shift, &x), mat.Dot(first, &y); math.Abs(whole/on-1) > 1e-9 {
		t.Errorf("κ² is %v of all noise, and %v on the plane", whole, on)
	}
}

// What cannot be drawn on a plane is left to projection: fractions, totals of one value, scales too far apart, noise
// for a model that is off; and totals that are malformed are refused.
func TestWhatIsNotDrawnOnThePlane(t *testing.T) {
	drawn := func(change func(*Request)) bool {
		r := groups(4, budget(1, 0))
		change(&r)
		c := calibrated(t, ExpmLaplace, r)
		return len(c.Noise.planes) > 0
	}
	if !drawn(func(*Request) {}) {
		t.Error("counts are not drawn on the plane")
	}
	for name, change := range map[string]func(*Request){
		"a fraction":     func(r *Request) { r.Components[2].Integer = false },
		"half a row":     func(r *Request) { r.Sums[0].Total = big.NewRat(801, 2) },
		"one value":      func(r *Request) { r.Sums[0].Components = r.Sums[0].Components[:1] },
		"uneven scales":  func(r *Request) { r.Components[1].Unit = 1e5 },
		"a nearby model": func(r *Request) { r.Relaxed = within },
	} {
		if drawn(change) {
			t.Errorf("%s: drawn on the plane", name)
		}
	}
	for _, bad := range [][]Sum{{{}}, {{[]int{0, 4}, big.NewRat(1, 1)}}, {{[]int{0, 0}, big.NewRat(1, 1)}}} {
		r := groups(4, budget(1, 0))
		r.Sums = bad
		if _, err := Calibrate(t.Context(), ExpmLaplace, r); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}
