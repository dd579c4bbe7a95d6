package parser

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/sqlstate"
)

// join reads a join. The conditions of inner joins are filters like those of WHERE; a LEFT JOIN keeps its own.
func (r *reader) join(b *block, ns *names, n *pg.Node, j *pg.JoinExpr, w *with) error {
	left, right := j.Larg, j.Rarg
	switch {
	case j.Jointype == pg.JoinType_JOIN_RIGHT:
		left, right = right, left
	case j.Jointype != pg.JoinType_JOIN_INNER && j.Jointype != pg.JoinType_JOIN_LEFT:
		return r.refuse(n, "Use JOIN or LEFT JOIN.",
			"FULL JOIN cannot be used on protected rows: rows without a partner would be counted too")
	}
	if j.Alias != nil || j.JoinUsingAlias != nil {
		return r.refuse(n, "Name the tables inside of the join.",
			"a join with a name of its own cannot be used on protected rows")
	}

	// The right side of an outer join is a block of its own: its conditions do not filter.
	start := len(ns.items)
	if err := r.from(b, ns, left, w); err != nil {
		return err
	}
	middle := len(ns.items)
	inner := j.Jointype == pg.JoinType_JOIN_INNER
	into := b
	if !inner {
		into = &block{}
	}
	if err := r.from(into, ns, right, w); err != nil {
		return err
	}

	// Conditions see the names of both sides.
	var on []Expr
	if j.Quals != nil {
		e, err := (&reader{src: r.src, common: r.common, names: ns, with: w}).expr(j.Quals)
		if err != nil {
			return err
		}
		on = append(on, e)
	}
	using, err := r.using(n, j, ns, start, middle)
	if err != nil {
		return err
	}
	on = append(on, using...)

	if inner {
		b.where = append(b.where, on...)
		return nil
	}

	if len(into.sources) != 1 || !plainColumns(ns.items[middle:]) {
		return r.refuse(n, "Join one table at a time, and compute above the aggregate.",
			"this outer join cannot be used on protected rows")
	}
	s := into.sources[0]
	s.Left, s.On = true, and(append(into.where, on...))
	b.sources = append(b.sources, s)
	return nil
}

// plainColumns reports whether all outputs are columns: an expression would have a value where a LEFT JOIN has NULL.
func plainColumns(items []item) bool {
	for _, it := range items {
		for _, o := range it.output {
			if _, ok := o.expr.(Column); !ok {
				return false
			}
		}
	}
	return true
}

// using turns USING and NATURAL into conditions, and lets the common names stand for the left side's columns.
func (r *reader) using(n *pg.Node, j *pg.JoinExpr, ns *names, start, middle int) ([]Expr, error) {
	var common []string
	for _, u := range j.UsingClause {
		common = append(common, u.GetString_().GetSval())
	}
	left, right := &names{items: ns.items[start:middle], merged: ns.merged}, &names{items: ns.items[middle:]}

	// A natural join is USING with all names that both sides have.
	if j.IsNatural {
		for _, it := range left.items {
			for _, o := range it.output {
				if right.has(o.name) && !slices.Contains(common, o.name) {
					common = append(common, o.name)
				}
			}
		}
	}

	var on []Expr
	for _, name := range common {
		l, twiceL := left.unqualified(name)
		x, twiceR := right.unqualified(name)
		if l == nil || x == nil || twiceL || twiceR {
			return nil, r.refuse(n, "Write the condition with ON.",
				"column %s of USING is not in both tables exactly once", QuoteIdent(name))
		}
		for _, side := range []Expr{l, x} {
			if bad, ok := side.(unreadable); ok {
				return nil, sqlstate.Place(bad.err, r.src.position(location(n)))
			}
		}
		on = append(on, Binary{"=", l, x})
		ns.merged[name] = l
	}
	return on, nil
}
