package channel

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// divergences are those of table I, each D_f(p‖q) = Σ q f(p/q) [Kawamoto & Murakami, Definition 6; the stored text of
// the paper has lost the symbols, and these are the textbook's].
var divergences = map[string]func(ratio float64) float64{
	"KL":              func(t float64) float64 { return t * math.Log(t) },
	"reverse KL":      func(t float64) float64 { return -math.Log(t) },
	"total variation": func(t float64) float64 { return math.Abs(t-1) / 2 },
	"χ²":              func(t float64) float64 { return (t - 1) * (t - 1) },
	"Hellinger":       func(t float64) float64 { return (math.Sqrt(t) - 1) * (math.Sqrt(t) - 1) / 2 },
}

// divergence is D_f of two laws of which neither excludes what the other has.
func divergence(f func(float64) float64, p, q []float64) (sum float64) {
	for x := range p {
		sum += q[x] * f(p[x]/q[x])
	}
	return sum
}

// By hand, for (1/2, 1/2) against (1/4, 3/4).
func TestTableOfDivergences(t *testing.T) {
	p, q := []float64{.5, .5}, []float64{.25, .75}
	for name, want := range map[string]float64{
		"KL":              math.Ln2/2 + math.Log(2./3)/2,
		"reverse KL":      math.Log(.5)/4 + math.Log(1.5)*3/4,
		"total variation": .25,
		"χ²":              1. / 3,
		"Hellinger":       1 - math.Sqrt(.125) - math.Sqrt(.375),
	} {
		near(t, name, divergence(divergences[name], p, q), want, 1e-12)
	}
	near(t, "max", MaxDivergence(p, q), math.Ln2, 1e-12)
}

// somewhere draws a law without zeros.
func somewhere(t *rapid.T, n int, name string) []float64 {
	v, sum := rapid.SliceOfN(rapid.Float64Range(.05, 1), n, n).Draw(t, name), 0.
	for _, x := range v {
		sum += x
	}
	for x := range v {
		v[x] /= sum
	}
	return v
}

// Tables II and III, as far as they hold for every divergence: what a channel shows of two laws is no further apart
// than they are, in any of them; and for KL and the max-divergence, what two rows show that are drawn independently is
// as far apart as the two are together. Figure 4: the max-divergence is the strongest; KL, which it bounds, bounds the
// total variation [Pinsker], and that the Hellinger distance.
func TestDivergencesOfChannels(t *testing.T) {
	closer := 0
	rapid.Check(t, func(t *rapid.T) {
		n, outputs := rapid.IntRange(2, 5).Draw(t, "n"), rapid.IntRange(2, 5).Draw(t, "outputs")
		p, q := somewhere(t, n, "p"), somewhere(t, n, "q")
		var matrix [][]float64
		for range n {
			matrix = append(matrix, somewhere(t, outputs, "row"))
		}
		c, err := New(matrix)
		if err != nil {
			t.Fatal(err)
		}
		shownP, shownQ := c.Shown(p), c.Shown(q)

		for name, f := range divergences {
			before, after := divergence(f, p, q), divergence(f, shownP, shownQ)
			if after > before+1e-9 || after < -1e-9 {
				t.Fatalf("%s: shown values are %v apart, and the laws %v", name, after, before)
			}
			if after < before/2 {
				closer++
			}
		}
		if MaxDivergence(shownP, shownQ) > MaxDivergence(p, q)+1e-9 {
			t.Fatal("the max-divergence grows by being shown")
		}

		kl, tv := divergence(divergences["KL"], p, q), divergence(divergences["total variation"], p, q)
		if kl > MaxDivergence(p, q)+1e-9 || tv > math.Sqrt(kl/2)+1e-9 ||
			divergence(divergences["Hellinger"], p, q) > tv+1e-9 {
			t.Fatalf("KL %v, total variation %v of %v and %v", kl, tv, p, q)
		}

		// Two rows: the product laws.
		pair := func(a, b []float64) (out []float64) {
			for _, x := range a {
				for _, y := range b {
					out = append(out, x*y)
				}
			}
			return out
		}
		both, other := pair(p, shownP), pair(q, shownQ)
		if d := divergence(divergences["KL"], both, other); math.Abs(d-kl-divergence(divergences["KL"], shownP,
			shownQ)) > 1e-9 {
			t.Fatalf("KL of two rows is %v", d)
		}
		if d := MaxDivergence(both, other); math.Abs(d-MaxDivergence(p, q)-MaxDivergence(shownP, shownQ)) > 1e-9 {
			t.Fatalf("the max-divergence of two rows is %v", d)
		}
	})
	if closer == 0 {
		t.Error("no channel brought laws closer together: the check sees nothing")
	}
}

// The same input shown twice: what two outputs tell together is not bounded by what each tells. A bit plus a coin,
// modulo 2, tells nothing of the bit, nor does the coin, and both tell all.
func TestSharedInputsDoNotCompose(t *testing.T) {
	// The input is a bit and a coin; the first output is their sum modulo 2, the second the coin.
	zero, one := []float64{.5, .5, 0, 0}, []float64{0, 0, .5, .5} // (0,heads), (0,tails), (1,heads), (1,tails)
	sum, err := New([][]float64{{1, 0}, {0, 1}, {0, 1}, {1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	coin, err := New([][]float64{{1, 0}, {0, 1}, {1, 0}, {0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	both, err := New([][]float64{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]Channel{"the sum": sum, "the coin": coin} {
		near(t, name, MaxDivergence(c.Shown(zero), c.Shown(one)), 0, 1e-9)
	}
	if d := MaxDivergence(both.Shown(zero), both.Shown(one)); !math.IsInf(d, 1) {
		t.Errorf("both outputs are %v apart", d)
	}
}
