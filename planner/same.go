package planner

import (
	"slices"

	"fugu/parser"
)

// SameRows reports whether two simple cuts select the same rows, and how the keys of b contain those of z: for each key
// of z its place among b's.
func (b *Bound) SameRows(z *Bound) (keys []int, ok bool) {
	if b.Table != z.Table || !b.Simple() || !z.Simple() || b.sources.root != z.sources.root {
		return nil, false
	}
	if b.forms.whereSQL(b.number) != z.forms.whereSQL(z.number) {
		return nil, false
	}

	own := b.keys()
	for _, k := range z.keys() {
		i := slices.Index(own, k)
		if i < 0 {
			return nil, false
		}
		keys = append(keys, i)
	}
	return keys, true
}

// Whole reports whether an aggregate of a cell counts all rows of the table: their number is in the policy.
func (b *Bound) Whole(cell, aggregate int) bool {
	return b.CountsRows(aggregate) &&
		(len(b.Keys) == 0 || b.Sets != nil && len(b.Sets[b.Cells[cell].Set]) == 0)
}

// CountsRows reports whether an aggregate counts each row of the table once in every grouping set, if the row's keys
// are a cell of it, and the policy says how many rows there are.
func (b *Bound) CountsRows(aggregate int) bool {
	a := b.Aggregates[aggregate]
	if b.Table.Rows == 0 || !b.sources.single() || len(b.forms.where) > 0 {
		return false // the number is not public, or not all rows are read
	}
	return a.Name == "count" && a.Linear() && len(b.Terms[a.Terms[0]].Factors) == 0
}

// SameAggregate reports whether two aggregates of cuts that select the same rows are one.
func (b *Bound) SameAggregate(i int, z *Bound, j int) bool {
	return b.Aggregates[i].Name == z.Aggregates[j].Name &&
		slices.EqualFunc(b.forms.args[i], z.forms.args[j], func(x, y parser.Expr) bool { return b.sql(x) == z.sql(y) })
}
