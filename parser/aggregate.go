package parser

import (
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
	"fugu/planner/aggregate"
)

// refused are those of PostgreSQL's aggregate functions (manual, section 9.21) that are not answered, with what to write
// instead. The answered ones are package smooth's.
var refused = map[string]string{
	"min": hintExtreme, "max": hintExtreme, "any_value": hintExtreme,
	"array_agg": hintList, "string_agg": hintList, "json_agg": hintList, "jsonb_agg": hintList, "json_object_agg": hintList, "jsonb_object_agg": hintList, "xmlagg": hintList,
	"json_agg_strict": hintList, "jsonb_agg_strict": hintList, "json_arrayagg": hintList, "json_objectagg": hintList, "range_agg": hintList, "range_intersect_agg": hintList,
	"bit_and": hintBool, "bit_or": hintBool, "bit_xor": hintBool, "bool_and": hintBool, "bool_or": hintBool, "every": hintBool,
	"rank": hintQuantile, "dense_rank": hintQuantile, "percent_rank": hintQuantile, "cume_dist": hintQuantile,
}

const (
	hintExtreme  = "A minimum or maximum shows a single row. Count the rows beyond a threshold instead: count(*) with WHERE."
	hintList     = "A list shows single rows. Use count, sum or avg, with GROUP BY."
	hintBool     = "Count the rows for which the condition holds: count(*) with WHERE."
	hintQuantile = "Count the rows below some thresholds in one statement instead, and interpolate: count(*) FILTER (WHERE x < 30)."
	hintDistinct = "DISTINCT can stand in count, sum and avg."
)

func isAggregate(name string) bool {
	_, answered := aggregate.Lookup(name)
	return answered || slices.Contains(percentiles, name) || name == "mode" || refused[name] != ""
}

// builtIn reports whether a function's name is no other schema's than PostgreSQL's own.
func builtIn(f *pg.FuncCall) bool {
	return len(f.Funcname) < 2 || len(f.Funcname) == 2 && f.Funcname[0].GetString_().GetSval() == "pg_catalog"
}

// aggregate reads one call of an aggregate function in c, and returns the aggregate of the cut that answers it: equal
// calls share one.
func (a *analysis) aggregate(c *Cut, n *pg.Node, f *pg.FuncCall) (Aggregate, error) {
	name := tree.LastString(f.Funcname)
	refuse := func(hint, format string, args ...any) (Aggregate, error) {
		return Aggregate{}, a.refuse(f.Location, hint, format, args...)
	}
	if hint := refused[name]; hint != "" {
		return refuse(hint, "the aggregate %s cannot be answered on protected data", name)
	}
	if !builtIn(f) {
		return refuse("Use one of PostgreSQL's own: count, sum, avg, stddev, corr and the like.", "a user-defined aggregate cannot be answered on protected data")
	}
	agg := Aggregate{Func: name, Position: a.src.position(f.Location)}
	switch {
	case slices.Contains(percentiles, name):
		if err := a.percentile(c, f, &agg); err != nil {
			return agg, err
		}
		return a.filtered(c, f, agg)
	case f.AggDistinct:
		if !slices.Contains(distinct, name) {
			return refuse(hintDistinct, "%s(DISTINCT ...) cannot be answered on protected data", name)
		}
		agg.Distinct = true
	}
	switch {
	case len(f.AggOrder) > 0:
		return refuse("Leave out ORDER BY inside the aggregate.", "an ordered aggregate cannot be answered on protected data")
	case f.AggWithinGroup || f.FuncVariadic:
		return refuse("Write a plain call.", "this form of %s cannot be answered on protected data", name)
	}
	arguments := []string{"*"}
	function, _ := aggregate.Lookup(name)
	switch {
	case f.AggStar && name == "count":
	case !f.AggStar && len(f.Args) == function.Arguments:
		arguments = nil
		for _, n := range f.Args {
			arg, err := c.read.expr(n)
			if err != nil {
				return agg, err
			}
			agg.Args, arguments = append(agg.Args, arg), append(arguments, SQL(arg, "", nil))
		}
	case function.Arguments == 2:
		return refuse(fmt.Sprintf("Write %s(y, x).", name), "%s takes two arguments", name)
	case name == "count":
		return refuse("Write count(*), or one argument.", "%s takes one argument", name)
	default:
		return refuse(fmt.Sprintf("Write %s(x).", name), "%s takes one argument", name)
	}
	agg.Source = fmt.Sprintf("%s(%s)", name, strings.Join(arguments, ", "))
	if agg.Distinct {
		agg.Source = fmt.Sprintf("%s(DISTINCT %s)", name, arguments[0])
	}
	return a.filtered(c, f, agg)
}

// filtered takes in the call's FILTER, and finds the aggregate of the cut that is the same.
func (a *analysis) filtered(c *Cut, f *pg.FuncCall, agg Aggregate) (Aggregate, error) {
	if f.AggFilter != nil {
		filter, err := c.read.expr(f.AggFilter)
		if err != nil {
			return agg, err
		}
		agg.Source += fmt.Sprintf(" FILTER (WHERE %s)", SQL(filter, "", nil))
		if agg.Args == nil {
			agg.Args = []Expr{Const{Kind: Number, Text: "1"}}
		}
		agg.Args[0] = Case{Whens: []When{{filter, agg.Args[0]}}} // rows without one of the arguments do not count
	}
	if i := slices.IndexFunc(c.Aggregates, func(b Aggregate) bool { return b.same(agg) }); i >= 0 {
		return c.Aggregates[i], nil
	}
	agg.Name = fmt.Sprintf("fugu aggregate %d", len(c.Aggregates)+1)
	c.Aggregates = append(c.Aggregates, agg)
	return agg, nil
}

// same reports whether two aggregates have the same value.
func (g Aggregate) same(b Aggregate) bool {
	return g.Func == b.Func && g.Distinct == b.Distinct && g.Fraction == b.Fraction && slices.EqualFunc(g.Args, b.Args, func(x, y Expr) bool { return SQL(x, "t", nil) == SQL(y, "t", nil) })
}

// columnName is the name that PostgreSQL gives to an output column without AS (parse_target.c, FigureColname).
func columnName(n *pg.Node) string {
	if name, _ := figureName(n); name != "" {
		return name
	}
	return "?column?"
}

// figureName returns a name and its strength: 2 for one that stands, 1 for one that a better may replace.
func figureName(n *pg.Node) (string, int) {
	switch x := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		for i := len(x.ColumnRef.Fields) - 1; i >= 0; i-- {
			if s := x.ColumnRef.Fields[i].GetString_(); s != nil {
				return s.Sval, 2
			}
		}
	case *pg.Node_AIndirection:
		for i := len(x.AIndirection.Indirection) - 1; i >= 0; i-- {
			if s := x.AIndirection.Indirection[i].GetString_(); s != nil {
				return s.Sval, 2
			}
		}
		return figureName(x.AIndirection.Arg)
	case *pg.Node_FuncCall:
		return tree.LastString(x.FuncCall.Funcname), 2
	case *pg.Node_AExpr:
		if x.AExpr.Kind == pg.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif", 2
		}
	case *pg.Node_TypeCast:
		if name, strength := figureName(x.TypeCast.Arg); strength > 1 {
			return name, strength
		}
		return tree.LastString(x.TypeCast.TypeName.Names), 1
	case *pg.Node_CollateClause:
		return figureName(x.CollateClause.Arg)
	case *pg.Node_GroupingFunc:
		return "grouping", 2
	case *pg.Node_SubLink:
		switch x.SubLink.SubLinkType {
		case pg.SubLinkType_EXISTS_SUBLINK:
			return "exists", 2
		case pg.SubLinkType_ARRAY_SUBLINK:
			return "array", 2
		case pg.SubLinkType_EXPR_SUBLINK:
			s := x.SubLink.Subselect.GetSelectStmt()
			for s.GetOp() != pg.SetOperation_SETOP_NONE && s.GetLarg() != nil {
				s = s.Larg
			}
			if len(s.GetTargetList()) > 0 {
				if rt := s.TargetList[0].GetResTarget(); rt.GetName() != "" {
					return rt.Name, 2
				} else if rt != nil {
					return figureName(rt.Val)
				}
			}
		}
	case *pg.Node_CaseExpr:
		if name, strength := figureName(x.CaseExpr.Defresult); strength > 1 {
			return name, strength
		}
		return "case", 1
	case *pg.Node_AArrayExpr:
		return "array", 2
	case *pg.Node_RowExpr:
		return "row", 2
	case *pg.Node_CoalesceExpr:
		return "coalesce", 2
	case *pg.Node_MinMaxExpr:
		if x.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST {
			return "least", 2
		}
		return "greatest", 2
	case *pg.Node_SqlvalueFunction:
		return sqlValueName(x.SqlvalueFunction.Op), 2
	}
	return "", 0
}

func sqlValueName(op pg.SQLValueFunctionOp) string {
	name := strings.TrimPrefix(op.String(), "SVFOP_")
	return strings.ToLower(strings.TrimSuffix(name, "_N"))
}
