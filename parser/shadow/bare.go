package shadow

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// The mask of an argument is a subquery, which PostgreSQL does not take everywhere (parse_expr.c, transformSubLink):
// not in defaults, checks, generated columns, indexes, partition keys and the like. What is kept there is evaluated
// when anybody writes a row, without Fugu's seeing it, so a call that would need a mask is refused. One is harmless,
// and common in defaults: currval tells a session again what its own nextval has told it, and nothing that others did.

// bareExpressions are the expressions right below m in which PostgreSQL takes no subquery.
func bareExpressions(m proto.Message) []*pg.Node {
	switch x := m.(type) {
	case *pg.Constraint: // DEFAULT, CHECK, GENERATED; EXCLUDE has its expressions in IndexElem
		return []*pg.Node{x.RawExpr, x.WhereClause}
	case *pg.ColumnDef: // ALTER COLUMN TYPE ... USING
		return []*pg.Node{x.RawDefault}
	case *pg.AlterTableCmd: // SET DEFAULT
		return []*pg.Node{x.Def}
	case *pg.AlterDomainStmt:
		return []*pg.Node{x.Def}
	case *pg.IndexElem:
		return []*pg.Node{x.Expr}
	case *pg.IndexStmt:
		return []*pg.Node{x.WhereClause}
	case *pg.InferClause: // ON CONFLICT names an index
		return []*pg.Node{x.WhereClause}
	case *pg.PartitionElem:
		return []*pg.Node{x.Expr}
	case *pg.PartitionBoundSpec:
		return append(append(append([]*pg.Node{}, x.Listdatums...), x.Lowerdatums...), x.Upperdatums...)
	case *pg.StatsElem:
		return []*pg.Node{x.Expr}
	case *pg.CreateTrigStmt:
		return []*pg.Node{x.WhenClause}
	case *pg.FunctionParameter:
		return []*pg.Node{x.Defexpr}
	case *pg.PublicationTable:
		return []*pg.Node{x.WhereClause}
	case *pg.CopyStmt: // COPY FROM ... WHERE
		return []*pg.Node{x.WhereClause}
	case *pg.CallStmt:
		return x.Funccall.GetArgs()
	}
	return nil
}

// surveyBare notes the calls below such an expression. A subquery within it is an error of the client's own.
func (s *shadowing) surveyBare(n *pg.Node) {
	if n == nil {
		return
	}
	tree.Inspect(n, func(m proto.Message) bool {
		if f, ok := m.(*pg.FuncCall); ok {
			s.bare[f] = true
		}
		return true
	})
}
