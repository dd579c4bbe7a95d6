package parser

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
)

// operator reads the A_Expr kinds that are allowed.
func (r *reader) operator(n *pg.Node, a *pg.A_Expr) (Expr, error) {
	if len(a.Name) != 1 && (len(a.Name) != 2 || a.Name[0].GetString_().GetSval() != "pg_catalog") {
		return nil, r.refuse(n, "Write the operator without OPERATOR(...).",
			"a user-defined operator cannot be used on protected rows")
	}
	op := tree.LastString(a.Name)
	if a.Lexpr == nil {
		if a.Kind != pg.A_Expr_Kind_AEXPR_OP || op != "-" && op != "+" {
			return nil, r.foreign(n, op)
		}
		x, err := r.expr(a.Rexpr)
		return Unary{Op: op, X: x}, err
	}

	// Before the operands are read, what is refused whatever they are, and what stands for several comparisons.
	switch a.Kind {
	case pg.A_Expr_Kind_AEXPR_SIMILAR:
		return nil, r.refuse(n, hintRegexp, "SIMILAR TO cannot be used on protected rows")
	case pg.A_Expr_Kind_AEXPR_OP:
		if !slices.Contains(infix, op) {
			return nil, r.foreign(n, op)
		}
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		return r.any(n, op, a)
	}
	if a.Lexpr.GetRowExpr() != nil {
		return r.rows(n, op, a)
	}

	left, err := r.expr(a.Lexpr)
	if err != nil {
		return nil, err
	}
	switch a.Kind {
	case pg.A_Expr_Kind_AEXPR_IN:
		list, err := r.exprs(a.Rexpr.GetList().GetItems())
		return In{X: left, Not: op == "<>", List: list}, err
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN,
		pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		bounds, err := r.exprs(a.Rexpr.GetList().GetItems())
		if err != nil {
			return nil, err
		}
		return Between{Op: op, X: left, Low: bounds[0], High: bounds[1]}, nil
	case pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE:
		return r.like(n, op, left, a.Rexpr)
	}
	return r.binary(n, op, a, left)
}

// foreign refuses an operator that is not on the list.
func (r *reader) foreign(n *pg.Node, op string) error {
	return r.refuse(n, operatorHint(op), "operator %s cannot be used on protected rows", op)
}

// binary reads the right operand of what has two.
func (r *reader) binary(n *pg.Node, op string, a *pg.A_Expr, left Expr) (Expr, error) {
	right, err := r.expr(a.Rexpr)
	if err != nil {
		return nil, err
	}
	switch a.Kind {
	case pg.A_Expr_Kind_AEXPR_OP:
		return Binary{op, left, right}, nil
	case pg.A_Expr_Kind_AEXPR_DISTINCT:
		return Binary{"IS DISTINCT FROM", left, right}, nil
	case pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return Binary{"IS NOT DISTINCT FROM", left, right}, nil
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return Call{"NULLIF", []Expr{left, right}}, nil
	}
	return nil, r.foreign(n, op)
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

// rows reads (a, b) = (c, d), <> and IN, which stand for comparisons of their parts (PostgreSQL manual, section
// 9.24.5).
func (r *reader) rows(n *pg.Node, op string, a *pg.A_Expr) (Expr, error) {
	left, err := r.exprs(a.Lexpr.GetRowExpr().Args)
	if err != nil {
		return nil, err
	}
	var lists []*pg.Node
	switch {
	case a.Kind == pg.A_Expr_Kind_AEXPR_IN:
		lists = a.Rexpr.GetList().GetItems()
	case a.Kind == pg.A_Expr_Kind_AEXPR_OP && (op == "=" || op == "<>"):
		lists = []*pg.Node{a.Rexpr}
	default:
		return nil, r.refuse(n, "Compare the columns one by one.", "operator %s cannot be used on rows of values", op)
	}

	// One row of constants is a conjunction, and a list of them any of these.
	var any []Expr
	for _, l := range lists {
		right, err := r.exprs(l.GetRowExpr().GetArgs())
		if err != nil {
			return nil, err
		}
		if l.GetRowExpr() == nil || len(right) != len(left) || len(left) == 0 {
			return nil, r.refuse(n, "Give both sides the same number of values.",
				"rows of different lengths cannot be compared")
		}
		var all []Expr
		for i := range left {
			all = append(all, Binary{"=", left[i], right[i]})
		}
		any = append(any, and(all))
	}

	out := any[0]
	if len(any) > 1 {
		out = Logic{"OR", any}
	}
	if op == "<>" {
		out = Unary{Op: "NOT", X: out}
	}
	return out, nil
}

// any reads x = ANY(array) and x <> ALL(array); an array that is written out is an IN list.
func (r *reader) any(n *pg.Node, op string, a *pg.A_Expr) (Expr, error) {
	not := op == "<>" && a.Kind == pg.A_Expr_Kind_AEXPR_OP_ALL
	if !not && (op != "=" || a.Kind != pg.A_Expr_Kind_AEXPR_OP_ANY) {
		return nil, r.refuse(n, "Write x = ANY(array) or x <> ALL(array), or comparisons with AND and OR.",
			"this use of ANY or ALL cannot be evaluated on protected rows")
	}

	x, err := r.expr(a.Lexpr)
	if err != nil {
		return nil, err
	}

	// A cast of the array is one of each element.
	array, typ := a.Rexpr, ""
	if c := array.GetTypeCast(); c != nil && len(c.TypeName.GetArrayBounds()) == 1 {
		if typ, err = r.typeName(array, c.TypeName); err != nil {
			return nil, err
		}
		array = c.Arg
	}

	switch v := array.GetNode().(type) {
	case *pg.Node_AArrayExpr:
		if len(v.AArrayExpr.Elements) == 0 {
			return nil, r.refuse(n, "Leave the condition out, or write false.",
				"an empty array cannot be used on protected rows")
		}
		list, err := r.exprs(v.AArrayExpr.Elements)
		for i := range list {
			if typ != "" {
				list[i] = Cast{list[i], typ, r.src.position(location(n))}
			}
		}
		return In{X: x, Not: not, List: list}, err
	case *pg.Node_ParamRef, *pg.Node_AConst:
		e, err := r.expr(array)
		if err == nil && typ != "" {
			e = Cast{e, typ + "[]", r.src.position(location(n))}
		}
		return Any{x, not, e, r.src.position(location(n))}, err
	}
	hint := "Write ARRAY[...], a constant or a parameter inside ANY and ALL."
	if array.GetColumnRef() != nil {
		hint = hintJSON
	}
	return nil, r.refuse(n, hint, "this array cannot be used on protected rows")
}
