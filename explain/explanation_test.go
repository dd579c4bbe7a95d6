package explain

import (
	"strings"
	"testing"
	"time"
)

// What a statement costs is told together with whether it is too much, and how long its answer waits if that is felt.
func TestCostLines(t *testing.T) {
	enough, dear := []Cost{{Secret: "s", Cost: 1, Left: 2}}, []Cost{{Secret: "s", Cost: 2, Left: 1}}
	for _, c := range []struct {
		x          Explanation
		wants, not string
	}{
		{Explanation{Cost: enough}, "Cost for secret s: epsilon 1 of the 2 left", "refused"},
		{Explanation{Cost: dear}, "left: too much, so that it would be refused", "Leaves"},
		{Explanation{Cost: dear, Stored: true}, "0 (the answer is stored)", "refused"},
		{Explanation{Leaves: 650 * time.Millisecond}, "Leaves: 650ms after its rows begin to be read", "refused"},
		{Explanation{Leaves: 650 * time.Millisecond, Stored: true}, "Asked", "Leaves"},
		{Explanation{Leaves: 20 * time.Millisecond}, "Asked", "Leaves"},
	} {
		got := strings.Join(c.x.costLines(), "\n")
		if !strings.Contains(got, c.wants) || strings.Contains(got, c.not) {
			t.Errorf("%+v: %s", c.x, got)
		}
	}
}
