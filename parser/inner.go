package parser

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// liftInner walks a subquery that stands above the cut and refers to it. By its level, an aggregate belongs to the
// query of the columns in it (manual, section 4.2.7): one whose columns are all of the cut's is one of the cut's. Only
// columns that are qualified say so in the text alone; the others the server resolves against the relation that has
// taken the table's place, which has the keys and nothing else of the table.
func (a *analysis) liftInner(c *Cut, s *pg.SelectStmt) error {
	var err error
	tree.Inspect(s, func(m proto.Message) bool {
		if err != nil {
			return false
		}
		if inner, ok := m.(*pg.SelectStmt); ok && c.shadowed(inner) {
			return false
		}
		node, ok := m.(*pg.Node)
		if !ok {
			return true
		}

		// An aggregate and a column become references to what the cut tells, and so does what is a key as a whole.
		switch own, f := c.owns(node), node.GetFuncCall(); {
		case !own && node.GetColumnRef() == nil:
			return true
		case !own:
		case f != nil && f.Over == nil && isAggregate(tree.LastString(f.Funcname)):
			err = a.fold(c, node, f)
		case node.GetColumnRef() != nil:
			err = a.liftColumn(c, node, node.GetColumnRef(), node)
		default:
			return !c.liftKey(node)
		}
		return false
	})
	return err
}

// owns reports whether there are columns in an expression, and they are all qualified as the cut's.
func (c *Cut) owns(n *pg.Node) bool {
	own, other := false, false
	tree.Inspect(n, func(m proto.Message) bool {
		ref, ok := m.(*pg.ColumnRef)
		if !ok {
			_, sub := m.(*pg.SelectStmt)
			other = other || sub
			return !other
		}

		// A column without a qualifier may be of a query that stands further in.
		var q []string
		for _, f := range ref.Fields[:len(ref.Fields)-1] {
			q = append(q, f.GetString_().GetSval())
		}
		if len(q) > 0 && slices.ContainsFunc(c.read.names.items, func(it item) bool { return it.means(q) }) {
			own = true
		} else {
			other = true
		}
		return true
	})
	return own && !other
}

// shadowed reports whether a subquery has a relation of its own with the name of one of the cut's.
func (c *Cut) shadowed(s *pg.SelectStmt) bool {
	found := false
	mine := func(name string) bool {
		return slices.ContainsFunc(c.read.names.items, func(it item) bool { return it.alias == name })
	}
	for _, n := range s.FromClause {
		tree.Inspect(n, func(m proto.Message) bool {
			switch x := m.(type) {
			case *pg.SelectStmt:
				return false
			case *pg.RangeVar:
				found = found || x.Alias == nil && mine(x.Relname)
			case *pg.Alias:
				found = found || mine(x.Aliasname)
			}
			return true
		})
	}
	return found
}
