package unlisted

import (
	"strings"
	"testing"

	"fugu/parser"
	"fugu/sqlstate"
)

var (
	x, y, id = parser.Column{Name: "x"}, parser.Column{Name: "y"}, parser.Column{Name: "id"}
	flag     = parser.Column{Name: "flag"}
	price    = parser.Column{Name: "price"}
)

// known are the types of the columns above.
var known = expansion{func(c parser.Column) string {
	return map[string]string{"x": "integer", "y": "integer", "id": "integer", "flag": "boolean",
		"price": "numeric(9,2)"}[c.Name]
}}

func number(text string) parser.Const { return parser.Const{Kind: parser.Number, Text: text} }

func op(op string, l, r parser.Expr) parser.Expr { return parser.Binary{Op: op, L: l, R: r} }

func when(result, otherwise parser.Expr) parser.Case {
	return parser.Case{Whens: []parser.When{{Cond: op("=", id, number("5")), Result: result}}, Else: otherwise}
}

func cast(e parser.Expr, typ string) parser.Expr { return parser.Cast{X: e, Type: "pg_catalog." + typ} }

func call(name string, args ...parser.Expr) parser.Expr { return parser.Func{Name: name, Args: args} }

func coalesce(args ...parser.Expr) parser.Expr { return parser.Call{Name: "COALESCE", Args: args} }

// No condition chooses among the rows that contribute to an aggregate, but where these are counted: alone, or with an
// ELSE that adds nothing. Nor does anything else that is no sum of products of columns.
func TestContribution(t *testing.T) {
	sum, avg, one := parser.Aggregate{Func: "sum"}, parser.Aggregate{Func: "avg"}, op("=", id, number("5"))
	median := parser.Aggregate{Func: "percentile_cont", Fraction: "0.5"}
	off := op("-", id, number("5"))
	for _, c := range []struct {
		aggregate parser.Aggregate
		arg       parser.Expr
		want      string // empty: it is refused
	}{
		{sum, x, `x`}, {sum, op("*", x, op("+", y, number("1"))), `(x * (y + 1))`},
		{sum, op("/", price, number("100")), `(price / 100)`}, {sum, op("/", price, x), `(price / x)`},
		{sum, op("/", x, number("100.0")), `(x / 100.0)`},
		{sum, coalesce(x, number("0")), `COALESCE(x, 0)`},
		{sum, cast(coalesce(price, number("0")), `"int4"`), `CAST(COALESCE(price, 0) AS pg_catalog."int4")`},
		{sum, cast(flag, `"int4"`), `CAST(flag AS pg_catalog."int4")`}, {sum, call("abs", x), `pg_catalog.abs(x)`},
		{sum, call("extract", parser.Const{Kind: parser.String, Text: "epoch"}, off),
			`pg_catalog.extract('epoch', (id - 5))`},
		{sum, op("*", op("-", x, number("5")), op("-", x, number("6"))), `((x - 5) * (x - 6))`},

		// Conditions, alone or as filters.
		{sum, when(x, nil), `(CASE WHEN (id = 5) THEN x END)`},
		{sum, when(x, number("0")), `(CASE WHEN (id = 5) THEN x END)`},
		{sum, when(when(x, number("0")), parser.Const{}),
			`(CASE WHEN (id = 5) THEN (CASE WHEN (id = 5) THEN x END) END)`},
		{sum, when(x, number("1")), ""}, {sum, when(x, x), ""}, {sum, op("*", x, when(x, nil)), ""},
		{sum, when(op("+", when(x, nil), x), nil), ""},
		{sum, parser.Case{Operand: id, Whens: []parser.When{{Cond: x, Result: x}}}, ""},
		{sum, cast(one, `"int4"`), ""}, {sum, parser.Call{Name: "NULLIF", Args: []parser.Expr{x, id}}, ""},
		{sum, parser.Call{Name: "GREATEST", Args: []parser.Expr{x, id}}, ""},
		// An average over rows with 0 is of other rows than one without them.
		{avg, when(x, nil), `(CASE WHEN (id = 5) THEN x END)`}, {avg, when(x, number("0")), ""},
		{parser.Aggregate{Func: "sum", Distinct: true}, when(x, number("0")), ""},
		{parser.Aggregate{Func: "count"}, one, `(id = 5)`},
		{parser.Aggregate{Func: "count", Distinct: true}, one, ""},
		{parser.Aggregate{Func: "count", Distinct: true}, op("||", x, op("||", number("1"), y)), `(x || (1 || y))`},
		{median, x, `x`}, {median, when(x, nil), `(CASE WHEN (id = 5) THEN x END)`}, {median, op("+", x, x), ""},

		// Arithmetic that is as good as a condition.
		{sum, call("sign", x), ""}, {sum, call("abs", off), ""}, {sum, call("strpos", x, number("5")), ""},
		{sum, call("round", op("/", price, number("1e6"))), ""}, {sum, call("round", price, number("-6")), ""},
		{sum, op("/", x, number("1000000")), ""}, {sum, op("/", cast(price, `"int4"`), number("1000")), ""},
		{sum, op("/", price, op("+", number("0.001"), op("*", off, off))), ""}, {sum, op("%", x, number("7")), ""},
		{sum, op("^", number("0"), x), ""}, {sum, op("*", op("*", x, x), x), ""},
		{sum, op("*", op("*", off, off), call("abs", id)), ""},
		{sum, cast(op("/", price, number("1e6")), `"int4"`), ""}, {sum, cast(price, `"numeric"(9,-6)`), ""},
		{sum, coalesce(x, id), ""}, {sum, coalesce(op("+", x, y), number("0")), ""},
		{sum, call("extract", parser.Const{Kind: parser.String, Text: "second"}, off), ""},
		{sum, call("date_trunc", parser.Const{Kind: parser.String, Text: "day"}, x, number("1")), ""},
		{sum, op("*", op("*", op("-", x, number("1")), op("-", x, number("2"))), op("-", x, number("3"))), ""},
	} {
		contributes(t, c.aggregate, c.arg, c.want)
	}
}

// contributes holds what a row contributes to an aggregate of arg to the SQL that is wanted; empty: it is refused.
func contributes(t *testing.T, a parser.Aggregate, arg parser.Expr, want string) {
	t.Helper()
	a.Args = []parser.Expr{arg}
	got, _, err := known.contributions(a)
	name := a.Func + " of " + parser.SQL(arg, "", nil)
	if want == "" {
		if err == nil || !sqlstate.Is(err, sqlstate.NotAnswerable) {
			t.Errorf("%s is not refused: %v", name, err)
		}
		return
	}

	if err != nil {
		t.Errorf("%s: %v", name, err)
	} else if sql := strings.TrimSpace(parser.SQL(got[0], "", nil)); sql != want {
		t.Errorf("%s contributes %s, want %s", name, sql, want)
	}
}

// A factor that may be 0, or is put in the place of NULL, is a condition: its rows are counted.
func TestCounted(t *testing.T) {
	ill := cast(flag, `"int4"`)
	for _, c := range []struct {
		args []parser.Expr
		want string // the factors of each product
	}{
		{[]parser.Expr{x}, ""}, {[]parser.Expr{op("+", x, op("*", y, number("3")))}, ""},
		{[]parser.Expr{op("*", x, x)}, ""}, {[]parser.Expr{op("*", x, y)}, "x y; "},
		{[]parser.Expr{ill}, "CAST(flag AS pg_catalog.\"int4\"); "},
		{[]parser.Expr{op("*", x, op("-", y, number("1")))}, "x y; "},
		{[]parser.Expr{op("*", x, op("+", ill, number("1e-9")))}, "x CAST(flag AS pg_catalog.\"int4\"); "},
		{[]parser.Expr{coalesce(x, number("0"))}, "x?; "},
		{[]parser.Expr{op("*", y, coalesce(x, number("0")))}, "y? x?; "},
		{[]parser.Expr{x, y}, "x y; "}, {[]parser.Expr{x, x}, ""},
	} {
		a := parser.Aggregate{Func: "corr", Args: c.args}
		_, counted, err := known.contributions(a)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, p := range counted {
			var factors []string
			for _, f := range p.factors {
				mark := ""
				if p.partial {
					mark = "?"
				}
				factors = append(factors, strings.TrimSpace(parser.SQL(f, "", nil))+mark)
			}
			got.WriteString(strings.Join(factors, " ") + "; ")
		}
		if got.String() != c.want {
			t.Errorf("%s: %q is counted, want %q", parser.SQL(c.args[0], "", nil), got.String(), c.want)
		}
	}
}
