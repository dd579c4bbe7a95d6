package joint

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"fugu/privacy"
)

// A sum over 100 rows that is 1 more in a tenth of them, and 1 more besides in each row of a class of which there are 5
// more under one value: its law is skewed, known exactly, and shifts by 5. Released four times, with noise of the size
// of a quarter each, it tells what it does with that noise. By normal laws δ at ε = 2 would be less than it is; by the
// account's κ it is not.
func TestSkewedSumsAreCounted(t *testing.T) {
	const n, noise, epsilon, times = 100., 38., 2., 4
	const rows = 1000
	class, values, cells := make([]int16, rows), make([]float64, rows), make([]int16, rows)
	for r := range rows {
		class[r] = int16(r % 2)
		values[r] = float64(class[r])
		if r/2%10 == 0 {
			values[r]++
		}
	}
	terms, err := NewTerms(rows, 1, []Group{{cells, []Column{{[]int{0}, values}}}})
	if err != nil {
		t.Fatal(err)
	}
	kappa := func(shapes bool) float64 {
		a, err := New(Sample{Rows: rows, Classes: map[string][]int16{"s": class}}, []Secret{{Name: "s", N: n,
			Pairs: []Pair{{P: []float64{.45, .55}, Q: []float64{.5, .5}}}}})
		if err != nil {
			t.Fatal(err)
		}
		if shapes {
			a.CountShapes(epsilon)
		}
		for range times {
			if err := a.Append(Release{Terms: terms, Noise: []float64{noise * times}}); err != nil {
				t.Fatal(err)
			}
		}
		return math.Sqrt(a.Cost("s").Kappa2)
	}

	// The exact law is binomial, and that law with the noise is a mixture of normal ones.
	law := distuv.Binomial{N: n, P: .1}
	density := func(y float64) (f float64) {
		for k := range int(n) + 1 {
			z := y - float64(k)
			f += law.Prob(float64(k)) * math.Exp(-z*z/2/noise) / math.Sqrt(2*math.Pi*noise)
		}
		return f
	}
	exact := [2]float64{}
	const step = 1. / 16
	for y := -60.; y < 100; y += step {
		p, q := density(y-5), density(y)
		exact[0] += step * math.Max(0, p-math.Exp(epsilon)*q)
		exact[1] += step * math.Max(0, q-math.Exp(epsilon)*p)
	}
	truth := math.Max(exact[0], exact[1])
	counted, normal := privacy.GaussianDelta(epsilon, kappa(true)), privacy.GaussianDelta(epsilon, kappa(false))
	t.Logf("δ is %.6f; %.6f by κ, %.6f by κ of normal laws", truth, counted, normal)
	if truth > counted {
		t.Errorf("δ is %v, and %v by the account's κ", truth, counted)
	}
	if truth < 1.05*normal {
		t.Errorf("δ is %v, and %v by normal laws: the test shows nothing", truth, normal)
	}
}
