package estimate

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// world is a simulated table with a reference that is a sample of the same population, and the noise of its answers.
type world struct {
	truth     curve   // how the table's statistics are distributed
	second    *curve  // the law along another secret, from the same reference; nil: there is one secret
	imprecise float64 // the reference's own sampling error, in the statistics' deviations
	noise     func(r *rand.Rand, answer int) Noise
	answers   int
}

// worlds are settings like those of protected tables: groups of which nearly all movement is along one line.
func worlds() map[string]world {
	c := curve{.1, .6, nil, nil, nil, nil, nil}
	for k := range 6 {
		g := float64(k)
		c.start, c.slope = append(c.start, 100+20*g), append(c.slope, 400-150*g)
		c.bend, c.deviation = append(c.bend, 30*math.Sin(g)), append(c.deviation, 8+g)
		c.together = append(c.together, 3*math.Cos(g))
	}
	var straight, nearly []float64
	for k := range c.slope {
		straight, nearly = append(straight, c.slope[k]), append(nearly, .8*c.slope[k]+10)
	}
	other := c.another()
	directional := func(_ *rand.Rand, n int) Noise {
		out := Noise{Shared: []Line{{Laplace: .05 * float64(1+n), Along: straight}}}
		for range c.slope {
			out.Own = append(out.Own, Own{Normal: 6})
		}
		return out
	}
	both := func(_ *rand.Rand, n int) Noise {
		out := directional(nil, n)
		out.Shared = append(out.Shared, Line{Laplace: .06, Along: other.slope})
		return out
	}
	independent := func(_ *rand.Rand, n int) Noise {
		out := Noise{}
		for range c.slope {
			out.Own = append(out.Own, Own{Laplace: 40 / float64(1+n)})
		}
		return out
	}
	mixed := func(_ *rand.Rand, n int) Noise {
		switch n {
		case 0:
			return directional(nil, 0)
		case 1:
			return independent(nil, 1)
		}
		out := Noise{Shared: []Line{{Normal: .06, Along: nearly}}}
		for range c.slope {
			out.Own = append(out.Own, Own{Normal: 9})
		}
		return out
	}
	return map[string]world{
		"directional":    {c, nil, .6, directional, 1},
		"directional ×3": {c, nil, .6, directional, 3},
		"independent":    {c, nil, .6, independent, 1},
		"independent ×2": {c, nil, .6, independent, 2},
		"mixed ×3":       {c, nil, .6, mixed, 3},
		"precise noise":  {c, nil, 1, func(r *rand.Rand, n int) Noise { return less(directional(r, n), 30) }, 1},
		"coarse noise":   {c, nil, .3, func(r *rand.Rand, n int) Noise { return less(independent(r, n), .1) }, 1},
		"two secrets":    {c, &other, .6, both, 1},
		"two secrets ×2": {c, &other, .6, both, 2},
	}
}

// another is the law along another secret, from the same mean in the middle of both ranges.
func (c curve) another() curve {
	other := c
	other.from, other.to, other.slope, other.bend = .3, .8, nil, make([]float64, 6)
	for k := range c.start {
		other.slope = append(other.slope, 250*math.Cos(2*float64(k)))
	}
	at := c.Mean((c.from + c.to) / 2)
	other.start = append([]float64(nil), at...)
	for k := range at {
		other.start[k] -= other.slope[k] * (other.from + other.to) / 2
	}
	return other
}

// less returns noise that is smaller by a factor.
func less(n Noise, by float64) (out Noise) {
	for _, o := range n.Own {
		out.Own = append(out.Own, Own{o.Laplace / by, o.Normal / by})
	}
	for _, l := range n.Shared {
		out.Shared = append(out.Shared, Line{l.Laplace / by, l.Normal / by, l.Along})
	}
	return out
}

// score is what estimates of simulated ledgers came to: of one statistic of each.
type score struct {
	inside, shorter, longer      float64 // ledgers whose interval holds the statistic; at .75 and 1.3 times its length
	estimate, released, reckoned float64 // sums of squared errors: of estimates, of the best answer, of the reference
	less                         [2]gain // what of the squared errors of answer and reference the estimate is without
}

// gain is what something is less by, over independent draws.
type gain struct{ sum, squares, n float64 }

func (g *gain) add(v float64) { g.sum, g.squares, g.n = g.sum+v, g.squares+v*v, g.n+1 }

// errors is its mean in standard errors.
func (g gain) errors() float64 { return g.sum / math.Sqrt(g.squares-g.sum*g.sum/g.n) }

// simulate draws ledgers, and estimates the statistics of each.
func (w world) simulate(t *testing.T, r *rand.Rand, ledgers int) (s score) {
	t.Helper()
	known := w.truth
	known.deviation = append([]float64(nil), known.deviation...)
	for k, d := range known.deviation {
		known.deviation[k] = d * math.Hypot(1, w.imprecise)
	}
	for ledger := range ledgers {
		value := w.truth.from + (w.truth.to-w.truth.from)*r.Float64()
		at := w.truth.from + (w.truth.to-w.truth.from)/2
		x := w.truth.draw(r, value)
		if o := w.second; o != nil {
			moved := o.Mean(o.from + (o.to-o.from)*r.Float64())
			for k, from := range w.truth.Mean(at) {
				x[k] += moved[k] - from
			}
		}

		// The reference is off by a sampling error of its own, which the covariance of the prior has in it.
		seen := known
		seen.start = append([]float64(nil), w.truth.start...)
		for k, d := range w.truth.deviation {
			seen.start[k] += w.imprecise * d * r.NormFloat64() * math.Sqrt(.8+.4*value)
		}
		p := Problem{Size: len(x), Prior: &Prior{Mean: seen.Mean(at), Secrets: []Secret{seen}}}
		if w.second != nil {
			along := *w.second
			along.deviation = known.deviation
			along.start = append([]float64(nil), along.start...)
			for k := range x { // what the reference's mean is off by, all of its paths are
				along.start[k] += seen.start[k] - w.truth.start[k]
			}
			p.Prior.Secrets = append(p.Prior.Secrets, along)
		}
		for k := range x {
			p.Prior.Of = append(p.Prior.Of, k)
		}
		for n := range w.answers {
			p.Answers = append(p.Answers, release(r, x, w.noise(r, n)))
		}

		got, err := p.Solve()
		if err != nil {
			t.Fatal(err)
		}
		k := ledger % len(x)
		s.add(p, got[k], k, x[k], w.truth.deviation[k])
	}
	return s
}

// add counts the estimate of statistic k of a problem, which in truth is x.
func (s *score) add(p Problem, got Estimate, k int, x, deviation float64) {
	mean := got.Mean()
	low, high := got.Interval(.95)
	for count, factor := range map[*float64]float64{&s.inside: 1, &s.shorter: .75, &s.longer: 1.3} {
		if mean-(mean-low)*factor <= x && x <= mean+(high-mean)*factor {
			*count++
		}
	}

	// The answer with the least noise is the best that was released.
	square := func(v float64) float64 { return math.Pow((v-x)/deviation, 2) }
	best := 0
	for n, a := range p.Answers {
		if a.Noise.variance(k) < p.Answers[best].Noise.variance(k) {
			best = n
		}
	}
	s.estimate += square(mean)
	s.released += square(p.Answers[best].Values[k])
	s.reckoned += square(p.Prior.Mean[k])
	s.less[0].add(square(p.Answers[best].Values[k]) - square(mean))
	s.less[1].add(square(p.Prior.Mean[k]) - square(mean))
}

// Of 1,000 ledgers 93 to 97 % have their statistic in its interval of 95 %: binomial, so that it is 2.9 standard
// deviations; the seed is fixed. Intervals that are a quarter shorter, or longer, are found. And over secrets anywhere
// in the range, with a reference that takes them for its own share, the squared errors add up to less than those of
// what was released and of the reference: by 5.4 standard errors of the difference or more in each of these two
// worlds, so that another seed would not show it once in ten million times. They have between them every kind of noise
// and both numbers of secrets; make nightly simulates FUGU_LEDGERS ledgers in all of the worlds.
func TestCoverage(t *testing.T) {
	all := worlds()
	names, ledgers := []string{"mixed ×3", "two secrets"}, 1000
	if n := os.Getenv("FUGU_LEDGERS"); n != "" {
		var err error
		if ledgers, err = strconv.Atoi(n); err != nil {
			t.Fatal(err)
		}
		names = slices.Sorted(maps.Keys(all))
	}
	for _, name := range names {
		s, n := all[name].simulate(t, rand.New(rand.NewPCG(16, 95)), ledgers), float64(ledgers)
		t.Logf("%s: %.1f%% inside; root mean squared error %.4f deviations, the answer's %.4f, the reference's %.4f",
			name, 100*s.inside/n, math.Sqrt(s.estimate/n), math.Sqrt(s.released/n), math.Sqrt(s.reckoned/n))
		if s.inside < .93*n || s.inside > .97*n {
			t.Errorf("%s: %.1f%% of the intervals of 95%% hold", name, 100*s.inside/n)
		}
		if s.shorter >= .93*n || s.longer <= .97*n {
			t.Errorf("%s: shorter intervals hold in %.1f%%, longer ones in %.1f%%: the test shows little", name,
				100*s.shorter/n, 100*s.longer/n)
		}
		t.Logf("%s: less than the answer's by %.1f standard errors, than the reference's by %.1f", name,
			s.less[0].errors(), s.less[1].errors())
		if s.estimate > math.Min(s.released, s.reckoned) {
			t.Errorf("%s: squared error %v, the answer's %v, the reference's %v", name, s.estimate, s.released,
				s.reckoned)
		}
	}
}
