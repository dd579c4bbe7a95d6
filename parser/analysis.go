package parser

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

// analysis is the work on one statement.
type analysis struct {
	*relations
	src     *source
	stmt    *Statement
	taken   map[*pg.RangeVar]bool // references that are accounted for
	spelled bool                  // a sampling error is spelled out
	owing   bool                  // a call that asks for the error of noise is left for the cut
}

func (a *analysis) refuse(offset int32, hint, format string, args ...any) error {
	return a.src.refuse(offset, hint, format, args...)
}

// survey looks at every node once: it counts the parameters, and reports whether the statement refers to any relation
// that is not ordinary. In a utility statement a bare word counts too: DROP TABLE and COMMENT ON hold names as words.
func (a *analysis) survey() (named bool) {
	utility := false
	switch a.stmt.root.Stmt.GetNode().(type) {
	case *pg.Node_SelectStmt, *pg.Node_InsertStmt, *pg.Node_UpdateStmt, *pg.Node_DeleteStmt, *pg.Node_MergeStmt,
		*pg.Node_TransactionStmt, *pg.Node_VariableShowStmt:
	default:
		utility = true
	}

	// One walk does for both, as it looks at every node.
	tree.Inspect(a.stmt.root.Stmt, func(m proto.Message) bool {
		switch x := m.(type) {
		case *pg.RangeVar:
			if _, ok := a.lookup(x); ok && !a.taken[x] {
				named = true
			}
		case *pg.String: // the server refuses what is done to a twin's table
			if t, ok := a.lookup(&pg.RangeVar{Relname: x.Sval}); ok && utility && !t.Twin {
				named = true
			}
		case *pg.ParamRef:
			a.stmt.Params = max(a.stmt.Params, int(x.Number))
		}
		return true
	})
	return named
}

// leftover refuses the first reference that no cut accounts for: the net under everything above.
func (a *analysis) leftover(root *pg.Node) error {
	var err error
	changed := map[*pg.RangeVar]bool{}
	tree.Inspect(root, func(m proto.Message) bool {
		if to := changedBy(m); to != nil {
			changed[to] = true
		}
		if rv, ok := m.(*pg.RangeVar); ok && err == nil && !a.taken[rv] {
			err = a.unaccounted(rv, changed[rv])
		}
		return err == nil
	})

	// Plain rows are listed by a statement that does nothing else.
	if err == nil && a.stmt.Plain != nil && (len(a.stmt.Cuts) > 0 || len(a.stmt.Virtual) > 0 ||
		a.stmt.Explain != NoExplain) {
		err = sqlstate.New(sqlstate.NotAnswerable, "rows of the protected table %s cannot be shown here",
			a.stmt.Plain.Table).
			WithHint(cutHint).At(a.stmt.Plain.Position)
	}
	return err
}

// changedBy is the table whose rows a statement changes; nil: it is no such statement.
func changedBy(m proto.Message) *pg.RangeVar {
	switch x := m.(type) {
	case *pg.InsertStmt:
		return x.Relation
	case *pg.UpdateStmt:
		return x.Relation
	case *pg.DeleteStmt:
		return x.Relation
	case *pg.MergeStmt:
		return x.Relation
	}
	return nil
}

// unaccounted refuses a reference that no cut has taken, if it is to anything that is not ordinary.
func (a *analysis) unaccounted(rv *pg.RangeVar, changed bool) error {
	t, ok := a.lookup(rv)
	if rv == a.target && len(a.stmt.Cuts)+len(a.stmt.Virtual) > 0 {
		// The server would refuse it, when it is paid for.
		t, ok = a.catalog.Table(rv.Schemaname, rv.Relname)
	}
	switch {
	case !ok:
		return nil
	case t.Virtual:
		return a.refuse(rv.Location, "It can be read in the FROM clause of a SELECT.",
			"the virtual table %s cannot be used here", t)
	case changed:
		return a.refuse(rv.Location, "Its owner changes it, connected to PostgreSQL itself. An answer can be kept in "+
			"a table of your own: CREATE TABLE ... AS SELECT count(*) FROM "+t.String()+".",
			"%s cannot be changed through Fugu", t.described())
	}
	return a.refuse(rv.Location, cutHint, "%s cannot be used here", t.described())
}

// special finds the first relation below n that is not ordinary.
func (a *analysis) special(n *pg.Node) (found *pg.RangeVar) {
	tree.Inspect(n, func(m proto.Message) bool {
		if rv, ok := m.(*pg.RangeVar); ok && found == nil {
			if _, ok := a.lookup(rv); ok {
				found = rv
			}
		}
		return found == nil
	})
	return found
}
