package aggregate

import (
	"math"
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
