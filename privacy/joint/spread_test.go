package joint

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"fugu/test/normals"
)

// Sums of signs, and the same signs turned round for one class: no statement alone has a covariance that differs. ε of
// all of them is at least what the exact law of the normal vectors needs; with the covariances between statements left
// out it is far below, and refuted.
func TestCovariancesBetweenStatements(t *testing.T) {
	const rows, n, pairs, epsilon = 600, 20_000., 30, .6
	r := rand.New(rand.NewPCG(13, 3))
	sample := Sample{Rows: rows, Classes: map[string][]int16{"s": make([]int16, rows)}}
	for i := range rows {
		sample.Classes["s"][i] = int16(i % 2)
	}
	p, q := []float64{.9, .1}, []float64{.85, .15}
	secret := Secret{Name: "s", N: n, Pairs: []Pair{{P: p, Q: q}}}
	together, err := New(sample, []Secret{secret})
	if err != nil {
		t.Fatal(err)
	}
	exact, alone := &slow{sample: sample}, Cost{}
	for k := range 2 * pairs {
		terms := signs(t, rows, k/2, k%2 == 1)
		release := Release{Terms: terms, Noise: []float64{4000 * (1 + r.Float64())}, Hidden: map[string]bool{"s": true}}
		if err := together.Append(release); err != nil {
			t.Fatal(err)
		}
		exact.add(release)
		one, err := New(sample, []Secret{secret})
		if err != nil {
			t.Fatal(err)
		}
		if err := one.Append(release); err != nil {
			t.Fatal(err)
		}
		alone.G, alone.Slope = alone.G+one.Cost("s").G, max(alone.Slope, one.Cost("s").Slope)
	}

	_, high := exact.within(func(i int) bool { return i%2 == 1 })
	_, low := exact.within(func(i int) bool { return i%2 == 0 })
	delta := normals.Delta(t, mixed(n, p, low, high, exact.noise), mixed(n, q, low, high, exact.noise), epsilon)
	cost := together.Cost("s")
	if got := cost.Epsilon(delta, Beside{}); got < epsilon {
		t.Errorf("ε = %g of all together at δ = %g, where the exact δ(%g) is that", got, delta, epsilon)
	}
	// The planted fault.
	if got := alone.Epsilon(delta, Beside{}); got > epsilon/2 {
		t.Errorf("ε = %g where covariances between statements are left out: it is no test", got)
	}
	// By the number of components alone.
	weight := 0.0
	for k := range exact.noise {
		v := n * (p[0]*low.At(k, k) + p[1]*high.At(k, k))
		weight += v / (v + exact.noise[k])
	}

	if loose := (Cost{Slope: 1, Bend: cost.Bend}).Outside(weight, weight); loose.Epsilon(delta, Beside{}) < epsilon ||
		cost.G > loose.G {
		t.Errorf("G = %g by the number, %g by the stack", loose.G, cost.G)
	}
	t.Logf("δ(%g) = %.3g exactly; there ε = %.3g of all together, %.3g each by itself", epsilon, delta,
		cost.Epsilon(delta, Beside{}), alone.Epsilon(delta, Beside{}))
}

// signs are ±1 for each row, as many of one kind as of the other in each class; turned: those of one class have the
// other sign.
func signs(t *testing.T, rows, seed int, turned bool) *Terms {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(seed), 4))
	values := make([]float64, rows)
	for class := range 2 {
		order := r.Perm(rows / 2)
		for i, at := range order {
			sign := float64(1 - 2*(i%2))
			if turned && class == 0 {
				sign = -sign
			}
			values[2*at+class] = sign
		}
	}

	terms, err := NewTerms(rows, 1, []Group{{Cells: make([]int16, rows),
		Columns: []Column{{At: []int{0}, Values: values}}}})
	if err != nil {
		t.Fatal(err)
	}
	return terms
}

// mixed is the covariance of all components, with their noise, under shares of two classes.
func mixed(n float64, shares []float64, low, high *mat.Dense, noise []float64) *mat.SymDense {
	s := mat.NewSymDense(len(noise), nil)
	for k := range noise {
		for l := range k + 1 {
			s.SetSym(k, l, n*(shares[0]*low.At(k, l)+shares[1]*high.At(k, l)))
		}
		s.SetSym(k, k, s.At(k, k)+noise[k])
	}
	return s
}
