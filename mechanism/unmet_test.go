package mechanism

import (
	"cmp"
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
		failure    float64 // of what is known of the movement
		longer     float64 // times as far as usual; 0: 1
	}{
		{kind: Apgm, components: 1, epsilon: 1, want: needsDelta},
		{kind: Apgm, components: 201, epsilon: 1, delta: .001, want: "for up to 200 values, and the statement has 201"},
		{kind: Daum, components: 2, epsilon: 1, want: needsDelta},
		{kind: ExpmGaussian, components: 2, epsilon: 1, want: needsDelta},
		{kind: Directional, components: 2, epsilon: 1, want: needsDelta},
		{kind: ExpmGaussian, components: 2, epsilon: 101, delta: 1e-6, want: withoutLimit},
		{kind: Directional, components: 2, epsilon: 101, delta: 1e-6, want: withoutLimit},
		{kind: ExpmGaussian, components: 2, epsilon: 1, delta: .001, want: needsDelta, failure: .002},
		{kind: ExpmLaplace, components: 2, epsilon: 1, want: tooCertain, failure: .002},
		{kind: ExpmLaplace, components: 2, epsilon: 1, delta: .001, want: tooUncertain, failure: .002},
		{kind: Directional, components: 2, epsilon: 1, delta: .001, want: tooUncertain, failure: .002},
		{kind: Auto, components: 2, epsilon: 1, delta: .001, want: tooUncertain, failure: .002},
		{kind: ApproximateWasserstein, components: 2, epsilon: 1, delta: 1e-9, want: tooUncertain},
		{kind: ApproximateWasserstein, components: 2, epsilon: 1, want: tooCertain},
		{kind: NoNoise, components: 2, epsilon: 1, delta: .001, want: addsNothing, longer: 1000},
		{kind: OptimalGaussian, components: 2, epsilon: 1e-9, delta: 1e-9, want: tooLarge},
	} {
		r := everyKind(c.kind, c.components)
		r.Budget = budget(c.epsilon, c.delta)
		for i := range r.Shifts {
			r.Shifts[i].Failure = c.failure
			for k := range r.Shifts[i].Along {
				r.Shifts[i].Along[k] *= cmp.Or(c.longer, 1)
			}
		}
		if c.failure > 0 {
			r.Families = nil
		}
		_, err := Calibrate(t.Context(), c.kind, r)
		if !sqlstate.Is(err, sqlstate.InvalidParameterValue) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %d values, epsilon %g, delta %g: %v, want %q", c.kind, c.components, c.epsilon, c.delta, err,
				c.want)
		}
	}
}
