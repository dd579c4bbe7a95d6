package parser

import (
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/sqlstate"
)

// infix are the operators that a row expression may use. Every one is pg_catalog's: the reader's search_path holds
// nothing else.
var infix = []string{"=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "%"}

// castTypes are the types that a row expression may cast to, by PostgreSQL's internal names.
var castTypes = []string{"bool", "int2", "int4", "int8", "numeric", "float4", "float8", "text", "varchar", "bpchar",
	"date", "time", "timestamp", "timestamptz"}

const exprHint = "Below an aggregate, use comparisons, AND/OR/NOT, IN, BETWEEN, LIKE, IS NULL, arithmetic, CASE, casts and COALESCE over columns, constants and parameters."

// reader reads the row expressions of one table.
type reader struct {
	src   *source
	table Table
	alias string
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
		name := lastString(x.FuncCall.Funcname)
		if isAggregate(name) {
			return nil, sqlstate.New(sqlstate.GroupingError, "aggregate functions are not allowed here").At(r.src.position(location(n)))
		}
		return nil, r.refuse(n, exprHint, "function %s cannot be evaluated on protected rows", name)
	case *pg.Node_SubLink:
		return nil, r.refuse(n, "Ask for the subquery's value first and pass it as a parameter.", "a subquery cannot be evaluated on protected rows")
	case *pg.Node_SqlvalueFunction:
		return nil, r.refuse(n, "Pass the value as a parameter.", "a session value cannot be evaluated on protected rows")
	}
	return nil, r.refuse(n, exprHint, "this expression cannot be evaluated on protected rows")
}

func (r *reader) postfix(op string, arg *pg.Node) (Expr, error) {
	x, err := r.expr(arg)
	return Unary{Op: op, Postfix: true, X: x}, err
}

// column resolves a reference to a column of the table.
func (r *reader) column(c *pg.ColumnRef) (Expr, error) {
	pos := r.src.position(c.Location)
	names := make([]string, len(c.Fields))
	for i, f := range c.Fields {
		if f.GetAStar() != nil {
			return nil, sqlstate.New(sqlstate.NotAnswerable, "* stands for whole rows of the protected table %s", r.table).
				WithHint("Name the columns to aggregate: count, sum or avg of an expression.").At(pos)
		}
		names[i] = f.GetString_().GetSval()
	}
	name := names[len(names)-1]
	if !r.qualifies(names[:len(names)-1]) {
		return nil, sqlstate.New(sqlstate.UndefinedTable, "missing FROM-clause entry for table %s", QuoteIdent(names[len(names)-2])).At(pos)
	}
	if !slices.Contains(r.table.Columns, name) {
		return nil, sqlstate.New(sqlstate.UndefinedColumn, "column %s does not exist", QuoteIdent(strings.Join(names, "."))).At(pos)
	}
	return Column{Name: name, Position: pos}, nil
}

// qualifies reports whether the qualifier of a column reference means the reader's relation.
func (r *reader) qualifies(q []string) bool {
	switch len(q) {
	case 0:
		return true
	case 1:
		return q[0] == r.alias
	case 2:
		return r.alias == r.table.Name && q[0] == r.table.Schema && q[1] == r.table.Name
	}
	return false
}

func (r *reader) constant(n *pg.Node, c *pg.A_Const) (Expr, error) {
	if c.Isnull {
		return Const{Kind: Null}, nil
	}
	switch v := c.Val.(type) {
	case *pg.A_Const_Ival:
		return Const{Number, strconv.Itoa(int(v.Ival.Ival))}, nil
	case *pg.A_Const_Fval:
		return Const{Number, v.Fval.Fval}, nil
	case *pg.A_Const_Sval:
		return Const{String, v.Sval.Sval}, nil
	case *pg.A_Const_Boolval:
		return Const{Bool, strconv.FormatBool(v.Boolval.Boolval)}, nil
	}
	return nil, r.refuse(n, exprHint, "bit strings cannot be used on protected rows")
}

// operator reads the A_Expr kinds that are allowed.
func (r *reader) operator(n *pg.Node, a *pg.A_Expr) (Expr, error) {
	if len(a.Name) != 1 {
		return nil, r.refuse(n, "Write the operator without OPERATOR(...).", "a qualified operator cannot be used on protected rows")
	}
	op := lastString(a.Name)
	if a.Lexpr == nil {
		if a.Kind != pg.A_Expr_Kind_AEXPR_OP || op != "-" && op != "+" {
			return nil, r.refuse(n, exprHint, "operator %s cannot be used on protected rows", op)
		}
		x, err := r.expr(a.Rexpr)
		return Unary{Op: op, X: x}, err
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
		if slices.Contains(infix, op) {
			return Binary{op, l, right}, nil
		}
	case pg.A_Expr_Kind_AEXPR_DISTINCT:
		return Binary{"IS DISTINCT FROM", l, right}, nil
	case pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return Binary{"IS NOT DISTINCT FROM", l, right}, nil
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return Call{"NULLIF", []Expr{l, right}}, nil
	}
	return nil, r.refuse(n, exprHint, "operator %s cannot be used on protected rows", op)
}

// like reads [NOT] [I]LIKE; the grammar turns an ESCAPE into a call of like_escape around the pattern.
func (r *reader) like(n *pg.Node, op string, x Expr, pattern *pg.Node) (Expr, error) {
	word, ok := map[string]string{"~~": "LIKE", "!~~": "NOT LIKE", "~~*": "ILIKE", "!~~*": "NOT ILIKE"}[op]
	if !ok {
		return nil, r.refuse(n, exprHint, "operator %s cannot be used on protected rows", op)
	}
	args := []*pg.Node{pattern}
	if f := pattern.GetFuncCall(); f != nil && lastString(f.Funcname) == "like_escape" && len(f.Args) == 2 {
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

// cast reads a cast to a listed type without modifiers: numeric(3,1) can round and raise, numeric cannot.
func (r *reader) cast(n *pg.Node, c *pg.TypeCast) (Expr, error) {
	t := c.TypeName
	name := lastString(t.Names)
	builtin := len(t.Names) == 1 || len(t.Names) == 2 && t.Names[0].GetString_().GetSval() == "pg_catalog"
	// The grammar gives CHAR and VARCHAR without a length no modifier, or CHAR the modifier 1.
	if !builtin || !slices.Contains(castTypes, name) || len(t.Typmods) > 0 || len(t.ArrayBounds) > 0 || t.Setof || t.PctType {
		return nil, r.refuse(n, "Cast to "+strings.Join(castTypes, ", ")+", without a length or precision.", "this cast cannot be evaluated on protected rows")
	}
	x, err := r.expr(c.Arg)
	return Cast{X: x, Type: "pg_catalog." + QuoteIdent(name)}, err
}

// lastString returns the last part of a qualified name.
func lastString(ns []*pg.Node) string {
	if len(ns) == 0 {
		return ""
	}
	return ns[len(ns)-1].GetString_().GetSval()
}
