package parser

import (
	"slices"
	"strings"
)

// Indicator takes apart an expression that is a number where a condition holds, and 0 or NULL where it does not:
// CASE WHEN c THEN 1 ELSE 0 END, or (x = 'y')::int.
func Indicator(e Expr) (condition Expr, number Const, ok bool) {
	switch e := e.(type) {
	case Cast:
		whole := slices.Contains([]string{`"int2"`, `"int4"`, `"int8"`, "int2", "int4", "int8"},
			strings.TrimPrefix(e.Type, "pg_catalog."))
		return e.X, Const{Kind: Number, Text: "1"}, whole && tests(e.X)
	case Case:
		if e.Operand != nil || len(e.Whens) != 1 {
			return nil, Const{}, false
		}
		if k, is := e.Else.(Const); e.Else != nil && !(is && (k.Kind == Null || k.Kind == Number && isZero(k.Text))) {
			return nil, Const{}, false
		}
		k, is := e.Whens[0].Result.(Const)
		return e.Whens[0].Cond, k, is && k.Kind == Number && !isZero(k.Text)
	}
	return nil, Const{}, false
}

// tests reports whether an expression is a condition whatever its operands are.
func tests(e Expr) bool {
	switch e := e.(type) {
	case Unary:
		return e.Postfix || e.Op == "NOT"
	case Binary:
		return slices.Contains(
			[]string{"=", "<>", "<", ">", "<=", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"}, e.Op)
	case Logic, In, Between, Like, Any:
		return true
	}
	return false
}

// isZero reports whether a number, as it is written, is 0.
func isZero(number string) bool { return strings.Trim(number, "0.") == "" }

// counts writes a sum of ones for what it is, the number of rows: sum(1) as count(*), and sum(CASE WHEN c THEN 1 ELSE 0
// END) as count(*) FILTER (WHERE c). So it has the noise of a count, which less of the text has a part in, and whoever
// asked the one has the answer to the other. numeric tells that the sum is of that type, as one of 0.0 and 1 is.
func (agg *Aggregate) counts(filtered bool) (numeric bool) {
	if agg.Func != "sum" || agg.Distinct || len(agg.Args) != 1 {
		return false
	}

	if k, ok := agg.Args[0].(Const); ok && k.Kind == Number && k.Text == "1" {
		agg.Func, agg.Args, agg.Source = "count", nil, "count(*)"
		return false
	}

	condition, number, ok := Indicator(agg.Args[0])
	if !ok || filtered || number.Text != "1" {
		return false
	}

	// A sum of integers is a bigint, as a count is.
	if c, is := agg.Args[0].(Case); is && c.Else != nil {
		otherwise, _ := c.Else.(Const)
		numeric = strings.Contains(otherwise.Text, ".")
	}
	agg.Func, agg.Args = "count", []Expr{Case{Whens: []When{{condition, Const{Kind: Number, Text: "1"}}}}}
	agg.Source = "count(*) FILTER (WHERE " + SQL(condition, "", nil) + ")"
	return numeric
}
