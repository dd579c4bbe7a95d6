package channel

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "fugu/test/seeded"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s: got %.8g, want %.8g within %g", what, got, want, within)
	}
}

func TestNew(t *testing.T) {
	c, err := New([][]float64{{1. / 3, 1. / 3, 1. / 3}, {0, 1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	for x := range c.Inputs() {
		sum := uint64(0)
		for _, e := range c.Row(x) {
			sum += e.Weight
		}
		if sum != Whole {
			t.Errorf("row %d: the weights add up to %d, want %d", x, sum, uint64(Whole))
		}
	}
	if got := c.Row(1); len(got) != 1 || got[0] != (Entry{1, Whole}) {
		t.Errorf("the second value becomes %v, want itself", got)
	}
	near(t, "a third", c.Probability(0, 2), 1./3, 1./Whole)

	for text, p := range map[string][][]float64{
		"no values":           nil,
		"row 1 has 1 outputs": {{.5, .5}, {1}},
		"is no probability":   {{-.5, 1.5}},
		"add up to 0.9":       {{.5, .4}},
		"NaN":                 {{math.NaN(), 1}},
	} {
		if _, err := New(p); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: error %v, want one with %q", p, err, text)
		}
	}
}

// The worst law of a ball is found by an exhaustive search over a grid of laws, too.
func TestLeakageIsTheWorstOfTheBall(t *testing.T) {
	c, err := New([][]float64{{.7, .2, .1}, {.3, .4, .3}, {.05, .15, .8}})
	if err != nil {
		t.Fatal(err)
	}
	for _, radius := range []float64{0, .1, .5, 1.2, 2} {
		laws := Ball{Center: []float64{.5, .3, .2}, Radius: radius}
		for y := range c.Outputs() {
			worst := 0.
			const steps = 200
			for i := range steps + 1 {
				for j := range steps + 1 - i {
					q := []float64{float64(i) / steps, float64(j) / steps, float64(steps-i-j) / steps}
					apart := 0.
					for x := range q {
						apart += math.Abs(q[x] - laws.Center[x])
					}
					if apart > radius+1e-12 {
						continue
					}
					v := c.Column(y)
					worst = max(worst, math.Log(max(v[0], v[1], v[2])/c.Shown(q)[y]))
				}
			}
			near(t, "leakage", c.Leakage(y, laws), worst, 1e-9)
		}
	}
}

// Grosse et al., Example 1: the mechanism leaks ln 9/8 by each output, and no channel says more.
func TestFirstRegion(t *testing.T) {
	paper, err := New([][]float64{{.325, .225, .225, .225}, {.45, .1, .225, .225}, {.45, .225, .1, .225},
		{.45, .225, .225, .1}})
	if err != nil {
		t.Fatal(err)
	}
	laws := Ball{Center: []float64{.4, .2, .2, .2}}
	for y := range 4 {
		near(t, "leakage", paper.Leakage(y, laws), math.Log(9./8), 1e-12)
	}
	best, err := Optimal(math.Log(9./8), laws)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "information", best.Information(laws.Center), paper.Information(laws.Center), 1e-6)
}

// Grosse et al., Example 2: of N equally frequent values the most that ε = ln N/k lets be said is ln N/k.
func TestSingular(t *testing.T) {
	const n = 6
	laws := Ball{Center: []float64{1. / n, 1. / n, 1. / n, 1. / n, 1. / n, 1. / n}}
	for k := 1; k < n; k++ {
		epsilon := math.Log(float64(n) / float64(k))
		c, err := Optimal(epsilon, laws)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "information", c.Information(laws.Center), epsilon, 2e-5)
	}
}

// Theorem 5's closed form is what the linear programme finds, and randomised response where nothing is known.
func TestBinary(t *testing.T) {
	for _, e := range []float64{.1, .3, .6} {
		c, err := Binary(e, Ball{Center: []float64{.5, .5}, Radius: 1})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "randomised response", c.Probability(0, 0), math.Exp(e)/(1+math.Exp(e)), 1e-12)
		near(t, "randomised response", c.Probability(1, 1), math.Exp(e)/(1+math.Exp(e)), 1e-12)
	}
	for _, law := range [][]float64{{.6, .4}, {.25, .75}, {.5, .5}} {
		for _, radius := range []float64{0, .05, .3} {
			for _, e := range []float64{.05, .2, .35} {
				laws := Ball{Center: law, Radius: radius}
				closed, err := Binary(e, laws)
				if err != nil {
					if e <= -math.Log(max(law[0], law[1])-radius/2) {
						t.Errorf("%v, ε = %g: %v", laws, e, err)
					}
					continue
				}
				near(t, "capacity", closed.Capacity(laws), e, 1e-9)
				found, err := Optimal(e, laws)
				if err != nil {
					t.Fatal(err)
				}
				for x := range 2 {
					near(t, "programme and closed form", found.Probability(x, x), closed.Probability(x, x), 1e-5)
				}
			}
		}
	}
	for text, of := range map[string]struct {
		epsilon float64
		laws    Ball
	}{
		"below 0":              {-1, Ball{Center: []float64{.5, .5}}},
		"first privacy region": {1, Ball{Center: []float64{.5, .5}}},
		"rarer value":          {.1, Ball{Center: []float64{.9, .1}, Radius: .3}},
		"3 values":             {.1, Ball{Center: []float64{.5, .25, .25}}},
		"must be above 0":      {.1, Ball{Center: []float64{1, 0}}},
		"add up to":            {.1, Ball{Center: []float64{.5, .4}}},
		"between 0 and 2":      {.1, Ball{Center: []float64{.5, .5}, Radius: 3}},
	} {
		if _, err := Binary(of.epsilon, of.laws); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: error %v, want one with %q", of, err, text)
		}
	}
}

// No channel of the polytope, drawn as a mixture of extreme columns or found by another way, says more than Optimal.
func TestOptimalIsNotBeaten(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 5))
	for range 30 {
		n := 2 + r.IntN(4)
		laws := Ball{Center: randomLaw(r, n), Radius: r.Float64() * .2}
		epsilon := .05 + 1.5*r.Float64()
		best, err := Optimal(epsilon, laws)
		if err != nil {
			t.Fatal(err)
		}
		most := best.Information(laws.Center)

		// A random channel, drawn towards one that says nothing until it keeps ε.
		for range 200 {
			matrix := make([][]float64, n)
			for x := range matrix {
				matrix[x] = randomLaw(r, n)
			}
			low, high := 0., 1.
			for range 40 {
				mid := (low + high) / 2
				if c := towards(t, matrix, mid); c.Capacity(laws) <= epsilon {
					low = mid
				} else {
					high = mid
				}
			}
			if got := towards(t, matrix, low).Information(laws.Center); got > most+1e-6 {
				t.Fatalf("ε = %g, %v: a channel says %g, and the optimal one %g", epsilon, laws, got, most)
			}
		}
	}
}

// towards is a channel that shows a row of the matrix with that chance, and else the mean of its rows.
func towards(t *testing.T, matrix [][]float64, chance float64) Channel {
	t.Helper()
	n := len(matrix)
	mixed := make([][]float64, n)
	for x := range mixed {
		mixed[x] = make([]float64, n)
		for y := range n {
			mean := 0.
			for k := range n {
				mean += matrix[k][y] / float64(n)
			}
			mixed[x][y] = chance*matrix[x][y] + (1-chance)*mean
		}
	}
	c, err := New(mixed)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func randomLaw(r *rand.Rand, n int) []float64 {
	law, sum := make([]float64, n), 0.
	for x := range law {
		law[x] = .05 + r.ExpFloat64()
		sum += law[x]
	}
	for x := range law {
		law[x] /= sum
	}
	return law
}

// Of many values not every column is looked at; what is found keeps ε all the same.
func TestManyValues(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 41))
	laws := Ball{Center: randomLaw(r, 41), Radius: .01}
	for _, epsilon := range []float64{.3, 1, 3} {
		c, err := Optimal(epsilon, laws)
		if err != nil {
			t.Fatal(err)
		}
		told := c.Capacity(laws)
		t.Logf("41 values, ε = %g: leaks %.6f, says %.4f nats", epsilon, told, c.Information(laws.Center))
		if told > epsilon || told < .9*epsilon {
			t.Errorf("ε = %g: leaks %g", epsilon, told)
		}
	}
}

// Where all values are equally frequent, many vertices of the programme are nearly one.
func TestEqualLaws(t *testing.T) {
	for n := 2; n <= 6; n++ {
		law := slices.Repeat([]float64{1 / float64(n)}, n)
		for _, radius := range []float64{0, 1e-14, 1.4551915228366852e-11, 1e-9, 1e-6, .001, .1} {
			laws := Ball{Center: law, Radius: radius}
			for _, epsilon := range []float64{.001, .1, .25, .3, .5, 1, math.Ln2, 2, 5} {
				c, err := Optimal(epsilon, laws)
				if err != nil {
					t.Errorf("%d values, radius %g, ε = %g: %v", n, radius, epsilon, err)
				} else if told := c.Capacity(laws); told > epsilon {
					t.Errorf("%d values, radius %g: leaks %g of %g", n, radius, told, epsilon)
				}
			}
		}
	}
}

func TestOptimalKeepsItsPromise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "values")
		law, sum := make([]float64, n), 0.
		for x := range law {
			law[x] = float64(rapid.IntRange(1, 1000).Draw(t, "rows"))
			sum += law[x]
		}
		for x := range law {
			law[x] /= sum
		}
		laws := Ball{Center: law, Radius: rapid.Float64Range(0, 2).Draw(t, "radius")}
		epsilon := rapid.Float64Range(.001, 5).Draw(t, "ε")
		c, err := Optimal(epsilon, laws)
		if err != nil {
			t.Fatal(err)
		}
		if told := c.Capacity(laws); told > epsilon {
			t.Fatalf("leaks %g of %g", told, epsilon)
		}
	})
}
