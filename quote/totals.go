package quote

import (
	"math"
	"math/big"

	"fugu/mechanism"
	"fugu/model"
	"fugu/planner"
)

// countedRows is which values: those of one aggregate in one grouping set.
type countedRows struct{ set, aggregate int }

// wholeCertain is how near the reference's rows in the groups must be to all of them, as a share.
const wholeCertain = 1e-9

// complete lists the counts of all rows, by grouping set, for the sets that have a group for every row of the
// reference. The moments have all of the cut's components. There are none if the policy promises how far the reference
// may be off: rows that it does not show may be in no group.
func (r *Request) complete(c *planner.Bound, moments *model.Moments) map[countedRows]bool {
	if r.unbound || r.Policy.Privacy.Estimation.Delta > 0 {
		return nil
	}
	rows, in := float64(c.Table.Rows), map[countedRows]float64{}
	for k, v := range moments.Reference() {
		if comp := moments.Components[k]; c.CountsRows(comp.Aggregate) {
			in[countedRows{c.Cells[comp.Cell].Set, comp.Aggregate}] += v
		}
	}
	out := map[countedRows]bool{}
	for of, n := range in {
		out[of] = math.Abs(n-rows) <= wholeCertain*rows
	}
	return out
}

// addRows adds a total that binds F: the counts of a grouping set add up to the table's rows, whose number is in the
// policy. That holds if every row is in a group, as those of the reference are. Counts that a public statistic binds
// already are left to it, since it says more.
func (m *Model) addRows(c *planner.Bound, complete map[countedRows]bool) {
	bound := map[int]bool{}
	for _, s := range m.sums {
		for _, k := range s.Components {
			bound[k] = true
		}
	}
	sums := map[countedRows]*mechanism.Sum{}
	var order []countedRows
	for k, comp := range m.Components {
		of := countedRows{c.Cells[comp.Cell].Set, comp.Aggregate}
		if !complete[of] || bound[k] {
			continue
		}
		if sums[of] == nil {
			sums[of], order = &mechanism.Sum{Total: new(big.Rat).SetInt64(c.Table.Rows)}, append(order, of)
		}
		sums[of].Components = append(sums[of].Components, k)
	}

	// What is public of single groups is no part of F.
	for comp, v := range m.Exact {
		s := sums[countedRows{c.Cells[comp.Cell].Set, comp.Aggregate}]
		if x, ok := new(big.Rat).SetString(v.Text); ok && s != nil {
			s.Total.Sub(s.Total, x)
		}
	}
	for _, of := range order {
		if s := sums[of]; len(s.Components) > 1 {
			m.sums = append(m.sums, *s)
		}
	}
}
