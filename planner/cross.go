package planner

import (
	"strconv"
	"strings"

	"fugu/parser"
)

// CrossMoments composes the statement over the references whose rows give how the terms of two cuts vary together, split by
// the secrets' classes; a and b may be the same cut. A row holds: the Head of a; the Head of b; the label of each secret
// that has classes; and for each Term of a, for each Term of b, the sum of the product over the rows of the root that are in
// both cells, the first Term of each being 1. It is false for cuts whose rows belong to different roots: those are
// independent.
//
// Where each cut reads the root alone, that is one scan of it with the conditions of both. Otherwise the sums over what
// belongs to each row of the root are joined on its place.
func CrossMoments(a, b *Bound) (sql string, ok bool) {
	if a.Table != b.Table {
		return "", false
	}
	var columns, group []string
	var labels []string
	for i, s := range a.Table.Secrets {
		if s.Number == nil {
			labels = append(labels, "s"+strconv.Itoa(i))
		}
	}
	add := func(expr string) { group = append(group, expr) }
	for _, side := range []struct {
		b    *Bound
		name string
	}{{a, "a"}, {b, "b"}} {
		for i := range side.b.Keys {
			k := side.name + ".k" + strconv.Itoa(i)
			columns = append(columns, k+"::pg_catalog.text")
			add(k)
		}
		if side.b.Sets != nil {
			columns = append(columns, side.name+".g")
			add(side.name + ".g")
		}
	}
	for _, s := range labels {
		columns = append(columns, "a."+s)
		add("a." + s)
	}
	of := func(name string) func(int) string { return func(i int) string { return name + "." + column(i) } }
	for _, t := range a.Terms {
		for _, u := range b.Terms {
			columns = append(columns, "pg_catalog.sum("+times(u.Factors, of("b"), times(t.Factors, of("a"), "1::pg_catalog.float8"))+")")
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
	if !a.sources.single() || !b.sources.single() || a.Sets != nil || b.Sets != nil || a.sources.root != b.sources.root {
		return "", false
	}
	root := parser.Alias("t", a.sources.root)
	var conditions []string
	for _, c := range []string{a.forms.whereSQL(a.number), b.forms.whereSQL(b.number)} {
		if c != "" {
			conditions = append(conditions, "("+c+")")
		}
	}
	_, left := a.selected(root, true, a.float(true))
	_, right := b.selected(root, false, b.float(true))
	from := a.from(true) + " CROSS JOIN LATERAL (SELECT " + strings.Join(append(left, "1"), ", ") + ") AS a CROSS JOIN LATERAL (SELECT " + strings.Join(append(right, "1"), ", ") + ") AS b"
	return parser.SelectSQL(columns, from, strings.Join(conditions, " AND "), group), true
}

// placed composes the statement that has a row for each row of the root and each of its cells: its keys, its labels, its
// terms, and its place r0, r1.
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
