package rowsum

import (
	"errors"
	"math"
	"testing"

	"fugu/privacy"
)

// Where every one of many pairs has to be looked at by itself, that takes too many laws, and is no certificate; nor is
// it tried again.
func TestTooManyLaws(t *testing.T) {
	s, err := New(laws["one mean"], 99, Pairs{Low: 0, High: 79, Apart: 12}) // 79 boxes, and up to 13 laws in each
	if err != nil {
		t.Fatal(err)
	}
	laws := 0
	a := Ask{Epsilon: 1, Delta: 3.5e-4, Noise: 4, Between: func() { laws++ }}
	if c, err := s.Certify(a, true); !errors.Is(err, ErrBeyond) || laws != mostLaws {
		t.Errorf("after %d laws %+v is certified: %v", laws, c, err)
	}
	a.Noise, laws = 1e4, 0 // which would be enough
	if c, err := s.Certify(a, true); !errors.Is(err, ErrBeyond) || laws != 0 {
		t.Errorf("%d more laws are computed, and %+v is certified: %v", laws, c, err)
	}
}

// A Gaussian shift beside another one is, by its parts, at least the one shift that both are, and next to no more: the
// parts add up to a probability of 1, and each has used up what it says of ε.
func TestPartsOfWhatIsBeside(t *testing.T) {
	const delta = 1e-4
	for _, epsilon := range []float64{.2, 1} {
		for _, kappa := range []float64{0, 1e-4, .01, .05} {
			const other = .3
			sum, got := 0., 0.
			for _, n := range shifted(epsilon, delta, kappa) {
				sum += n.weight
				if n.factor > 0 {
					got += n.weight * privacy.GaussianDelta(math.Log(n.factor), other)
				} else {
					got += n.weight
				}
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("ε = %g, κ = %g: the parts have a probability of %v", epsilon, kappa, sum)
			}
			want := privacy.GaussianDelta(epsilon, math.Hypot(other, kappa))
			if got < want || got > 1.1*want+1e-3*delta {
				t.Errorf("ε = %g, κ = %g: %.4g by its parts, and %.4g as one shift", epsilon, kappa, got, want)
			}
		}
	}
}
