package mechanism

import (
	"strings"
	"testing"

	"fugu/sqlstate"
)

// A mechanism that cannot answer names the reason, and not another's.
func TestRefusalsNameTheirReason(t *testing.T) {
	for _, c := range []struct {
		kind       Kind
		components int
		epsilon    float64
		delta      float64
		want       string
	}{
		{Apgm, 3, 1, .001, "one value only, and the statement has 3"},
		{Apgm, 1, 1, 0, needsDelta},
		{Daum, 2, 1, 0, needsDelta},
		{ExpmGaussian, 2, 1, 0, needsDelta},
		{Directional, 2, 1, 0, needsDelta},
		{ExpmGaussian, 2, 101, 1e-6, withoutLimit},
		{Directional, 2, 101, 1e-6, withoutLimit},
	} {
		r := everyKind(c.kind, c.components)
		r.Budget = budget(c.epsilon, c.delta)
		_, err := Calibrate(t.Context(), c.kind, r)
		if !sqlstate.Is(err, sqlstate.InvalidParameterValue) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %d values, epsilon %g, delta %g: %v, want %q", c.kind, c.components, c.epsilon, c.delta, err,
				c.want)
		}
	}
}
