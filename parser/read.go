package parser

import (
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
)

// expr reads one row expression, or refuses it.
func (r *reader) expr(n *pg.Node) (Expr, error) {
	switch x := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return r.column(x.ColumnRef)
	case *pg.Node_AConst:
		return r.constant(n, x.AConst)
	case *pg.Node_ParamRef:
		if x.ParamRef.Number < 1 {
			return nil, r.refuse(n, "Write $1, $2, ...", "this kind of parameter cannot be used here")
		}
		return Param{Number: int(x.ParamRef.Number)}, nil
	case *pg.Node_AExpr:
		return r.operator(n, x.AExpr)
	case *pg.Node_BoolExpr:
		return r.logic(n, x.BoolExpr)
	case *pg.Node_NullTest:
		if op, ok := nullTests[x.NullTest.Nulltesttype]; ok && !x.NullTest.Argisrow {
			return r.postfix(op, x.NullTest.Arg)
		}
	case *pg.Node_BooleanTest:
		if op, ok := booleanTests[x.BooleanTest.Booltesttype]; ok {
			return r.postfix(op, x.BooleanTest.Arg)
		}
	case *pg.Node_CaseExpr:
		return r.caseExpr(x.CaseExpr)
	case *pg.Node_TypeCast:
		return r.cast(n, x.TypeCast)
	case *pg.Node_CoalesceExpr:
		args, err := r.exprs(x.CoalesceExpr.Args)
		return Call{"COALESCE", args}, err
	case *pg.Node_MinMaxExpr:
		args, err := r.exprs(x.MinMaxExpr.Args)
		if x.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST {
			return Call{"LEAST", args}, err
		}
		return Call{"GREATEST", args}, err
	case *pg.Node_FuncCall:
		return r.function(n, x.FuncCall)
	case *pg.Node_SubLink:
		return r.subquery(n, x.SubLink)
	}
	return nil, r.unlisted(n)
}

// Tests behind their argument, as the grammar knows them.
var (
	nullTests = map[pg.NullTestType]string{
		pg.NullTestType_IS_NULL: "IS NULL", pg.NullTestType_IS_NOT_NULL: "IS NOT NULL",
	}
	booleanTests = map[pg.BoolTestType]string{
		pg.BoolTestType_IS_TRUE: "IS TRUE", pg.BoolTestType_IS_NOT_TRUE: "IS NOT TRUE",
		pg.BoolTestType_IS_FALSE: "IS FALSE", pg.BoolTestType_IS_NOT_FALSE: "IS NOT FALSE",
		pg.BoolTestType_IS_UNKNOWN: "IS UNKNOWN", pg.BoolTestType_IS_NOT_UNKNOWN: "IS NOT UNKNOWN",
	}
)

// unlisted refuses a kind of expression that is not on the list, with what serves instead of those that people try.
func (r *reader) unlisted(n *pg.Node) error {
	switch x := n.GetNode().(type) {
	case *pg.Node_SqlvalueFunction:
		return r.refuse(n, hintSession, "%s cannot be used on protected rows",
			strings.ToUpper(tree.ValueName(x.SqlvalueFunction.Op)))
	case *pg.Node_CollateClause:
		return r.refuse(n, "Compare with = or <>, which ask for no order, or leave COLLATE out.",
			"COLLATE cannot be used on protected rows")
	case *pg.Node_AArrayExpr:
		return r.refuse(n, "Arrays can stand in x = ANY(ARRAY[...]) and x <> ALL(ARRAY[...]).",
			"an array cannot be used here on protected rows")
	case *pg.Node_RowExpr:
		return r.refuse(n, "Compare column by column: a = 1 AND b = 2.",
			"a row of values cannot be used on protected rows")
	}
	return r.refuse(n, exprHint, "this expression cannot be evaluated on protected rows")
}

func (r *reader) logic(n *pg.Node, x *pg.BoolExpr) (Expr, error) {
	args, err := r.exprs(x.Args)
	if err != nil {
		return nil, err
	}
	switch x.Boolop {
	case pg.BoolExprType_AND_EXPR:
		return Logic{"AND", args}, nil
	case pg.BoolExprType_OR_EXPR:
		return Logic{"OR", args}, nil
	case pg.BoolExprType_NOT_EXPR:
		return Unary{Op: "NOT", X: args[0]}, nil
	}
	return nil, r.unlisted(n)
}

func (r *reader) exprs(ns []*pg.Node) ([]Expr, error) {
	out := make([]Expr, len(ns))
	for i, n := range ns {
		e, err := r.expr(n)
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

func (r *reader) postfix(op string, arg *pg.Node) (Expr, error) {
	x, err := r.expr(arg)
	return Unary{Op: op, Postfix: true, X: x}, err
}

func (r *reader) constant(n *pg.Node, c *pg.A_Const) (Expr, error) {
	pos := r.src.position(c.Location)
	if c.Isnull {
		return Const{Null, "", pos}, nil
	}
	switch v := c.Val.(type) {
	case *pg.A_Const_Ival:
		return Const{Number, strconv.Itoa(int(v.Ival.Ival)), pos}, nil
	case *pg.A_Const_Fval:
		return Const{Number, v.Fval.Fval, pos}, nil
	case *pg.A_Const_Sval:
		return Const{String, v.Sval.Sval, pos}, nil
	case *pg.A_Const_Boolval:
		return Const{Bool, strconv.FormatBool(v.Boolval.Boolval), pos}, nil
	}
	return nil, r.refuse(n, exprHint, "bit strings cannot be used on protected rows")
}

// caseExpr reads CASE, with an operand or without.
func (r *reader) caseExpr(c *pg.CaseExpr) (Expr, error) {
	var out Case
	var err error
	if c.Arg != nil {
		if out.Operand, err = r.expr(c.Arg); err != nil {
			return nil, err
		}
	}

	// A condition and its result are read together, which keeps the order of the parameters in them.
	for _, n := range c.Args {
		w := n.GetCaseWhen()
		arm, err := r.exprs([]*pg.Node{w.Expr, w.Result})
		if err != nil {
			return nil, err
		}
		out.Whens = append(out.Whens, When{arm[0], arm[1]})
	}

	if c.Defresult != nil {
		if out.Else, err = r.expr(c.Defresult); err != nil {
			return nil, err
		}
	}
	return out, nil
}
