package unlisted

import (
	"strings"
	"testing"

	"fugu/parser"
	"fugu/sqlstate"
)

// No condition chooses among the rows that contribute to an aggregate, but where these are counted: alone, or with an
// ELSE that adds nothing.
func TestContribution(t *testing.T) {
	x, id := parser.Column{Name: "x"}, parser.Column{Name: "id"}
	number := func(text string) parser.Const { return parser.Const{Kind: parser.Number, Text: text} }
	one := parser.Binary{Op: "=", L: id, R: number("5")}
	when := func(result, otherwise parser.Expr) parser.Case {
		return parser.Case{Whens: []parser.When{{Cond: one, Result: result}}, Else: otherwise}
	}
	op := func(op string, l, r parser.Expr) parser.Binary { return parser.Binary{Op: op, L: l, R: r} }
	of := func(name string) parser.Expr { return parser.Call{Name: name, Args: []parser.Expr{x, id}} }
	truth := parser.Cast{X: parser.Const{Kind: parser.Bool}, Type: `pg_catalog."int4"`}
	median := parser.Aggregate{Func: "percentile_cont", Fraction: "0.5"}
	for _, c := range []struct {
		aggregate parser.Aggregate
		arg       parser.Expr
		want      string // empty: it is refused
	}{
		{parser.Aggregate{Func: "sum"}, x, `x`},
		{parser.Aggregate{Func: "sum"}, op("*", x, op("+", x, number("1"))), `(x * (x + 1))`},
		{parser.Aggregate{Func: "sum"}, when(x, nil), `(CASE WHEN (id = 5) THEN x END)`},
		{parser.Aggregate{Func: "sum"}, when(x, number("0")), `(CASE WHEN (id = 5) THEN x END)`},
		{parser.Aggregate{Func: "sum"}, when(when(x, number("0")), parser.Const{}),
			`(CASE WHEN (id = 5) THEN (CASE WHEN (id = 5) THEN x END) END)`},
		{parser.Aggregate{Func: "sum"}, when(x, number("1")), ""},
		{parser.Aggregate{Func: "sum"}, when(x, x), ""},
		{parser.Aggregate{Func: "sum"}, op("*", x, when(x, nil)), ""},
		{parser.Aggregate{Func: "sum"}, when(op("+", when(x, nil), x), nil), ""},
		{parser.Aggregate{Func: "sum"}, parser.Case{Operand: id, Whens: []parser.When{{Cond: x, Result: x}}}, ""},
		{parser.Aggregate{Func: "sum"}, parser.Cast{X: one, Type: `pg_catalog."int4"`}, ""},
		{parser.Aggregate{Func: "sum"}, op("*", x, truth), ""},
		{parser.Aggregate{Func: "sum"}, of("COALESCE"), `COALESCE(x, id)`},
		{parser.Aggregate{Func: "sum"}, of("NULLIF"), ""},
		{parser.Aggregate{Func: "sum"}, of("GREATEST"), ""},
		// An average over rows with 0 is of other rows than one without them.
		{parser.Aggregate{Func: "avg"}, when(x, nil), `(CASE WHEN (id = 5) THEN x END)`},
		{parser.Aggregate{Func: "avg"}, when(x, number("0")), ""},
		{parser.Aggregate{Func: "sum", Distinct: true}, when(x, number("0")), ""},
		{parser.Aggregate{Func: "count"}, one, `(id = 5)`},
		{parser.Aggregate{Func: "count", Distinct: true}, one, ""},
		{median, x, `x`},
		{median, when(x, nil), `(CASE WHEN (id = 5) THEN x END)`},
		{median, op("+", x, x), ""},
	} {
		got, err := contribution(c.aggregate, c.arg)
		refused := err != nil && sqlstate.Is(err, sqlstate.NotAnswerable)
		name := c.aggregate.Func + " of " + parser.SQL(c.arg, "", nil)
		if c.want == "" && !refused {
			t.Errorf("%s is not refused: %v", name, err)
		}
		if c.want == "" {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if sql := strings.TrimSpace(parser.SQL(got, "", nil)); sql != c.want {
			t.Errorf("%s contributes %s, want %s", name, sql, c.want)
		}
	}
}
