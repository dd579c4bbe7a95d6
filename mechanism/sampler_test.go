package mechanism

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// falseAlarm is the probability with which each statistical test here would reject a correct sampler, if its seed were
// not fixed.
const falseAlarm = 1e-7

func seeded(b byte) io.Reader { return rand.NewChaCha8([32]byte{b}) }

// pValue is Pearson's chi-square test of integer samples against pmf on [lo, hi]; bins are joined until 20 samples are
// expected in each, and what lies outside is a bin of its own.
func pValue(samples []int64, lo, hi int64, pmf func(int64) float64) float64 {
	n := float64(len(samples))
	seen := map[int64]float64{}
	outside := 0.0
	for _, x := range samples {
		if x < lo || x > hi {
			outside++
		} else {
			seen[x]++
		}
	}

	var chi, bins, expected, observed float64
	rest := 1.0
	flush := func() {
		chi += (observed - expected) * (observed - expected) / expected
		bins++
		expected, observed = 0, 0
	}

	for x := lo; x <= hi; x++ {
		p := pmf(x)
		rest -= p
		expected += n * p
		observed += seen[x]
		if expected >= 20 {
			flush()
		}
	}

	expected += n * math.Max(rest, 0)
	observed += outside
	switch {
	case expected >= 1:
		flush()
	case observed > 20: // 20 samples where less than one is expected: beyond any false alarm
		return 0
	}

	if bins < 2 {
		panic("one bin cannot fail")
	}
	return distuv.ChiSquared{K: bins - 1}.Survival(chi)
}

func laplacePMF(t float64) func(int64) float64 {
	q := math.Exp(-1 / t)
	return func(x int64) float64 { return (1 - q) / (1 + q) * math.Exp(-math.Abs(float64(x))/t) }
}

func gaussianPMF(sigma float64) func(int64) float64 {
	var z float64
	for j := -40 * sigma; j <= 40*sigma; j++ {
		z += math.Exp(-j * j / (2 * sigma * sigma))
	}
	return func(x int64) float64 { return math.Exp(-float64(x)*float64(x)/(2*sigma*sigma)) / z }
}

// bernoulli is the law of 1 with probability p, and 0.
func bernoulli(p float64) func(int64) float64 {
	return func(x int64) float64 { return []float64{1 - p, p}[x] }
}

func indicator(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func uniform(int64) float64 { return 1.0 / 6 }

// samplers are exact, or have a fault that has to be found.
var samplers = []struct {
	name   string
	lo, hi int64
	pmf    func(int64) float64
	draw   func(*source) int64
	faulty bool
}{
	{"uniform", 0, 5, uniform, func(s *source) int64 { return int64(s.below(6)) }, false},
	{"uniform, remainder in place of rejection", 0, 5, uniform,
		func(s *source) int64 { return int64(s.below(8) % 6) }, true},
	{"uniform, bound off by one", 0, 5, uniform, func(s *source) int64 { return int64(s.below(7)) }, true},
	{"exp(-1/3)", 0, 1, bernoulli(math.Exp(-1. / 3)),
		func(s *source) int64 { return indicator(s.bernoulliExp(0, 1, 3)) }, false},
	{"exp(-1)", 0, 1, bernoulli(math.Exp(-1)), func(s *source) int64 { return indicator(s.bernoulliExp(1, 0, 1)) },
		false},
	{"exp(-5/2)", 0, 1, bernoulli(math.Exp(-2.5)),
		func(s *source) int64 { return indicator(s.bernoulliExp(2, 1, 2)) }, false},
	{"exp(-1/50)", 0, 1, bernoulli(math.Exp(-.02)),
		func(s *source) int64 { return indicator(s.bernoulliExp(0, 1, 50)) }, false},
	{"exp(-1/3), 1 in 100 wrong", 0, 1, bernoulli(math.Exp(-1. / 3)), func(s *source) int64 {
		return indicator(s.bernoulliExp(0, 1, 3) != (s.below(100) == 0))
	}, true},
	{"laplace 1", -20, 20, laplacePMF(1), func(s *source) int64 { return s.laplace(1) }, false},
	{"laplace 3", -60, 60, laplacePMF(3), func(s *source) int64 { return s.laplace(3) }, false},
	{"laplace 10", -200, 200, laplacePMF(10), func(s *source) int64 { return s.laplace(10) }, false},
	{"laplace, half the scale", -200, 200, laplacePMF(10), func(s *source) int64 { return s.laplace(5) }, true},
	{"laplace, scale off by one in 20", -400, 400, laplacePMF(21), func(s *source) int64 { return s.laplace(20) },
		true},
	{"laplace, zero counted with both signs", -60, 60, laplacePMF(3), func(s *source) int64 {
		if x := s.laplace(3); x != 0 || s.below(2) == 0 {
			return x
		}
		return s.laplace(3)
	}, true},
	{"laplace, fraction not thinned", -60, 60, laplacePMF(3), func(s *source) int64 {
		x := int64(s.below(3))
		for s.bernoulliExp(1, 0, 1) {
			x += 3
		}
		return x * (1 - 2*int64(s.below(2)))
	}, true},
	{"gaussian 1", -8, 8, gaussianPMF(1), func(s *source) int64 { return s.gaussian(1) }, false},
	{"gaussian 2", -16, 16, gaussianPMF(2), func(s *source) int64 { return s.gaussian(2) }, false},
	{"gaussian 10", -80, 80, gaussianPMF(10), func(s *source) int64 { return s.gaussian(10) }, false},
	{"gaussian, half the scale", -80, 80, gaussianPMF(10), func(s *source) int64 { return s.gaussian(5) }, true},
	{"gaussian, laplace not thinned", -80, 80, gaussianPMF(10), func(s *source) int64 { return s.laplace(7) },
		true},
	{"gaussian, thinned about the wrong point", -80, 80, gaussianPMF(10), func(s *source) int64 {
		for {
			x := s.laplace(10)
			if away := uint64(math.Abs(float64(x) - 11)); s.bernoulliExp(away*away/200, away*away%200, 200) {
				return x
			}
		}
	}, true},
}

func TestSamplersFollowTheirLaws(t *testing.T) {
	const n = 400_000
	for i, test := range samplers {
		t.Run(test.name, func(t *testing.T) {
			s := newSource(seeded(byte(i)), n)
			samples := make([]int64, n)
			for j := range samples {
				samples[j] = test.draw(s)
			}
			if s.err != nil {
				t.Fatal(s.err)
			}
			p := pValue(samples, test.lo, test.hi, test.pmf)
			if test.faulty != (p < falseAlarm) {
				t.Errorf("p = %.3g, faulty: %v", p, test.faulty)
			}
		})
	}
}

// At the scales that calibrations use, samples are compared with the continuous law, from which they differ by less
// than 2^-28: 64 bins of equal probability.
func TestSamplersAtCalibratedScales(t *testing.T) {
	const n, bins = 100_000, 64
	normal := func(x float64) float64 { return distuv.UnitNormal.CDF(x) }
	laplace := func(x float64) float64 { return distuv.Laplace{Mu: 0, Scale: 1}.CDF(x) }
	for i, test := range []struct {
		name  string
		scale float64
		cdf   func(float64) float64
		draw  func(*source) int64
		bad   bool
	}{
		{"gaussian", 1<<29 - 3, normal, func(s *source) int64 { return s.gaussian(1<<29 - 3) }, false},
		{"largest gaussian", 1 << 30, normal, func(s *source) int64 { return s.gaussian(1 << 30) }, false},
		{"laplace", 1<<28 + 5, laplace, func(s *source) int64 { return s.laplace(1<<28 + 5) }, false},
		{"largest laplace", maxScale, laplace, func(s *source) int64 { return s.laplace(maxScale) }, false},
		{"gaussian, 3% too narrow", 1 << 29, normal, func(s *source) int64 { return s.gaussian(97 * (1 << 29) / 100) },
			true},
		{"laplace for gaussian", 1 << 29, normal, func(s *source) int64 { return s.laplace(1 << 29 * 100 / 141) },
			true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSource(seeded(byte(100+i)), n)
			samples := make([]int64, n)
			for j := range samples {
				samples[j] = min(bins-1, int64(bins*test.cdf(float64(test.draw(s))/test.scale)))
			}
			p := pValue(samples, 0, bins-1, func(int64) float64 { return 1.0 / bins })
			if s.err != nil || test.bad != (p < falseAlarm) {
				t.Errorf("p = %.3g, bad: %v, %v", p, test.bad, s.err)
			}
		})
	}
}

// The bounds that gaussianDeviation rests on, integrated numerically (Simpson, 200 panels).
func TestDiscreteGaussianIsCloseToRoundedGaussian(t *testing.T) {
	for _, sigma := range []float64{1, 2, 3, 8, 32} {
		var z float64
		for j := -40 * sigma; j <= 40*sigma; j++ {
			z += math.Exp(-j * j / (2 * sigma * sigma))
		}
		z /= math.Sqrt(2*math.Pi) * sigma
		variation := 0.0
		for k := 0.0; k <= 40*sigma; k++ {
			const panels = 200
			var sum float64
			for i := 0; i <= panels; i++ {
				x := 0.5 * float64(i) / panels
				w := 2 + 2*float64(i%2)
				if i == 0 || i == panels {
					w = 1
				}
				sum += w * math.Cosh(k*x/(sigma*sigma)) * math.Exp(-x*x/(2*sigma*sigma))
			}

			logRatio := math.Log(2 * z * sum * 0.5 / panels / 3)
			if logRatio < -1/(8*sigma*sigma) || logRatio+1/(8*sigma*sigma) > gaussianDeviation(sigma).Pure {
				t.Errorf("σ = %g, k = %g: log ratio times σ² is %g", sigma, k, logRatio*sigma*sigma)
			}
			both := 2.0
			if k == 0 {
				both = 1
			}
			variation += both / 2 * math.Abs(math.Expm1(logRatio)) * gaussianPMF(sigma)(int64(k))
		}

		// The distance itself is about 0.0202/σ², far below what the two-sided bound charges.
		if variation > 1/(24*sigma*sigma) {
			t.Errorf("σ = %g: total variation times σ² is %g", sigma, variation*sigma*sigma)
		}
	}
	for _, sigma := range []float64{1, 1 << 20} { // (e^(1/8σ²) - 1)·δ', for any δ' ≤ 1
		if d := gaussianDeviation(sigma).Delta; d < math.Expm1(1/(8*sigma*sigma))+tailOutside {
			t.Errorf("σ = %g: deviation of δ %g", sigma, d)
		}
	}

	if outside := 2 * distuv.UnitNormal.Survival(37); (1+math.Exp(maxGaussianEpsilon))*outside*1e-40 > tailOutside {
		// Φ(-40+½) itself is below the smallest normal number; Φ(-37)·1e-40 is larger: exp(-(39.5²-37²)/2) < 1e-41.
		t.Errorf("tail of %g", outside)
	}
}

func TestSourceReportsFailure(t *testing.T) {
	s := newSource(bytes.NewReader(make([]byte, 4)), 1)
	s.laplace(10)
	if !errors.Is(s.err, io.EOF) && !errors.Is(s.err, io.ErrUnexpectedEOF) {
		t.Errorf("short source: %v", s.err)
	}
	for _, b := range []byte{0, 0xff} {
		s := newSource(constant(b), 3)
		for range 1000 {
			s.gaussian(1 << 28)
			s.below(6)
		}
		if !errors.Is(s.err, errExhausted) {
			t.Errorf("source of %#x: %v", b, s.err)
		}
	}
}

type constant byte

func (c constant) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c)
	}
	return len(p), nil
}

func TestTimesRoundsToNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.Float64Range(-4, 4).Draw(t, "w")
		y := rapid.Int64Range(-1<<62, 1<<62).Draw(t, "y")
		exact := new(big.Rat).SetFloat64(w)
		exact.Mul(exact, new(big.Rat).SetInt64(y))
		exact.Sub(exact, new(big.Rat).SetInt(times(w, y)))
		if exact.Abs(exact).Cmp(big.NewRat(1, 2)) > 0 {
			t.Fatalf("%g·%d: off by %v", w, y, exact)
		}
	})
}

func BenchmarkLaplace(b *testing.B) {
	s := newSource(seeded(1), b.N)
	for b.Loop() {
		s.left = 1 << 20
		s.laplace(1<<28 + 12345)
	}
}

func BenchmarkGaussian(b *testing.B) {
	s := newSource(seeded(1), b.N)
	for b.Loop() {
		s.left = 1 << 20
		s.gaussian(1<<28 + 12345)
	}
}
