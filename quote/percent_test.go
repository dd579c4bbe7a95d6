package quote

import (
	"math"
	"testing"
)

func TestPercentagesAreWrittenInFull(t *testing.T) {
	for share, want := range map[float64]string{0.0012345: "0.123%", 0.5: "50%", 0.999: "99.9%", 37.7123: "3,770%",
		9999.6: "1,000,000%", 123456: "12,300,000%", 3e7: "more than 100,000,000%",
		math.Inf(1): "more than any percentage"} {
		if got := percent(share); got != want {
			t.Errorf("%g is %q, want %q", share, got, want)
		}
	}
}
