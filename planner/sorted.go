package planner

import (
	"math"
	"slices"

	"fugu/parser"
)

// Sorted is another code for what can be chosen of a cut. An expression over few values says no more than how these
// are sorted: which of them are in the cell that is looked at. However long its text is, and whatever is in ordinary
// tables that are joined on these values, it is one of 2^D choices of D values. So instead of the text of some
// expressions the code has one bit for each value of their columns.
type Sorted struct {
	Nats      float64 // of the text that is left; infinite where there is no such code
	Scattered float64 // the same without the places of thresholds
	Of        []Sorting
}

// Sorting is the choice of what few values are sorted into.
type Sorting struct {
	Values Told
	Beside float64 // 1 if an outer join adds a row without values
	Into   float64 // into how many groups, which stand beside others; 1 where each group is a choice by itself
}

// maxSorted bounds how many columns and sets of columns have their values counted for one statement.
const maxSorted = 8

// sorted describes the roots in this code. Those that read ordinary tables can be described in no other; the rest is
// sorted where that is shorter than its text, or where the values are those of another root.
func (d *description) sorted(set int, keys []int) Sorted {
	none := Sorted{Nats: math.Inf(1), Scattered: math.Inf(1)}
	var all few

	// First what has no other description, and then what this one makes shorter.
	for _, r := range d.roots {
		if !math.IsInf(r.bits, 1) {
			continue
		}
		of, ok := d.b.support(r.expr, map[int]bool{})
		if !ok || !r.sorts || !d.b.sortable(of) {
			return none
		}
		all.add(of)
	}
	if len(all) > maxSorted {
		return none
	}

	for _, r := range d.roots {
		of, ok := d.b.support(r.expr, map[int]bool{})
		if !ok || !r.sorts || math.IsInf(r.bits, 1) || all.covers(of) || !d.b.sortable(of) {
			continue
		}
		if n := d.b.declaredValues(of); n > 0 && n < r.bits && len(all) < maxSorted {
			all.add(of)
		}
	}
	return d.inCode(all, set, keys)
}

// inCode adds up the code, given the sets of values that are sorted.
func (d *description) inCode(all few, set int, keys []int) Sorted {
	var out Sorted
	for _, r := range d.roots {
		if of, ok := d.b.support(r.expr, map[int]bool{}); ok && r.sorts && all.covers(of) {
			continue
		}
		out.Nats, out.Scattered = out.Nats+r.bits*math.Ln2, out.Scattered+r.scattered*math.Ln2
	}

	for i, of := range all {
		s := Sorting{Values: d.b.valuesOfRows(of), Into: d.b.into(all, i, set, keys)}
		for _, e := range of {
			c := columns(e)[0]
			if d.b.sources.source(c.Rel).Left {
				s.Beside = 1
			}

			// A unit that the owner of the policy has not named was chosen itself.
			if _, named, ok := d.b.coarse(e); ok && !named {
				d.bits, d.scattered = 0, 0
				d.node(e)
				out.Nats, out.Scattered = out.Nats+d.bits*math.Ln2, out.Scattered+d.scattered*math.Ln2
			}
		}
		out.Of = append(out.Of, s)
	}
	return out
}

// into counts the groups of a grouping set that values are sorted into. If there are no other keys, a value is in one
// of the groups looked at or in none, whichever these are.
func (b *Bound) into(all few, i, set int, keys []int) float64 {
	var own []int
	for _, k := range keys {
		if of, ok := b.support(b.cut.Keys[k].Expr, map[int]bool{}); ok && all.index(of) == i {
			own = append(own, k)
		}
	}
	if len(own) == 0 || len(own) == len(keys) {
		return 1
	}

	// Otherwise there are as many groups as the cells of the set have values of these keys.
	groups := map[string]bool{}
	for _, c := range b.Cells {
		if c.Set != set {
			continue
		}
		var values []Value
		for _, k := range own {
			values = append(values, c.Keys[k])
		}
		groups[indexKey(values)] = true
	}
	return float64(max(1, len(groups)))
}

// few are sets of expressions whose values are sorted.
type few [][]parser.Expr

// add takes in a set, unless another holds it, and drops those that it holds.
func (f *few) add(of []parser.Expr) {
	if f.covers(of) {
		return
	}
	*f = slices.DeleteFunc(*f, func(o []parser.Expr) bool { return partOf(o, of) })
	*f = append(*f, of)
}

// covers reports whether expressions are part of one of the sets, or depend on nothing.
func (f few) covers(of []parser.Expr) bool { return len(of) == 0 || f.index(of) >= 0 }

// index finds the first set from which all of the expressions follow; -1 if there is none.
func (f few) index(of []parser.Expr) int {
	return slices.IndexFunc(f, func(o []parser.Expr) bool { return len(of) > 0 && partOf(of, o) })
}

func partOf(some, all []parser.Expr) bool {
	return !slices.ContainsFunc(some, func(e parser.Expr) bool { return !follows(e, all) })
}

// follows reports whether an expression is one of some, or made of them.
func follows(e parser.Expr, some []parser.Expr) bool {
	if holds(some, e) || constant(e) {
		return true
	}
	below := parser.Below(e)
	return len(below) > 0 && !slices.ContainsFunc(below, func(x parser.Expr) bool { return !follows(x, some) })
}
