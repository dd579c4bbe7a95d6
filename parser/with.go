package parser

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// with holds the WITH queries that one place in a statement can see (PostgreSQL manual, section 7.8).
type with struct {
	outer *with
	names map[string]*query
}

// query is one WITH query. If it yields rows of a protected table it is read, like a view, where a cut names it.
type query struct {
	sel   *pg.SelectStmt // nil for a query that changes data
	alias []*pg.Node     // names given to its columns
	sees  *with
	known bool
	rows  bool
	busy  bool // being read
}

func (w *with) find(rv *pg.RangeVar) *query {
	if rv.Schemaname != "" || rv.Catalogname != "" {
		return nil
	}
	for ; w != nil; w = w.outer {
		if q := w.names[rv.Relname]; q != nil {
			return q
		}
	}
	return nil
}

// bind returns what stands inside a statement that has the clause c can see.
func bind(c *pg.WithClause, outer *with) *with {
	if c == nil {
		return outer
	}
	all := &with{outer: outer, names: map[string]*query{}}
	seen := outer // by a query that is not recursive: those before it
	for _, n := range c.Ctes {
		cte := n.GetCommonTableExpr()
		q := &query{sel: cte.Ctequery.GetSelectStmt(), alias: cte.Aliascolnames, sees: seen}
		if c.Recursive {
			q.sees = all
		}
		all.names[cte.Ctename] = q
		seen = &with{outer: seen, names: map[string]*query{cte.Ctename: q}}
	}
	return all
}

// yields reports whether a query yields rows of a protected table rather than aggregates of them.
func (a *analysis) yields(q *query) bool {
	if !q.known {
		q.known = true // a query that names itself adds nothing to the answer
		q.rows = a.selectsRows(q.sel, q.sees)
	}
	return q.rows
}

// selectsRows reports whether s selects rows of a protected table as they are, without aggregating them.
func (a *analysis) selectsRows(s *pg.SelectStmt, w *with) bool {
	if s == nil {
		return false
	}
	w = bind(s.WithClause, w)
	if s.Op != pg.SetOperation_SETOP_NONE {
		return a.selectsRows(s.Larg, w) || a.selectsRows(s.Rarg, w)
	}
	return !folds(s) && a.fromRows(s.FromClause, w)
}

// fromRows reports whether a FROM clause reads rows of a protected table.
func (a *analysis) fromRows(from []*pg.Node, w *with) bool {
	return slices.ContainsFunc(from, func(n *pg.Node) bool {
		switch x := n.GetNode().(type) {
		case *pg.Node_RangeVar:
			if q := w.find(x.RangeVar); q != nil {
				return a.yields(q)
			}
			t, ok := a.lookup(x.RangeVar)
			return ok && !t.Virtual
		case *pg.Node_RangeSubselect:
			return a.selectsRows(x.RangeSubselect.Subquery.GetSelectStmt(), w)
		case *pg.Node_JoinExpr:
			return a.fromRows([]*pg.Node{x.JoinExpr.Larg, x.JoinExpr.Rarg}, w)
		case *pg.Node_RangeTableSample:
			return a.fromRows([]*pg.Node{x.RangeTableSample.Relation}, w)
		}
		return false
	})
}

// visit cuts every SELECT at or below m that aggregates protected rows, and notes the virtual tables.
func (a *analysis) visit(m proto.Message, w *with) error {
	switch x := m.(type) {
	case *pg.SelectStmt:
		w, err := a.queries(&x.WithClause, w)
		if err != nil {
			return err
		}
		if x.Op == pg.SetOperation_SETOP_NONE && a.fromRows(x.FromClause, w) {
			if err := a.cutSelect(x, w); err != nil {
				return err
			}
		}
		return a.visitBelow(m, w)
	case *pg.InsertStmt:
		return a.visitChange(m, &x.WithClause, w)
	case *pg.UpdateStmt:
		return a.visitChange(m, &x.WithClause, w)
	case *pg.DeleteStmt:
		return a.visitChange(m, &x.WithClause, w)
	case *pg.MergeStmt:
		return a.visitChange(m, &x.WithClause, w)
	case *pg.Node:
		if rv := x.GetRangeVar(); rv != nil {
			return a.visitName(x, rv, w)
		}
	}
	return a.visitBelow(m, w)
}

func (a *analysis) visitChange(m proto.Message, c **pg.WithClause, w *with) error {
	w, err := a.queries(c, w)
	if err != nil {
		return err
	}
	return a.visitBelow(m, w)
}

// visitName accounts for a relation named where it is not part of a cut.
func (a *analysis) visitName(n *pg.Node, rv *pg.RangeVar, w *with) error {
	if q := w.find(rv); q != nil {
		if a.yields(q) {
			return a.refuse(rv.Location, cutHint, "rows of a protected table cannot be read here")
		}
		a.taken[rv] = true
		return nil
	}
	if t, ok := a.lookup(rv); ok && t.Virtual {
		a.taken[rv] = true
		a.stmt.Virtual = append(a.stmt.Virtual, &Virtual{Table: t, node: n})
	}
	return nil
}

// queries visits the queries of a WITH clause. Those that yield protected rows are taken out of the statement: they are
// read where a cut names them, and nowhere else.
func (a *analysis) queries(c **pg.WithClause, outer *with) (*with, error) {
	if *c == nil {
		return outer, nil
	}
	w := bind(*c, outer)
	var kept []*pg.Node
	for _, n := range (*c).Ctes {
		cte := n.GetCommonTableExpr()
		q := w.names[cte.Ctename]
		if a.yields(q) {
			continue
		}
		if err := a.visit(cte.Ctequery, q.sees); err != nil {
			return nil, err
		}
		kept = append(kept, n)
	}
	if (*c).Ctes = kept; len(kept) == 0 {
		*c = nil
	}
	return w, nil
}

// visitBelow visits what stands directly below m, but for WITH clauses, which their statement has visited. Always in the
// same order: the order of the cuts is part of what a statement asks.
func (a *analysis) visitBelow(m proto.Message, w *with) (err error) {
	tree.Below(m, func(c proto.Message) {
		if _, queries := c.(*pg.WithClause); err == nil && !queries {
			err = a.visit(c, w)
		}
	})
	return err
}
