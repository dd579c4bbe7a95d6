package main

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"fugu/privacy"
)

// Sums of bits are binomial, and sums of both classes have the mean and variance of their rows.
func TestSumsAreExact(t *testing.T) {
	var records []record
	for i := range 10 {
		bit := 0.
		if i < 3 {
			bit = 1
		}
		records = append(records, record{values: []float64{bit, float64(20 + i)}})
	}
	s := ofRows(records, 0, 40)
	b := distuv.Binomial{N: 40, P: .3}
	for i, p := range s.mass {
		if math.Abs(p-b.Prob(float64(s.low+i))) > 1e-12 {
			t.Fatalf("%d: %v, not %v", s.low+i, p, b.Prob(float64(s.low+i)))
		}
	}
	if got, want := s.beyond(2), b.CDF(6)+b.Survival(17); math.Abs(got-want) > 1e-12 { // 12 ± 5.8
		t.Errorf("beyond two standard deviations: %v, not %v", got, want)
	}

	both := ofRows(records, 1, 3).plus(ofRows(records[:4], 1, 2))
	if mean, variance := both.moments(); math.Abs(mean-3*24.5-2*21.5) > 1e-9 ||
		math.Abs(variance-3*8.25-2*1.25) > 1e-9 || both.low != 100 {
		t.Errorf("from %d: mean %v, variance %v", both.low, mean, variance)
	}
}

// normalSums is a normal law rounded to whole numbers.
func normalSums(mean, sd float64) sums {
	n := distuv.Normal{Mu: mean, Sigma: sd}
	s := sums{low: int(mean - 12*sd)}
	for x := float64(s.low); x < mean+12*sd; x++ {
		s.mass = append(s.mass, n.CDF(x+.5)-n.CDF(x-.5))
	}
	return s
}

// A law that is normal misses nothing but what rounding adds to its variance, and tells what normal laws tell; one that
// is not is seen.
func TestWhatNormalLawsMiss(t *testing.T) {
	s := normalSums(500, 30)
	if miss := s.missed(0); miss > 1e-4 {
		t.Errorf("a normal law misses %v of itself", miss)
	}
	// Of a bit, with standard deviation ½, the normal law has all that is beyond 2 of them elsewhere.
	if bits := (sums{0, []float64{.5, .5}}); math.Abs(bits.missed(0)-2*distuv.UnitNormal.Survival(2)) > 1e-12 {
		t.Errorf("of a bit %v is missed", bits.missed(0))
	}

	const epsilon, sd = .5, 40.
	kappa := 60 / math.Hypot(sd, math.Hypot(30, math.Sqrt(1./12)))
	want := privacy.GaussianDelta(epsilon, kappa)
	for _, got := range []float64{s.against(normalSums(560, 30), sd, epsilon),
		normalSums(560, 30).against(s, sd, epsilon)} {
		if math.Abs(got-want) > 5e-6 {
			t.Errorf("δ = %v, and of normal laws %v", got, want)
		}
	}
}
