package parser

import pg "github.com/pganalyze/pg_query_go/v6"

// rows reads (a, b) = (c, d), <> and IN, which stand for comparisons of their parts (PostgreSQL manual, section 9.24.5).
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
	var any []Expr
	for _, l := range lists {
		right, err := r.exprs(l.GetRowExpr().GetArgs())
		if err != nil {
			return nil, err
		}
		if l.GetRowExpr() == nil || len(right) != len(left) || len(left) == 0 {
			return nil, r.refuse(n, "Give both sides the same number of values.", "rows of different lengths cannot be compared")
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
