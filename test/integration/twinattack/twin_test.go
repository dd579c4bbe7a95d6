//go:build fuguhooks

package twinattack

import (
	"testing"

	"fugu/internal/hook"
)

// The catalogs come first: statements are counted there.
func TestCoupledWorlds(t *testing.T) {
	w := couple(t)
	t.Run("catalogs", func(t *testing.T) { catalogsAreEqual(t, w) })
	t.Run("work", func(t *testing.T) { workIsEqual(t, w) })
	t.Run("statements", func(t *testing.T) { statementsAreEqual(t, w) })
	t.Run("faults", func(t *testing.T) { faultsAreSeen(t, w) })
}

// faultsAreSeen builds the twins again with a fault: then something of the rows that are not taken gets through.
func faultsAreSeen(t *testing.T, w [3]*world) {
	d := design(t, w[first].policy)
	for name, fault := range map[string]*bool{"one row more": &hook.TwinOneMore,
		"weights of N": &hook.TwinOfCounts, "no noise": &hook.TwinNoNoise} {
		t.Run(name, func(t *testing.T) {
			planted(t, fault)
			for i, side := range map[int]int{first: 0, second: 1} {
				w[i].forget(t)
				seed, err := seedFor(d, highs[side], told)
				if err != nil {
					t.Fatal(err)
				}
				w[i].build(t, seeded(key, seed))
			}
			list := scripts(200)
			found := compare(t, w[first].serve(t), w[second].serve(t), list)
			t.Logf("%d of %d statements tell the worlds apart", len(found), len(list))
			if len(found) == 0 {
				t.Error("the fault does not show")
			}
			if err := workShows(t, w); err != nil {
				t.Error(err)
			}
		})
	}
}
