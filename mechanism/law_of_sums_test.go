package mechanism

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"fugu/privacy"
	"fugu/sensitivity"
)

// laws are calibrations of different kinds of noise, over the same four components.
func laws(t *testing.T) map[Kind]Calibration {
	t.Helper()
	out := map[Kind]Calibration{}
	for _, kind := range []Kind{ExpmLaplace, ExpmGaussian, Directional} {
		c, err := Calibrate(t.Context(), kind, Request{
			Shifts: []sensitivity.Shift{{Secret: "s", Along: []float64{50, -30, -20, 5}, Beside: []float64{1, 2, 1, 1}},
				{Secret: "r", Along: []float64{5, 3, 60, 1}, Beside: []float64{1, 2, 1, 1}}},
			Components: []Component{{Lattice: 1, Unit: 10, Integer: true}, {Lattice: 1, Unit: 30, Integer: true},
				{Lattice: 1, Unit: 20, Integer: true},
				{Lattice: 0.1, Unit: 1}},
			Budget: privacy.Budget{Epsilon: 1, Delta: 1e-3}})
		if err != nil {
			t.Fatal(err)
		}
		out[kind] = c
	}
	return out
}

// A law that was kept as JSON has the covariances of the noise, and that of publication beside.
func TestLawIsThatOfTheNoise(t *testing.T) {
	for kind, c := range laws(t) {
		text, err := json.Marshal(c.Noise.Law())
		if err != nil {
			t.Fatal(err)
		}
		var l Law
		if err := json.Unmarshal(text, &l); err != nil || !reflect.DeepEqual(l, c.Noise.Law()) || l.Check(4) != nil ||
			l.Check(3) == nil {
			t.Fatalf("%s: %v, %+v", kind, err, l)
		}

		for j := range 4 {
			for k := range 4 {
				want := c.Noise.Covariance(j, k)
				if j == k {
					want += l.Own[k].Step * l.Own[k].Step / 12
				}
				if got := l.Covariance(j,
					k); math.Abs(got-want) > 1e-9*math.Sqrt(c.Noise.Covariance(j, j)*c.Noise.Covariance(k, k)) {
					t.Errorf("%s: covariance of %d and %d %v, want %v", kind, j, k, got, want)
				}
			}
		}
	}
}

// A law that was kept is not trusted: each component has finite noise, and what is shared is finite and of all of them.
func TestLawsAreChecked(t *testing.T) {
	for kind, c := range laws(t) {
		for k := range c.Noise.Law().Own {
			for name, edit := range map[string]func(*Law){
				"no noise":     func(l *Law) { l.Own[k] = Own{} },
				"no number":    func(l *Law) { l.Own[k].Sigma = math.NaN() },
				"endless":      func(l *Law) { l.Own[k].Laplace = math.Inf(1) },
				"a wide grid":  func(l *Law) { l.Own[k].Step = math.Inf(1) },
				"not along":    func(l *Law) { l.Shared = []Line{{Sigma: 1, Along: make([]float64, k)}} },
				"along no one": func(l *Law) { l.Shared = []Line{{Sigma: 1, Along: nan(4, k)}} },
				"shared":       func(l *Law) { l.Shared = []Line{{Laplace: math.Inf(1), Along: make([]float64, 4)}} },
			} {
				l := c.Noise.Law()
				l.Own = slices.Clone(l.Own)
				if edit(&l); l.Check(4) == nil {
					t.Errorf("%s: %s of component %d is taken", kind, name, k)
				}
			}
		}
	}
}

// nan is a vector of zeros with no number in one place.
func nan(size, at int) []float64 {
	v := make([]float64, size)
	v[at] = math.NaN()
	return v
}

// The standard deviation and the interval of weighted sums hold for what is drawn: n = 8,000 draws of each; with
// variances off by less than .15, and a share outside of the interval below 1-confidence and six standard errors, the
// false alarm is below 1e-7 for each (the fourth moment of any of the sums is at most 6 times its variance squared: six
// standard errors of the mean square are 6·√(5/n) = .15).
func TestMixtureIsThatOfWeightedSums(t *testing.T) {
	const n, confidence = 8_000, 0.9
	src := rand.NewChaCha8([32]byte{5})
	for kind, c := range laws(t) {
		for _, w := range [][]float64{{1, 1, 1, 0}, {1, 0, 0, 0}, {.5, -.25, 0, 3}, {1, 1, 1, 1}} {
			var m Mixture
			m.Add(c.Noise.Law(), w)
			zero := NewStatistics([]*big.Rat{new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)})
			outside, squares := 0, 0.0
			half := m.HalfWidth(confidence)
			for range n {
				r, err := c.Noise.Release(src, zero)
				if err != nil {
					t.Fatal(err)
				}
				x := 0.0
				for k, v := range rats(r.values) {
					f, _ := v.Float64()
					x += w[k] * f
				}

				squares += x * x
				if math.Abs(x) > half {
					outside++
				}
			}
			if sd := math.Sqrt(squares / n); math.Abs(sd*sd/(m.SD()*m.SD())-1) > .15 {
				t.Errorf("%s %v: sd %v, and %v is claimed", kind, w, sd, m.SD())
			}
			if most := n*(1-confidence) + 6*math.Sqrt(n*confidence*(1-confidence)); float64(outside) > most {
				t.Errorf("%s %v: %d of %d outside, at most %v", kind, w, outside, n, most)
			}
			if float64(outside) < n*(1-confidence)/6 {
				t.Errorf("%s %v: %d of %d outside: the interval is far too wide", kind, w, outside, n)
			}
			if 2*m.SD() < m.HalfWidth(.5) || m.HalfWidth(.99) <= half || !math.IsInf(m.HalfWidth(1), 1) {
				t.Errorf("%s %v: half widths %v, %v", kind, w, m.HalfWidth(.5), m.HalfWidth(.99))
			}
		}
	}
}

func TestCombine(t *testing.T) {
	from := []Release{{values: []string{"103", "-7"}}, {values: []string{"12.34"}}}
	got, errs, err := Combine(from, []Estimate{
		{Of: []Share{{0, 0, 1}, {0, 1, 1}}, Error: Mixture{Sigma: 20}, Integer: true},
		{Of: []Share{{0, 0, .25}, {0, 1, .5}}, Error: Mixture{Sigma: 20}, Integer: true},
		{Of: []Share{{1, 0, .5}, {0, 0, -1}}, Error: Mixture{Sigma: 1}},
	})

	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"96", "22", "-96.83"}; !reflect.DeepEqual(got.Values(), want) {
		t.Errorf("%v, want %v", got.Values(), want)
	}
	if errs[0].Rounding != 0 || errs[1].Rounding != .5 || errs[2].Rounding != .005 {
		t.Errorf("errors %+v", errs)
	}
	for _, bad := range []Share{{2, 0, 1}, {0, 2, 1}, {-1, 0, 1}, {0, 0, math.NaN()}, {0, 0, math.Inf(1)}} {
		if _, _, err := Combine(from, []Estimate{{Of: []Share{bad}, Error: Mixture{Sigma: 1}}}); err == nil {
			t.Errorf("%+v is combined", bad)
		}
	}
}
