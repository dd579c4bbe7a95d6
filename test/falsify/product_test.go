package falsify

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"fugu/mechanism"
	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/test/setting"
)

// kinds are the mechanisms that need no f_θ: their noise alone keeps the promise.
var kinds = []mechanism.Kind{mechanism.ExpmLaplace, mechanism.ExpmGaussian, mechanism.Directional,
	mechanism.Wasserstein, mechanism.ApproximateWasserstein}

// along is how far F of the setting moves over its pair.
var along = translated().Difference()

// calibrate asks the product for noise that hides movements of F by share·along.
func calibrate(t *testing.T, kind mechanism.Kind, promise privacy.Budget, share float64) mechanism.Calibration {
	t.Helper()
	r := mechanism.Request{Budget: promise, Shifts: []sensitivity.Shift{{Secret: "s",
		Along: floats.ScaleTo(make([]float64, len(along)), share, along), Beside: make([]float64, len(along))}}}
	r.Close = []sensitivity.Close{{Secret: "s", W: share * floats.Norm(along, 1)}} // a translation
	for _, l := range setting.Lattice {
		r.Components = append(r.Components, mechanism.Component{Lattice: l, Unit: 1})
	}
	c, err := mechanism.Calibrate(t.Context(), kind, r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// law is the density of a release of the product's around f.
func law(t *testing.T, c mechanism.Calibration, f []float64) Density {
	t.Helper()
	n, err := Parts(c, along)
	if err != nil {
		t.Fatal(err)
	}
	if len(n.Laplace) == len(f) {
		return Laplaces(f, floats.ScaleTo(make([]float64, len(f)), 1/math.Sqrt2, c.SD))
	}
	var common []float64
	if len(n.Laplace) == 1 {
		common = n.Laplace[0]
	}
	d, err := Normals(f, setting.Normals(n, len(f)), common)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// f is the statistic at θ: 0 and 1 are one widest movement apart. It is a constant, as under translation the randomness
// of the data is nobody's to count.
func f(theta float64) []float64 {
	x := append([]float64(nil), translated()[1].Mean...)
	floats.AddScaled(x, theta, along)
	return x
}

// The product's noise in process, through its integer samplers, its grid and its rounding.
func TestProduct(t *testing.T) {
	t.Parallel()
	promise := budget(1, .001)
	for i, kind := range kinds {
		for _, share := range []float64{1, .5} {
			t.Run(fmt.Sprintf("%s for %g of the movement", kind, share), func(t *testing.T) {
				c := calibrate(t, kind, promise, share)
				n := 4000 // enough to see half the noise
				if kind == mechanism.ExpmGaussian {
					n = 15_000
				}
				run(t, Trial{
					Sampler: func(theta float64, rng *rand.Rand) []float64 {
						return Release(nil, c.Noise, f(theta),
							rng)
					},
					Pairs: [][2]float64{{0, 1}}, Promise: promise, Train: 1500, Held: Effort(n), Seed: uint64(i),
					Tests: []Test{Ratio(func(theta float64) Density { return law(t, c, f(theta)) }), Logistic(false)},
				}, share == 1)
			})
		}
	}
}

// A pair of Ψ that the calibration forgot: values 0, 1 and 2 of which all pairs are secret, noise for neighbours.
func TestForgottenPair(t *testing.T) {
	t.Parallel()
	promise := budget(1, .001)
	for _, test := range []struct {
		name  string
		pairs [][2]float64
		holds bool
	}{{"neighbours", [][2]float64{{0, 1}, {1, 2}}, true}, {"and the ends", [][2]float64{{0, 1}, {1, 2}, {0, 2}},
		false}} {
		t.Run(test.name, func(t *testing.T) {
			c := calibrate(t, mechanism.Directional, promise, 1)
			run(t, Trial{
				Sampler: func(theta float64, rng *rand.Rand) []float64 { return Release(nil, c.Noise, f(theta), rng) },
				Pairs:   test.pairs, Promise: promise, Train: 1000, Held: Effort(3000), Seed: 21,
				Tests: []Test{Logistic(false)},
			}, test.holds)
		})
	}
}

// A secret that moves F nearly along the line of another one, whose noise hides most of it: its own pairs, by the noise
// of a request for both. Pairs two and a half times as wide as the calibration knew are caught.
func TestNearlyParallelSecrets(t *testing.T) {
	t.Parallel()
	promise := budget(1, .001)
	second := floats.ScaleTo(make([]float64, len(along)), -.5, along)
	second[0] += .02 * floats.Norm(along, 2)
	r := mechanism.Request{Budget: promise, Shifts: []sensitivity.Shift{
		{Secret: "first", Along: along, Beside: make([]float64, len(along))}, {Secret: "second", Along: second,
			Beside: make([]float64, len(along))}}}
	for _, l := range setting.Lattice {
		r.Components = append(r.Components, mechanism.Component{Lattice: l, Unit: 1})
	}
	c, err := mechanism.Calibrate(t.Context(), mechanism.Directional, r)
	if err != nil {
		t.Fatal(err)
	}
	alone := r
	alone.Shifts = r.Shifts[:1]
	if one, err := mechanism.Calibrate(t.Context(), mechanism.Directional, alone); err != nil ||
		c.Error > 1.05*one.Error {
		t.Fatalf("the second secret has much noise of its own: error %g, %g for the first alone, %v", c.Error,
			one.Error, err)
	}
	for _, test := range []struct {
		name  string
		pair  [2]float64
		holds bool
	}{{"the pair", [2]float64{0, 1}, true}, {"two and a half times the pair", [2]float64{0, 2.5}, false}} {
		t.Run(test.name, func(t *testing.T) {
			run(t, Trial{
				Sampler: func(theta float64, rng *rand.Rand) []float64 {
					return Release(nil, c.Noise, floats.AddScaledTo(make([]float64, len(along)), f(0), theta, second),
						rng)
				},
				Pairs: [][2]float64{test.pair}, Promise: promise, Train: 1000, Held: Effort(4000), Seed: 23,
				Tests: []Test{Logistic(false)},
			}, test.holds)
		})
	}
}

// Three releases, each of a kind and at an ε that depend on what came before, promise together what the losses of the
// path add up to: here the ledger's arithmetic, at its limit, is tried. A ledger that forgot all but the last is
// caught.
func TestAdaptiveComposition(t *testing.T) {
	t.Parallel()
	const delta = .001
	calibrations := map[bool]mechanism.Calibration{
		false: calibrate(t, mechanism.ExpmLaplace, budget(.5, delta), 1),
		true:  calibrate(t, mechanism.Directional, budget(.5, delta), 1),
	}
	start := f(0)
	worst := privacy.Loss{} // over the paths, part by part
	for _, c := range calibrations {
		l := c.Losses["s"]
		worst = privacy.Loss{Pure: math.Max(worst.Pure, l.Pure), Kappa2: math.Max(worst.Kappa2, l.Kappa2),
			Delta: math.Max(worst.Delta, l.Delta)}
	}
	all := worst.Plus(worst).Plus(worst)
	sampler := func(theta float64, rng *rand.Rand) []float64 {
		var x []float64
		at := f(theta)
		for range 3 {
			x = Release(x, calibrations[further(x, start)].Noise, at, rng)
		}
		return x
	}
	density := func(theta float64) Density {
		laws := map[bool]Density{false: law(t, calibrations[false], f(theta)), true: law(t, calibrations[true],
			f(theta))}
		return func(x []float64) float64 {
			total := 0.0
			for i := 0; i < len(x); i += len(along) {
				total += laws[further(x[:i], start)](x[i : i+len(along)])
			}
			return total
		}
	}
	trial := Trial{Sampler: sampler, Pairs: [][2]float64{{0, 1}}, Promise: budget(all.EpsilonAt(delta), delta),
		Train: 1500, Held: Effort(12000), Alarm: alarm, Seed: 22, Tests: []Test{Ratio(density), Logistic(false)}}
	found := trial.Run()
	t.Logf("promised ε = %.3f, of one release %.3f: %v", trial.Promise.Epsilon, worst.EpsilonAt(delta), found)
	if found.Refutes(trial.Promise) {
		t.Error("the sum of the losses is not enough")
	}
	if !found.Refutes(budget(worst.EpsilonAt(delta), delta)) {
		t.Error("that three releases cost more than one is not seen")
	}
}

// further is the analyst's choice: whether the last release's first value is above what they expect.
func further(x, expected []float64) bool {
	return len(x) > 0 && x[len(x)-len(expected)] > expected[0]
}

// Noise along one direction is taken off again by whoever knows the direction and that F has a lattice: from the
// paper's statistics if they are published to three decimals, and from twelve counts even at the product's one decimal.
// The product's directional noise, with its floor in every component, is not.
func TestNoiseAlongOneDirectionOnly(t *testing.T) {
	t.Parallel()
	p := translated()
	const digits = 1e-3
	promise := budget(.2, .001)
	counts, product := twelveCounts(t, promise)
	ones := make([]float64, 12)
	floats.AddConst(1, ones)
	paper, direction := noise(t, setting.DirmLaplace, p, promise), noise(t, setting.DirmLaplace, counts, promise)
	for _, test := range []struct {
		name    string
		pair    setting.Pair
		lattice []float64
		unit    float64
		anchor  int
		release func(x []float64, rng *rand.Rand) []float64
		holds   bool
	}{
		{"as published", p, setting.Lattice, digits, 3, func(x []float64, rng *rand.Rand) []float64 {
			setting.Draw(x, paper, rng)
			return round(x, digits)
		}, false},
		{"twelve counts", counts, ones, .1, 0, func(x []float64, rng *rand.Rand) []float64 {
			setting.Draw(x, direction, rng)
			return round(x, .1)
		}, false},
		{"twelve counts by the product", counts, ones, .1, 0, func(x []float64, rng *rand.Rand) []float64 {
			return Release(nil, product.Noise, x, rng)
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			draw := normals(test.pair, setting.Noise{})
			density := func(theta float64) Density {
				of := at(test.pair, theta)
				d, err := Normals(of.Mean, of.Cov, nil)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			run(t, Trial{
				Sampler: func(theta float64, rng *rand.Rand) []float64 {
					x := draw(theta, rng)
					for k, l := range test.lattice {
						x[k] = math.Round(x[k]/l) * l
					}
					return test.release(x, rng)
				},
				Pairs: both, Promise: promise, Train: 1000, Held: Effort(3000), Seed: 23,
				Tests: []Test{Lattice(test.pair.Difference(), test.lattice, test.unit, test.anchor, density, 0,
					setting.Records), Logistic(false)},
			}, test.holds)
		})
	}
}

// twelveCounts are counts that a secret moves in alternating directions, and the product's noise along them.
func twelveCounts(t *testing.T, promise privacy.Budget) (counts setting.Pair, c mechanism.Calibration) {
	t.Helper()
	r := mechanism.Request{Budget: promise, Shifts: []sensitivity.Shift{{Secret: "s"}}}
	for k := range 12 {
		d := (4 + .37*float64(k)) * float64(1-2*(k%2))
		counts[0].Mean, counts[1].Mean = append(counts[0].Mean, 50+d), append(counts[1].Mean, 50)
		r.Shifts[0].Along, r.Shifts[0].Beside = append(r.Shifts[0].Along, d), append(r.Shifts[0].Beside, 0)
		r.Components = append(r.Components, mechanism.Component{Lattice: 1, Unit: 1})
	}
	counts[0], counts[1] = normal(counts[0].Mean, 9), normal(counts[1].Mean, 9)
	c, err := mechanism.Calibrate(t.Context(), mechanism.Directional, r)
	if err != nil {
		t.Fatal(err)
	}
	return counts, c
}

// Laplace noise by the inverse of its distribution function in float64 tells F by its low bits; the product's does not.
func TestInverseDistributionInFloats(t *testing.T) {
	t.Parallel()
	promise := budget(1, 0)
	r := mechanism.Request{Budget: promise, Components: []mechanism.Component{{Lattice: 1e-9, Unit: 1}},
		Shifts: []sensitivity.Shift{{Secret: "s", Along: []float64{1}, Beside: []float64{0}}}}
	product, err := mechanism.Calibrate(t.Context(), mechanism.ExpmLaplace, r)
	if err != nil {
		t.Fatal(err)
	}
	attack := []Test{LowBits(func(theta float64) (float64, float64) { return theta, 1 }), Logistic(false)}
	for _, test := range []struct {
		name    string
		sampler Sampler
		holds   bool
	}{
		{"float64", func(theta float64, rng *rand.Rand) []float64 {
			y := math.Log(math.Ldexp(float64(rng.Uint64()>>11)+1, -53))
			if rng.Uint64()&1 == 0 {
				y = -y
			}
			return []float64{theta + y}
		}, false},
		{"product", func(theta float64, rng *rand.Rand) []float64 {
			return Release(nil, product.Noise, []float64{theta}, rng)
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			run(t, Trial{Sampler: test.sampler, Pairs: [][2]float64{{0, 1}}, Promise: promise, Train: 1000,
				Held: Effort(8000), Seed: 24, Tests: attack}, test.holds)
		})
	}
}

// certified asks the product for noise for the income pair from, to, with f_θ or without.
func certified(kind mechanism.Kind, promise privacy.Budget, from, to float64, known bool) (mechanism.Calibration,
	error) {
	d := setting.Income.Between(from, to).Difference()
	r := mechanism.Request{Budget: promise, Shifts: []sensitivity.Shift{{Secret: "s", Along: d,
		Beside: make([]float64, len(d))}}}
	if known {
		r.Families = []sensitivity.Family{setting.Family{Classes: setting.Income, Name: "s", From: from, To: to}}
	}
	for _, l := range setting.Lattice {
		r.Components = append(r.Components, mechanism.Component{Lattice: l, Unit: 1})
	}
	return mechanism.Calibrate(context.Background(), kind, r)
}

// The covariances of F differ between the values of the pair, and noise that is certified keeps its promise all the
// same. What is caught: noise calibrated for translations alone, and noise for a pair two fifths as wide. So many
// transcripts take too long by the product's samplers: but for one mechanism, what is tried is the law of its noise, in
// floating point.
func TestCertifiedNoise(t *testing.T) {
	t.Parallel()
	p := setting.Income.Between(.45, .55)
	type trial struct {
		name     string
		kind     mechanism.Kind
		promise  privacy.Budget
		from, to float64
		known    bool
		held     int
		holds    bool
	}
	trials := []trial{
		{"translation alone", mechanism.Directional, budget(.2, .001), .45, .55, false, 350_000, false},
		{"certified at .2", mechanism.Directional, budget(.2, .001), .45, .55, true, 350_000, true},
		{"no noise", mechanism.NoNoise, budget(5, .01), .45, .55, true, 60_000, true},
	}
	for _, kind := range []mechanism.Kind{mechanism.Directional, mechanism.Eigm, mechanism.Daum,
		mechanism.OptimalGaussian} {
		trials = append(trials, trial{"certified", kind, budget(1, .001), .45, .55, true, 40_000, true},
			trial{"two fifths of the pair", kind, budget(1, .001), .48, .52, true, 40_000, false})
	}
	for i, test := range trials {
		t.Run(string(test.kind)+", "+test.name, func(t *testing.T) {
			c, err := certified(test.kind, test.promise, test.from, test.to, test.known)
			if err != nil {
				t.Fatal(err)
			}
			n, err := Parts(c, p.Difference())
			if err != nil {
				t.Fatal(err)
			}
			run(t, Trial{Sampler: normals(p, n), Pairs: both, Promise: test.promise, Train: test.held / 4,
				Held: Effort(test.held), Seed: uint64(25 + i),
				Tests: []Test{densities(t, p, n)}}, test.holds)
			if test.kind == mechanism.OptimalGaussian {
				draw := normals(p, setting.Noise{})
				run(t, Trial{Sampler: func(theta float64, rng *rand.Rand) []float64 {
					return Release(nil, c.Noise,
						draw(theta, rng), rng)
				},
					Pairs: both, Promise: test.promise, Train: 2000, Held: Effort(8000), Seed: uint64(25 + i),
					Tests: []Test{densities(t, p, n)}}, test.holds)
			}
		})
	}
}
