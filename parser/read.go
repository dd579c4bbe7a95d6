package parser

import (
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

// infix are the operators that a row expression may use. Every one is pg_catalog's: the reader's search_path holds
// nothing else.
var infix = []string{"=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "^", "||"}

// castTypes are the types that a row expression may cast to, by PostgreSQL's internal names.
var castTypes = []string{"bool", "int2", "int4", "int8", "numeric", "float4", "float8", "text", "varchar", "bpchar",
	"date", "time", "timestamp", "timestamptz", "interval", "uuid"}

const exprHint = "Below an aggregate, use comparisons, AND/OR/NOT, IN, BETWEEN, LIKE, IS NULL, arithmetic, CASE, casts, COALESCE and functions such as lower, round and date_trunc over columns, constants and parameters."

// reader reads what stands below a cut, at one place of it.
type reader struct {
	src   *source
	names *names
	with  *with
	a     *analysis // nil: no subqueries
	inner bool      // the cut is not the whole statement: an unknown name may be that of a query around it
}

func (r *reader) refuse(n *pg.Node, hint, format string, args ...any) error {
	return sqlstate.New(sqlstate.NotAnswerable, format, args...).WithHint("%s", hint).At(r.src.position(location(n)))
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
		args, err := r.exprs(x.BoolExpr.Args)
		if err != nil {
			return nil, err
		}
		switch x.BoolExpr.Boolop {
		case pg.BoolExprType_AND_EXPR:
			return Logic{"AND", args}, nil
		case pg.BoolExprType_OR_EXPR:
			return Logic{"OR", args}, nil
		case pg.BoolExprType_NOT_EXPR:
			return Unary{Op: "NOT", X: args[0]}, nil
		}
	case *pg.Node_NullTest:
		if x.NullTest.Argisrow {
			break
		}
		op := "IS NULL"
		if x.NullTest.Nulltesttype == pg.NullTestType_IS_NOT_NULL {
			op = "IS NOT NULL"
		}
		return r.postfix(op, x.NullTest.Arg)
	case *pg.Node_BooleanTest:
		op, ok := map[pg.BoolTestType]string{
			pg.BoolTestType_IS_TRUE: "IS TRUE", pg.BoolTestType_IS_NOT_TRUE: "IS NOT TRUE",
			pg.BoolTestType_IS_FALSE: "IS FALSE", pg.BoolTestType_IS_NOT_FALSE: "IS NOT FALSE",
			pg.BoolTestType_IS_UNKNOWN: "IS UNKNOWN", pg.BoolTestType_IS_NOT_UNKNOWN: "IS NOT UNKNOWN",
		}[x.BooleanTest.Booltesttype]
		if ok {
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
	case *pg.Node_SqlvalueFunction:
		return nil, r.refuse(n, hintSession, "%s cannot be used on protected rows", strings.ToUpper(sqlValueName(x.SqlvalueFunction.Op)))
	case *pg.Node_CollateClause:
		return nil, r.refuse(n, "Compare with = or <>, which ask for no order, or leave COLLATE out.", "COLLATE cannot be used on protected rows")
	case *pg.Node_AArrayExpr:
		return nil, r.refuse(n, "Arrays can stand in x = ANY(ARRAY[...]) and x <> ALL(ARRAY[...]).", "an array cannot be used here on protected rows")
	case *pg.Node_RowExpr:
		return nil, r.refuse(n, "Compare column by column: a = 1 AND b = 2.", "a row of values cannot be used on protected rows")
	}
	return nil, r.refuse(n, exprHint, "this expression cannot be evaluated on protected rows")
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

// operator reads the A_Expr kinds that are allowed.
func (r *reader) operator(n *pg.Node, a *pg.A_Expr) (Expr, error) {
	if len(a.Name) != 1 && (len(a.Name) != 2 || a.Name[0].GetString_().GetSval() != "pg_catalog") {
		return nil, r.refuse(n, "Write the operator without OPERATOR(...).", "a user-defined operator cannot be used on protected rows")
	}
	op := tree.LastString(a.Name)
	refuse := func() (Expr, error) {
		return nil, r.refuse(n, operatorHint(op), "operator %s cannot be used on protected rows", op)
	}
	if a.Lexpr == nil {
		if a.Kind != pg.A_Expr_Kind_AEXPR_OP || op != "-" && op != "+" {
			return refuse()
		}
		x, err := r.expr(a.Rexpr)
		return Unary{Op: op, X: x}, err
	}
	switch a.Kind {
	case pg.A_Expr_Kind_AEXPR_SIMILAR:
		return nil, r.refuse(n, hintRegexp, "SIMILAR TO cannot be used on protected rows")
	case pg.A_Expr_Kind_AEXPR_OP:
		if !slices.Contains(infix, op) {
			return refuse()
		}
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		return r.any(n, op, a)
	}
	if a.Lexpr.GetRowExpr() != nil {
		return r.rows(n, op, a)
	}
	l, err := r.expr(a.Lexpr)
	if err != nil {
		return nil, err
	}
	switch a.Kind {
	case pg.A_Expr_Kind_AEXPR_IN:
		list, err := r.exprs(a.Rexpr.GetList().GetItems())
		return In{X: l, Not: op == "<>", List: list}, err
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		bounds, err := r.exprs(a.Rexpr.GetList().GetItems())
		if err != nil {
			return nil, err
		}
		return Between{Op: op, X: l, Low: bounds[0], High: bounds[1]}, nil
	case pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE:
		return r.like(n, op, l, a.Rexpr)
	}
	right, err := r.expr(a.Rexpr)
	if err != nil {
		return nil, err
	}
	switch a.Kind {
	case pg.A_Expr_Kind_AEXPR_OP:
		return Binary{op, l, right}, nil
	case pg.A_Expr_Kind_AEXPR_DISTINCT:
		return Binary{"IS DISTINCT FROM", l, right}, nil
	case pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return Binary{"IS NOT DISTINCT FROM", l, right}, nil
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return Call{"NULLIF", []Expr{l, right}}, nil
	}
	return refuse()
}

// like reads [NOT] [I]LIKE; the grammar turns an ESCAPE into a call of like_escape around the pattern.
func (r *reader) like(n *pg.Node, op string, x Expr, pattern *pg.Node) (Expr, error) {
	word, ok := map[string]string{"~~": "LIKE", "!~~": "NOT LIKE", "~~*": "ILIKE", "!~~*": "NOT ILIKE"}[op]
	if !ok {
		return nil, r.refuse(n, exprHint, "operator %s cannot be used on protected rows", op)
	}
	args := []*pg.Node{pattern}
	if f := pattern.GetFuncCall(); f != nil && tree.LastString(f.Funcname) == "like_escape" && len(f.Args) == 2 {
		args = f.Args
	}
	es, err := r.exprs(args)
	if err != nil {
		return nil, err
	}
	like := Like{Op: word, X: x, Pattern: es[0]}
	if len(es) == 2 {
		like.Escape = es[1]
	}
	return like, nil
}

func (r *reader) caseExpr(c *pg.CaseExpr) (Expr, error) {
	var out Case
	var err error
	if c.Arg != nil {
		if out.Operand, err = r.expr(c.Arg); err != nil {
			return nil, err
		}
	}
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
