package planner

import (
	"math"
	"slices"

	"fugu/parser"
)

// The bits that say how a column is compared: by =, <>, IN, NOT IN, up to or from a threshold, between two, or one of
// rarer ways, which have as many more as rarer says.
const (
	compared = 3
	rarer    = 4
)

// asksNull reports whether an expression asks no more of a value than whether it is NULL.
func asksNull(e parser.Expr) bool {
	u, ok := e.(parser.Unary)
	return ok && u.Postfix && (u.Op == "IS NULL" || u.Op == "IS NOT NULL")
}

// comparison takes a comparison of a column with constants apart. Thresholds cut the values in two or three parts.
func comparison(e parser.Expr) (c parser.Column, values []parser.Expr, threshold, ok bool) {
	var x parser.Expr
	switch e := e.(type) {
	case parser.Binary:
		if !slices.Contains([]string{"=", "<>", "<", ">", "<=", ">="}, e.Op) {
			return c, nil, false, false
		}
		// A constant may stand on either side; for its parts it is the same.
		l, r := e.L, e.R
		if constant(l) {
			l, r = r, l
		}
		x, values, threshold = l, []parser.Expr{r}, e.Op != "=" && e.Op != "<>"
	case parser.In:
		x, values = e.X, e.List
	case parser.Any:
		x, values = e.X, []parser.Expr{e.Array}
	case parser.Between:
		x, values, threshold = e.X, []parser.Expr{e.Low, e.High}, true
	case parser.Unary:
		if e.Postfix || e.Op == "NOT" { // IS NULL and its kin
			x = e.X
		}
	}

	// A cast that keeps all values apart leaves it a comparison of the column.
	if x != nil {
		c, ok = kept(x).(parser.Column)
	}
	return c, values, threshold, ok && !slices.ContainsFunc(values, func(v parser.Expr) bool { return !constant(v) })
}

// class tells rows apart by a comparison that is a secret's own condition: by whether it holds, which is the same for
// all rows of a class, and whether the column is NULL. It is told from the form in which the secret's classes are. Of
// times that may be another than in a client's session, and they are left out.
func (b *Bound) class(e parser.Expr) ([]tells, bool) {
	c, _, _, ok := comparison(e)
	if !ok || c.Rel != b.sources.root {
		return nil, false
	}
	typ, err := b.Table.ColumnType(c.Name)
	if err != nil || !comparable(typ) || typ == "date" {
		return nil, false
	}
	text := parser.SQL(e, "", nil)
	for _, s := range b.Table.Secrets {
		if s.Predicate != nil && s.Text == text {
			null := "(" + columnSQL(c.Name, c.Rel) + ") IS NULL"
			return []tells{{c.Rel, s.Label(parser.Alias("t", c.Rel))}, {c.Rel, null}}, true
		}
	}
	return nil, false
}

// foreseen reports whether what was written is a null test of a protected column. A value has one such test for
// nothing: there are two for each column, and a count of the column, which costs nothing either, asks one of them.
func foreseen(r written) bool {
	_, _, _, column := comparison(r.expr)
	return column && asksNull(r.expr) && !math.IsInf(r.bits, 1)
}
