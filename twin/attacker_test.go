package twin

import (
	"math"
	"math/rand/v2"
	"testing"

	"fugu/policy"
)

// knower is an analyst who knows K rows of a class one by one, sees how many of them are in the twin, and guesses
// which of two values the table has by the exact likelihood of that and of the told counts: no test of the two is
// right more often.
type knower struct {
	d             *Design
	counts, other []int64
	rows          int64
	class         int
	told          map[int64][2]float64 // by the first told count: logarithms of its probability under both values
	seen          map[[3]int64][]float64
}

func newKnower(d *Design, counts, other []int64, rows int64, class int) *knower {
	k := &knower{d, counts, other, rows, class, map[int64][2]float64{}, map[[3]int64][]float64{}}
	d.noise.pairwise(0, counts, other, func(noisy []int64, p, q float64) { k.told[noisy[0]] = [2]float64{p, q} })
	return k
}

// law is that of how many known rows are among m of n, in logarithms.
func (k *knower) law(n, m int64) []float64 {
	at := [3]int64{n, m, k.rows}
	if k.seen[at] == nil {
		k.seen[at] = hypergeometric(n, k.rows)(min(m, n))
	}
	return k.seen[at]
}

// right is the share of n guesses that are right, the two values being equally likely.
func (k *knower) right(t *testing.T, n int, rng *rand.Rand, random *rand.ChaCha8) float64 {
	t.Helper()
	right := 0.
	for i := range n {
		truth := [2][]int64{k.counts, k.other}[i%2]
		noisy, err := k.d.Draw(random, truth)
		if err != nil {
			t.Fatal(err)
		}
		take, err := k.d.Take(noisy)
		if err != nil {
			t.Fatal(err)
		}
		m, seen := take[k.class], int64(0)
		// The known rows are in the twin or not, one after the other.
		for j := range k.rows {
			if rng.Int64N(truth[k.class]-j) < m-seen {
				seen++
			}
		}

		p := k.told[noisy[0]]
		ratio := p[0] - p[1] + k.law(k.counts[k.class], m)[seen] - k.law(k.other[k.class], m)[seen]
		switch {
		case ratio == 0 || math.IsNaN(ratio):
			right += .5
		case (ratio > 0) == (i%2 == 0):
			right++
		}
	}
	return right / float64(n)
}

// Who knows rows that the policy counts is right no more often than the certificate allows, (e^ε+δ)/(1+e^ε); who
// knows as many that it does not count is right more often than that, and no more than the preview says. Adult,
// shares of .25 and .30, n = 20,000 twins for each; a share of guesses is off by √(ln(10⁶)/2n) = .019 with
// probability 1e-6 [Hoeffding].
func TestWhoKnowsRows(t *testing.T) {
	const n, epsilon, delta = 20_000, 1., .001
	margin := math.Sqrt(math.Log(1e6) / 2 / n)
	bound := func(e, d float64) float64 {
		if math.IsInf(e, 1) {
			return 1
		}
		return (math.Exp(e) + d) / (1 + math.Exp(e))
	}

	rng, random := rand.New(rand.NewPCG(3, 0)), rand.NewChaCha8([32]byte{3})
	for _, c := range []struct {
		declared, known int64
		beyond          bool // what is known breaks the certificate visibly
	}{{0, 0, false}, {1, 1, false}, {100, 100, false}, {0, 1, false}, {0, 10, false}, {0, 100, true}, {0, 1000, true}} {
		d, err := New(Spec{Rows: 35222, Epsilon: epsilon, Delta: delta, KnownRows: c.declared,
			Secrets: []Secret{proportion(policy.Span{From: .1, To: .6, Within: .05})}})
		if err != nil {
			t.Fatal(err)
		}
		one, two := []int64{8805, 35222 - 8805}, []int64{10566, 35222 - 10566}
		share := 0.
		for class := range 2 { // whichever class the rows are of that tell most
			share = math.Max(share, newKnower(d, one, two, c.known, class).right(t, n, rng, random))
			if c.known == 0 {
				break
			}
		}

		certified, preview := bound(epsilon, delta), bound(d.Loss(c.known, one, two, 2*delta), 2*delta)
		t.Logf("%4d rows known, %3d declared: right in %.3f; the certificate allows %.3f, the preview %.3f",
			c.known, c.declared, share, certified, preview)
		if c.known <= c.declared && share > certified+margin {
			t.Errorf("right in %.3f, where %.3f is certified", share, certified)
		}
		if share > preview+margin {
			t.Errorf("right in %.3f, where the preview says %.3f", share, preview)
		}
		if (share > certified+margin) != c.beyond {
			t.Errorf("beyond what is certified: %v", !c.beyond)
		}
	}
}
