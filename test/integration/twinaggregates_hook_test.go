//go:build fuguhooks

package integration

import (
	"fmt"
	"testing"

	"fugu/internal/hook"
)

// Without the count of rows of the sample, grouping by a key lists rows, and what groups that are too small hold can
// be had.
func TestTwinSmallGroupsHook(t *testing.T) {
	attacks := []string{
		"SELECT id, name, cost, count(*) FROM patients GROUP BY 1, 2, 3",
		"SELECT max(name), max(cost) FROM patients",
		"SELECT sum(CASE WHEN id = 5 THEN cost ELSE 0 END) FROM patients",
		"SELECT percentile_cont(0) WITHIN GROUP (ORDER BY cost) FROM patients",
	}
	for _, undone := range []bool{false, true} {
		t.Run(fmt.Sprintf("defence off %t", undone), func(t *testing.T) {
			// No server runs while the switch is moved.
			hook.TwinSmallGroups = undone
			t.Cleanup(func() { hook.TwinSmallGroups = false })
			through, _ := serveClinic(t)
			c := connect(t, through)
			for _, sql := range attacks {
				list, err := values(t, c, sql)
				if err != nil || (len(list) > 0) != undone {
					t.Errorf("%s: %d values, %v", sql, len(list), err)
				}
			}
		})
	}
}
