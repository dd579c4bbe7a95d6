package dataset

import (
	"math"
	"slices"
	"testing"

	"fugu/policy"
	"fugu/sensitivity"
)

// A law of two components at three values, of which the pair (1, 2) moves the first by 10, the second by 1, and always
// both; weights say the same as repeated atoms.
func TestClosenessOfSamples(t *testing.T) {
	p := &policy.Policy{}
	p.Privacy.Mechanism, p.Privacy.Delta = "auto", .25
	l := policy.Law{Secret: "s", Values: []float64{1, 2, 4}, Samples: [][][]float64{
		{{0, 0}, {0, 0}, {0, 0}, {500, 0}}, {{10, 1}, {10, 1}, {10, 1}, {10, 1}}, {{0, 0}, {0, 0}, {0, 0}, {7, 3}}}}
	pair := []sensitivity.Span{{From: 1, To: 2, Within: 1}}
	for mechanism, want := range map[string]sensitivity.Close{
		"auto":          {W: 2, Delta: .25, Unit: []float64{10, 1}},
		"wasserstein":   {W: 2, Unit: []float64{490, 1}},
		"expm-gaussian": {W: 2, Unit: []float64{490, 1}}, // an eighth of all is less than one atom
	} {
		p.Privacy.Mechanism = mechanism
		c, err := closeness(p, l, pair)
		if err != nil || math.Abs(c.W-want.W) > 1e-12 || c.Delta != want.Delta || !slices.Equal(c.Unit, want.Unit) ||
			c.Secret != "s" {
			t.Errorf("%s: %+v, %v, want %+v", mechanism, c, err, want)
		}
	}

	// The same by weights, beside an atom that never occurs.
	p.Privacy.Mechanism = "auto"
	l.Samples[0], l.Samples[1] = [][]float64{{0, 0}, {500, 0}}, [][]float64{{10, 1}, {-900, 8}}
	l.Weights = [][]int64{{3, 1}, {1, 0}, {3, 1, 0, 0}}
	if c, err := closeness(p, l, pair); err != nil || c.W != 2 || c.Delta != .25 {
		t.Errorf("%+v, %v", c, err)
	}

	// Of several pairs all are within it.
	l.Samples, l.Weights = [][][]float64{{{0}}, {{3}}, {{-5}}}, nil
	pair = append(pair, sensitivity.Span{From: 1, To: 4, Within: 3})
	if c, err := closeness(p, l, pair); err != nil || c.W != 5 || c.Delta != 0 || c.Unit != nil {
		t.Errorf("%+v, %v", c, err)
	}
}

// Two components that each have the same law under both values, and not together: alone, neither needs noise.
func TestClosenessIsOfAllComponentsTogether(t *testing.T) {
	p := &policy.Policy{}
	p.Privacy.Mechanism = "wasserstein"
	l := policy.Law{Secret: "s", Values: []float64{0, 1},
		Samples: [][][]float64{{{0, 0}, {1, 2}}, {{0, 2}, {1, 0}}}}
	c, err := closeness(p, l, []sensitivity.Span{{From: 0, To: 1, Within: 1}})
	if err != nil || c.W != 1 || !slices.Equal(c.Unit, []float64{1, 2}) {
		t.Errorf("%+v, %v: the two differ in the second component given the first", c, err)
	}
}

func TestSpacing(t *testing.T) {
	laws := []policy.Law{{Samples: [][][]float64{{{1, 5, 0}, {4, 5, .5}}, {{1.5, 5, 9}}}},
		{Samples: [][][]float64{{{9, 5, .25}}}}}
	if got := Spacing(laws...); !slices.Equal(got, []float64{.5, 1, .25}) {
		t.Errorf("%v", got)
	}
}
