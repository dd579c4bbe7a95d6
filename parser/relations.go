package parser

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// relations say what the names of relations mean: what the catalog knows, but for the one that the statement gives to
// something of its own.
type relations struct {
	catalog Catalog
	target  *pg.RangeVar // what the statement makes, if it makes a relation
}

func (k *relations) lookup(rv *pg.RangeVar) (Table, bool) {
	// The name of what is made is nobody's yet.
	if rv.Schemaname == "" && rv == k.target {
		return Table{}, false
	}
	return k.catalog.Table(rv.Schemaname, rv.Relname)
}

// target is the name that a statement gives to a relation, nil if it makes none.
func target(root *pg.Node) *pg.RangeVar {
	switch x := root.GetNode().(type) {
	case *pg.Node_CreateStmt:
		return x.CreateStmt.Relation
	case *pg.Node_CreateTableAsStmt:
		if x.CreateTableAsStmt.Query.GetExecuteStmt() == nil { // what is executed may have to be paid for first
			return x.CreateTableAsStmt.Into.GetRel()
		}
	case *pg.Node_SelectStmt:
		return x.SelectStmt.IntoClause.GetRel()
	case *pg.Node_ViewStmt:
		return x.ViewStmt.View
	case *pg.Node_CreateSeqStmt:
		return x.CreateSeqStmt.Sequence
	case *pg.Node_CompositeTypeStmt:
		return x.CompositeTypeStmt.Typevar
	case *pg.Node_CreateForeignTableStmt:
		return x.CreateForeignTableStmt.BaseStmt.GetRelation()
	}
	return nil
}

// yields reports whether a query yields rows of a protected table rather than aggregates of them.
func (k *relations) yields(q *query) bool {
	if !q.known {
		q.known = true // a query that names itself adds nothing to the answer
		q.rows = k.selectsRows(q.sel, q.sees)
	}
	return q.rows
}

// selectsRows reports whether s selects rows of a protected table as they are, without aggregating them.
func (k *relations) selectsRows(s *pg.SelectStmt, w *with) bool {
	if s == nil {
		return false
	}
	w = bind(s.WithClause, w)
	if s.Op != pg.SetOperation_SETOP_NONE {
		return k.selectsRows(s.Larg, w) || k.selectsRows(s.Rarg, w)
	}
	return !folds(s) && k.fromRows(s.FromClause, w)
}

// fromRows reports whether a FROM clause reads rows of a protected table.
func (k *relations) fromRows(from []*pg.Node, w *with) bool {
	return slices.ContainsFunc(from, func(n *pg.Node) bool {
		switch x := n.GetNode().(type) {
		case *pg.Node_RangeVar:
			if q := w.find(x.RangeVar); q != nil {
				return k.yields(q)
			}
			t, ok := k.lookup(x.RangeVar)
			return ok && !t.Virtual
		case *pg.Node_RangeSubselect:
			return k.selectsRows(x.RangeSubselect.Subquery.GetSelectStmt(), w)
		case *pg.Node_JoinExpr:
			return k.fromRows([]*pg.Node{x.JoinExpr.Larg, x.JoinExpr.Rarg}, w)
		case *pg.Node_RangeTableSample:
			return k.fromRows([]*pg.Node{x.RangeTableSample.Relation}, w)
		}
		return false
	})
}

// protectedIn finds where FROM first names a protected table, at any depth.
func (k *relations) protectedIn(from []*pg.Node, w *with) (int32, Table) {
	for _, n := range from {
		if !k.fromRows([]*pg.Node{n}, w) {
			continue
		}

		// Where the name is a WITH query's, the table is named in that.
		at, table := int32(-1), Table{}
		tree.Inspect(n, func(m proto.Message) bool {
			rv, ok := m.(*pg.RangeVar)
			if !ok || at >= 0 {
				return at < 0
			}
			if q := w.find(rv); q != nil && k.yields(q) {
				at = rv.Location
				_, table = k.protectedIn(q.sel.GetFromClause(), bind(q.sel.GetWithClause(), q.sees))
			} else if t, ok := k.lookup(rv); ok && !t.Virtual && q == nil {
				at, table = rv.Location, t
			}
			return at < 0
		})
		return at, table
	}
	return -1, Table{}
}

// folds reports whether s itself, not a subquery of it, makes one row of many: by GROUP BY, DISTINCT, an aggregate or
// a window function.
func folds(s *pg.SelectStmt) bool {
	return len(s.GroupClause) > 0 || s.HavingClause != nil || len(s.DistinctClause) > 0 || callsAggregate(s)
}

// aggregates reports whether a call can be nothing but one of an aggregate function, or of a window function: by its
// name, or by what no other call may have in its parentheses or behind them.
func aggregates(f *pg.FuncCall) bool {
	return isAggregate(tree.LastString(f.Funcname)) || f.AggStar || f.AggDistinct || f.AggFilter != nil ||
		f.AggWithinGroup
}

func callsAggregate(s *pg.SelectStmt) bool {
	found := false
	for _, n := range append(slices.Clone(s.TargetList), s.SortClause...) {
		tree.Inspect(n, func(m proto.Message) bool {
			switch x := m.(type) {
			case *pg.SelectStmt:
				return false
			case *pg.FuncCall:
				found = found || x.Over != nil || aggregates(x)
			}
			return true
		})
	}
	return found
}
