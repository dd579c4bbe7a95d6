package unlisted

import (
	"fugu/internal/hook"
	"fugu/parser"
	"fugu/sqlstate"
)

// contributions reads the arguments of an aggregate: without what only says which rows count, and the products whose
// rows have to be counted besides. Rows are chosen by WHERE, FILTER and GROUP BY alone, where they are counted.
func (x expansion) contributions(a parser.Aggregate) (args []parser.Expr, counted []product, err error) {
	if a.Func == "count" && !a.Distinct {
		return a.Args, nil, nil // it is counted, by whether it is NULL, and what counts is whom there are enough of
	}

	// The share of rows that a condition holds for is made of those for which it does.
	if condition, number, ok := parser.Indicator(a.Args[0]); ok && a.Func == "avg" && !a.Distinct {
		of := parser.Case{Whens: []parser.When{{Cond: condition, Result: number}}}
		return a.Args, []product{{factors: []parser.Expr{of}, partial: true}}, nil
	}

	var of [][]product
	for _, arg := range a.Args {
		out, value := filterOf(a, arg)
		args = append(args, out)
		sum, ok := x.products(value)
		_, column := value.(parser.Column)
		switch {
		case hook.TwinSingleRows:
		case a.Fraction != "" && !column:
			return nil, nil, sqlstate.New(sqlstate.NotAnswerable,
				"%s of an expression would show a value that was made of one row", a.Func).
				WithHint("Take a percentile of a column: %s(0.5) WITHIN GROUP (ORDER BY x).", a.Func).At(a.Position)
		case !ok && a.Func == "count":
			return nil, nil, sqlstate.New(sqlstate.NotAnswerable,
				"count(DISTINCT ...) of rows that are not listed takes sums and products of columns").
				WithHint("%s", parser.CountGroupsHint("x")).At(a.Position)
		case !ok:
			return nil, nil, sqlstate.New(sqlstate.NotAnswerable,
				"%s of rows that are not listed takes sums and products of columns: anything else can choose "+
					"single rows", a.Func).
				WithHint("Write a condition as a filter, whose rows are counted: %s(x) FILTER (WHERE ...), or, of a "+
					"share of rows, avg((x > 30)::int). GROUP BY what has to be computed of a row otherwise, and go "+
					"on above.", a.Func).At(a.Position)
		default:
			of = append(of, sum)
			counted = append(counted, x.counted(sum)...)
		}
	}

	// What is about two arguments is a function of the sums of their products.
	if len(of) == 2 {
		for _, l := range of[0] {
			for _, r := range of[1] {
				counted = append(counted, x.counted([]product{both(l, r)})...)
			}
		}
	}
	return args, counted, nil
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
