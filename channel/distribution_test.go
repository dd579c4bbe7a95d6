package channel

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// grid are all laws over n values whose probabilities are multiples of 1/steps.
func grid(n, steps int) (out [][]float64) {
	if n == 1 {
		return [][]float64{{float64(steps)}}
	}
	for first := range steps + 1 {
		for _, rest := range grid(n-1, steps-first) {
			out = append(out, append([]float64{float64(first)}, rest...))
		}
	}
	return out
}

// laws are those of grid, as probabilities.
func laws(n, steps int) [][]float64 {
	out := grid(n, steps)
	for _, law := range out {
		for x := range law {
			law[x] /= float64(steps)
		}
	}
	return out
}

// drawn is a channel of random rows, some of whose entries are 0 if zeros.
func drawn(t *rapid.T, inputs, outputs int, zeros bool) Channel {
	var matrix [][]float64
	for range inputs {
		row := somewhere(t, outputs, "row")
		if zeros && rapid.Bool().Draw(t, "zero") {
			y := rapid.IntRange(0, outputs-1).Draw(t, "where")
			left := 1 - row[y]
			row[y] = 0
			for i := range row {
				row[i] /= left
			}
		}
		matrix = append(matrix, row)
	}
	c, err := New(matrix)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Theorems 1 and 2 of Kawamoto & Murakami, by enumeration: of all pairs of laws of a grid none is shown further apart
// than Apart says, one is shown as far, and a pair whose total variation is t no further than t times that. Over the
// whole numbers as values, the same with the earth mover's distance.
func TestLawsAreHidden(t *testing.T) {
	line := func(x, y int) float64 { return math.Abs(float64(x - y)) }
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 3).Draw(t, "n")
		c := drawn(t, n, rapid.IntRange(2, 4).Draw(t, "outputs"), true)
		all := laws(n, 4)
		values := []float64{0, 1, 2}[:n]
		epsilon := rapid.Float64Range(0, 2).Draw(t, "ε")
		for _, d := range append([]Divergence{Beyond(epsilon)}, Divergences...) {
			apart, slope, most := c.Apart(d), c.PerDistance(d, line), 0.
			for _, p := range all {
				for _, q := range all {
					shown := d.Of(c.Shown(p), c.Shown(q))
					most = max(most, shown)
					if tv := TotalVariation.Of(p, q); tv > 0 && shown > apart*tv+1e-9 {
						t.Fatalf("%s: %v and %v are shown %v apart, beyond %v of %v", d.Name, p, q, shown, tv, apart)
					}
					if w := Distance(values, p, q); w > 0 && shown > slope*w+1e-9 {
						t.Fatalf("%s: %v and %v are shown %v apart, beyond %v for each of "+
							"%v", d.Name, p, q, shown, slope, w)
					}
				}
			}
			if most != apart && !(math.Abs(most-apart) < 1e-9) {
				t.Fatalf("%s: laws are shown %v apart at most, and Apart says %v", d.Name, most, apart)
			}
		}

		// And of the max-divergence, pure and but for δ.
		delta, pure := rapid.Float64Range(.01, .3).Draw(t, "δ"), 0.
		atDelta := c.Epsilon(delta)
		for _, p := range all {
			for _, q := range all {
				shownP, shownQ := c.Shown(p), c.Shown(q)
				pure = max(pure, MaxDivergence(shownP, shownQ))
				if !math.IsInf(atDelta, 1) && Beyond(atDelta).Of(shownP, shownQ) > delta+1e-9 {
					t.Fatalf("δ = %v does not cover what is beyond %v", delta, atDelta)
				}
			}
		}
		if e := c.Epsilon(0); e != pure && !(math.Abs(e-pure) < 1e-9) {
			t.Fatalf("ε is %v, and laws are shown %v apart", e, pure)
		}
		if atDelta > 1e-6 && !math.IsInf(atDelta, 1) && c.Apart(Beyond(atDelta-1e-6)) <= delta {
			t.Fatalf("ε = %v is not the least for δ = %v", atDelta, delta)
		}
	})
}

// Randomised response at ε: (ε,0) of any two laws, and their total variation shrinks to tanh(ε/2) of what it was.
// Theorem 2 is false of the max-divergence: a hundredth of the rows at a value that alone can show an output shows it
// in full.
func TestHiddenLawsByHand(t *testing.T) {
	right := math.E / (1 + math.E)
	c, err := New([][]float64{{right, 1 - right}, {1 - right, right}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "ε", c.Epsilon(0), 1, 1e-9)
	near(t, "total variation", c.Apart(TotalVariation), math.Tanh(.5), 1e-9)
	near(t, "KL", c.Apart(KL), math.Tanh(.5), 1e-9)
	near(t, "δ at ε = .5", c.Apart(Beyond(.5)), right-math.Exp(.5)*(1-right), 1e-9)
	near(t, "ε at that δ", c.Epsilon(right-math.Exp(.5)*(1-right)), .5, 1e-6)

	told, err := New([][]float64{{1, 0}, {.5, .5}})
	if err != nil {
		t.Fatal(err)
	}
	if d := MaxDivergence(told.Shown([]float64{.99, .01}), told.Shown([]float64{1, 0})); !math.IsInf(d, 1) {
		t.Errorf("the max-divergence is %v", d)
	}
	near(t, "excluded, at δ = .5", told.Epsilon(.5), 0, 1e-6)
	third, err := New([][]float64{{.9, .1, 0}, {.2, .3, .5}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "beside what is excluded", third.Epsilon(.5+1e-6), math.Log(3), 1e-5)
	if e := told.Epsilon(.4); !math.IsInf(e, 1) {
		t.Errorf("ε = %v hides what half of the rows of a value exclude", e)
	}
}

// A transformation of rows in front of a channel is 1-stable [Kawamoto & Murakami, Definition 13]: laws that differ in
// a share t of the rows still do. So a channel behind it keeps what it keeps by itself.
func TestTransformationIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 4).Draw(t, "n")
		first, second := drawn(t, n, 3, true), drawn(t, 3, 3, false)
		p, q := somewhere(t, n, "p"), somewhere(t, n, "q")
		for _, d := range Divergences {
			if got := d.Of(second.Shown(first.Shown(p)), second.Shown(first.Shown(q))); got > second.Apart(d)+1e-9 {
				t.Fatalf("%s: %v behind a transformation, %v without", d.Name, got, second.Apart(d))
			}
		}
		if TotalVariation.Of(first.Shown(p), first.Shown(q)) > TotalVariation.Of(p, q)+1e-9 {
			t.Fatal("a transformation moves laws apart")
		}
	})
}
