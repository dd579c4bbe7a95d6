package channel

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// By hand, for (1/2, 1/2) against (1/4, 3/4).
func TestTableOfDivergences(t *testing.T) {
	p, q := []float64{.5, .5}, []float64{.25, .75}
	wants := []float64{math.Ln2/2 + math.Log(2./3)/2, math.Log(.5)/4 + math.Log(1.5)*3/4, .25, 1. / 3,
		1 - math.Sqrt(.125) - math.Sqrt(.375)}
	for i, d := range Divergences {
		near(t, d.Name, d.Of(p, q), wants[i], 1e-12)
	}
	near(t, "max", MaxDivergence(p, q), math.Ln2, 1e-12)
	near(t, "beyond ε", Beyond(.1).Of(p, q), .5-math.Exp(.1)/4, 1e-12)
}

// What one law has and the other excludes: (1/2, 1/2) against (1, 0), and back.
func TestDivergencesOfWhatIsExcluded(t *testing.T) {
	p, q, inf := []float64{.5, .5}, []float64{1, 0}, math.Inf(1)
	there := []float64{inf, math.Ln2, .5, inf, 1 - math.Sqrt(.5)}
	back := []float64{math.Ln2, inf, .5, 1, 1 - math.Sqrt(.5)}
	for i, d := range Divergences {
		for which, got := range map[string][2]float64{"there": {d.Of(p, q), there[i]}, "back": {d.Of(q, p), back[i]}} {
			if got[0] != got[1] && !(math.Abs(got[0]-got[1]) < 1e-12) {
				t.Errorf("%s, %s: %v, want %v", d.Name, which, got[0], got[1])
			}
		}
	}
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

		for _, d := range Divergences {
			name, before, after := d.Name, d.Of(p, q), d.Of(shownP, shownQ)
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

		kl, tv := KL.Of(p, q), TotalVariation.Of(p, q)
		if kl > MaxDivergence(p, q)+1e-9 || tv > math.Sqrt(kl/2)+1e-9 ||
			Hellinger.Of(p, q) > tv+1e-9 {
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
		if d := KL.Of(both, other); math.Abs(d-kl-KL.Of(shownP, shownQ)) > 1e-9 {
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

// Parts of a table that have no row in common do not tell as little together as one of them [against Seeman, Reimherr &
// Slavkovic, Lemma 7, for secrets of a whole table]. In each of three parts all rows have one bit, the secret, and each
// part shows it by randomised response at ε = .5: each by itself is within .5, and all three together are 1.5 apart.
// The lemma's proof takes a secret to be about a row of one part. What two parts tell is no more than either where they
// are of independent secrets: what a part shows has then one law, whatever the other's secret is.
func TestPartsTellTogether(t *testing.T) {
	const epsilon = .5
	right := math.Exp(epsilon) / (1 + math.Exp(epsilon))
	part, err := New([][]float64{{right, 1 - right}, {1 - right, right}})
	if err != nil {
		t.Fatal(err)
	}
	zero, one := part.Shown([]float64{1, 0}), part.Shown([]float64{0, 1})
	product := func(laws ...[]float64) []float64 {
		out := []float64{1}
		for _, law := range laws {
			var next []float64
			for _, p := range out {
				for _, q := range law {
					next = append(next, p*q)
				}
			}
			out = next
		}
		return out
	}
	near(t, "one part", MaxDivergence(zero, one), epsilon, 1e-9)
	near(t, "three parts of one secret", MaxDivergence(product(zero, zero, zero), product(one, one, one)), 3*epsilon,
		1e-9)
	for name, other := range map[string][]float64{"0": zero, "1": one, "either": part.Shown([]float64{.3, .7})} {
		near(t, "two parts of secrets of their own, of which the other is "+name,
			MaxDivergence(product(zero, other), product(one, other)), epsilon, 1e-9)
	}
}
