package unlisted

import (
	"slices"

	"fugu/parser"
	"fugu/sqlstate"
)

// What a row contributes to an aggregate of a twin's rows holds no condition: rows are chosen by WHERE, FILTER and
// GROUP BY, where they are counted. sum(CASE WHEN id = 5 THEN income ELSE 0 END) has every row of the group for an
// argument, and shows one.

// contribution reads the argument of an aggregate. CASE with one condition and nothing else is a FILTER, and for sum so
// is one with ELSE 0.
func contribution(a parser.Aggregate, arg parser.Expr) (parser.Expr, error) {
	if a.Func == "count" && !a.Distinct {
		return arg, nil // it is counted, by whether it is NULL, and what counts is whom there are enough of
	}

	out, value := filterOf(a, arg)
	if a.Fraction != "" {
		if _, ok := value.(parser.Column); !ok {
			return nil, sqlstate.New(sqlstate.NotAnswerable,
				"%s of an expression would show a value that was made of one row", a.Func).
				WithHint("Take a percentile of a column: %s(0.5) WITHIN GROUP (ORDER BY x).", a.Func).At(a.Position)
		}
		return out, nil
	}

	var err error
	parser.Walk(value, func(e parser.Expr) {
		if err == nil && selects(e) {
			err = sqlstate.New(sqlstate.NotAnswerable,
				"a condition cannot stand in %s of rows that are not listed: it would choose single ones", a.Func).
				WithHint("Write it as a filter, whose rows are counted: %s(x) FILTER (WHERE ...).", a.Func).
				At(a.Position)
		}
	})
	return out, err
}

// filterOf takes the conditions off that only say which rows count. It returns the argument without ELSE, and what is
// behind the conditions.
func filterOf(a parser.Aggregate, e parser.Expr) (filtered, value parser.Expr) {
	c, ok := e.(parser.Case)
	if !ok || c.Operand != nil || len(c.Whens) != 1 {
		return e, e
	}
	if k, ok := c.Else.(parser.Const); c.Else != nil &&
		!(ok && (k.Kind == parser.Null || a.Func == "sum" && !a.Distinct && k.Kind == parser.Number && k.Text == "0")) {
		return e, e
	}
	inner, value := filterOf(a, c.Whens[0].Result)
	return parser.Case{Whens: []parser.When{{Cond: c.Whens[0].Cond, Result: inner}}}, value
}

// selects reports whether an expression can have one value for one row and another for all others without computing
// with what they hold.
func selects(e parser.Expr) bool {
	switch e := e.(type) {
	case parser.Column, parser.Param, parser.Cast, parser.Func:
		return false
	case parser.Const:
		return e.Kind == parser.Bool
	case parser.Unary:
		return e.Postfix || e.Op != "-" && e.Op != "+"
	case parser.Binary:
		return !slices.Contains([]string{"+", "-", "*", "/", "%", "^", "||"}, e.Op)
	case parser.Call:
		return e.Name != "COALESCE"
	}
	return true
}
