package rowsum

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawn is a class whose rows are these values, so often each.
func drawn(pairs ...float64) (out []float64) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, slices.Repeat([]float64{pairs[i]}, int(pairs[i+1]))...)
	}
	return out
}

// laws are classes 0 and 1, of whole numbers.
var laws = map[string][2][]float64{
	"even bits":   {drawn(0, 3, 1, 2), drawn(0, 2, 1, 3)},
	"rare bits":   {drawn(0, 19, 1, 1), drawn(0, 8, 1, 2)},
	"a long tail": {drawn(0, 60, 1, 25, 2, 10, 5, 4, 9, 1), drawn(0, 40, 1, 30, 2, 20, 5, 8, 9, 2)},
	"a gap":       {drawn(0, 1, 6, 1), drawn(2, 1, 4, 1, 9, 1)},
	"one mean":    {drawn(0, 1, 4, 1), drawn(1, 1, 3, 1)},
}

// convolved is the law of a sum of whole numbers that are not negative, by convolution of probabilities: nothing here
// is shared with what it is to check.
func convolved(values [2][]float64, ones, zeros int) []float64 {
	law := []float64{1}
	for c, n := range [2]int{zeros, ones} {
		row := make([]float64, int(slices.Max(values[c]))+1)
		for _, v := range values[c] {
			row[int(v)] += 1 / float64(len(values[c]))
		}
		for range n {
			next := make([]float64, len(law)+len(row)-1)
			for a, p := range law {
				for b, q := range row {
					next[a+b] += p * q
				}
			}
			law = next
		}
	}
	return law
}

// densityOf is that of the law with normal noise at y.
func densityOf(law []float64, y, sd float64) (f float64) {
	for v := max(0, int(y-9*sd)); v < len(law) && float64(v) < y+9*sd; v++ {
		z := (y - float64(v)) / sd
		f += law[v] * math.Exp(-z*z/2) / (sd * math.Sqrt(2*math.Pi))
	}
	return f
}

// hockeySticks are ∫ max(0, p - e^ε q) of two sums with normal noise, the second moved by so much, in both orders, by
// the rectangle rule, which is some 1e-5 off.
func hockeySticks(p, q []float64, sd, moved, epsilon float64) (d [2]float64) {
	step := sd / 8
	for y := -9*sd - math.Abs(moved); y < float64(max(len(p), len(q)))+9*sd+math.Abs(moved); y += step {
		f, g := densityOf(p, y, sd), densityOf(q, y-moved, sd)
		d[0] += step * math.Max(0, f-math.Exp(epsilon)*g)
		d[1] += step * math.Max(0, g-math.Exp(epsilon)*f)
	}
	return d
}

// hardest is the greatest δ of all pairs by brute force; of the farthest apart alone if not all.
func hardest(v [2][]float64, rows int, p Pairs, sd, moved, epsilon float64, all bool) (worst float64) {
	for a := p.Low; a < p.High; a++ {
		q := convolved(v, a, rows-a)
		for b := a + 1; b <= min(p.High, a+p.Apart); b++ {
			if !all && b < min(p.High, a+p.Apart) {
				continue
			}
			d := hockeySticks(convolved(v, b, rows-b), q, sd, moved, epsilon)
			worst = math.Max(worst, math.Max(d[0], d[1]))
		}
	}
	return worst
}

// The bound over all pairs is never below what brute force finds, and no more than a hundredth above it; and what brute
// force finds is not certified where it is more than the budget. So the law is the right one, for few rows, skewed ones
// and ones with gaps.
func TestBoundIsTheExactLaw(t *testing.T) {
	const rows = 30
	p := Pairs{Low: 8, High: 14, Apart: 4}
	for name, v := range laws {
		s, err := New(v, rows, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, epsilon := range []float64{.3, 1} {
			for _, sd := range []float64{1, 3} {
				want := hardest(v, rows, p, sd, 0, epsilon, true)
				if want < 1e-4 {
					continue
				}
				a := Ask{Epsilon: epsilon, Delta: 1.02 * want, Noise: sd * sd}
				got, err := s.Certify(a, true)
				if err != nil || got.Delta < want*.999 || got.Delta > want*1.02+2e-5 {
					t.Errorf("%s, ε = %g, noise %g: %.6f is certified, and %.6f is true: %v", name, epsilon, sd,
						got.Delta, want, err)
				}
				a.Delta = .98 * want
				if got, err := s.Certify(a, true); !errors.Is(err, ErrMore) {
					t.Errorf("%s, ε = %g, noise %g: %.6f is certified, and %.6f is true: %v", name, epsilon, sd,
						got.Delta, want, err)
				}
			}
		}
	}
}

// Pairs that are nearer can be told apart better: where one row more changes whether the sum is even, one row apart
// shows, and with every further row of class 1 it shows less. What looks at the farthest pairs alone does not see it,
// and the certificate does.
func TestNearerPairsAreCounted(t *testing.T) {
	const rows = 60
	v, p := [2][]float64{drawn(0, 1, 2, 1), drawn(1, 4, 2, 1)}, Pairs{Low: 0, High: 12, Apart: 6}
	s, err := New(v, rows, p)
	if err != nil {
		t.Fatal(err)
	}
	const epsilon, sd = 1, .3
	far, all := hardest(v, rows, p, sd, 0, epsilon, false), hardest(v, rows, p, sd, 0, epsilon, true)
	if all < 1.5*far {
		t.Fatalf("nearer pairs have %.4f and the farthest %.4f: the test shows nothing", all, far)
	}
	a := Ask{Epsilon: epsilon, Delta: 1.02 * all, Noise: sd * sd}
	if got, err := s.Certify(a, true); err != nil || got.Delta < .999*all {
		t.Errorf("%.4f is certified, and %.4f is true: %v", got.Delta, all, err)
	}
	a.Delta = (far + all) / 2
	if _, err := s.Certify(a, false); err != nil {
		t.Errorf("the farthest pairs: %v", err)
	}
	if got, err := s.Certify(a, true); !errors.Is(err, ErrMore) {
		t.Errorf("%.4f is certified, and %.4f is true: %v", got.Delta, all, err)
	}
}

// No law is computed twice: a pair that has no nearer one takes its own two, and each step of one that has takes one.
func TestLawsAreComputedOnce(t *testing.T) {
	for apart, most := range map[int]int{1: 2, 6: 7} {
		v, p := [2][]float64{drawn(0, 1, 2, 1), drawn(1, 4, 2, 1)}, Pairs{Low: 5, High: 5 + apart, Apart: apart}
		s, err := New(v, 60, p)
		if err != nil {
			t.Fatal(err)
		}
		laws, boxes := 0, apart
		a := Ask{Epsilon: 1, Delta: .9, Noise: .09, Between: func() { laws++ }}
		if _, err := s.Certify(a, true); err != nil {
			t.Fatal(err)
		}
		if laws < 2*boxes || laws > most*boxes {
			t.Errorf("%d laws for %d boxes of pairs up to %d apart", laws, boxes, apart)
		}
		laws = 0
		if _, err := s.Certify(a, false); err != nil || laws > 2*3 {
			t.Errorf("%d laws for three boxes of pairs that are %d apart: %v", laws, apart, err)
		}
	}
}

// Many pairs are looked at in boxes that leave some rows out, and in steps: the bound is still never below the hardest
// of them, and a few hundredths above. The hardest is at an end of the range here, and in the middle of it for bits.
func TestBoxesHoldAllPairs(t *testing.T) {
	const rows, epsilon, sd = 400, 1, 8
	p := Pairs{Low: 40, High: 240, Apart: 40}
	for name, v := range map[string][2][]float64{"rare bits": laws["rare bits"], "a gap": laws["a gap"]} {
		s, err := New(v, rows, p)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for _, low := range []int{40, 41, 47, 80, 119, 120, 121, 160, 199, 200} {
			for _, apart := range []int{40, 39, 37, 20} {
				d := hockeySticks(convolved(v, low+apart, rows-low-apart), convolved(v, low, rows-low), sd, 0, epsilon)
				worst = math.Max(worst, math.Max(d[0], d[1]))
			}
		}
		got, err := s.Certify(Ask{Epsilon: epsilon, Delta: 1.1 * worst, Noise: sd * sd}, true)
		if err != nil || got.Delta < worst*.999 || got.Delta > 1.07*worst {
			t.Errorf("%s: %.6f is certified, and %.6f is true: %v", name, got.Delta, worst, err)
		}
	}
}

// What the sums of a pair differ by besides is hidden whichever way it goes, and is not hidden where it is left out.
func TestWhatIsBesideIsHidden(t *testing.T) {
	const rows, epsilon, sd, aside = 30, .2, 8, .3
	v, p := laws["a long tail"], Pairs{Low: 8, High: 12, Apart: 3}
	s, err := New(v, rows, p)
	if err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for _, moved := range []float64{-aside, -aside / 2, aside / 2, aside} {
		worst = math.Max(worst, hardest(v, rows, p, sd, moved, epsilon, true))
	}
	a := Ask{Epsilon: epsilon, Delta: 2 * worst, Noise: sd * sd, Aside: aside}
	if got, err := s.Certify(a, true); err != nil || got.Delta < worst {
		t.Errorf("%.6f is certified, and %.6f is true: %v", got.Delta, worst, err)
	}
	a.Aside = 0
	if got, err := s.Certify(a, false); err != nil || got.Delta > .8*worst {
		t.Errorf("%.6f without it, and %.6f is true: the test shows nothing: %v", got.Delta, worst, err)
	}
}

// Between the points of a frame the density is within what the curve says. Of a frame so coarse that a straight line
// between two points is off by much, it would not be without what the second derivative adds.
func TestCurvesHoldTheDensity(t *testing.T) {
	const rows, ones, sd = 30, 10, 2
	rng := rand.New(rand.NewPCG(1, 2))
	for name, v := range laws {
		s, err := New(v, rows, Pairs{Low: 8, High: 14, Apart: 4})
		if err != nil {
			t.Fatal(err)
		}
		fine, ok := s.newFrame(rows, sd*sd, 1e-9)
		if !ok {
			t.Fatal("no frame")
		}
		coarse := fine.with(256)
		c, law, missed := coarse.density(ones, rows-ones), convolved(v, ones, rows-ones), 0
		middle := (mean(v[0]) + mean(v[1])) / 2
		for range 2000 {
			x := rng.Float64() * coarse.grid.period
			i := int(x / coarse.step)
			part, next := x/coarse.step-float64(i), (i+1)%len(c.up)
			up, down := (1-part)*c.up[i]+part*c.up[next], (1-part)*c.down[i]+part*c.down[next]
			p := densityOf(law, x+coarse.lo+rows*middle, sd)
			if p > up+1e-9 || p < down-1e-9 {
				t.Fatalf("%s: the density is %v, of %v to %v", name, p, down, up)
			}
			if line := (up + down) / 2; math.Abs(p-line) > 1e-6 {
				missed++
			}
		}
		if missed < 100 {
			t.Errorf("%s: a straight line is off %d times: the test shows nothing", name, missed)
		}
		if c.tail > 1e-8 || c.rest > 1e-6 {
			t.Errorf("%s: %v outside, and %v left out", name, c.tail, c.rest)
		}
	}
}

func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// Chernoff's bound is no less than the probability outside of a window, and what is left out of it is counted.
func TestTails(t *testing.T) {
	const rows, ones, sd = 30, 10, 2
	for name, v := range laws {
		s, err := New(v, rows, Pairs{Low: 8, High: 14, Apart: 4})
		if err != nil {
			t.Fatal(err)
		}
		law, middle := convolved(v, ones, rows-ones), (mean(v[0])+mean(v[1]))/2
		for _, each := range []float64{.01, 1e-4, 1e-8} {
			lo, hi := s.window(rows, sd*sd, each)
			outside := 0.0
			for x, p := range law {
				at := float64(x) - rows*middle
				outside += p * (math.Erfc((at-lo)/(sd*math.Sqrt2)) + math.Erfc((hi-at)/(sd*math.Sqrt2))) / 2
			}
			if bound := s.tail(ones, rows-ones, sd*sd, lo, hi); bound < outside || bound > 2*each {
				t.Errorf("%s: %.3g is outside, bounded by %.3g, of %.3g", name, outside, bound, 2*each)
			}
		}
	}
}

// What cannot be told is an error, and never a bound.
func TestRefusals(t *testing.T) {
	bits := laws["even bits"]
	for name, p := range map[string]Pairs{"none": {}, "backwards": {Low: 5, High: 4, Apart: 1},
		"too many": {Low: 1, High: 31, Apart: 1}, "no distance": {Low: 1, High: 5}} {
		if _, err := New(bits, 30, p); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, v := range map[string][]float64{"no rows": nil, "NaN": {math.NaN()}, "Inf": {1, math.Inf(1)}} {
		if _, err := New([2][]float64{bits[0], v}, 30, Pairs{1, 5, 2}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s, err := New(bits, 30, Pairs{1, 5, 2})
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]Ask{"no noise": {Epsilon: 1, Delta: .1}, "no ε": {Delta: .1, Noise: 1},
		"no δ": {Epsilon: 1, Noise: 1}, "NaN": {Epsilon: 1, Delta: .1, Noise: math.NaN()}} {
		if c, err := s.Certify(a, true); !errors.Is(err, ErrMore) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	// Next to no noise takes more frequencies than there are.
	if c, err := s.Certify(Ask{Epsilon: 1, Delta: .1, Noise: 1e-12}, true); !errors.Is(err, ErrBeyond) {
		t.Errorf("next to no noise: %+v, %v", c, err)
	}
}

// The smaller number of rows of the hardest pair is inside of a box, and not where one begins: that the box leaves rows
// out makes its bound one for that pair as well.
func TestBoxesHoldWhatIsInside(t *testing.T) {
	const rows, epsilon, sd = 400, 1, 8
	p := Pairs{Low: 41, High: 240, Apart: 40}
	v := [2][]float64{laws["rare bits"][1], laws["rare bits"][0]} // which vary the less the more are of class 1
	s, err := New(v, rows, p)
	if err != nil {
		t.Fatal(err)
	}
	d := hockeySticks(convolved(v, 240, rows-240), convolved(v, 200, rows-200), sd, 0, epsilon)
	want := math.Max(d[0], d[1])
	got, err := s.Certify(Ask{Epsilon: epsilon, Delta: 1.2 * want, Noise: sd * sd}, false)
	if low := min(got.Pair[0], got.Pair[1]); low != 196 {
		t.Fatalf("the hardest pair is %v, and not of the box that begins with 196", got.Pair)
	}
	if err != nil || got.Delta < want || got.Delta > 1.05*want {
		t.Errorf("%.7f is certified, and %.7f is true of (240, 200): %v", got.Delta, want, err)
	}
}

// The bound on the second difference of densities, by how many rows are of class 1, is no less than what it is by brute
// force, and no more than three times that.
func TestRoughness(t *testing.T) {
	const rows, ones, sd = 30, 10, 3
	for name, v := range laws {
		s, err := New(v, rows, Pairs{Low: 8, High: 14, Apart: 4})
		if err != nil {
			t.Fatal(err)
		}
		f, ok := s.newFrame(rows, sd*sd, 1e-9)
		if !ok {
			t.Fatal("no frame")
		}
		var at [3][]float64
		for two := range at {
			at[two] = convolved(v, ones+two, rows-ones-two)
		}
		want := 0.0
		for y := -9. * sd; y < float64(len(at[0])+len(at[2]))+9*sd; y += sd / 8. {
			want += sd / 8. * math.Abs(densityOf(at[0], y, sd)-2*densityOf(at[1], y, sd)+densityOf(at[2], y, sd))
		}
		if got := f.roughness(ones, rows-ones-2); got < want || got > 3*want+1e-6 {
			t.Errorf("%s: at most %.3g, and it is %.3g", name, got, want)
		}
	}
}
