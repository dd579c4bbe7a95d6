package parser

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// project reads a SELECT that only filters and projects: its FROM and WHERE go into b, and its columns are returned.
func (r *reader) project(b *block, s *pg.SelectStmt, w *with, outer *names) ([]output, error) {
	at := &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: s}}
	w = bind(s.GetWithClause(), w)
	switch {
	case s == nil || s.Op != pg.SetOperation_SETOP_NONE || len(s.ValuesLists) > 0:
		return nil, r.refuse(at, projectOnly,
			"a set operation or VALUES cannot be read below an aggregate of protected rows")
	case folds(s) || s.LimitCount != nil || !r.skipsNothing(b, s.LimitOffset) || s.IntoClause != nil ||
		len(s.LockingClause) > 0:
		return nil, r.refuse(at, projectOnly, "a subquery with %s cannot be read below an aggregate of protected rows",
			beyondChoosing(s))
	}

	// Names in it are its own first, and then those of the queries around it.
	inner := &reader{src: r.src, common: r.common, names: &names{merged: map[string]Expr{}, outer: outer}}
	if err := inner.fromWhere(b, s, w); err != nil {
		return nil, err
	}

	var out []output
	for _, n := range s.TargetList {
		rt := n.GetResTarget()
		if ref := rt.Val.GetColumnRef(); ref != nil && ref.Fields[len(ref.Fields)-1].GetAStar() != nil {
			all, err := inner.star(rt.Val, ref)
			if err != nil {
				return nil, err
			}
			out = append(out, all...)
			continue
		}
		name := rt.Name
		if name == "" {
			name = tree.ColumnName(rt.Val)
		}
		// A column that cannot be read matters only if something above names it, unless it is a function that returns
		// sets: that multiplies rows.
		e, err := inner.expr(rt.Val)
		if err != nil && callsUnknown(rt.Val) {
			return nil, err
		} else if err != nil {
			e = unreadable{err}
		}
		out = append(out, output{name, e})
	}
	return out, nil
}

// beyondChoosing says what a subquery has that does more than choose rows and columns.
func beyondChoosing(s *pg.SelectStmt) string {
	switch {
	case len(s.GroupClause) > 0 || s.HavingClause != nil:
		return "GROUP BY or HAVING"
	case len(s.DistinctClause) > 0:
		return "DISTINCT"
	case s.LimitCount != nil:
		return "LIMIT"
	case s.IntoClause != nil:
		return "INTO"
	case len(s.LockingClause) > 0:
		return "FOR UPDATE or FOR SHARE"
	case callsAggregate(s):
		return "an aggregate or a window function"
	}
	return "OFFSET"
}

// fromWhere reads the FROM and WHERE of s.
func (r *reader) fromWhere(b *block, s *pg.SelectStmt, w *with) error {
	r.with = w
	for _, n := range s.FromClause {
		if err := r.from(b, r.names, n, w); err != nil {
			return err
		}
	}
	if s.WhereClause == nil {
		return nil
	}
	e, err := r.expr(s.WhereClause)
	b.where = append(b.where, e)
	return err
}

// star is what * or t.* stands for in a subquery.
func (r *reader) star(n *pg.Node, ref *pg.ColumnRef) ([]output, error) {
	var q []string
	for _, f := range ref.Fields[:len(ref.Fields)-1] {
		q = append(q, f.GetString_().GetSval())
	}

	// A merged column would stand there once, and not once for each table.
	if len(q) == 0 && len(r.names.merged) > 0 {
		return nil, r.refuse(n, "Name the columns.",
			"* cannot be used with USING or NATURAL below an aggregate of protected rows")
	}

	// The columns stand in the order of FROM.
	var out []output
	found := false
	for _, it := range r.names.items {
		if len(q) == 0 || it.means(q) {
			out, found = append(out, it.output...), true
		}
	}
	if !found {
		return nil, r.refuse(n, "Name a relation of FROM.", "missing FROM-clause entry for *")
	}
	return out, nil
}

// skipsNothing accepts OFFSET 0, and OFFSET of a parameter that has to be 0 when it is bound: Prisma ends its
// subqueries so.
func (r *reader) skipsNothing(b *block, offset *pg.Node) bool {
	if p := offset.GetParamRef(); p != nil {
		r.common.zeros = append(r.common.zeros, Zero{int(p.Number), r.src.position(p.Location)})
		b.where = append(b.where, Binary{"=", Cast{X: Param{int(p.Number)}, Type: `pg_catalog."int8"`},
			Const{Kind: Number, Text: "0"}})
		return true
	}
	i := offset.GetAConst().GetIval()
	return offset == nil || i != nil && i.Ival == 0
}

// callsUnknown reports whether n calls a function that is not listed.
func callsUnknown(n *pg.Node) bool {
	found := false
	tree.Inspect(n, func(m proto.Message) bool {
		if f, ok := m.(*pg.FuncCall); ok {
			_, listed := functions[tree.LastString(f.Funcname)]
			found = found || !listed || len(f.Funcname) > 1
		}
		return !found
	})
	return found
}

// subquery reads [NOT] EXISTS (SELECT ...) and X [NOT] IN (SELECT ...) over ordinary tables.
func (r *reader) subquery(n *pg.Node, l *pg.SubLink) (Expr, error) {
	const hint = "Use EXISTS (SELECT ...) or IN (SELECT ...) over ordinary tables, or ask for the subquery's value " +
		"first and pass it as a parameter."
	s := l.Subselect.GetSelectStmt()
	in := l.SubLinkType == pg.SubLinkType_ANY_SUBLINK && (len(l.OperName) == 0 || tree.LastString(l.OperName) == "=" &&
		len(l.OperName) == 1)
	if r.common == nil || !in && l.SubLinkType != pg.SubLinkType_EXISTS_SUBLINK {
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
	if l.SubLinkType == pg.SubLinkType_EXISTS_SUBLINK && s.GetLimitOffset() == nil &&
		s.GetLimitCount().GetAConst().GetIval().GetIval() > 0 {
		s = proto.Clone(s).(*pg.SelectStmt)
		s.LimitCount = nil // EXISTS asks for one row anyway
	}

	// It may read ordinary tables alone: a protected one would be a sum over pairs of rows.
	columns, err := r.project(&b, s, r.with, r.names)
	if err != nil {
		return nil, err
	}
	for _, src := range b.sources {
		if !src.Table.Ordinary {
			return nil, r.refuse(n, "Ask about each in a statement of its own, or join tables that the "+
				"policy links; a twin counts who has a partner: SELECT count(DISTINCT p.id) FROM p JOIN v ON ...",
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
