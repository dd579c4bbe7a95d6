package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// curve is a secret along which statistics move by a straight line and a bend, with a covariance that grows with it.
type curve struct {
	from, to            float64
	start, slope, bend  []float64
	deviation, together []float64 // the standard deviations of the statistics, and what they have in common
}

func (c curve) Range() (from, to float64) { return c.from, c.to }

func (c curve) Mean(v float64) []float64 {
	out := make([]float64, len(c.start))
	for k := range out {
		out[k] = c.start[k] + c.slope[k]*v + c.bend[k]*v*v
	}
	return out
}

func (c curve) Covariance(v float64) *mat.SymDense {
	n := len(c.start)
	out := mat.NewSymDense(n, nil)
	for k := range n {
		out.SetSym(k, k, c.deviation[k]*c.deviation[k])
	}
	out.SymRankOne(out, 1, mat.NewVecDense(n, c.together))
	out.ScaleSym(.8+.4*v, out)
	return out
}

// draw draws the statistics at a value of the secret.
func (c curve) draw(r *rand.Rand, v float64) []float64 {
	out, common, scale := c.Mean(v), r.NormFloat64(), math.Sqrt(.8+.4*v)
	for k := range out {
		out[k] += scale * (c.deviation[k]*r.NormFloat64() + common*c.together[k])
	}
	return out
}

func laplaceDraw(r *rand.Rand, scale float64) float64 {
	return scale * (r.ExpFloat64() - r.ExpFloat64())
}

// release draws an answer about statistics.
func release(r *rand.Rand, x []float64, noise Noise) Answer {
	a := Answer{Noise: noise}
	for k := range x {
		o := noise.Own[k]
		a.Values = append(a.Values, x[k]+laplaceDraw(r, o.Laplace)+o.Normal*r.NormFloat64())
		a.Of = append(a.Of, k)
	}
	for _, l := range noise.Shared {
		u := laplaceDraw(r, l.Laplace) + l.Normal*r.NormFloat64()
		for k := range a.Values {
			a.Values[k] += u * l.Along[k]
		}
	}
	return a
}

// density is that of an answer where the statistics are x, up to a constant; the shared noise is integrated over.
func density(a Answer, x []float64) float64 {
	of := func(u float64) float64 {
		log := 0.0
		for i, k := range a.Of {
			z := a.Values[i] - x[k]
			if len(a.Noise.Shared) > 0 {
				z -= u * a.Noise.Shared[0].Along[i]
			}
			if o := a.Noise.Own[i]; o.Laplace > 0 {
				log -= math.Abs(z) / o.Laplace
			} else {
				log -= z * z / (2 * o.Normal * o.Normal)
			}
		}
		return log
	}
	if len(a.Noise.Shared) == 0 {
		return math.Exp(of(0))
	}
	b, total := a.Noise.Shared[0].Laplace, 0.0
	const n = 600
	for i := range n {
		u := (float64(i) + .5 - n/2) * 30 * b / n
		total += math.Exp(of(u)-math.Abs(u)/b) * 30 / n
	}
	return total
}

// small are problems that the paper's algorithms solve: independent Laplace noise, and a shared line with a floor.
func small() (curve, map[string]Noise) {
	c := curve{.1, .6, []float64{10, 40}, []float64{60, -30}, []float64{-8, 3}, []float64{3, 2}, []float64{1, 2}}
	return c, map[string]Noise{
		"independent": {Own: []Own{{Laplace: 4}, {Laplace: 2}}},
		"shared":      {Own: []Own{{Normal: 2}, {Normal: 1}}, Shared: []Line{{Laplace: .1, Along: []float64{60, -30}}}},
	}
}

// weighted is what a sample says of the law of a statistic.
type weighted struct{ x, w []float64 }

func (s weighted) moments() (mean, sd, count float64) {
	var w0, w1, w2, ww float64
	for i, x := range s.x {
		w0, w1, w2, ww = w0+s.w[i], w1+s.w[i]*x, w2+s.w[i]*x*x, ww+s.w[i]*s.w[i]
	}
	mean = w1 / w0
	return mean, math.Sqrt(w2/w0 - mean*mean), w0 * w0 / ww
}

func (s weighted) within(low, high float64) float64 {
	var in, all float64
	for i, x := range s.x {
		all += s.w[i]
		if low <= x && x <= high {
			in += s.w[i]
		}
	}
	return in / all
}

// Estimates are what the paper's two algorithms sample [Seeman, Reimherr & Slavkovic, algorithms 1 and 2]. Algorithm 1
// is printed with its inequality the wrong way round: accepted is whose π(y|x)/sup π is at least U. Seeds are fixed.
func TestPaperAlgorithms(t *testing.T) {
	c, laws := small()
	for name, noise := range laws {
		for trial := range 4 {
			r := rand.New(rand.NewPCG(16, uint64(trial)))
			a := release(r, c.draw(r, c.from+(c.to-c.from)*r.Float64()), noise)
			p := Problem{Size: 2, Answers: []Answer{a},
				Prior: &Prior{Of: []int{0, 1}, Mean: c.Mean(.3), Secrets: []Secret{c}}}
			got, err := p.Solve()
			if err != nil {
				t.Fatal(err)
			}
			top := density(a, a.Values)
			proposals := 40_000
			var rejection, importance [2]weighted
			for range proposals {
				x := c.draw(r, c.from+(c.to-c.from)*r.Float64())
				w := density(a, x) / top
				accepted := w >= r.Float64()
				for k := range 2 {
					if importance[k].x, importance[k].w = append(importance[k].x, x[k]),
						append(importance[k].w, w); accepted {
						rejection[k].x, rejection[k].w = append(rejection[k].x, x[k]), append(rejection[k].w, 1)
					}
				}
			}
			for k, e := range got {
				low, high := e.Interval(.95)
				for how, s := range map[string]weighted{"rejection": rejection[k], "importance": importance[k]} {
					mean, sd, n := s.moments()
					off := (e.Mean() - mean) / sd
					t.Logf("%s %d %d %s of %.0f: mean %.3f for %.3f (%.1f%% sd), sd %.3f for %.3f, inside %.3f", name,
						trial, k, how, n, e.Mean(), mean, 100*off, e.SD(), sd, s.within(low, high))
					if n < 300 {
						t.Errorf("a sample of %.0f shows little", n)
					}
					// Five standard errors of the sample, and 2 % for what is approximated.
					if math.Abs(off) > 5/math.Sqrt(n)+.02 || math.Abs(e.SD()/sd-1) > 5/math.Sqrt(n)+.02 {
						t.Errorf("%s: mean %v, sd %v; the paper's %s has %v, %v", name, e.Mean(), e.SD(), how, mean, sd)
					}
					if in := s.within(low, high); math.Abs(in-.95) > 5*math.Sqrt(.95*.05/n)+.01 {
						t.Errorf("%s: %.3f of the paper's %s within the interval", name, in, how)
					}
				}
			}
		}
	}
}

// Where everything is normal the posterior is that of the normal equations, written down by precisions.
func TestNormal(t *testing.T) {
	a := Answer{Values: []float64{3, 5, 4}, Of: []int{0, 1, 0}, Noise: Noise{
		Own: []Own{{Normal: 1}, {Normal: 2}, {Normal: .5}}, Shared: []Line{{Normal: 1.5, Along: []float64{1, -1, 2}}}}}
	got, err := Problem{Size: 2, Answers: []Answer{a}}.Solve()
	if err != nil {
		t.Fatal(err)
	}
	sigma := mat.NewSymDense(3, []float64{1, 0, 0, 0, 4, 0, 0, 0, .25})
	sigma.SymRankOne(sigma, 2.25, mat.NewVecDense(3, []float64{1, -1, 2}))
	h := mat.NewDense(3, 2, []float64{1, 0, 0, 1, 1, 0})
	var inverse, hs, precision, covariance mat.Dense
	if err := inverse.Inverse(sigma); err != nil {
		t.Fatal(err)
	}
	hs.Mul(h.T(), &inverse)
	precision.Mul(&hs, h)
	if err := covariance.Inverse(&precision); err != nil {
		t.Fatal(err)
	}
	var score, mean mat.VecDense
	score.MulVec(&hs, mat.NewVecDense(3, a.Values))
	mean.MulVec(&covariance, &score)
	for k, e := range got {
		if math.Abs(e.Mean()-mean.AtVec(k)) > 1e-4 || math.Abs(e.SD()/math.Sqrt(covariance.At(k, k))-1) > 1e-4 {
			t.Errorf("%v ± %v, want %v ± %v", e.Mean(), e.SD(), mean.AtVec(k), math.Sqrt(covariance.At(k, k)))
		}
	}
}

// One value with Laplace noise and nothing else: its law is the noise's around the value.
func TestOneLaplaceValue(t *testing.T) {
	got, err := Problem{Size: 1, Answers: []Answer{{Values: []float64{7}, Of: []int{0},
		Noise: Noise{Own: []Own{{Laplace: 2}}}}}}.Solve()
	if err != nil {
		t.Fatal(err)
	}
	low, high := got[0].Interval(.95)
	want := 2 * math.Log(20)
	if math.Abs(got[0].Mean()-7) > 1e-3 || math.Abs(got[0].SD()/math.Sqrt(8)-1) > .005 ||
		math.Abs((7-low)/want-1) > .01 || math.Abs((high-7)/want-1) > .01 {
		t.Errorf("%v ± %v, %v to %v", got[0].Mean(), got[0].SD(), low, high)
	}
}

// Public facts hold of the estimates, and parts that add up to a known total are known better.
func TestFacts(t *testing.T) {
	noise := Noise{Own: []Own{{Laplace: 3}, {Laplace: 3}, {Laplace: 3}}}
	p := Problem{Size: 3, Answers: []Answer{{Values: []float64{10, 20, 33}, Of: []int{0, 1, 2}, Noise: noise}}}
	free, err := p.Solve()
	if err != nil {
		t.Fatal(err)
	}
	p.Facts = []Fact{{Of: []int{0, 1, 2}, Total: 60}}
	bound, err := p.Solve()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for k := range bound {
		sum += bound[k].Mean()
		if !(bound[k].SD() < free[k].SD()) {
			t.Errorf("statistic %d: %v with the fact, %v without", k, bound[k].SD(), free[k].SD())
		}
	}
	if math.Abs(sum-60) > .3 {
		t.Errorf("the means add up to %v", sum)
	}
}

// What does not fit together is refused.
func TestCheck(t *testing.T) {
	good := Answer{Values: []float64{1}, Of: []int{0}, Noise: Noise{Own: []Own{{Laplace: 1}}}}
	for _, p := range []Problem{
		{Size: 1},
		{Size: 2, Answers: []Answer{good}},
		{Size: 1, Answers: []Answer{{Values: []float64{1}, Of: []int{3}, Noise: good.Noise}}},
		{Size: 1, Answers: []Answer{{Values: []float64{1}, Of: []int{0}, Noise: Noise{Own: []Own{{}}}}}},
		{Size: 1, Answers: []Answer{{Values: []float64{math.NaN()}, Of: []int{0}, Noise: good.Noise}}},
		{Size: 1, Answers: []Answer{good}, Facts: []Fact{{Of: []int{1}}}},
		{Size: 1, Answers: []Answer{good}, Prior: &Prior{Of: []int{0}, Mean: []float64{0}}},
	} {
		if _, err := p.Solve(); err == nil {
			t.Errorf("%+v is taken", p)
		}
	}
	large := Answer{}
	for range MaxValues + 1 {
		large.Values, large.Of = append(large.Values, 1), append(large.Of, 0)
		large.Noise.Own = append(large.Noise.Own, Own{Laplace: 1})
	}
	if _, err := (Problem{Size: 1, Answers: []Answer{large}}).Solve(); err != ErrSize {
		t.Errorf("%v", err)
	}
}
