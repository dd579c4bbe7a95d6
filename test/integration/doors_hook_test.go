//go:build fuguhooks

package integration

import (
	"testing"

	"fugu/internal/hook"
	"fugu/test/patient"
)

// With the shadows switched off, Fugu tells of protected rows what PostgreSQL tells.
func TestSideDoorsUnmasked(t *testing.T) {
	patient.Test(t)
	hook.Unmasked = true
	defer func() { hook.Unmasked = false }()
	_, through := serveDoors(t)
	c := connect(t, through)
	before := map[string]string{}
	for _, sql := range doorways {
		before[sql] = look(t, c, sql)
	}
	disturb(t)
	if err := doors.cluster.Exec(t.Context(), "doors",
		"REFRESH MATERIALIZED VIEW adult_mat; ANALYZE adult_mat"); err != nil {
		t.Fatal(err)
	}
	silent := 0
	for _, sql := range doorways {
		if got := look(t, c, sql); got == before[sql] && !contains(got, "PV001") {
			silent++
			t.Logf("%s: tells nothing although nothing is masked:\n%s", sql, got)
		}
	}
	if silent > len(doorways)/5 {
		t.Errorf("%d of %d statements tell nothing although nothing is masked", silent, len(doorways))
	}
}
