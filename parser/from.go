package parser

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/sqlstate"
)

// block collects what a FROM clause and its WHERE come to: derived tables, views and WITH queries that filter and
// project are taken apart into sources, conditions and, as names, expressions.
type block struct {
	sources []Source
	where   []Expr
}

const (
	aggregateFirst = "Aggregate the protected table in a subquery of its own, and join the result."
	projectOnly    = "Below an aggregate of protected rows, a subquery can filter (WHERE) and choose columns, " +
		"and no more."
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
		return r.refuse(n, "Leave TABLESAMPLE out: an answer about all rows is nearer to the truth than one about a "+
			"sample.",
			"TABLESAMPLE cannot be used on protected rows")
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

	var out []output
	var err error

	// A WITH query's name goes before a table's, as in PostgreSQL.
	if q := w.find(rv); q != nil {
		out, err = r.withQuery(b, n, q)
	} else {
		var t Table
		if t, err = r.table(n, rv); err != nil {
			return err
		}
		if rv.Alias == nil {
			it.schema = t.Schema
		}
		out, err = r.columns(b, t, rv)
	}
	if err != nil {
		return err
	}
	it.output, err = rename(r, n, out, renamed)
	ns.items = append(ns.items, it)
	return err
}

// withQuery reads a WITH query where it is named.
func (r *reader) withQuery(b *block, n *pg.Node, q *query) ([]output, error) {
	if q.sel == nil || q.busy {
		return nil, r.refuse(n, projectOnly, "the WITH query %s cannot be read among protected rows",
			n.GetRangeVar().Relname)
	}
	q.busy = true
	defer func() { q.busy = false }()
	out, err := r.project(b, q.sel, q.sees, nil)
	if err != nil {
		return nil, err
	}
	return rename(r, n, out, q.alias)
}

// table finds the table or view that FROM names.
func (r *reader) table(n *pg.Node, rv *pg.RangeVar) (Table, error) {
	t, known := r.common.lookup(rv)
	switch {
	case known && t.Virtual:
		return t, r.refuse(n, aggregateFirst, "the virtual table %s cannot be joined with protected rows", t)
	case !known:
		var err error
		if t, err = r.common.catalog.Ordinary(rv.Schemaname, rv.Relname); err != nil {
			return t, placed(err, r.src.position(rv.Location))
		}
		t.Written = QuoteIdent(rv.Relname)
		if rv.Schemaname != "" {
			t.Written = QuoteIdent(rv.Schemaname) + "." + t.Written
		}
	}
	if !rv.Inh {
		return t, r.refuse(n, "Leave out ONLY.", "ONLY cannot be used on protected rows")
	}
	return t, nil
}

// columns makes a table a source, or takes a view apart, and returns the columns.
func (r *reader) columns(b *block, t Table, rv *pg.RangeVar) ([]output, error) {
	position := r.src.position(rv.Location)
	if t.View != "" {
		out, err := r.view(b, t)
		if err != nil {
			return nil, placed(err, position)
		}
		return out, nil
	}

	s := Source{Table: t, Rel: r.common.sources, Position: position}
	r.common.sources++
	b.sources = append(b.sources, s)
	out := make([]output, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = output{c, Column{Name: c, Rel: s.Rel}}
		// Its operators may be somebody's own code, and the reader would run it.
		if typ, strange := t.Strange[c]; strange {
			out[i].expr = unreadable{sqlstate.New(sqlstate.NotAnswerable,
				"column %s of %s cannot be read together with protected rows: its type is %s", QuoteIdent(c), t, typ).
				WithHint("Types of PostgreSQL's own, enums, and domains over these can be read. " + aggregateFirst)}
		}
	}
	return out, nil
}

// view reads the query of a view over protected tables, which can do what a derived table can.
func (r *reader) view(b *block, t Table) ([]output, error) {
	parsed, err := pg.Parse(t.View)
	if err != nil || len(parsed.Stmts) != 1 {
		return nil, fmt.Errorf("reading the definition of view %s: %w", t, err)
	}
	inner := &reader{src: newSource(t.View), common: r.common}
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
