package mechanism

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/sqlstate"
	adultdata "fugu/test/adult"
)

// counts of disjoint cells under a proportion secret: n rows, of which a share p has class shares in, the rest out.
type proportion struct {
	n       float64
	in, out []float64 // share of each cell in its class
	span    sensitivity.Span
	crooked bool
}

func (f proportion) Secret() string         { return "income" }
func (f proportion) Span() sensitivity.Span { return f.span }
func (f proportion) Affine() bool           { return !f.crooked }
func (f proportion) Mean(p float64) []float64 {
	out := make([]float64, len(f.in))
	for k := range out {
		out[k] = f.n * (p*f.in[k] + (1-p)*f.out[k])
	}
	return out
}
func (f proportion) Covariance(p float64) sensitivity.Covariance {
	var c sensitivity.Covariance
	for _, v := range f.Mean(p) {
		c.Blocks = append(c.Blocks, sensitivity.Block{Size: 1, Entries: []float64{v}})
	}
	c.Low = []sensitivity.RankOne{{Weight: -f.n * p, Vector: f.in}, {Weight: -f.n * (1 - p), Vector: f.out}}
	return c
}

// request is for the counts, resolved as finely as a reference of the given class sizes can: a row more in a class
// moves the cell that it is in, and the share of the class's others in each.
func (f proportion) request(inRows, outRows float64, b privacy.Budget) Request {
	r := Request{Budget: b, Families: []sensitivity.Family{f}}
	s := sensitivity.Shift{Secret: f.Secret(), Unseen: []sensitivity.Unseen{{Rows: 1}, {Rows: 1}}}
	a, c := f.Covariance(f.span.From).Diagonal(), f.Covariance(f.span.To).Diagonal()
	for k := range f.in {
		s.Along = append(s.Along, f.span.Within*f.n*(f.in[k]-f.out[k]))
		s.Beside = append(s.Beside, f.span.Within*f.n*(f.in[k]/inRows+f.out[k]/outRows))
		for i, own := range []float64{(1 - f.in[k]) / inRows, (1 - f.out[k]) / outRows} {
			u := &s.Unseen[i]
			u.At, u.Cell, u.Size = append(u.At, k), append(u.Cell, k), append(u.Size,
				f.span.Within*f.n*math.Max(0, own))
		}
		s.Error = append(s.Error, f.span.Within*f.n*math.Sqrt(f.in[k]*(1-f.in[k])/inRows+f.out[k]*(1-f.out[k])/outRows))
		r.Components = append(r.Components,
			Component{Lattice: 1, Unit: math.Sqrt(1 + math.Max(a[k], c[k])), Integer: true})
	}
	r.Shifts = []sensitivity.Shift{s}
	return r
}

// wide is m cells whose shares differ between the classes as those of census groups do.
func wide(m int) proportion {
	f := proportion{n: 35_222, span: sensitivity.Span{From: .1, To: .6, Within: .05}}
	var in, out float64
	for k := range m {
		base := 1 / (3 + float64(k%37))
		f.in = append(f.in, base*(1+.6*math.Sin(float64(3*k+1))))
		f.out = append(f.out, base*(1-.5*math.Sin(float64(3*k+1))))
		in, out = in+f.in[k], out+f.out[k]
	}
	for k := range f.in {
		f.in[k] /= in
		f.out[k] /= out
	}
	return f
}

// census is the counts of the 48,842 records of the Adult census by a column, and how many of them have an income above
// 50K and how many have not (https://archive.ics.uci.edu/dataset/2/adult, CC BY 4.0).
func census(t testing.TB, column string) (f proportion, in, out float64) {
	t.Helper()
	f = proportion{n: 35_222, span: sensitivity.Span{From: .1, To: .6, Within: .05}}
	for _, line := range adultdata.ReadCounted(t, "testdata/cells.csv") {
		if line.Name != column {
			continue
		}
		class, cell, count := line.Numbers[0], line.Numbers[1], float64(line.Numbers[2])
		if cell == len(f.in) {
			f.in, f.out = append(f.in, 0), append(f.out, 0)
		}
		if class == 1 {
			f.in[cell], in = count, in+count
		} else {
			f.out[cell], out = count, out+count
		}
	}

	if in+out != 48_842 {
		t.Fatalf("%v records by %s", in+out, column)
	}
	for k := range f.in {
		f.in[k] /= in
		f.out[k] /= out
	}
	return f, in, out
}

// relative is the expected Σ|noise|/n: of a Laplace and a normal of variances v and w together.
func relative(c Calibration, n float64) float64 {
	total := 0.0
	for k := range c.Noise.cells {
		lo, hi := 0.0, 60*c.SD[k]
		const points = 20_000
		var scales []float64
		g := step(c.Noise.cells[k].exponent)
		if l := c.Noise.cells[k].laplace; l > 0 {
			scales = append(scales, g*float64(l))
		}
		for _, d := range c.Noise.directions {
			if w := math.Abs(d.weights[k]); w > 0 {
				scales = append(scales, g*w*float64(d.scale))
			}
		}

		for i := range points {
			x := lo + (hi-lo)*(float64(i)+.5)/points
			// E|X| = ∫ Pr(|X|>x) dx
			total += (hi - lo) / points * twoSided(x, scales, g*float64(c.Noise.cells[k].sigma))
		}
	}
	return total / n
}

// The goals are two thirds of what an optimal Gaussian noise, not certified, needs: .074 and .0135.
func TestCensusGoals(t *testing.T) {
	for column, goal := range map[string]float64{"education": .0488, "race": .0089} {
		f, in, out := census(t, column)
		c := calibrated(t, Auto, f.request(in, out, budget(1, .001)))
		got := relative(c, f.n)
		t.Logf("count by %s: %s, total relative error %.5f, %+v", column, c.Kind, got, c.Certificates)
		if x := c.Certificates[0]; got > goal || x.Delta > .001 || x.Epsilon != 1 || len(x.Assumptions) != 2 {
			t.Errorf("count by %s: error %.5f, goal %.4f, %+v", column, got, goal, x)
		}
	}
}

// Each kind, for random families: within the budget by noise alone, certified, deterministic, never with less error
// than without families; auto is the least of them.
func TestEveryKindIsCertified(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 3))
	for range 6 {
		f := wide(1 + g.IntN(6))
		f.n = math.Exp(5 + 6*g.Float64())
		f.span.Within = .02 + .2*g.Float64()
		r := f.request(500+1e4*g.Float64(), 3e4*g.Float64()+500, budget(.3+2*g.Float64(), math.Exp(-5-8*g.Float64())))
		least := math.Inf(1)
		for _, kind := range []Kind{ExpmLaplace, ExpmGaussian, Directional} {
			c := calibrated(t, kind, r)
			plain := r
			plain.Families = nil
			if p := calibrated(t, kind, plain); c.Error < p.Error*(1-1e-3) || p.Assumption != "translation" ||
				len(p.Certificates) != 1 || len(p.Certificates[0].Assumptions) != 1 {
				t.Errorf("%s: error %g, without a family %g, %q", kind, c.Error, p.Error, p.Assumption)
			}

			least = math.Min(least, c.Error)
			x := c.Certificates[0]
			if len(c.Certificates) != 1 || x.Secret != "income" || x.Mechanism != kind ||
				x.Delta > float64(r.Budget.Delta) || x.Epsilon != float64(r.Budget.Epsilon) ||
				c.Assumption != "gaussian, translation" {
				t.Errorf("%s: %+v", kind, c.Certificates)
			}

			if d := math.Abs(x.Pair[0] - x.Pair[1]); d < f.span.Within*.99 || d > f.span.Within*1.3 {
				t.Errorf("%s: pair %v", kind, x.Pair)
			}
			if again := calibrated(t, kind, r); !reflect.DeepEqual(c, again) {
				t.Errorf("%s: not deterministic", kind)
			}
			switch kind {
			case ExpmLaplace:
				checkLaplaceCost(t, r, c)
			case ExpmGaussian:
				checkExactPairs(t, g, f, r, c)
			}
		}

		if c := calibrated(t, Auto, r); c.Error != least {
			t.Errorf("auto: %s with %g, least %g", c.Kind, c.Error, least)
		}
	}
}

// checkLaplaceCost: the widest shift, with unseen rows, and the difference of the spreads fit into the certificate's ε.
func checkLaplaceCost(t *testing.T, r Request, c Calibration) {
	var scales []float64
	for _, sd := range c.SD {
		scales = append(scales, sd/math.Sqrt2)
	}
	cost, err := sensitivity.ScaleCost(r.Families[0], scales)
	most := 0.0
	for _, u := range extremes(len(scales), r.Shifts[0].Unseen) {
		own := 0.0
		for k, v := range r.Shifts[0].Along {
			own += (math.Abs(v) + r.Shifts[0].Beside[k] + u[k]) / scales[k]
		}
		most = math.Max(most, own)
	}
	if cost += most; err != nil || cost > c.Certificates[0].Epsilon*(1+1e-6) {
		t.Errorf("expm-laplace: shift and spread cost %g of %g: %v", cost, c.Certificates[0].Epsilon, err)
	}
}

// checkExactPairs: δ of the exact law of the release, at random pairs with rows that the reference did not show, is no
// more than certified.
func checkExactPairs(t *testing.T, g *rand.Rand, f proportion, r Request, c Calibration) {
	var s sensitivity.Covariance
	for _, sd := range c.SD {
		s.Blocks = append(s.Blocks, sensitivity.Block{Size: 1, Entries: []float64{sd * sd}})
	}
	for range 20 {
		w := f.span.Within
		q := .1 + (.5-w)*g.Float64()
		p := q + w
		mean, other := f.Mean(p), f.Mean(q)
		rows := extremes(len(mean), r.Shifts[0].Unseen)
		row, sign := rows[g.IntN(len(rows))], float64(2*g.IntN(2)-1)
		for k := range mean {
			mean[k] -= other[k] - sign*row[k]
		}
		e, err := sensitivity.NewExperiment(nil, 0,
			&sensitivity.Pair{P: f.Covariance(p).Plus(1, s), Q: f.Covariance(q).Plus(1, s), Mean: mean})
		if err != nil {
			t.Fatal(err)
		}
		x := c.Certificates[0]
		for _, y := range []*sensitivity.Experiment{e, e.Swapped()} {
			if d := y.Delta(x.Epsilon); d.Low > x.Delta {
				t.Errorf("expm-gaussian: pair (%g,%g) has %v, certified %g", p, q, d, x.Delta)
			}
		}
	}
}

// A component that never varies, such as a count of all rows, may have a variance of a little less than 0.
func TestConstantComponents(t *testing.T) {
	f := wide(1) // its one cell holds everybody
	f.in, f.out = []float64{1 + 1e-13}, []float64{1 + 1e-13}
	if v := f.Covariance(.1).Diagonal()[0]; v >= 0 {
		t.Fatalf("variance %g", v)
	}
	r := f.request(8000, 24_000, budget(1, .001))
	r.Components[0].Unit = 1
	for _, kind := range []Kind{ExpmLaplace, ExpmGaussian, Directional} {
		c := calibrated(t, kind, r)
		r.Families = nil
		if plain := calibrated(t, kind, r); c.Error > 1.1*plain.Error {
			t.Errorf("%s: error %g, without a family %g", kind, c.Error, plain.Error)
		}
		r.Families = []sensitivity.Family{f}
	}
}

func TestFamiliesThatCannotBeCertified(t *testing.T) {
	f := wide(4)
	f.crooked = true
	r := f.request(8000, 24_000, budget(1, .001))
	if c := calibrated(t, Auto, r); c.Assumption != Translation || c.Certificates[0].Assumptions[0] != Translation {
		t.Errorf("not affine: %+v", c.Certificates)
	}
	f.crooked = false
	for name, spoil := range map[string]func(*proportion){
		"NaN":        func(f *proportion) { f.in = []float64{.1, math.NaN(), .1, .1} },
		"indefinite": func(f *proportion) { f.in, f.out = []float64{.9, .9, .9, .9}, []float64{.9, .9, .9, .9} },
	} {
		bad := f
		spoil(&bad)
		r.Families = []sensitivity.Family{bad}
		for _, kind := range []Kind{ExpmGaussian, Directional} {
			if c, err := Calibrate(t.Context(), kind, r); err == nil {
				t.Errorf("%s: %s: %+v", name, kind, c.Certificates)
			}
		}
	}

	for name, spoil := range map[string]func(*Request){
		"another length": func(r *Request) { r.Families = []sensitivity.Family{wide(3)} },
		"no shift":       func(r *Request) { r.Shifts[0].Secret = "other" },
	} {
		r := wide(4).request(8000, 24_000, budget(1, .001))
		spoil(&r)
		if _, err := Calibrate(t.Context(), Auto, r); err == nil || sqlstate.Is(err, sqlstate.ModelUnfit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Two pairs of one secret, far apart: each is covered by its own shift and family, and the direction is shared.
func TestSeveralSpansOfOneSecret(t *testing.T) {
	f, g := wide(6), wide(6)
	f.span = sensitivity.Span{From: .1, To: .12, Within: .02}
	g.span = sensitivity.Span{From: .5, To: .55, Within: .05}
	r := f.request(8000, 24_000, budget(1, .001))
	other := g.request(8000, 24_000, budget(1, .001))
	r.Shifts, r.Families = append(r.Shifts, other.Shifts...), append(r.Families, other.Families...)
	c := calibrated(t, Directional, r)
	if len(c.Noise.directions) != 1 || len(c.Losses) != 1 || len(c.Certificates) != 1 {
		t.Fatalf("%+v", c)
	}
	if x := c.Certificates[0]; x.Delta > .001 || math.Min(x.Pair[0], x.Pair[1]) < .49 {
		t.Errorf("%+v", x)
	}
	if alone := calibrated(t, Directional, other); math.Abs(c.Error/alone.Error-1) > .02 {
		t.Errorf("error %g, of the wider pair alone %g", c.Error, alone.Error)
	}
	// Shifts along different lines have a direction each.
	r.Families = nil
	r.Shifts[0].Along = append([]float64(nil), r.Shifts[0].Along...)
	r.Shifts[0].Along[0] += 30
	if c := calibrated(t, Directional, r); len(c.Noise.directions) != 2 || len(c.Losses) != 1 {
		t.Errorf("%d directions", len(c.Noise.directions))
	}
}

func BenchmarkCertified(b *testing.B) {
	for _, m := range []int{1, 10, 100, 1000} {
		f := wide(m)
		if m == 1 {
			f.in, f.out = []float64{.3}, []float64{.2}
		}
		r := f.request(8000, 24_000, budget(1, .001))
		for _, kind := range []Kind{ExpmLaplace, ExpmGaussian, Directional, Auto} {
			b.Run(fmt.Sprintf("%s/%d", kind, m), func(b *testing.B) {
				for b.Loop() {
					calibrated(b, kind, r)
				}
			})
		}
	}
}
