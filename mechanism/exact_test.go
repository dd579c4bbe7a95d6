//go:build !fuguhooks

package mechanism

import (
	"testing"

	"fugu/internal/hook"
)

// A build without the tag has no release without noise: the hook is a constant, and this file compiles only if it is.
const exact = hook.ZeroNoise

func TestNoExactRelease(t *testing.T) {
	if exact {
		t.Error("a build without hooks releases exact values")
	}
	c := calibrated(t, Directional, counts(2, budget(1, 1e-6)))
	if r, err := c.Noise.without(statistics(1, 2)); err != nil || r.Len() != 0 {
		t.Errorf("%v, %v", r, err)
	}
}
