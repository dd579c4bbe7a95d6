package mechanism

import (
	"fmt"
	"math"
	"testing"

	"fugu/sensitivity"
)

// twoSided against numerical convolution: each Laplace is integrated (Simpson, between density kinks) against the tail
// of what comes before it, which starts from the normal and has then been checked itself.
func TestTailsAgreeWithIntegration(t *testing.T) {
	for _, scales := range [][]float64{{1}, {.01}, {30}, {1, 2}, {.5, .7, 3}, {1, 1.1, 1.21, 1.331}} {
		for _, sigma := range []float64{.3, 1, 4} {
			for n := 1; n <= len(scales); n++ {
				b := scales[n-1]
				above := func(x float64) float64 { // Pr(L_1 + … + L_(n-1) + G > x)
					if x < 0 {
						return 1 - twoSided(-x, scales[:n-1], sigma)/2
					}
					return twoSided(x, scales[:n-1], sigma) / 2
				}

				for _, x := range []float64{0, .1, 1, 3, 10, 40} {
					const panels = 20_000
					h := 40 * b / panels
					var want float64
					for i := 0; i <= panels; i++ {
						w := 2 + 2*float64(i%2)
						if i == 0 || i == panels {
							w = 1
						}
						l := float64(i) * h
						want += w * h / 3 * math.Exp(-l/b) / (2 * b) * 2 * (above(x-l) + above(x+l))
					}

					if got := twoSided(x, scales[:n], sigma); math.Abs(got-want) > 1e-8 {
						t.Errorf("scales %v, σ %g, x %g: %.9f, want %.9f", scales[:n], sigma, x, got, want)
					}
				}
			}
		}
	}

	if got := twoSided(3, []float64{2}, 0); math.Abs(got-math.Exp(-1.5)) > 1e-15 {
		t.Errorf("laplace alone: %g", got)
	}
}

// Of n = 20,000 releases the interval holds F in about the share it promises: never fewer than a correct one would with
// probability 1e-7 (5.2 standard deviations), and, for the exact cases, at most 1% more.
func TestIntervalsCover(t *testing.T) {
	const n = 20_000
	one := sensitivity.Shift{Secret: "a", Along: []float64{40, -3}, Beside: []float64{5, .2}}
	two := sensitivity.Shift{Secret: "b", Along: []float64{0, 25}, Beside: []float64{1, 0}}
	twin := sensitivity.Shift{Secret: "c", Along: []float64{40, -3}, Beside: []float64{5, .2}}
	for i, test := range []struct {
		kind   Kind
		shifts []sensitivity.Shift
		excess float64
	}{
		{ExpmLaplace, []sensitivity.Shift{one}, .01},
		{ExpmGaussian, []sensitivity.Shift{one}, .01},
		{Directional, []sensitivity.Shift{one}, .01},
		{Directional, []sensitivity.Shift{one, two}, .01},
		{Directional, []sensitivity.Shift{one, two, twin}, .03}, // equal scales are moved apart
	} {
		t.Run(fmt.Sprint(test.kind, len(test.shifts)), func(t *testing.T) {
			r := Request{Shifts: test.shifts, Budget: budget(1, 1e-6),
				Components: []Component{{Lattice: 1, Unit: 1}, {Lattice: .1, Unit: .1}}}
			c := calibrated(t, test.kind, r)
			x := draws(t, c.Noise, n, seeded(byte(200+i)))
			for k := range x {
				for _, confidence := range []float64{.5, .95, .99} {
					half := c.Noise.HalfWidth(k, confidence)
					inside := 0
					for _, v := range x[k] {
						if math.Abs(v) <= half {
							inside++
						}
					}

					luck := 5.2 * math.Sqrt(confidence*(1-confidence)/n)
					if got := float64(inside) / n; got < confidence-luck || got > confidence+luck+test.excess {
						t.Errorf("component %d: %.4f of the intervals hold F at %g", k, got, confidence)
					}
				}
			}
		})
	}
}

// With F an integer published as one, the interval of a narrow noise still includes the rounding of publication.
func TestIntervalIncludesPublication(t *testing.T) {
	r := counts(1, budget(50, 1e-6))
	r.Shifts[0].Along[0], r.Shifts[0].Beside[0] = .001, 0
	c := calibrated(t, ExpmLaplace, r)
	if got, want := c.Noise.HalfWidth(0, .5), math.Ln2+.5; math.Abs(got-want) > 1e-6 {
		t.Errorf("half-width %g, want %g", got, want)
	}
}

func TestHalfWidthIsMonotoneAndRefuses(t *testing.T) {
	c := calibrated(t, Directional, counts(1, budget(1, 1e-6)))
	last := 0.0
	for _, confidence := range []float64{1e-9, .1, .5, .9, .99, .9999, 1 - 1e-12} {
		h := c.Noise.HalfWidth(0, confidence)
		if !(h > last) || math.IsInf(h, 0) {
			t.Errorf("half-width %g at %g after %g", h, confidence, last)
		}
		last = h
	}
	for _, confidence := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1)} {
		if h := c.Noise.HalfWidth(0, confidence); !math.IsInf(h, 1) {
			t.Errorf("half-width %g at %g", h, confidence)
		}
	}
}

// Fifty secrets with the same direction: the sum of their noises is nearly normal, and the interval wider than its.
func TestManyEqualDirections(t *testing.T) {
	r := counts(1, budget(1, 1e-6))
	for i := range 49 {
		s := r.Shifts[0]
		s.Secret = fmt.Sprint(i)
		r.Shifts = append(r.Shifts, s)
	}

	c := calibrated(t, Directional, r)
	if h := c.Noise.HalfWidth(0, .95); !(h >= 1.96*c.SD[0]) || math.IsInf(h, 0) {
		t.Errorf("half-width %g, sd %g", h, c.SD[0])
	}
	scales := make([]float64, 50)
	for i := range scales {
		scales[i] = math.Pow(apart, float64(i))
	}
	for i, b := range scales {
		w := 1.0
		for j, o := range scales {
			if j != i {
				w /= (1 - o/b) * (1 + o/b)
			}
		}

		if math.Abs(w) > 1e5 {
			t.Errorf("weight %d is %g", i, w)
		}
	}
}

func BenchmarkHalfWidth(b *testing.B) {
	c := calibrated(b, Directional, counts(16, budget(1, 1e-6)))
	for b.Loop() {
		c.Noise.HalfWidth(3, .95)
	}
}
