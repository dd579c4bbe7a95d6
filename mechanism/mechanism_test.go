package mechanism

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/sqlstate"
	_ "fugu/test/seeded" // what rapid draws is the same at every run
)

func budget(epsilon, delta float64) privacy.Budget {
	return privacy.Budget{Epsilon: privacy.Epsilon(epsilon), Delta: privacy.Delta(delta)}
}

// counts is a request for m counts that one proportion secret moves, group by group, partly aside of its direction.
func counts(m int, b privacy.Budget) Request {
	r := Request{Budget: b, Shifts: []sensitivity.Shift{{Secret: "income"}}}
	for k := range m {
		r.Components = append(r.Components, Component{Lattice: 1, Unit: 1, Integer: true})
		r.Shifts[0].Along = append(r.Shifts[0].Along, 100*math.Sin(float64(3*k+1)))
		r.Shifts[0].Beside = append(r.Shifts[0].Beside, 2+math.Cos(float64(k)))
	}
	return r
}

func calibrated(t testing.TB, kind Kind, r Request) Calibration {
	t.Helper()
	c, err := Calibrate(t.Context(), kind, r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ε/κ* = 1.980, 2.575, 3.449 for ε = .2, 1, 5 at δ = .001, and √2·Δ1/ε for Laplace noise.
func TestExpmScalesAsPublished(t *testing.T) {
	for epsilon, c := range map[float64]float64{.2: 1.980, 1: 2.575, 5: 3.449} {
		r := Request{
			Shifts:     []sensitivity.Shift{{Secret: "s", Along: []float64{300, -400}, Beside: []float64{0, 0}}},
			Components: []Component{{Lattice: 1, Unit: 1}, {Lattice: 1, Unit: 1}},
			Budget:     budget(epsilon, .001),
		}
		for k := range 2 {
			if got := calibrated(t, ExpmGaussian, r).SD[k] * epsilon / 500; math.Abs(got-c) > 6e-4 {
				t.Errorf("ε = %g: gaussian sd·ε/Δ2 = %.4f, want %.3f", epsilon, got, c)
			}
			if got := calibrated(t, ExpmLaplace, r).SD[k] * epsilon / 700; math.Abs(got-math.Sqrt2) > 1e-6 {
				t.Errorf("ε = %g: laplace sd·ε/Δ1 = %.7f", epsilon, got)
			}
		}
	}
}

func TestUnitsScaleNoiseByComponent(t *testing.T) {
	r := counts(2, budget(1, 1e-6))
	r.Components[1].Unit, r.Components[1].Lattice = 1000, .01
	for _, kind := range []Kind{ExpmLaplace, ExpmGaussian} {
		if c := calibrated(t, kind, r); math.Abs(c.SD[1]/c.SD[0]-1000) > 1e-3 {
			t.Errorf("%s: sd %v", kind, c.SD)
		}
	}
}

// One direction and nothing beside it: the direction takes nearly all of ε, and the error is 2Δ2²/ε² and the floor.
func TestDirectionalIsNearlyFreeOfTheNumberOfComponents(t *testing.T) {
	r := counts(64, budget(1, 1e-6))
	r.Shifts[0].Beside = make([]float64, 64)
	var square float64
	for _, v := range r.Shifts[0].Along {
		square += v * v
	}
	c := calibrated(t, Auto, r)
	if want := 2*square + 64; c.Kind != Directional || c.Error < want || c.Error > 1.001*want {
		t.Errorf("%s with error %g, want directional with %g", c.Kind, c.Error, want)
	}
	if e := calibrated(t, ExpmGaussian, r).Error; e < 100*c.Error {
		t.Errorf("expm-gaussian: error %g against %g", e, c.Error)
	}
}

// The search is on a coarse grid: no other floor of a fine one does much better.
func TestDirectionalSearchIsNearOptimal(t *testing.T) {
	for _, beside := range []float64{.01, 1, 10, 100, 1e4} {
		r := counts(8, budget(1, 1e-6))
		for k := range r.Components {
			r.Shifts[0].Beside[k] *= beside
		}
		got := calibrated(t, Directional, r)
		best := math.Inf(1)
		var square float64
		for _, v := range r.Shifts[0].Along {
			square += v * v
		}
		for f := .1; f < 1e5; f *= 1.01 {
			var kappa2, sum float64
			for _, b := range r.Shifts[0].Beside {
				floor := math.Max(1, f*math.Sqrt(b))
				kappa2 += b * b / floor / floor
				sum += floor * floor
			}

			if e := (privacy.Loss{Kappa2: kappa2}).EpsilonAt(1e-6); e < 1 { // no least rate
				best = math.Min(best, sum+2*square/(1-e)/(1-e))
			}
		}
		if got.Error > 1.015*best || got.Error < .985*best {
			t.Errorf("beside × %g: error %g, best %g", beside, got.Error, best)
		}
	}
}

func TestBudgetIsUsed(t *testing.T) {
	r := counts(5, budget(.7, 1e-5))
	for _, kind := range []Kind{ExpmLaplace, ExpmGaussian, Directional} {
		l := calibrated(t, kind, r).Losses["income"]
		if l.Within(budget(.7*.999, 1e-5)) {
			t.Errorf("%s: %+v leaves ε unused", kind, l)
		}
	}
}

func TestDeltaZero(t *testing.T) {
	r := counts(3, budget(1, 0))
	for kind, want := range map[Kind]Kind{Auto: ExpmLaplace, ExpmLaplace: ExpmLaplace, ExpmGaussian: "",
		Directional: ""} {
		c, err := Calibrate(t.Context(), kind, r)
		if c.Kind != want || (want == "") != sqlstate.Is(err, sqlstate.InvalidParameterValue) {
			t.Errorf("%s: %q, %v", kind, c.Kind, err)
		}
		if want != "" && (c.Losses["income"].Kappa2 != 0 || c.Losses["income"].Delta != 0) {
			t.Errorf("%s: %+v", kind, c.Losses)
		}
	}
}

func TestGaussianRefusesHugeEpsilon(t *testing.T) {
	for _, kind := range []Kind{ExpmGaussian, Directional} {
		if _, err := Calibrate(t.Context(), kind, counts(2, budget(101, 1e-6))); err == nil {
			t.Errorf("%s accepted", kind)
		}
	}
	calibrated(t, Auto, counts(2, budget(101, 1e-6)))
}

func TestSecretsThatMoveNothing(t *testing.T) {
	r := counts(2, budget(1, 1e-6))
	r.Shifts[0].Along, r.Shifts[0].Beside = make([]float64, 2), make([]float64, 2)
	for _, kind := range []Kind{ExpmLaplace, ExpmGaussian, Directional} {
		c := calibrated(t, kind, r)
		if len(c.Noise.directions) != 0 || c.SD[0] < 1 || c.SD[0] > 1.5 {
			t.Errorf("%s: %+v", kind, c)
		}
	}
}

// Where what is beside the direction costs nearly everything, the direction must not be left a vanishing share of ε,
// for which its scale would be beyond the sampler.
func TestDirectionKeepsAShare(t *testing.T) {
	for scale := 1.0; scale < 1e12; scale *= 1.7 {
		r := counts(3, budget(1, 1e-4))
		r.Shifts[0].Beside[2] = 1000 * scale
		if p := calibrated(t, Directional, r).Losses["income"].Pure; p < 1.0/300 {
			t.Errorf("beside %g: pure loss %g", r.Shifts[0].Beside[2], p)
		}
	}
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, spoil := range map[string]func(*Request){
		"no components":       func(r *Request) { r.Components = nil },
		"no secrets":          func(r *Request) { r.Shifts = nil },
		"standard errors":     func(r *Request) { r.Shifts[0].Error = []float64{1} },
		"short along":         func(r *Request) { r.Shifts[0].Along = r.Shifts[0].Along[:1] },
		"long beside":         func(r *Request) { r.Shifts[0].Beside = append(r.Shifts[0].Beside, 1) },
		"nan along":           func(r *Request) { r.Shifts[0].Along[1] = nan },
		"infinite along":      func(r *Request) { r.Shifts[0].Along[1] = -inf },
		"nan beside":          func(r *Request) { r.Shifts[0].Beside[0] = nan },
		"negative beside":     func(r *Request) { r.Shifts[0].Beside[0] = -1e-9 },
		"infinite beside":     func(r *Request) { r.Shifts[0].Beside[0] = inf },
		"zero lattice":        func(r *Request) { r.Components[1].Lattice = 0 },
		"nan lattice":         func(r *Request) { r.Components[1].Lattice = nan },
		"infinite lattice":    func(r *Request) { r.Components[1].Lattice = inf },
		"negative unit":       func(r *Request) { r.Components[1].Unit = -1 },
		"nan unit":            func(r *Request) { r.Components[1].Unit = nan },
		"too small a lattice": func(r *Request) { r.Components[1].Lattice = 1e-200 },
		"zero epsilon":        func(r *Request) { r.Budget.Epsilon = 0 },
		"nan epsilon":         func(r *Request) { r.Budget.Epsilon = privacy.Epsilon(nan) },
		"infinite epsilon":    func(r *Request) { r.Budget.Epsilon = privacy.Epsilon(inf) },
		"negative delta":      func(r *Request) { r.Budget.Delta = -1e-9 },
		"delta one":           func(r *Request) { r.Budget.Delta = 1 },
		"nan delta":           func(r *Request) { r.Budget.Delta = privacy.Delta(nan) },
	} {
		for _, kind := range []Kind{Auto, ExpmLaplace, ExpmGaussian, Directional} {
			r := counts(2, budget(1, 1e-6))
			spoil(&r)
			if c, err := Calibrate(t.Context(), kind, r); err == nil {
				t.Errorf("%s: %s accepted: %+v", name, kind, c)
			}
		}
	}

	for _, kind := range []Kind{"", "laplace", "AUTO"} {
		if _, err := Calibrate(t.Context(), kind, counts(2, budget(1, 1e-6))); err == nil {
			t.Errorf("kind %q accepted", kind)
		}
		if _, err := ParseKind(string(kind)); !sqlstate.Is(err, sqlstate.InvalidParameterValue) ||
			strings.Contains(err.Error(), "laplace") {
			t.Errorf("kind %q: %v", kind, err)
		}
	}

	for _, kind := range []Kind{Auto, ExpmLaplace, ExpmGaussian, Directional} {
		if k, err := ParseKind(string(kind)); k != kind || err != nil {
			t.Errorf("%q: %q, %v", kind, k, err)
		}
	}
}

// A search ends with its context, and does not begin where it would take too long.
func TestCalibrationEnds(t *testing.T) {
	r := wide(16).request(4000, 4000, budget(1, .001))
	if _, err := Calibrate(t.Context(), Auto, r); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Calibrate(ctx, Auto, r); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
	r.Families[0] = narrow{r.Families[0]}
	if _, err := Calibrate(t.Context(), Auto, r); !sqlstate.Is(err, sqlstate.NotAnswerable) {
		t.Errorf("too many pairs: %v", err)
	}
}

// narrow is a family of very many pairs.
type narrow struct{ sensitivity.Family }

func (f narrow) Span() sensitivity.Span {
	s := f.Family.Span()
	s.Within = 1e-9
	return s
}

func BenchmarkCalibrate(b *testing.B) {
	for _, m := range []int{1, 16, 1000} {
		r := counts(m, budget(1, 1e-6))
		for _, kind := range []Kind{ExpmLaplace, ExpmGaussian, Directional, Auto} {
			b.Run(fmt.Sprintf("%s/%d", kind, m), func(b *testing.B) {
				for b.Loop() {
					calibrated(b, kind, r)
				}
			})
		}
	}
}
