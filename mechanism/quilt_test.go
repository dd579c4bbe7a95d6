package mechanism

import (
	"math"
	"math/big"
	"testing"

	"fugu/privacy"
	"fugu/sensitivity"
)

func quilts(q ...sensitivity.Quilt) Request {
	return Request{Components: []Component{{Lattice: 1, Unit: 1}, {Lattice: 1, Unit: 5}}, Budget: budget(1, 0),
		Quilts: q}
}

func TestMarkovQuilt(t *testing.T) {
	a, b := sensitivity.Quilt{Attribute: "a", Influence: .4, Width: 30}, sensitivity.Quilt{Attribute: "b", Influence: 0,
		Width: 20}
	for _, kind := range []Kind{MarkovQuilt, Auto} {
		c := calibrated(t, kind, quilts(a, b))
		if x, y := c.SD[0]/math.Sqrt2, c.SD[1]/math.Sqrt2; c.Kind != MarkovQuilt || math.Abs(x-50) > 1e-5 ||
			math.Abs(y-250) > 1e-4 {
			t.Errorf("%s: scales %g and %g, want 30/(1-.4) and five times that", c.Kind, x, y)
		}
		if x, y := c.Losses["a"].Pure, c.Losses["b"].Pure; x > 1 || x < .9999 || math.Abs(y-.4) > 1e-4 ||
			c.Assumption != IndependentColumns {
			t.Errorf("losses %+v, %s", c.Losses, c.Assumption)
		}
		if r, err := c.Release(NewStatistics([]*big.Rat{big.NewRat(1, 1), big.NewRat(2, 1)})); err != nil ||
			r.Len() != 2 {
			t.Errorf("%v, %v", r, err)
		}
	}

	// What no near column moves has the least noise, and costs what the quilt itself tells.
	if c := calibrated(t, MarkovQuilt,
		quilts(sensitivity.Quilt{Attribute: "a", Influence: .25})); math.Abs(c.SD[0]-math.Sqrt2) > 1e-6 ||
		math.Abs(c.Losses["a"].Pure-.25) > 1e-6 {
		t.Errorf("sd %v, losses %+v", c.SD, c.Losses)
	}

	// A model that is only nearly right: b = 30/(.8-.4), beside noise of scale W/λ, in units.
	r := quilts(a)
	r.Relaxed = within
	c := calibrated(t, MarkovQuilt, r)
	if want := math.Sqrt2 * math.Hypot(75, 50); math.Abs(c.SD[0]/want-1) > 1e-6 ||
		math.Abs(c.Losses["a"].Pure-1) > 1e-6 || c.Assumption != "independent columns, relaxed" {
		t.Errorf("relaxed: sd %v, want %v; %+v, %s", c.SD, want, c.Losses, c.Assumption)
	}
}

func TestMarkovQuiltRefuses(t *testing.T) {
	nan := math.NaN()
	whole := sensitivity.Quilt{Attribute: "a", Influence: .4, Width: 30}
	for name, q := range map[string][]sensitivity.Quilt{
		"none": nil, "influence ε": {{Attribute: "a", Influence: 1, Width: 1}}, "nan influence": {{Attribute: "a",
			Influence: nan, Width: 1}},
		"nan width": {{Attribute: "a", Width: nan}}, "negative": {{Attribute: "a",
			Width: -1}}, "endless": {{Attribute: "a", Width: math.Inf(1)}},
		"endless influence": {{Attribute: "a", Influence: math.Inf(1)}}, "twice": {whole, whole},
	} {
		if c, err := Calibrate(t.Context(), MarkovQuilt, quilts(q...)); err == nil {
			t.Errorf("%s: %v", name, c.SD)
		}
	}

	for _, b := range [][2]float64{{0, 0}, {nan, 0}, {1, 1}, {1, nan}} {
		r := quilts(whole)
		r.Budget = privacy.Budget{Epsilon: privacy.Epsilon(b[0]), Delta: privacy.Delta(b[1])}
		if _, err := Calibrate(t.Context(), MarkovQuilt, r); err == nil {
			t.Errorf("%v is accepted", b)
		}
	}

	for _, kind := range Kinds() {
		if _, err := Calibrate(t.Context(), kind, quilts(whole)); (err == nil) != (kind == MarkovQuilt ||
			kind == Auto) {
			t.Errorf("%s hides a parameter: %v", kind, err)
		}
	}

	mixed := counts(2, budget(1, .001))
	if c, err := Calibrate(t.Context(), MarkovQuilt, mixed); err == nil {
		t.Errorf("a proportion is hidden by %s: %v", MarkovQuilt, c.SD)
	}
	mixed.Quilts = []sensitivity.Quilt{whole}
	for _, kind := range []Kind{Auto, MarkovQuilt} {
		if c, err := Calibrate(t.Context(), kind, mixed); err == nil {
			t.Errorf("%s hides a proportion and a parameter: %v", kind, c.SD)
		}
	}
}
