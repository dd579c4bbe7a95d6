package parser

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

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
			return a.refuse(rv.Location, cutHint, "rows of a protected table cannot be read here"+AskAggregates)
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

	// A WITH clause without queries is none.
	if (*c).Ctes = kept; len(kept) == 0 {
		*c = nil
	}
	return w, nil
}

// visitBelow visits what stands directly below m, but for WITH clauses, which their statement has visited. Always in
// the same order: the order of the cuts is part of what a statement asks.
func (a *analysis) visitBelow(m proto.Message, w *with) (err error) {
	tree.Below(m, func(c proto.Message) {
		if _, queries := c.(*pg.WithClause); err == nil && !queries {
			err = a.visit(c, w)
		}
	})
	return err
}
