package shadow

import (
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// template parses SQL of our own. Its operators become pg_catalog's, whatever the client's search_path says.
func template(sql string) (*pg.Node, error) {
	parsed, err := pg.Parse(qualifiedOperators.Replace(sql))
	if err != nil {
		return nil, fmt.Errorf("building a shadow: %w", err)
	}
	tree.Displace(parsed.Stmts[0].Stmt)
	return parsed.Stmts[0].Stmt, nil
}

var qualifiedOperators = strings.NewReplacer(" = ", " OPERATOR(pg_catalog.=) ", " <> ", " OPERATOR(pg_catalog.<>) ")

// expression parses an expression of our own, and puts a copy of args[i-1] in the place of each $i.
func expression(sql string, args ...*pg.Node) (*pg.Node, error) {
	node, err := template("SELECT " + sql)
	if err != nil {
		return nil, err
	}
	tree.Inspect(node, func(m proto.Message) bool {
		n, ok := m.(*pg.Node)
		if !ok || n.GetParamRef() == nil {
			return true
		}
		n.Node = tree.Clone(args[n.GetParamRef().Number-1]).Node
		return false
	})
	return node.GetSelectStmt().TargetList[0].GetResTarget().Val, nil
}

// qualify writes pg_catalog before every name of a relation, function, operator or type that has no schema, and reads
// pg_roles in the place of pg_authid, which only superusers may read.
func qualify(query *pg.Node) {
	catalog := func(names []*pg.Node) []*pg.Node {
		if len(names) != 1 {
			return names
		}
		return []*pg.Node{pg.MakeStrNode("pg_catalog"), names[0]}
	}

	ctes := map[string]bool{shownOIDs: true}

	// Names of WITH queries are known before any name is qualified.
	tree.Inspect(query, func(m proto.Message) bool {
		if c, ok := m.(*pg.CommonTableExpr); ok {
			ctes[c.Ctename] = true
		}
		return true
	})
	tree.Inspect(query, func(m proto.Message) bool {
		switch x := m.(type) {
		case *pg.RangeVar:
			if x.Schemaname == "" && !ctes[x.Relname] {
				x.Schemaname = "pg_catalog"
				if x.Relname == "pg_authid" {
					x.Relname = "pg_roles"
				}
			}
		case *pg.FuncCall:
			x.Funcname = catalog(x.Funcname)
		case *pg.TypeName:
			x.Names = catalog(x.Names)
		case *pg.A_Expr:
			if slices.Contains([]pg.A_Expr_Kind{pg.A_Expr_Kind_AEXPR_OP, pg.A_Expr_Kind_AEXPR_OP_ANY,
				pg.A_Expr_Kind_AEXPR_OP_ALL}, x.Kind) {
				x.Name = catalog(x.Name)
			}
		}
		return true
	})
}

// flatten writes an OR of ORs as one, as PostgreSQL's grammar does.
func flatten(query *pg.Node) {
	tree.Inspect(query, func(m proto.Message) bool {
		or, ok := m.(*pg.BoolExpr)
		if !ok || or.Boolop != pg.BoolExprType_OR_EXPR {
			return true
		}
		var args []*pg.Node
		for _, arg := range or.Args {
			if inner := arg.GetBoolExpr(); inner.GetBoolop() == pg.BoolExprType_OR_EXPR {
				args = append(args, inner.Args...)
			} else {
				args = append(args, arg)
			}
		}
		or.Args = args
		return true
	})
}

// substitute puts a query in the place of a relation in FROM, under the name that it has there.
func substitute(n, query *pg.Node) {
	rv := n.GetRangeVar()
	alias := rv.Alias
	if alias == nil {
		alias = &pg.Alias{Aliasname: rv.Relname}
	}
	n.Node = &pg.Node_RangeSubselect{RangeSubselect: &pg.RangeSubselect{Subquery: tree.Clone(query), Alias: alias}}
}

// unqualify takes the schema off references like pg_catalog.pg_class.oid, which do not find a subselect.
func unqualify(root *pg.Node, schema, relation string) {
	tree.Inspect(root, func(m proto.Message) bool {
		c, ok := m.(*pg.ColumnRef)
		if ok && len(c.Fields) == 3 && c.Fields[0].GetString_().GetSval() == schema &&
			c.Fields[1].GetString_().GetSval() == relation {
			c.Fields = c.Fields[1:]
		}
		return true
	})
}
