package falsify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"fugu/privacy"
	"fugu/privacy/joint"
)

// The rows of these tests are of twelve kinds: those with the secret property (class 1) or without, by a bit and one of
// three groups. Covariances within the two classes are as different as their distributions are.
const (
	kindsOfRows = 12
	rows        = 40_000
)

func kindOf(class, bit, group int) int { return 6*class + 3*bit + group }

// population is how many of a thousand rows of each class are of which kind.
var population = [2][6]int{
	{480, 240, 80, 120, 60, 20}, // four fifths without the bit, most of them in group 0
	{100, 150, 250, 100, 150, 250},
}

// tally draws how many rows are of each kind, where a share of them has the property.
func tally(share float64, rng *rand.Rand) []float64 {
	out := make([]float64, kindsOfRows)
	with := math.Round(share * rows)
	for class, n := range []float64{rows - with, with} {
		left := 1000.
		for k, parts := range population[class] {
			p := float64(parts) / left
			x := n
			if p < 1 {
				x = distuv.Binomial{N: n, P: p, Src: rng}.Rand()
			}
			out[6*class+k] = x
			n, left = n-x, left-float64(parts)
		}
	}
	return out
}

// question is a statement: what a row of each kind adds to each component, the variance of the normal noise in all of
// them, and the pure loss at which one Laplace value along the movement hides that; 0 for none.
type question struct {
	terms [][]float64
	noise float64
	pure  float64
	along []float64 // the movement per unit of Laplace noise: plan.prepare sets it
}

// count is of the rows of some kinds.
func count(in func(class, bit, group int) bool) []float64 {
	h := make([]float64, kindsOfRows)
	for class := range 2 {
		for bit := range 2 {
			for group := range 3 {
				if in(class, bit, group) {
					h[kindOf(class, bit, group)] = 1
				}
			}
		}
	}
	return h
}

// law returns mean and covariance of the terms for a share.
func (q question) law(share float64) (mean []float64, cov *mat.SymDense) {
	m := len(q.terms)
	mean, cov = make([]float64, m), mat.NewSymDense(m, nil)
	for class, part := range []float64{1 - share, share} {
		within := make([]float64, m)
		for k, parts := range population[class] {
			p := float64(parts) / 1000
			h := make([]float64, m)
			for i := range h {
				h[i] = q.terms[i][6*class+k]
			}
			floats.AddScaled(within, p, h)
			cov.SymRankOne(cov, rows*part*p, mat.NewVecDense(m, h))
		}
		cov.SymRankOne(cov, -rows*part, mat.NewVecDense(m, within))
		floats.AddScaled(mean, rows*part, within)
	}
	return mean, cov
}

// reference is the population as an account needs it.
func reference(pair [2]float64) (joint.Sample, []joint.Secret) {
	s := joint.Sample{Rows: 2000, Classes: map[string][]int16{"s": nil}}
	for range 1000 {
		s.Classes["s"] = append(s.Classes["s"], 0)
	}
	for range 1000 {
		s.Classes["s"] = append(s.Classes["s"], 1)
	}
	return s, []joint.Secret{{Name: "s", N: rows, Pairs: []joint.Pair{{P: []float64{1 - pair[1], pair[1]},
		Q: []float64{1 - pair[0], pair[0]}}}}}
}

// release is the question as an account needs it.
func (q question) release() joint.Release {
	r := joint.Release{Hidden: map[string]bool{"s": q.pure > 0}}
	var groups []joint.Group
	for i, h := range q.terms {
		g := joint.Group{Columns: []joint.Column{{At: []int{i}}}}
		for class := range 2 {
			for k, parts := range population[class] {
				g.Cells = append(g.Cells, slices.Repeat([]int16{0}, parts)...)
				g.Columns[0].Values = append(g.Columns[0].Values, slices.Repeat([]float64{h[6*class+k]}, parts)...)
			}
		}
		groups = append(groups, g)
		r.Noise = append(r.Noise, q.noise)
	}
	var err error
	if r.Terms, err = joint.NewTerms(2000, len(q.terms), groups); err != nil {
		panic(err)
	}
	return r
}

// plan is an analyst: the next question in view of the answers, by number; -1 when they are done.
type plan struct {
	questions []question
	next      func(asked []int, answers []float64) int
	paths     [][]int // all ways that next can go
	pair      [2]float64
}

func (p plan) prepare() plan {
	for i := range p.questions {
		q := &p.questions[i]
		q.along = make([]float64, len(q.terms))
		if q.pure > 0 {
			low, _ := q.law(p.pair[0])
			high, _ := q.law(p.pair[1])
			floats.ScaleTo(q.along, 1/q.pure, floats.SubTo(high, high, low))
		}
	}
	return p
}

// sampler asks the questions of rows that are drawn.
func (p plan) sampler(theta float64, rng *rand.Rand) []float64 {
	table := tally(theta, rng)
	var asked []int
	var x []float64
	for i := p.next(nil, nil); i >= 0; i = p.next(asked, x) {
		q := p.questions[i]
		y := rng.ExpFloat64() * float64(1-2*rng.IntN(2))
		for k, h := range q.terms {
			x = append(x, floats.Dot(h, table)+math.Sqrt(q.noise)*rng.NormFloat64()+y*q.along[k])
		}
		asked = append(asked, i)
	}
	return x
}

// score is the likelihood ratio, with normal laws and covariances as they are under each value.
func (p plan) score(t *testing.T) Test {
	t.Helper()
	densities := make(map[string][2]Density)
	for _, path := range p.paths {
		var all question
		var noise, along []float64
		for _, i := range path {
			q := p.questions[i]
			all.terms = append(all.terms, q.terms...)
			noise = append(noise, slices.Repeat([]float64{q.noise}, len(q.terms))...)
			along = append(along, q.along...)
		}
		var two [2]Density
		for side, theta := range p.pair {
			mean, cov := all.law(theta)
			for k, n := range noise {
				cov.SetSym(k, k, cov.At(k, k)+n)
			}
			var err error
			if two[side], err = Normals(mean, cov, along); err != nil {
				t.Fatal(err)
			}
		}
		densities[fmt.Sprint(path)] = two
	}
	return Known("likelihood ratio", func(pair [2]float64, x []float64) float64 {
		var asked []int
		seen := 0
		for i := p.next(nil, nil); i >= 0; i = p.next(asked, x[:seen]) {
			asked, seen = append(asked, i), seen+len(p.questions[i].terms)
		}
		two := densities[fmt.Sprint(asked)]
		if pair[0] == p.pair[0] {
			return two[0](x) - two[1](x)
		}
		return two[1](x) - two[0](x)
	})
}

// claims are what accountants say of a sequence: ε at δ, the most over its paths.
func (p plan) claims(t *testing.T, delta float64) map[string]float64 {
	t.Helper()
	sample, secrets := reference(p.pair)
	account := func(of []int) joint.Cost {
		a, err := joint.New(sample, secrets)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range of {
			if err := a.Append(p.questions[i].release()); err != nil {
				t.Fatal(err)
			}
		}
		return a.Cost("s")
	}
	out := make(map[string]float64)
	for _, path := range p.paths {
		pure, alone := 0.0, 0.0
		var laplace []float64
		separate := joint.Cost{}
		var visible []int
		for _, i := range path {
			q := p.questions[i]
			separate.Kappa2 += account([]int{i}).Kappa2
			pure += q.pure
			if q.pure > 0 {
				laplace = append(laplace, q.pure)
				continue
			}
			visible = append(visible, i)
			low, _ := q.law(p.pair[0])
			high, _ := q.law(p.pair[1])
			alone += math.Pow(floats.Distance(low, high, 2), 2) / q.noise
		}
		claim := func(who string, kappa2 float64) {
			out[who] = math.Max(out[who], privacy.Loss{Pure: pure, Kappa2: kappa2}.EpsilonAt(delta))
		}
		together := account(path)
		claim("joint", together.Kappa2)
		claim("noise alone", alone)
		claim("one by one", separate.Kappa2)
		claim("the last alone", account(path[len(path)-1:]).Kappa2)
		claim("hidden left out", account(visible).Kappa2)
		low, high := pure, 100.
		for range 50 {
			mid := (low + high) / 2
			if d, err := together.Delta(mid, laplace, 0); err != nil {
				t.Fatal(err)
			} else if d <= delta {
				high = mid
			} else {
				low = mid
			}
		}
		out["certified"] = math.Max(out["certified"], high)
	}
	return out
}

// try runs the best attack there is once, and holds each claim against its finding.
func (p plan) try(t *testing.T, delta float64, held int, seed uint64, refuted ...string) {
	t.Helper()
	claims := p.claims(t, delta)
	trial := Trial{Sampler: p.sampler, Pairs: [][2]float64{p.pair}, Promise: budget(1, delta), Train: held / 4,
		Held: Effort(held), Alarm: alarm, Seed: seed, Tests: []Test{p.score(t)}}
	found := trial.Run()
	t.Logf("δ = %g, %d transcripts: %v; claimed ε %.3v", delta, held, found, claims)
	for who, epsilon := range claims {
		if found.Refutes(budget(epsilon, delta)) != slices.Contains(refuted, who) {
			t.Errorf("%s claims ε = %.3f: refuted %v", who, epsilon, !slices.Contains(refuted, who))
		}
	}
}

func halves(bit int) []float64 {
	return count(func(c, b, _ int) bool { return c == 1 && b == bit })
}

// High incomes with a random bit, and those without: each count has the randomness of a coin for each row, in their sum
// there is none of it. Who accounts for each statement by itself counts it twice, and is refuted; so is who goes by the
// last alone.
func TestCancellationAttack(t *testing.T) {
	t.Parallel()
	p := plan{questions: []question{{terms: [][]float64{halves(0)}, noise: 60}, {terms: [][]float64{halves(1)},
		noise: 60}}, pair: [2]float64{.25, .2510}, paths: [][]int{{0, 1}}}
	p.next = func(asked []int, _ []float64) int {
		if len(asked) == 2 {
			return -1
		}
		return len(asked)
	}
	p.prepare().try(t, .001, 30_000, 41, "one by one", "the last alone")
}

// Four releases, the first of them hidden by Laplace noise along the movement, the last two chosen by what came before.
func TestJointAccountOfAdaptiveSequences(t *testing.T) {
	t.Parallel()
	third := func(bit int) []float64 {
		return count(func(c, b, g int) bool { return c == 1 && b == bit && g == 2 })
	}
	groups := [][]float64{}
	for group := range 3 {
		groups = append(groups, count(func(_, _, g int) bool { return g == group }))
	}
	p := plan{
		questions: []question{
			{terms: [][]float64{halves(0), halves(1)}, noise: 60, pure: .3},
			{terms: groups, noise: 4000},
			{terms: [][]float64{halves(0)}, noise: 200}, {terms: [][]float64{halves(1)}, noise: 200},
			{terms: [][]float64{third(0)}, noise: 200}, {terms: [][]float64{third(1)}, noise: 200},
		},
		pair: [2]float64{.25, .2515},
	}
	expected, _ := p.questions[1].law(.25)
	p.next = func(asked []int, x []float64) int {
		switch len(asked) {
		case 0, 1:
			return len(asked)
		case 2:
			if x[2] > expected[0] {
				return 2
			}
			return 3
		case 3:
			if x[3]+x[5] > x[0] {
				return 4
			}
			return 5
		}
		return -1
	}
	for _, third := range []int{2, 3} {
		for _, fourth := range []int{4, 5} {
			p.paths = append(p.paths, []int{0, 1, third, fourth})
		}
	}
	p.prepare().try(t, .001, 30_000, 42, "one by one", "the last alone", "hidden left out")
}

// Sums that the secret moves in nothing but their covariances: by translation they tell nothing, whoever adds up, and
// that is refuted. The certificate counts covariances as they are.
func TestJointCertificateOfCovariances(t *testing.T) {
	t.Parallel()
	var contrasts [][]float64
	for group := range 3 {
		h := count(func(c, b, g int) bool { return c == 1 && b == 1 && g == group })
		floats.Sub(h, count(func(c, b, g int) bool { return c == 1 && b == 0 && g == group }))
		contrasts = append(contrasts, h)
	}
	p := plan{questions: []question{{terms: contrasts[:1], noise: 100}, {terms: contrasts[1:], noise: 100}},
		pair: [2]float64{.2, .3}, paths: [][]int{{0, 1}}}
	p.next = func(asked []int, _ []float64) int {
		if len(asked) == 2 {
			return -1
		}
		return len(asked)
	}
	p.prepare().try(t, .001, 20_000, 43, "joint", "noise alone", "one by one", "the last alone", "hidden left out")
}
