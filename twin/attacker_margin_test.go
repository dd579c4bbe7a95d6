package twin

import (
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"fugu/policy"
)

// marked is how many of so many rows with the secret have a mark, where known rows of all n have it and the odds of the
// mark are so many times higher with the secret than without: the mode of its law.
func marked(rows, known, n int64, odds float64) int64 {
	low, high := int64(0), min(rows, known)
	for low < high {
		m := low + (high-low)/2
		if float64(m)*float64(n-rows-known+m) < odds*float64(rows-m)*float64(known-m) {
			low = m + 1
		} else {
			high = m
		}
	}
	return low
}

// seenMarks is how many marks there are among m of n rows, drawn without replacement.
func seenMarks(m, marks, n int64, rng *rand.Rand) (seen int64) {
	for i := range m {
		if rng.Int64N(n-i) < marks-seen {
			seen++
		}
	}
	return seen
}

// Who knows how many women there are, exactly, wins where the policy does not say so: N₁ = (W - n·f₀)/(f₁ - f₀) of the
// shares of women in the classes of the twin. Where it does, who also knows how they divide over the classes under both
// values, and goes by the exact likelihood of all that was told, is right no more often than (e^ε+δ)/(1+e^ε); and the
// margin comes out of the twin as it is. Adult's size, shares of .25 and .30 that are equally likely, n = 4,000 twins
// for each; a share of guesses is off by √(ln(10⁶)/2n) = .042 with probability 1e-6 [Hoeffding].
func TestWhoKnowsAMargin(t *testing.T) {
	const n, rows, women, epsilon, delta = 4000, 35222, 11486, 1., .001
	rng, random := rand.New(rand.NewPCG(4, 0)), rand.NewChaCha8([32]byte{4})
	secret := []Secret{proportion(policy.Span{From: .1, To: .6, Within: .05})}
	whole, err := New(Spec{Rows: rows, Epsilon: epsilon, Delta: delta, Secrets: secret})
	if err != nil {
		t.Fatal(err)
	}
	celled, err := New(Spec{Rows: rows, Epsilon: epsilon, Delta: delta, Smallest: .05,
		Public: publicly(women, rows-women), Secrets: secret})
	if err != nil {
		t.Fatal(err)
	}

	// The two tables, by class and by cell: women and men of the one class, then of the other.
	var tables, cells [2][]int64
	for i, high := range []int64{8806, 10566} {
		w := marked(high, women, rows, .28)
		tables[i], cells[i] = []int64{high, rows - high}, []int64{w, women - w, high - w, rows - women - high + w}
	}

	if k := moved(cells[0], cells[1]); k != 1760 || !celled.Covers(cells[0]) || !celled.Covers(cells[1]) {
		t.Fatalf("%v and %v differ by %d rows", cells[0], cells[1], k)
	}
	undeclared, declared := 0., 0.
	for i := range n {
		truth := i % 2
		_, taken := drawOnce(t, whole, random, tables[truth])
		var f [2]float64
		for c, m := range taken {
			f[c] = float64(seenMarks(m, cells[truth][c], tables[truth][c], rng)) / float64(m)
		}
		if high := (women - rows*f[1]) / (f[0] - f[1]); (high > 9686) == (truth == 1) {
			undeclared += 1. / n
		}

		noisy, _ := drawOnce(t, celled, random, cells[truth])
		if noisy[0]+noisy[1] != women {
			t.Fatalf("%d women are told, of %d", noisy[0]+noisy[1], women)
		}
		switch ratio := likelier(celled, cells, noisy); {
		case ratio == 0:
			declared += .5 / n
		case (ratio > 0) == (truth == 0):
			declared += 1. / n
		}
	}

	chance := math.Sqrt(math.Log(1e6) / 2 / n)
	allowed := (math.Exp(epsilon)+delta)/(1+math.Exp(epsilon)) + chance
	t.Logf("right in %.3f where the number of women is not declared, in %.3f where it is; %.3f is allowed, of which "+
		"%.3f is chance. %s: error %.4f, %s: %.4f", undeclared, declared, allowed, chance, whole, whole.Error(),
		celled, celled.Error())
	if undeclared < allowed {
		t.Errorf("right in %.3f: the margin tells nothing that is not allowed, and the test shows nothing", undeclared)
	}
	if declared > allowed || declared < .6 {
		t.Errorf("right in %.3f of the guesses, and %.3f are allowed", declared, allowed)
	}
}

// drawOnce draws noise for a table's counts, and how many rows of each class are taken.
func drawOnce(t *testing.T, d *Design, random io.Reader, counts []int64) (noisy, taken []int64) {
	t.Helper()
	noisy, err := d.Draw(random, counts)
	if err == nil {
		taken, err = d.Take(noisy)
	}
	if err != nil {
		t.Fatal(err)
	}
	return noisy, taken
}

// likelier is the logarithm of how much likelier the noise before clamping makes the first of two tables, by cells of
// two classes; a count that only one of them can bring forth decides.
func likelier(d *Design, tables [2][]int64, noisy []int64) (out float64) {
	v := d.noise.(*vector)
	for c := 0; c < len(noisy); c += 2 {
		a, b := abs(noisy[c]-tables[0][c]), abs(noisy[c]-tables[1][c])
		if v.most >= 0 && (a > v.most) != (b > v.most) {
			return math.Inf(map[bool]int{true: -1, false: 1}[a > v.most])
		}
		out += float64(b-a) * v.epsilon() / float64(v.move)
	}
	return out
}
