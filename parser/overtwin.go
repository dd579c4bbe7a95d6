package parser

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// overTwins refuses a name that means the rows of a table of which statements mean the twin: that of a view, which the
// database keeps over the table itself, or of a partition, which the twin does not have. The guest has no right on
// either, so this says in better words what the server would refuse.
func (a *analysis) overTwins() (err error) {
	twins, ok := a.catalog.(Twinner)
	if !ok {
		return nil
	}

	// A WITH query of the client's hides what has its name.
	var queries []string
	tree.Inspect(a.stmt.root.Stmt, func(m proto.Message) bool {
		if q, ok := m.(*pg.CommonTableExpr); ok {
			queries = append(queries, q.Ctename)
		}
		return true
	})

	// The first name is refused, where the client wrote it.
	tree.Inspect(a.stmt.root.Stmt, func(m proto.Message) bool {
		rv, ok := m.(*pg.RangeVar)
		if !ok || err != nil || rv.Schemaname == "" && slices.Contains(queries, rv.Relname) {
			return err == nil
		}
		t, known := a.lookup(rv)
		of, over := Table{}, false
		if known {
			of, over = a.twinBelow(twins, t)
		}

		switch {
		case !over:
		case t.Part:
			_, rows, _ := strings.Cut(t.View, " FROM ")
			err = a.refuse(rv.Location, "Ask the whole table: FROM "+rows,
				"%s is a partition of %s, which is answered from its twin, and that has no partitions", t, of)
		default:
			err = a.refuse(rv.Location, "The owner of the policy can make one over "+TwinSchema+"."+
				QuoteIdent(of.Name)+".",
				"the view %s reads %s, which is answered from its twin", t, of)
		}
		return err == nil
	})
	return err
}

// twinBelow finds a table with a twin that a view reads, itself or by another view.
func (a *analysis) twinBelow(twins Twinner, view Table) (of Table, ok bool) {
	if view.View == "" { // a table, as most names are: nothing is parsed for it
		return Table{}, false
	}
	parsed, err := pg.Parse(view.View)
	if err != nil {
		return Table{}, false
	}

	// PostgreSQL's views stand in no circle, so this ends.
	for _, s := range parsed.Stmts {
		tree.Inspect(s.Stmt, func(m proto.Message) bool {
			rv, named := m.(*pg.RangeVar)
			if !named || ok {
				return !ok
			}
			if of, ok = twins.Twin(rv.Schemaname, rv.Relname); ok {
				return false
			}
			if t, known := a.catalog.Table(rv.Schemaname, rv.Relname); known && t.Name != view.Name {
				of, ok = a.twinBelow(twins, t)
			}
			return !ok
		})
	}
	return of, ok
}
