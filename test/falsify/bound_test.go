package falsify

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The bounds are those of the definition: at the lower one, k or more of n have exactly the chance alarm.
func TestClopperPearson(t *testing.T) {
	for _, n := range []int{1, 20, 1000, 200_000} {
		for _, k := range []int{0, 1, n / 3, n - 1, n} {
			for _, alarm := range []float64{.05, 1e-4, 1e-9} {
				lo, hi := lower(k, n, alarm), upper(k, n, alarm)
				if k == 0 && lo != 0 || k == n && hi != 1 {
					t.Errorf("%d of %d: [%g, %g]", k, n, lo, hi)
				}
				if k > 0 {
					if at := tail(k, n, lo); math.Abs(at/alarm-1) > 1e-4 {
						t.Errorf("%d of %d at %g: lower bound %g, chance %g", k, n, alarm, lo, at)
					}
				}
				if k < n {
					if at := tail(n-k, n, 1-hi); math.Abs(at/alarm-1) > 1e-3 {
						t.Errorf("%d of %d at %g: upper bound %g, chance %g", k, n, alarm, hi, at)
					}
				}
			}
		}
	}
}

// tail is Pr(at least k of n), summed term by term.
func tail(k, n int, p float64) float64 {
	b := distuv.Binomial{N: float64(n), P: p}
	total := 0.0
	for i := k; i <= n; i++ {
		term := math.Exp(b.LogProb(float64(i)))
		total += term
		if i > k+10 && term < 1e-9*total {
			break
		}
	}
	return total
}

func TestNeeded(t *testing.T) {
	if e := needed(.5, .25, 0); e != math.Ln2 {
		t.Errorf("ε ≥ %g", e)
	}
	if e := needed(.5, .25, .25); e != 0 {
		t.Errorf("ε ≥ %g", e)
	}
	if e := needed(.001, 1e-9, .001); !math.IsInf(e, -1) {
		t.Errorf("an event that δ excuses needs ε ≥ %g", e)
	}
}
