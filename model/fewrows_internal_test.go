package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// By hand: of three rows expected the mean of 1/N is Σ e^-3 3^n/(n! n) / (1-e^-3) = .4327, and the two formulas agree
// where they meet.
func TestMeanInverse(t *testing.T) {
	want, chance := 0., math.Exp(-3)
	for n := 1; n < 60; n++ {
		chance *= 3 / float64(n)
		want += chance / float64(n)
	}
	if got := meanInverse(3); math.Abs(got-want/(1-math.Exp(-3))) > 1e-12 || math.Abs(got*3-1.298) > .001 {
		t.Errorf("of three rows %v", got)
	}
	if a, b := meanInverse(49.999), meanInverse(50.001); math.Abs(a/b-1) > 1e-4 {
		t.Errorf("%v below 50 rows and %v above", a, b)
	}
}

// Intervals of 95% around the reference's average hold for the table's, however few rows both have: groups of normal
// rows whose variances differ by a factor of up to 2, 20,000 for each size. Of a share of .95 the standard deviation is
// .0015; 93% and 98.5% are more than eight away (false alarm 1e-15 each). The delta method's alone hold for less than
// 85% of groups of up to three rows.
func TestFewRowsAreCovered(t *testing.T) {
	const trials, times = 20_000, 3.5
	rng := rand.New(rand.NewPCG(16, 1))
	for _, k := range []int{1, 2, 3, 6, 20} {
		held, heldBefore := 0, 0
		for range trials {
			sd := math.Sqrt(math.Exp2(rng.Float64() - .5))
			draw := func(n int) (mean, variance float64) {
				var rows []float64
				for range n {
					rows = append(rows, sd*rng.NormFloat64())
					mean += rows[len(rows)-1] / float64(n)
				}
				for _, r := range rows {
					variance += (r - mean) * (r - mean) / float64(n)
				}
				return mean, variance
			}
			known, variance := draw(k)
			n := 0
			for n == 0 {
				n = poisson(rng, times*float64(k))
			}
			truth, _ := draw(n)

			g := groupRows{variance, float64(k), times * float64(k)}
			before := variance * (1/g.expected + 1/g.rows)
			off := (truth - known) * (truth - known)
			if off <= 1.96*1.96*before {
				heldBefore++
			}
			if off <= 1.96*1.96*(before+g.missed(1.02)) { // E 2^(u-½) = 1.02
				held++
			}
		}
		share, shareBefore := float64(held)/trials, float64(heldBefore)/trials
		t.Logf("%d rows: %.3f hold, %.3f by the delta method", k, share, shareBefore)
		if share < .93 || share > .985 {
			t.Errorf("%d rows: intervals hold for %.3f", k, share)
		}
		if k <= 3 && shareBefore > .85 {
			t.Errorf("%d rows: the delta method's hold for %.3f: the test sees no difference", k, shareBefore)
		}
	}
}

// poisson draws by Knuth's product, which is good for small means.
func poisson(rng *rand.Rand, mean float64) (n int) {
	for p := rng.Float64(); p > math.Exp(-mean); n++ {
		p *= rng.Float64()
	}
	return n
}
