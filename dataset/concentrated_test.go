package dataset

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fugu/policy"
	"fugu/sensitivity"
)

func TestCloseByConcentration(t *testing.T) {
	p := &policy.Policy{}
	p.Privacy.Mechanism, p.Privacy.Delta = "auto", .25
	l := policy.Law{Secret: "s", Values: []float64{1, 2, 4}, Means: [][]float64{{0, 0}, {10, 1}, {4, -3}},
		Concentrated: &policy.Concentrated{Within: []float64{5, .5}, ButFor: .125}}
	spans := []sensitivity.Span{{From: 1, To: 2, Within: 1}, {From: 1, To: 4, Within: 3}}

	// Alone the components move by 10 + 2·5 and 3 + 2·.5; together the first pair is at 20/20 + 2/4, the second at
	// 14/20 + 4/4.
	want := sensitivity.Close{Secret: "s", W: 1.7, Delta: .25, Unit: []float64{20, 4}}
	c, err := closeness(p, l, spans)
	if err != nil || math.Abs(c.W-want.W) > 1e-12 || c.Delta != want.Delta || !slices.Equal(c.Unit, want.Unit) ||
		c.Secret != "s" {
		t.Errorf("%+v, %v, want %+v", c, err, want)
	}

	// One number is measured as it is.
	l.Means, l.Concentrated = [][]float64{{0}, {10}, {-3}}, &policy.Concentrated{Within: []float64{5}, ButFor: .125}
	if c, err := closeness(p, l, spans); err != nil || c.W != 20 || c.Unit != nil || c.Delta != .25 {
		t.Errorf("%+v, %v", c, err)
	}

	// The noise that is drawn has to have room for what the two fail by.
	for mechanism, most := range map[string]float64{"auto": .125, "approximate-wasserstein": .125,
		"expm-gaussian": .0625, "directional": .0625, "wasserstein": 0} {
		p.Privacy.Mechanism = mechanism
		l.Concentrated.ButFor = most
		if c, err := closeness(p, l, spans); err != nil || c.Delta != 2*most {
			t.Errorf("%s: %+v, %v", mechanism, c, err)
		}
		l.Concentrated.ButFor = most*1.001 + 1e-9
		if c, err := closeness(p, l, spans); err == nil || !strings.Contains(err.Error(), "smaller but_for") {
			t.Errorf("%s: %+v, %v, of more than there is room for", mechanism, c, err)
		}
	}
}

// Of 2,000 pairs of laws that are as concentrated as is declared the best coupling of each, by transport, is never
// wider than what follows from the declaration, and for some of them it is nearly as wide. Every law has two thirds of
// its mass, 8 atoms of 12, at the corners of the box around its mean, and the others, the β of a third, anywhere that
// leaves the mean where it is. Seeds are fixed.
func TestConcentratedLawsAreClose(t *testing.T) {
	const atoms, inside = 12, 8
	p := &policy.Policy{}
	p.Privacy.Mechanism, p.Privacy.Delta = "approximate-wasserstein", .9
	widest, random := 0.0, rand.New(rand.NewPCG(16, 3))
	for trial := range 2000 {
		n := 1 + trial%3
		within := make([]float64, n)
		for k := range within {
			within[k] = math.Exp(3 * random.NormFloat64())
		}
		l := policy.Law{Secret: "s", Values: []float64{0, 1}, Means: make([][]float64, 2),
			Concentrated: &policy.Concentrated{Within: within, ButFor: float64(atoms-inside) / atoms}}
		var laws []sensitivity.Atoms
		for v := range 2 {
			var points [][]float64
			l.Means[v], points = concentratedLaw(random, within, atoms, inside)
			a, err := sensitivity.Sample(points)
			if err != nil {
				t.Fatal(err)
			}
			laws = append(laws, a)
		}
		declared, err := closeness(p, l, []sensitivity.Span{{From: 0, To: 1, Within: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if declared.Unit != nil {
			laws[0], laws[1] = laws[0].In(declared.Unit), laws[1].In(declared.Unit)
		}
		best, err := sensitivity.Closest(laws[0], laws[1], declared.Delta)
		if err != nil || best.W > declared.W*(1+1e-9) {
			t.Errorf("trial %d: %+v, %v: further apart than %+v", trial, best, err, declared)
		}
		widest = math.Max(widest, best.W/declared.W)
	}
	t.Logf("the best coupling is within %.3f of what is declared", widest)
	if widest < .5 {
		t.Error("no law comes near the bound: the check checks nothing")
	}
}

// concentratedLaw draws the mean and the atoms of a law: so many of them inside at the corners of the box around its
// mean, and the others where they leave the mean as it is.
func concentratedLaw(random *rand.Rand, within []float64, atoms, inside int) (mean []float64, points [][]float64) {
	for _, c := range within {
		mean = append(mean, 5*c*random.NormFloat64())
	}
	rest := make([]float64, len(within))
	sides := make([]float64, len(within)) // a law may be all on one side of its mean, but for its tail
	for k := range sides {
		sides[k] = float64(random.IntN(3) - 1)
	}

	for i := range atoms {
		x := make([]float64, len(within))
		for k, c := range within {
			side := sides[k]
			if side == 0 {
				side = float64(2*random.IntN(2) - 1)
			}
			if x[k] = mean[k] + side*c; i >= inside {
				x[k] = mean[k] - rest[k]/float64(atoms-i)
			}
			rest[k] += x[k] - mean[k]
		}
		points = append(points, x)
	}
	return mean, points
}
