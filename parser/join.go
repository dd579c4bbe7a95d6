package parser

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// join reads a join. The conditions of inner joins are filters like those of WHERE; a LEFT JOIN keeps its own.
func (r *reader) join(b *block, ns *names, n *pg.Node, j *pg.JoinExpr, w *with) error {
	left, right := j.Larg, j.Rarg
	switch {
	case j.Jointype == pg.JoinType_JOIN_RIGHT:
		left, right = right, left
	case j.Jointype != pg.JoinType_JOIN_INNER && j.Jointype != pg.JoinType_JOIN_LEFT:
		return r.refuse(n, "Use JOIN or LEFT JOIN.", "FULL JOIN cannot be used on protected rows: rows without a partner would be counted too")
	}
	if j.Alias != nil || j.JoinUsingAlias != nil {
		return r.refuse(n, "Name the tables inside of the join.", "a join with a name of its own cannot be used on protected rows")
	}
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
	var on []Expr
	if j.Quals != nil {
		e, err := (&reader{src: r.src, a: r.a, names: ns, with: w}).expr(j.Quals)
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
		return r.refuse(n, "Join one table at a time, and compute above the aggregate.", "this outer join cannot be used on protected rows")
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
			return nil, r.refuse(n, "Write the condition with ON.", "column %s of USING is not in both tables exactly once", QuoteIdent(name))
		}
		on = append(on, Binary{"=", l, x})
		ns.merged[name] = l
	}
	return on, nil
}

// and joins conditions; nil for none.
func and(es []Expr) Expr {
	switch len(es) {
	case 0:
		return nil
	case 1:
		return es[0]
	}
	return Logic{"AND", es}
}

// subquery reads [NOT] EXISTS (SELECT ...) and X [NOT] IN (SELECT ...) over ordinary tables.
func (r *reader) subquery(n *pg.Node, l *pg.SubLink) (Expr, error) {
	const hint = "Use EXISTS (SELECT ...) or IN (SELECT ...) over ordinary tables, or ask for the subquery's value first and pass it as a parameter."
	s := l.Subselect.GetSelectStmt()
	in := l.SubLinkType == pg.SubLinkType_ANY_SUBLINK && (len(l.OperName) == 0 || tree.LastString(l.OperName) == "=" && len(l.OperName) == 1)
	if r.a == nil || !in && l.SubLinkType != pg.SubLinkType_EXISTS_SUBLINK {
		return nil, r.refuse(n, hint, "a subquery cannot be evaluated on protected rows")
	}
	var b block
	out := Semi{}
	if in {
		x, err := r.expr(l.Testexpr)
		if err != nil {
			return nil, err
		}
		out.X = x
	}
	if l.SubLinkType == pg.SubLinkType_EXISTS_SUBLINK && s.GetLimitOffset() == nil && s.GetLimitCount().GetAConst().GetIval().GetIval() > 0 {
		s = proto.Clone(s).(*pg.SelectStmt)
		s.LimitCount = nil // EXISTS asks for one row anyway
	}
	columns, err := r.project(&b, s, r.with, r.names)
	if err != nil {
		return nil, err
	}
	for _, src := range b.sources {
		if !src.Table.Ordinary {
			return nil, r.refuse(n, "Ask about each in a statement of its own, or join tables that the policy links.",
				"a subquery on the protected table %s cannot be evaluated on protected rows", src.Table)
		} else if src.Left {
			return nil, r.refuse(n, "Use plain joins.", "an outer join cannot be used in a subquery on protected rows")
		}
	}
	if len(b.sources) == 0 {
		return nil, r.refuse(n, hint, "a subquery without a table cannot be evaluated on protected rows")
	}
	if in {
		if len(columns) != 1 {
			return nil, r.refuse(n, "Select one column.", "the subquery of IN has %d columns", len(columns))
		}
		if bad, ok := columns[0].expr.(unreadable); ok {
			return nil, bad.err
		}
		out.Value = columns[0].expr
	}
	out.Sources, out.Where = b.sources, and(b.where)
	return out, nil
}
