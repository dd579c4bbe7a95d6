package aggregate

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// The aggregates of PostgreSQL's manual with two arguments are corr, and those of covariance and regression.
func TestArguments(t *testing.T) {
	for _, name := range Names() {
		want := 1
		if name == "corr" || strings.HasPrefix(name, "covar_") || strings.HasPrefix(name, "regr_") {
			want = 2
		}
		if f, _ := Lookup(name); f.Arguments != want {
			t.Errorf("%s has %d arguments", name, f.Arguments)
		}
	}
}

// Nothing is divided by no rows, whatever rounding has left of their sum.
func TestNoRowsHaveNoAverage(t *testing.T) {
	avg, _ := Lookup("avg")
	if v := avg.Value([]float64{0, 3}); !math.IsNaN(v) {
		t.Errorf("an average of no rows is %v", v)
	}
}

// At no point of a segment is a derivative by a sum larger than the weights of the moved sums say, each as often as the
// sum is in it.
func TestWeightsBoundTheGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	for _, name := range Names() {
		f, _ := Lookup(name)
		_, from := sumsOf(f, sample(r, 120, 300))
		_, to := sumsOf(f, sample(r, 150, 310))
		weights, moved, err := f.Weights(from, to)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for step := range 9 {
			s, still := make([]float64, len(from)), make([]float64, len(from))
			for k := range s {
				s[k] = from[k] + (to[k]-from[k])*float64(step)/8
			}
			gradient, _ := f.Gradient(s, still)
			for k, g := range gradient {
				most := 0.
				for i, w := range weights {
					most += w[0] * math.Abs(moved[i][k])
				}
				if math.Abs(g) > most*(1+1e-9) {
					t.Errorf("%s: a derivative of %g by sum %d, bounded by %g", name, g, k, most)
				}
			}
		}
	}
}
