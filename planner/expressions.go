package planner

import (
	"slices"

	"fugu/parser"
)

// columns are the columns in e, without positions; one of no table stands for a subquery.
func columns(e parser.Expr) []parser.Column {
	var out []parser.Column
	parser.Walk(e, func(e parser.Expr) {
		switch e := e.(type) {
		case parser.Column:
			out = append(out, parser.Column{Name: e.Name, Rel: e.Rel})
		case parser.Semi:
			out = append(out, parser.Column{Rel: -1})
		}
	})
	return out
}

// columnSQL prints a column of a source.
func columnSQL(name string, rel int) string {
	return parser.SQL(parser.Column{Name: name, Rel: rel}, "t", nil)
}

// ofOnly reports whether all columns belong to one source.
func ofOnly(of []parser.Column, rel int) bool {
	return !slices.ContainsFunc(of, func(c parser.Column) bool { return c.Rel != rel })
}

// settled reports whether an expression speaks of some sources alone.
func settled(e parser.Expr, some map[int]bool) bool {
	return !slices.ContainsFunc(columns(e), func(c parser.Column) bool { return !some[c.Rel] })
}

// constant reports whether an expression is the same for all rows.
func constant(e parser.Expr) bool {
	out := true
	parser.Walk(e, func(e parser.Expr) {
		switch e.(type) {
		case parser.Column, parser.Semi, parser.Form:
			out = false
		}
	})
	return out
}

// columnOf finds the column whose values, if any, an argument has: itself, or that under a FILTER.
func columnOf(e parser.Expr) (parser.Column, bool) {
	if c, ok := e.(parser.Case); ok && c.Operand == nil && c.Else == nil && len(c.Whens) == 1 {
		e = c.Whens[0].Result
	}
	column, ok := e.(parser.Column)
	return column, ok
}

// conjuncts are the conditions of WHERE, all of which have to hold.
func (b *Bound) conjuncts() []parser.Expr {
	var out []parser.Expr
	for _, w := range b.forms.where {
		out = append(out, parser.Conjuncts(w)...)
	}
	return out
}

// joinedBy are the conditions that all hold where a row of a source stands in what the cut reads. An outer join's own
// are among them: what stands there where no row fits them is none of the source's.
func (b *Bound) joinedBy(src *parser.Source) []parser.Expr {
	out := b.conjuncts()
	if on := b.forms.on[src.Rel]; on != nil {
		out = append(out, parser.Conjuncts(on)...)
	}
	return out
}

// ownConditions are those of them that speak of the source alone.
func (b *Bound) ownConditions(src *parser.Source) []string {
	var out []string
	for _, c := range b.joinedBy(src) {
		if of := columns(c); len(of) > 0 && ofOnly(of, src.Rel) {
			out = append(out, b.sql(c))
		}
	}
	return out
}

// sql prints an expression below the cut.
func (b *Bound) sql(e parser.Expr) string { return parser.SQL(e, "t", b.number) }

// from prints the FROM clause over the protected tables, or over their references.
func (b *Bound) from(reference bool) string {
	return b.sources.from(b.forms.on, b.number, reference)
}

// keys prints the keys: each value in one spelling, by which groups are known.
func (b *Bound) keys() []string {
	var out []string
	for i, k := range b.forms.keys {
		text := b.spelled(k, b.Keys[i])
		if len(columns(k)) == 0 { // GROUP BY takes a bare constant for a position
			text = "CAST(" + text + " AS " + b.Keys[i].Type + ")"
		}
		out = append(out, text)
	}
	return out
}
