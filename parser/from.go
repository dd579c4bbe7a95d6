package parser

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// Source is a relation that a cut reads. Column.Rel refers to it.
type Source struct {
	Table    Table
	Rel      int
	Left     bool // LEFT JOIN with what stands before it, on On; otherwise every combination, which WHERE filters
	On       Expr
	Position int
}

// block collects what a FROM clause and its WHERE come to: derived tables, views and WITH queries that filter and
// project are taken apart into sources, conditions and, as names, expressions.
type block struct {
	sources []Source
	where   []Expr
}

const (
	aggregateFirst = "Aggregate the protected table in a subquery of its own, and join the result."
	projectOnly    = "Below an aggregate of protected rows, a subquery in FROM can filter (WHERE) and choose columns, and no more."
)

// from reads one item of FROM into b and ns.
func (r *reader) from(b *block, ns *names, n *pg.Node, w *with) error {
	switch x := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		return r.relation(b, ns, x.RangeVar, w)
	case *pg.Node_RangeSubselect:
		s := x.RangeSubselect
		if s.Lateral {
			return r.refuse(n, aggregateFirst, "LATERAL cannot be used among protected rows")
		}
		out, err := r.project(b, s.Subquery.GetSelectStmt(), w, nil)
		if err != nil {
			return err
		}
		if s.Alias == nil {
			ns.items = append(ns.items, item{output: out})
			return nil
		}
		out, err = rename(r, n, out, s.Alias.Colnames)
		ns.items = append(ns.items, item{alias: s.Alias.Aliasname, output: out})
		return err
	case *pg.Node_JoinExpr:
		return r.join(b, ns, n, x.JoinExpr, w)
	case *pg.Node_RangeTableSample:
		return r.refuse(n, "Count all rows; Fugu's noise is small beside a sample's.", "TABLESAMPLE cannot be used on protected rows")
	case *pg.Node_RangeFunction:
		return r.refuse(n, aggregateFirst, "a function in FROM cannot be joined with protected rows")
	}
	return r.refuse(n, aggregateFirst, "this kind of FROM item cannot be joined with protected rows")
}

// relation reads a table, a view or a WITH query that FROM names.
func (r *reader) relation(b *block, ns *names, rv *pg.RangeVar, w *with) error {
	it := item{alias: rv.Relname}
	var renamed []*pg.Node
	if rv.Alias != nil {
		it.alias, renamed = rv.Alias.Aliasname, rv.Alias.Colnames
	}
	n := &pg.Node{Node: &pg.Node_RangeVar{RangeVar: rv}}
	if q := w.find(rv); q != nil {
		if q.sel == nil || q.busy {
			return r.refuse(n, projectOnly, "the WITH query %s cannot be read among protected rows", rv.Relname)
		}
		q.busy = true
		defer func() { q.busy = false }()
		out, err := r.project(b, q.sel, q.sees, nil)
		if err == nil {
			out, err = rename(r, n, out, q.alias)
		}
		if err == nil {
			it.output, err = rename(r, n, out, renamed)
		}
		ns.items = append(ns.items, it)
		return err
	}
	t, ok := r.a.lookup(rv)
	switch {
	case ok && t.Virtual:
		return r.refuse(n, aggregateFirst, "the virtual table %s cannot be joined with protected rows", t)
	case !ok:
		var err error
		if t, err = r.a.catalog.Ordinary(rv.Schemaname, rv.Relname); err != nil {
			return r.a.placed(err, r.src.position(rv.Location))
		}
		t.Written = QuoteIdent(rv.Relname)
		if rv.Schemaname != "" {
			t.Written = QuoteIdent(rv.Schemaname) + "." + t.Written
		}
	}
	if !rv.Inh {
		return r.refuse(n, "Leave out ONLY.", "ONLY cannot be used on protected rows")
	}
	if rv.Alias == nil {
		it.schema = t.Schema
	}
	if t.View != "" {
		out, err := r.view(b, t)
		if err != nil {
			return r.a.placed(err, r.src.position(rv.Location))
		}
		it.output, err = rename(r, n, out, renamed)
		ns.items = append(ns.items, it)
		return err
	}
	s := Source{Table: t, Rel: r.a.rels, Position: r.src.position(rv.Location)}
	r.a.rels++
	b.sources = append(b.sources, s)
	out := make([]output, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = output{c, Column{Name: c, Rel: s.Rel}}
	}
	var err error
	it.output, err = rename(r, n, out, renamed)
	ns.items = append(ns.items, it)
	return err
}

// view reads the query of a view over protected tables, which can do what a derived table can.
func (r *reader) view(b *block, t Table) ([]output, error) {
	parsed, err := pg.Parse(t.View)
	if err != nil || len(parsed.Stmts) != 1 {
		return nil, fmt.Errorf("reading the definition of view %s: %w", t, err)
	}
	inner := &reader{src: &source{t.View}, a: r.a}
	out, err := inner.project(b, parsed.Stmts[0].Stmt.GetSelectStmt(), nil, nil)
	if err != nil {
		return nil, err
	}
	names := make([]*pg.Node, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = pg.MakeStrNode(c)
	}
	return rename(r, nil, out, names)
}

func rename(r *reader, n *pg.Node, out []output, columns []*pg.Node) ([]output, error) {
	if len(columns) > len(out) {
		return nil, r.refuse(n, "Name at most as many columns as there are.", "more column names than columns")
	}
	out = append([]output(nil), out...)
	for i, c := range columns {
		out[i].name = c.GetString_().GetSval()
	}
	return out, nil
}

// project reads a SELECT that only filters and projects: its FROM and WHERE go into b, and its columns are returned.
func (r *reader) project(b *block, s *pg.SelectStmt, w *with, outer *names) ([]output, error) {
	at := &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: s}}
	w = bind(s.GetWithClause(), w)
	switch {
	case s == nil || s.Op != pg.SetOperation_SETOP_NONE || len(s.ValuesLists) > 0:
		return nil, r.refuse(at, projectOnly, "a set operation or VALUES cannot be read below an aggregate of protected rows")
	case folds(s) || s.LimitCount != nil || !r.skipsNothing(b, s.LimitOffset) || s.IntoClause != nil || len(s.LockingClause) > 0:
		return nil, r.refuse(at, projectOnly, "a subquery with GROUP BY, DISTINCT, LIMIT, a window function or a lock cannot be read below an aggregate of protected rows")
	}
	inner := &reader{src: r.src, a: r.a, names: &names{merged: map[string]Expr{}, outer: outer}}
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
			name = columnName(rt.Val)
		}
		// A column that cannot be read matters only if something above names it, unless it is a function that returns sets:
		// that multiplies rows.
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

// skipsNothing accepts OFFSET 0, and OFFSET of a parameter that has to be 0 when it is bound: Prisma ends its subqueries so.
func (r *reader) skipsNothing(b *block, offset *pg.Node) bool {
	if p := offset.GetParamRef(); p != nil {
		r.a.stmt.Zeros = append(r.a.stmt.Zeros, Zero{int(p.Number), r.src.position(p.Location)})
		b.where = append(b.where, Binary{"=", Cast{X: Param{int(p.Number)}, Type: `pg_catalog."int8"`}, Const{Kind: Number, Text: "0"}})
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
	if len(q) == 0 && len(r.names.merged) > 0 {
		return nil, r.refuse(n, "Name the columns.", "* cannot be used with USING or NATURAL below an aggregate of protected rows")
	}
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
