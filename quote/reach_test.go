package quote

import (
	"math"
	"testing"

	"fugu/model"
	"fugu/planner"
	"fugu/planner/aggregate"
	"fugu/planner/protected"
)

// What rows reach in a statement of many groups is the same number at every asking, down to its last digit: noise is
// scaled by it.
func TestReachIsOneNumber(t *testing.T) {
	const sets = 12
	cut := &planner.Bound{Cut: &planner.Cut{Table: &protected.Table{Rows: 1000}}, Terms: []planner.Term{{}},
		Aggregates: []planner.Aggregate{
			{Function: aggregate.Function{Sums: []aggregate.Sum{aggregate.N}}, Terms: []int{0}}}}
	m, units := &Model{}, []float64{}
	for set := range sets {
		cut.Cells = append(cut.Cells, planner.Cell{Set: set})
		m.Components = append(m.Components, model.Component{Cell: set})
		units = append(units, math.Sqrt(float64(set+2)))
	}

	first, err := m.reach(cut, units, 3, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	if first.groups != sets {
		t.Errorf("%d groups of %d sets", first.groups, sets)
	}
	for range 100 {
		if again, _ := m.reach(cut, units, 3, math.Inf(1)); again.total != first.total {
			t.Fatalf("%v, and at another asking %v", first.total, again.total)
		}
	}
}
