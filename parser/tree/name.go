package tree

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// ColumnName is the name that PostgreSQL gives to an output column without AS (parse_target.c, FigureColname).
func ColumnName(n *pg.Node) string {
	if name, _ := figureName(n); name != "" {
		return name
	}
	return "?column?"
}

// strength says how good a name is, as FigureColnameInternal does: a weak one stands where there is no better.
type strength int

const (
	nameless strength = iota
	weak
	strong
)

// figureName returns a name and its strength.
func figureName(n *pg.Node) (string, strength) {
	switch x := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return lastName(x.ColumnRef.Fields)
	case *pg.Node_AIndirection:
		if name, s := lastName(x.AIndirection.Indirection); s == strong {
			return name, s
		}
		return figureName(x.AIndirection.Arg)
	case *pg.Node_CollateClause:
		return figureName(x.CollateClause.Arg)

	// What is below a cast or a CASE may have a better name than it.
	case *pg.Node_TypeCast:
		return orElse(x.TypeCast.Arg, LastString(x.TypeCast.TypeName.Names))
	case *pg.Node_CaseExpr:
		return orElse(x.CaseExpr.Defresult, "case")

	case *pg.Node_FuncCall:
		return LastString(x.FuncCall.Funcname), strong
	case *pg.Node_SubLink:
		return subqueryName(x.SubLink)
	case *pg.Node_AExpr:
		if x.AExpr.Kind == pg.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif", strong
		}
	case *pg.Node_GroupingFunc:
		return "grouping", strong
	case *pg.Node_AArrayExpr:
		return "array", strong
	case *pg.Node_RowExpr:
		return "row", strong
	case *pg.Node_CoalesceExpr:
		return "coalesce", strong
	case *pg.Node_MinMaxExpr:
		if x.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST {
			return "least", strong
		}
		return "greatest", strong
	case *pg.Node_SqlvalueFunction:
		return ValueName(x.SqlvalueFunction.Op), strong
	}
	return "", nameless
}

// lastName is the last of the parts of a reference that is a name, and no * or subscript.
func lastName(parts []*pg.Node) (string, strength) {
	for i := len(parts) - 1; i >= 0; i-- {
		if s := parts[i].GetString_(); s != nil {
			return s.Sval, strong
		}
	}
	return "", nameless
}

// subqueryName is the word of the subquery's kind, or the name of the column whose value it is: the first of a UNION
// gives the names.
func subqueryName(l *pg.SubLink) (string, strength) {
	switch l.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK:
		return "exists", strong
	case pg.SubLinkType_ARRAY_SUBLINK:
		return "array", strong
	case pg.SubLinkType_EXPR_SUBLINK:
	default:
		return "", nameless
	}

	// The leftmost SELECT of a UNION names its columns.
	s := l.Subselect.GetSelectStmt()
	for s.GetOp() != pg.SetOperation_SETOP_NONE && s.GetLarg() != nil {
		s = s.Larg
	}
	if len(s.GetTargetList()) == 0 {
		return "", nameless
	}
	column := s.TargetList[0].GetResTarget()
	if column.GetName() != "" {
		return column.Name, strong
	}
	return figureName(column.GetVal())
}

// orElse is the name of a node if that is strong, and otherwise a weak one.
func orElse(n *pg.Node, name string) (string, strength) {
	if better, s := figureName(n); s == strong {
		return better, s
	}
	return name, weak
}

// ValueName is the word of a function without parentheses, such as current_date.
func ValueName(op pg.SQLValueFunctionOp) string {
	name := strings.TrimPrefix(op.String(), "SVFOP_")
	return strings.ToLower(strings.TrimSuffix(name, "_N"))
}
