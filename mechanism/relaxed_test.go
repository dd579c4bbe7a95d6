package mechanism

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

var within = &Relaxed{Nearby: &privacy.Nearby{W: 5, Lambda: .1}, Limit: budget(20, .01)}
var nearly = &Relaxed{Approximated: &privacy.Approximated{Eta: 1e-7, Lambda: .01}, Limit: budget(3, .01)}

// By hand: a count that moves by 10. Of ε = 1, λ = .1 leaves .8, for noise of scale 12.5; beside it is noise of scale
// W/λ = 50.
func TestNearbyByHand(t *testing.T) {
	r := Request{Budget: budget(1, 0), Components: []Component{{Lattice: 1, Unit: 1}}, Relaxed: within,
		Shifts: []sensitivity.Shift{{Secret: "s", Along: []float64{10}, Beside: []float64{0}}}}
	c := calibrated(t, ExpmLaplace, r)
	if want := math.Sqrt2 * math.Hypot(12.5, 50); math.Abs(c.SD[0]/want-1) > 1e-6 {
		t.Errorf("sd %v, want %v", c.SD, want)
	}
	if l := c.Losses["s"]; l.Pure > 1 || l.Pure < 1-1e-6 || l.Kappa2 != 0 || l.Delta != 0 {
		t.Errorf("loss %+v", l)
	}
	if x := c.Certificates[0]; math.Abs(x.Epsilon-1) > 1e-12 || x.Delta != 0 ||
		c.Assumption != "translation, relaxed" || !slices.Equal(x.Assumptions, []string{Translation, RelaxedModel}) {
		t.Errorf("%+v, %s", x, c.Assumption)
	}

	// A component whose unit is a thousandth of the other's has a thousandth of the noise, and W is shared.
	r.Components = append(r.Components, Component{Lattice: .001, Unit: .001})
	r.Shifts[0].Along, r.Shifts[0].Beside = []float64{10, 0}, []float64{0, 0}
	if c := calibrated(t, ExpmLaplace, r); math.Abs(c.SD[0]/c.SD[1]-1000) > 1e-3 ||
		math.Abs(c.SD[0]/(math.Sqrt2*math.Hypot(12.5, 50))-1) > 1e-6 {
		t.Errorf("sd %v", c.SD)
	}
}

// By hand: λ = .01 and η = 1e-7 under a limit of 3 leave ε = .98 and δ = (.001 - (1+e^2.99)·1e-7)/e^.01 of (1, .001).
func TestApproximatedByHand(t *testing.T) {
	r := Request{Budget: budget(1, 0), Components: []Component{{Lattice: 1, Unit: 1}},
		Shifts: []sensitivity.Shift{{Secret: "s", Along: []float64{100}, Beside: []float64{0}}}}
	r.Relaxed = &Relaxed{Approximated: &privacy.Approximated{Lambda: .01}, Limit: budget(3, 0)}
	if c := calibrated(t, ExpmLaplace, r); math.Abs(c.SD[0]/(math.Sqrt2*100/.98)-1) > 1e-6 ||
		math.Abs(c.Losses["s"].Pure-1) > 1e-6 {
		t.Errorf("laplace: %v, %+v", c.SD, c.Losses)
	}

	r.Relaxed, r.Budget.Delta = nearly, .001
	c := calibrated(t, ExpmGaussian, r)
	inner := budget(.98, (.001-(1+math.Exp(2.99))*1e-7)/math.Exp(.01))
	// What is charged has κ e^.015 in place of δ e^.01: noise of at most 1.6% more, in the steps of the search.
	if least := 100 / privacy.Kappa(inner); c.SD[0] < least || c.SD[0] > 1.033*least {
		t.Errorf("gaussian: sd %v, at least %v", c.SD, least)
	}
	if l := c.Losses["s"]; !l.Within(r.Budget) || l.EpsilonAt(.001) < .98 || l.Delta < (1+math.Exp(2.99))*1e-7 {
		t.Errorf("gaussian: charged %+v: ε = %v", l, l.EpsilonAt(.001))
	}
	if x := c.Certificates[0]; math.Abs(x.Epsilon-1) > 1e-12 || x.Delta > .001 || x.Delta < .0005 {
		t.Errorf("gaussian: %+v", x)
	}
}

// Every kind keeps the policy's promise in either sense, with more noise than without.
func TestEveryKindRelaxed(t *testing.T) {
	for _, kind := range Kinds()[1:] {
		for name, relaxed := range map[string]*Relaxed{"within": within, "nearly": nearly} {
			r := everyKind(kind, 1)
			exact := calibrated(t, kind, r)
			r.Relaxed = relaxed
			c, err := Calibrate(t.Context(), kind, r)
			if err != nil {
				t.Errorf("%s, %s: %v", kind, name, err)
				continue
			}

			if c.SD[0] <= exact.SD[0] && kind != NoNoise || !strings.HasSuffix(c.Assumption, ", relaxed") {
				t.Errorf("%s, %s: sd %v after %v, %s", kind, name, c.SD, exact.SD, c.Assumption)
			}
			for _, x := range c.Certificates {
				if x.Epsilon > 1+1e-12 || x.Delta > .001 {
					t.Errorf("%s, %s: %+v", kind, name, x)
				}
			}

			for secret, l := range c.Losses {
				if l.Pure < exact.Losses[secret].Pure && kind != ExpmLaplace && kind != Directional &&
					kind != MarkovQuilt || !l.Valid() {
					t.Errorf("%s, %s: loss %+v after %+v", kind, name, l, exact.Losses[secret])
				}
			}
		}
	}
}

// The additional noise is that of its calibration, also where it is far coarser or finer than the rest. 20,000 draws:
// the variance of a Laplace sample has a standard deviation of 1.6% of itself, so 9.6% is six of them (probability
// below 1e-8).
func TestExtraNoiseIsDrawn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes longer than a save")
	}
	for _, w := range []float64{.001, 1, 5, 1e5} {
		r := Request{Budget: budget(1, 1e-6), Components: []Component{{Lattice: 1, Unit: 1}},
			Relaxed: &Relaxed{Nearby: &privacy.Nearby{W: w, Lambda: .1}, Limit: budget(20, .01)},
			Shifts:  []sensitivity.Shift{{Secret: "s", Along: []float64{10}, Beside: []float64{1}}}}
		for _, kind := range []Kind{ExpmLaplace, ExpmGaussian, Directional} {
			c := calibrated(t, kind, r)
			random := rand.NewChaCha8([32]byte{7})
			const n = 20_000
			sum, inside, half := 0.0, 0, c.Noise.HalfWidth(0, .9)
			for range n {
				x, err := c.Noise.Release(random, NewStatistics([]*big.Rat{big.NewRat(1, 3)}))
				if err != nil {
					t.Fatal(err)
				}
				v, err := strconv.ParseFloat(x.Values()[0], 64)
				if err != nil {
					t.Fatal(err)
				}
				d := v - 1./3
				sum += d * d
				if math.Abs(d) <= half {
					inside++
				}
			}

			if got := sum / n / (c.SD[0] * c.SD[0]); math.Abs(got-1) > .096 {
				t.Errorf("%s, W = %g: variance %g times what the calibration says", kind, w, got)
			}
			if float64(inside) < .9*n-6*math.Sqrt(n*.09) {
				t.Errorf("%s, W = %g: %d of %d inside the 90%% interval", kind, w, inside, n)
			}
		}
	}
}

func TestRelaxedRefuses(t *testing.T) {
	r := counts(2, budget(1, .001))
	for name, relaxed := range map[string]*Relaxed{
		"no sense":          {Limit: budget(20, .01)},
		"both senses":       {Approximated: nearly.Approximated, Nearby: within.Nearby, Limit: budget(20, .01)},
		"no epsilon left":   {Nearby: &privacy.Nearby{W: 5, Lambda: .5}, Limit: budget(20, .01)},
		"no delta left":     {Approximated: &privacy.Approximated{Eta: 1e-7, Lambda: .01}, Limit: budget(20, .01)},
		"too large a limit": {Approximated: &privacy.Approximated{Eta: 0, Lambda: .01}, Limit: budget(20, .6)},
		"not a number":      {Nearby: &privacy.Nearby{W: math.NaN(), Lambda: .1}, Limit: budget(20, .01)},
		"endless":           {Nearby: &privacy.Nearby{W: math.Inf(1), Lambda: .1}, Limit: budget(20, .01)},
		"too far":           {Nearby: &privacy.Nearby{W: 1e40, Lambda: .1}, Limit: budget(20, .01)},
	} {
		r.Relaxed = relaxed
		c, err := Calibrate(t.Context(), ExpmGaussian, r)
		if err == nil {
			t.Errorf("%s: %+v", name, c)
		}
		if strings.HasPrefix(name, "no ") && name != "no sense" && !sqlstate.Is(err, sqlstate.ModelUnfit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
