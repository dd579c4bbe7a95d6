package sensitivity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"fugu/privacy"
)

func experiment(t testing.TB, laplace []float64, kappa2 float64, pair *Pair) *Experiment {
	t.Helper()
	e, err := NewExperiment(laplace, kappa2, pair)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// variances is a diagonal covariance.
func variances(v ...float64) Covariance {
	var c Covariance
	for _, x := range v {
		c.Blocks = append(c.Blocks, Block{1, []float64{x}})
	}
	return c
}

// within checks that bounds hold want, and are as tight as 1e-3 of it where it is not negligible.
func within(t *testing.T, what string, b Bounds, want float64) {
	t.Helper()
	if !(b.Low <= want*(1+1e-12)+1e-300 && want <= b.High*(1+1e-12)) {
		t.Errorf("%s: %g is not in [%g, %g]", what, want, b.Low, b.High)
	}
	if want > 1e-25 && b.High-b.Low > 1e-3*want {
		t.Errorf("%s: [%g, %g] is wide", what, b.Low, b.High)
	}
}

func TestGaussianShift(t *testing.T) {
	for _, epsilon := range []float64{.01, .2, 1, 5, 40} {
		for _, kappa := range []float64{.01, .1, .388, 1, 4, 12} {
			want := privacy.GaussianDelta(epsilon, kappa)
			if want < 1e-14 {
				continue // the closed form cancels there
			}
			what := fmt.Sprintf("ε %g, κ %g", epsilon, kappa)
			within(t, what, experiment(t, nil, kappa*kappa, nil).Delta(epsilon), want)
			pair := &Pair{variances(4, 9), variances(4, 9), []float64{2 * kappa * .6, 3 * kappa * .8}}
			within(t, what+" as a pair", experiment(t, nil, 0, pair).Delta(epsilon), want)
			within(t, what+" as both", experiment(t, nil, kappa*kappa*.36, &Pair{variances(1), variances(1),
				[]float64{.8 * kappa}}).Delta(epsilon), want)
		}
	}
}

// Laplace noise alone: δ = 1 - e^((ε-a)/2), exactly 0 from a on. Its integral converges slowly, and the bounds say so.
func TestLaplace(t *testing.T) {
	for _, a := range []float64{.1, 1, 3} {
		for _, share := range []float64{.1, .5, .9, 1, 1.5} {
			b := experiment(t, []float64{a}, 0, nil).Delta(share * a)
			want := math.Max(0, -math.Expm1((share*a-a)/2))
			if b.Low > want || b.High < want || b.High-b.Low > .02*want {
				t.Errorf("a %g, ε %g: %g is not in %v", a, share*a, want, b)
			}
		}
	}
}

// scaleDelta is δ(ε) of N(0,ρ) against N(0,1): the likelihood ratio is monotone in x².
func scaleDelta(epsilon, rho float64) float64 {
	t := 2 * (epsilon + math.Log(rho)/2) / (1 - 1/rho)
	switch {
	case rho > 1:
		return 2*phi(-math.Sqrt(t/rho)) - math.Exp(epsilon)*2*phi(-math.Sqrt(t))
	case t > 0:
		return math.Erf(math.Sqrt(t/rho/2)) - math.Exp(epsilon)*math.Erf(math.Sqrt(t/2))
	}
	return 0
}

func TestScale(t *testing.T) {
	for _, epsilon := range []float64{.05, .3, 1} {
		for _, rho := range []float64{.01, .3, .8, 1.1, 1.5, 3, 50} {
			e := experiment(t, nil, 0, &Pair{P: variances(7 * rho), Q: variances(7)})
			want, back := scaleDelta(epsilon, rho), scaleDelta(epsilon, 1/rho)
			for i, b := range []Bounds{e.Delta(epsilon), e.Swapped().Delta(epsilon)} {
				w := []float64{want, back}[i]
				// One dimension falls off as 1/√u only: the bounds are honest, but a percent wide.
				if b.Low > w*(1+1e-9) || b.High < w*(1-1e-9) || b.High-b.Low > 2e-2*(w+1e-4) {
					t.Errorf("ε %g, ρ %g, order %d: %g is not in %v", epsilon, rho, i, w, b)
				}
			}
		}
	}
}

// Laplace noise and a Gaussian shift: an integral over the loss of the Laplace part, which is a with probability ½, -a
// with probability e^-a/2, and 2y-a with density e^(y-a)/2 between.
func TestLaplaceBesideGaussian(t *testing.T) {
	for _, a := range []float64{.2, .85, 2} {
		for _, kappa := range []float64{.05, .2, .7, 2} {
			for _, epsilon := range []float64{.3, 1, 3} {
				d := func(loss float64) float64 { return privacy.GaussianDelta(epsilon-loss, kappa) }
				want := d(a)/2 + math.Exp(-a)*d(-a)/2
				const n = 20_000
				for i := range n {
					y := a * (float64(i) + .5) / n
					want += a / n * math.Exp(y-a) / 2 * d(2*y-a)
				}

				if want < 1e-12 {
					continue
				}
				b := experiment(t, []float64{a}, kappa*kappa, nil).Delta(epsilon)
				if b.Low > want*(1+1e-6) || b.High < want*(1-1e-6) || b.High-b.Low > 1e-3*want {
					t.Errorf("a %g, κ %g, ε %g: %g is not in %v", a, kappa, epsilon, want, b)
				}
			}
		}
	}
}

// drawLoss draws L of Laplace noise, a Gaussian shift and independent coordinates N(shift, rho) against N(0, 1).
func drawLoss(r *rand.Rand, laplace []float64, kappa float64, rho, shift []float64) float64 {
	z := r.NormFloat64()
	loss := kappa*z + kappa*kappa/2
	for _, b := range laplace {
		y := r.ExpFloat64()
		if r.IntN(2) == 0 {
			y = -y
		}
		loss += math.Abs(y+b) - math.Abs(y)
	}
	for k, v := range rho {
		y := math.Sqrt(v) * r.NormFloat64()
		loss += -math.Log(v)/2 - y*y/v/2 + (y+shift[k])*(y+shift[k])/2
	}
	return loss
}

// Against n = 10^6 samples of everything at once: L is computed from densities, δ is the mean of (1-e^(ε-L))₊.
// Differences of more than 6 of its standard errors have probability 2e-9 for each of the 12 comparisons.
func TestDeltaAgainstSamples(t *testing.T) {
	if testing.Short() {
		t.Skip("samples")
	}
	r := rand.New(rand.NewPCG(2, 3))
	for i := range 2 {
		sizes := []int{2, 1, 3}
		shared := vectors(r, 6, 2)
		p, q := random(r, sizes, shared), random(r, sizes, shared)
		var mean []float64
		if i%2 == 0 {
			mean = vectors(r, 6, 1)[0]
		}
		a, kappa := .3+r.Float64(), r.Float64()
		laplace := []float64{a, a / 3}
		e := experiment(t, laplace, kappa*kappa, &Pair{p, q, mean})
		for _, swapped := range []bool{false, true} {
			x := e
			rho, shift := spectrum(t, p, q, mean)
			if swapped {
				x = e.Swapped()
				for k := range rho {
					shift[k] /= math.Sqrt(rho[k])
					rho[k] = 1 / rho[k]
				}
			}

			epsilons := []float64{.5, 1.5, 3}
			sums, squares := make([]float64, 3), make([]float64, 3)
			const n = 1_000_000
			for range n {
				loss := drawLoss(r, laplace, kappa, rho, shift)
				for j, epsilon := range epsilons {
					if d := -math.Expm1(epsilon - loss); d > 0 {
						sums[j] += d
						squares[j] += d * d
					}
				}
			}

			for j, epsilon := range epsilons {
				got := sums[j] / n
				off := 6 * math.Sqrt((squares[j]/n-got*got)/n)
				if b := x.Delta(epsilon); b.High < got-off || b.Low > got+off || b.High > 1.001*(got+off) {
					t.Errorf("%d, swapped %v, ε %g: %v, samples say %g ± %g", i, swapped, epsilon, b, got, off)
				}
			}
		}
	}
}

// Another line, a step ten times finer: the enclosures must have a point in common.
func TestBoundsHoldOnOtherContours(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for i := range 100 {
		sizes := []int{1, 2, 1, 1}
		p, q := random(r, sizes, nil), random(r, sizes, nil)
		e := experiment(t, []float64{r.Float64()}, r.Float64()/4, &Pair{P: p, Q: q})
		epsilon := 3 * r.Float64()
		b := e.Delta(epsilon)
		c, k := e.saddle(epsilon, 1)
		for _, f := range []float64{.5, .9, 1.05} {
			smooth := *e
			smooth.laplace = nil
			first, _ := e.line(c, k, epsilon, -30)
			line := &contour{e: &smooth, c: f * c, h: first.h / 10}
			fine := line.delta(epsilon, e.laplace, truncated)
			if fine.Low == 0 && fine.High == 1 {
				continue // outside the domain
			}
			if b.Low > fine.High || b.High < fine.Low {
				t.Errorf("%d, c × %g: %v and %v", i, f, b, fine)
			}
		}
	}
}

func TestExperimentExtremes(t *testing.T) {
	// Ratios at the edge of the domain: α has to stay below 1/(1-1/ρ).
	wide := experiment(t, nil, 0, &Pair{P: variances(1e12, 1, 2), Q: variances(1, 1e12, 2)})
	if b := wide.Delta(1); b.High < .99 {
		t.Errorf("ratios of 1e12 give %v", b)
	}
	near := experiment(t, nil, 0, &Pair{P: variances(1+1e-9, 3), Q: variances(1, 3)})
	if b := near.Delta(.01); b.High > 1e-20 {
		t.Errorf("ratios of 1+1e-9 give %v", b)
	}
	same := experiment(t, nil, 0, &Pair{P: variances(2, 3), Q: variances(2, 3)})
	if b := same.Delta(1e-3); b != (Bounds{}) {
		t.Errorf("equal distributions give %v", b)
	}
	if b := experiment(t, []float64{1}, 1, nil).Delta(1e4); b.High > 1e-30 || b.High == 0 {
		t.Errorf("huge ε gives %v", b)
	}
	// m = 1000 equal coordinates, by the central limit theorem a Gaussian shift with κ² = m (ln ρ)²/2, roughly.
	var p, q []float64
	for range 1000 {
		p, q = append(p, 1.02), append(q, 1)
	}
	b := experiment(t, nil, 0, &Pair{P: variances(p...), Q: variances(q...)}).Delta(.5)
	if want := privacy.GaussianDelta(.5, math.Log(1.02)*math.Sqrt(500)); b.High < .9*want || b.High > 1.2*want ||
		b.High-b.Low > 1e-3*b.High {
		t.Errorf("m = 1000: %v, roughly %g", b, want)
	}
}

func TestEpsilonAt(t *testing.T) {
	for _, kappa := range []float64{.1, .388, 2} {
		e := experiment(t, nil, kappa*kappa, nil)
		for _, delta := range []float64{1e-2, 1e-3, 1e-6} {
			epsilon := e.EpsilonAt(delta)
			if d := privacy.GaussianDelta(epsilon, kappa); d > delta || d < .99*delta {
				t.Errorf("κ %g: δ(%g) = %g, want %g", kappa, epsilon, d, delta)
			}
		}
	}
	if e := experiment(t, []float64{.7}, 0, nil).EpsilonAt(0); math.Abs(e-.7) > 1e-4 || e < .7 {
		t.Errorf("pure: %g", e)
	}
	if e := experiment(t, nil, 1, nil).EpsilonAt(0); !math.IsInf(e, 1) {
		t.Errorf("Gaussian noise with δ = 0: %g", e)
	}
}

func TestExperimentRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, laplace := range map[string]float64{"negative": -1, "NaN": nan, "infinite": inf} {
		if _, err := NewExperiment([]float64{laplace}, 0, nil); err == nil {
			t.Errorf("%s Laplace shift: accepted", name)
		}
		if _, err := NewExperiment(nil, laplace, nil); err == nil {
			t.Errorf("%s Gaussian shift: accepted", name)
		}
	}

	good := variances(1, 2)
	asymmetric := Covariance{Blocks: []Block{{2, []float64{2, 1, .5, 2}}}}
	indefinite := Covariance{Blocks: []Block{{2, []float64{1, 2, 2, 1}}}}
	singular := Covariance{Blocks: variances(1, 1).Blocks, Low: []RankOne{{-.5, []float64{1, 1}}}}
	short := Covariance{Blocks: good.Blocks, Low: []RankOne{{1, []float64{1}}}}
	for name, pair := range map[string]Pair{
		"NaN variance":               {P: variances(nan, 1), Q: good},
		"NaN in Q":                   {P: good, Q: variances(1, nan)},
		"infinite":                   {P: variances(inf, 1), Q: good},
		"singular P":                 {P: variances(0, 1), Q: good},
		"indefinite Q":               {P: good, Q: variances(-1, 1)},
		"sizes":                      {P: good, Q: variances(1)},
		"none":                       {},
		"mean":                       {P: good, Q: good, Mean: []float64{1}},
		"NaN mean":                   {P: good, Q: good, Mean: []float64{1, nan}},
		"asymmetric":                 {P: asymmetric, Q: asymmetric},
		"indefinite block":           {P: indefinite, Q: indefinite},
		"low rank makes it singular": {P: singular, Q: good},
		"low rank of another length": {P: good, Q: short},
	} {
		if e, err := NewExperiment(nil, 0, &pair); err == nil {
			t.Errorf("%s: accepted: δ(1) = %v", name, e.Delta(1))
		}
	}

	for _, epsilon := range []float64{0, -1, nan, inf} {
		if b := experiment(t, nil, 1, nil).Delta(epsilon); b != (Bounds{0, 1}) {
			t.Errorf("ε = %g: %v", epsilon, b)
		}
	}
}
