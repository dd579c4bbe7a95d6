package planner

import (
	"regexp"
	"slices"

	"fugu/parser"
)

// support finds what an expression depends on besides ordinary tables: columns of protected ones, and what is coarse
// of them. It is false where several rows of an ordinary table may stand beside what belongs to a row. joined are the
// ordinary sources that need not be looked at again.
func (b *Bound) support(e parser.Expr, joined map[int]bool) (of []parser.Expr, ok bool) {
	if c, plain := e.(parser.Column); plain {
		return b.supportOf(c, joined)
	}
	if unit, _, ok := b.coarse(e); ok {
		return []parser.Expr{unit}, true
	}
	for _, x := range parser.Below(e) {
		more, ok := b.support(x, joined)
		if !ok {
			return nil, false
		}
		of = also(of, more)
	}
	return of, true
}

// supportOf does so for a column. The row of an ordinary table that stands beside others follows from all that any
// condition on the table asks for: of equalities with the table's own columns, the other side.
func (b *Bound) supportOf(c parser.Column, joined map[int]bool) (of []parser.Expr, ok bool) {
	switch {
	case b.sources.tables[c.Rel] != nil:
		return []parser.Expr{parser.Column{Name: c.Name, Rel: c.Rel}}, true
	case joined[c.Rel] || !slices.ContainsFunc(b.sources.list, func(s parser.Source) bool { return s.Rel == c.Rel }):
		return nil, true // of a subquery's own: what that asks for stands in it
	case !b.beside[c.Rel]:
		return nil, false
	}

	// Each table is followed once: conditions may lead back to it.
	joined[c.Rel] = true
	for _, condition := range b.conditionsOn(b.sources.source(c.Rel)) {
		for _, e := range others(condition, c.Rel) {
			more, ok := b.support(e, joined)
			if !ok {
				return nil, false
			}
			of = also(of, more)
		}
	}
	return of, true
}

// conditionsOn are the conditions, as they were written, that speak of a source and decide on its rows.
func (b *Bound) conditionsOn(src *parser.Source) []parser.Expr {
	all := b.sources.where
	if src.Left {
		all = []parser.Expr{src.On}
	}
	var out []parser.Expr
	for _, w := range all {
		if w == nil {
			continue
		}
		for _, c := range parser.Conjuncts(w) {
			if src.Left || slices.ContainsFunc(columns(c), func(x parser.Column) bool { return x.Rel == src.Rel }) {
				out = append(out, c)
			}
		}
	}
	return out
}

// others are the parts of a condition that do not speak of a source: the other side of an equality, or all columns.
func others(condition parser.Expr, rel int) []parser.Expr {
	own := func(e parser.Expr) bool {
		return slices.ContainsFunc(columns(e), func(c parser.Column) bool { return c.Rel == rel })
	}
	if e, ok := condition.(parser.Binary); ok && e.Op == "=" {
		if of := columns(e.L); len(of) > 0 && ofOnly(of, rel) && !own(e.R) {
			return []parser.Expr{e.R}
		}
		if of := columns(e.R); len(of) > 0 && ofOnly(of, rel) && !own(e.L) {
			return []parser.Expr{e.L}
		}
	}
	var out []parser.Expr
	for _, c := range columns(condition) {
		if c.Rel != rel && c.Rel >= 0 {
			out = append(out, c)
		}
	}
	return out
}

// coarse gives an expression over one protected column of times, from which e follows and which says less than the
// column: the unit of its calendar, which the owner of the policy has named, or e itself where it is the column's day
// or another unit.
func (b *Bound) coarse(e parser.Expr) (of parser.Expr, named, ok bool) {
	if cs := columns(e); len(cs) > 0 && !slices.ContainsFunc(cs, func(c parser.Column) bool { return c != cs[0] }) {
		if k, ok := b.calendar(cs[0]); ok && k.Even(e, cs[0], b.given) {
			return b.unitOf(cs[0], k), true, true
		}
	}
	return e, false, b.unit(e)
}

// unitOf is the unit of a calendar that a column's value lies in.
func (b *Bound) unitOf(c parser.Column, k Calendar) parser.Expr {
	args := []parser.Expr{parser.Const{Kind: parser.String, Text: k.By}, c}
	if typ, err := b.sources.tables[c.Rel].ColumnType(c.Name); err == nil && typ == "timestamp with time zone" {
		args = append(args, parser.Const{Kind: parser.String, Text: "UTC"})
	}
	return parser.Func{Name: "date_trunc", Args: args}
}

// unit reports whether an expression is the day, or date_trunc and its kin, of a protected column of times, in a time
// zone. No row can make these fail, and there are only so many of them for each column.
func (b *Bound) unit(e parser.Expr) bool {
	if _, plain := e.(parser.Column); plain {
		return false
	}

	// From the outside to the column, through casts and functions that take nothing but a constant besides.
	for {
		switch of := e.(type) {
		case parser.Cast:
			if !slices.Contains(moments, of.Type) {
				return false
			}
			e = of.X
		case parser.Func:
			if len(of.Args) != 2 {
				return false
			}
			c, ok := of.Args[0].(parser.Const)
			known := slices.Contains([]string{"date_trunc", "extract", "date_part"}, of.Name) ||
				of.Name == "timezone" && zones.MatchString(c.Text)
			if !ok || c.Kind != parser.String || !known {
				return false
			}
			e = of.Args[1]
		case parser.Column:
			t := b.sources.tables[of.Rel]
			if t == nil {
				return false
			}
			typ, err := t.ColumnType(of.Name)
			times := []string{"date", "timestamp without time zone", "timestamp with time zone"}
			return err == nil && slices.Contains(times, typ)
		default:
			return false
		}
	}
}

// zones are the time zones that have names: there are some hundred. Others can be any number of seconds.
var zones = regexp.MustCompile(`^(?i:UTC|[A-Z_]+(/[A-Z_]+)+)$`)

// moments are types whose values can be cast to one another.
var moments = []string{`pg_catalog."date"`, `pg_catalog."timestamp"`, `pg_catalog."timestamptz"`}

// sortable reports whether the values that expressions have together can be counted among the rows of references: of
// a source that an outer join may leave out, with no other beside it.
func (b *Bound) sortable(of []parser.Expr) bool {
	var rels []int
	left := false
	for _, e := range of {
		for _, c := range columns(e) {
			rels, left = append(rels, c.Rel), left || b.sources.source(c.Rel).Left
		}
	}
	slices.Sort(rels)
	return !left || len(slices.Compact(rels)) == 1
}

// declaredValues is how many combinations of values the policy declares for columns, and for units of their
// calendars; 0 where it does not for all.
func (b *Bound) declaredValues(of []parser.Expr) float64 {
	n := 1.0
	for _, e := range of {
		c := columns(e)[0]
		if values, ok := b.declared(c); ok {
			n *= float64(len(values))
		} else if k, ok := b.calendar(c); ok && holds([]parser.Expr{b.unitOf(c, k)}, e) {
			n *= float64(len(k.Starts))
		} else {
			return 0
		}
	}
	return n
}

func also(all, more []parser.Expr) []parser.Expr {
	for _, e := range more {
		if !holds(all, e) {
			all = append(all, e)
		}
	}
	return all
}

func holds(all []parser.Expr, e parser.Expr) bool {
	text := parser.SQL(e, "t", nil)
	return slices.ContainsFunc(all, func(o parser.Expr) bool { return parser.SQL(o, "t", nil) == text })
}
