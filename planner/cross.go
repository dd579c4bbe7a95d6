package planner

import (
	"strconv"
	"strings"

	"fugu/parser"
)

// CrossMoments composes the statement over the references whose rows give how the terms of two cuts vary together,
// split by the secrets' classes; a and b may be the same cut. A row holds: the Head of a; the Head of b; the label of
// each secret that has classes; and for each Term of a, for each Term of b, the sum of the product over the rows of the
// root that are in both cells, the first Term of each being 1. It is false for cuts whose rows belong to different
// roots: those are independent.
//
// Where each cut reads the root alone, that is one scan of it with the conditions of both. Otherwise the sums over what
// belongs to each row of the root are joined on its place.
func CrossMoments(a, b *Bound) (sql string, ok bool) {
	if a.Table != b.Table {
		return "", false
	}
	var columns, group []string

	// A row is of a cell of either side, and of classes: by these it is grouped.
	for _, side := range []struct {
		b    *Bound
		name string
	}{{a, "a"}, {b, "b"}} {
		for i := range side.b.Keys {
			k := side.name + ".k" + strconv.Itoa(i)
			columns, group = append(columns, k+"::pg_catalog.text"), append(group, k)
		}
		if side.b.Sets != nil {
			columns, group = append(columns, side.name+".g"), append(group, side.name+".g")
		}
	}
	labels := classLabels(a.Table)
	for _, s := range labels {
		columns, group = append(columns, "a."+s), append(group, "a."+s)
	}

	of := func(name string) func(int) string { return func(i int) string { return name + "." + column(i) } }
	for _, t := range a.Terms {
		for _, u := range b.Terms {
			left := times(t.Factors, of("a"), "1::pg_catalog.float8")
			columns = append(columns, "pg_catalog.sum("+times(u.Factors, of("b"), left)+")")
		}
	}

	if sql, ok := oneScan(a, b, columns, group); ok {
		return sql, true
	}
	from := "(" + a.placed(labels) + ") AS a JOIN (" + b.placed(nil) + ") AS b ON a.r0 = b.r0 AND a.r1 = b.r1"
	return parser.SelectSQL(columns, from, "", group), true
}

// oneScan composes the statement where each cut reads the root alone and each row is in one cell.
func oneScan(a, b *Bound, columns, group []string) (string, bool) {
	if !a.Simple() || !b.Simple() || a.sources.root != b.sources.root {
		return "", false
	}
	root := parser.Alias("t", a.sources.root)
	var conditions []string
	for _, c := range []string{a.forms.whereSQL(a.number), b.forms.whereSQL(b.number)} {
		if c != "" {
			conditions = append(conditions, "("+c+")")
		}
	}

	// Each side's keys and bases are columns of a subselect of the row, so that they have its names.
	_, left := a.selected(root, true, a.float(true))
	_, right := b.selected(root, false, b.float(true))
	from := a.from(true) + " CROSS JOIN LATERAL (SELECT " + strings.Join(append(left, "1"), ", ") + ") AS a" +
		" CROSS JOIN LATERAL (SELECT " + strings.Join(append(right, "1"), ", ") + ") AS b"
	return parser.SelectSQL(columns, from, strings.Join(conditions, " AND "), group), true
}

// placed composes the statement that has a row for each row of the root and each of its cells: its keys, its labels,
// its terms, and its place r0, r1.
func (b *Bound) placed(labels []string) string {
	keys, inner := b.inner(true, true, b.float(true))
	if b.once && b.Sets == nil {
		return inner
	}
	return b.perRoot(inner, keys, append([]string{"r0", "r1"}, labels...))
}

// Placed composes the statement over the references that has a row for each row of the root and each of its cells: the
// Head; the row's place, as Places has it; and each Base, which with joins is the sum over all that belongs to the row.
func (b *Bound) Placed() string {
	var columns []string
	for i := range b.Keys {
		columns = append(columns, "k"+strconv.Itoa(i)+"::pg_catalog.text")
	}
	if b.Sets != nil {
		columns = append(columns, "g")
	}
	columns = append(columns, "r0::pg_catalog.text", "r1::pg_catalog.text")
	for i := range b.Bases {
		columns = append(columns, column(i))
	}
	return parser.SelectSQL(columns, "("+b.placed(nil)+") AS p", "", nil)
}
