package row

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fugu/parser"
	"fugu/sqlstate"
	"fugu/test/patient"
)

// respeller writes an expression in another way.
type respeller struct {
	*rand.Rand
	values []Value // of the parameters that it makes of constants
}

func (r *respeller) exprs(es []parser.Expr) []parser.Expr {
	out := make([]parser.Expr, len(es))
	for i, e := range es {
		out[i] = r.expr(e)
	}
	return out
}

func (r *respeller) expr(e parser.Expr) parser.Expr {
	switch x := e.(type) {
	case parser.Unary:
		x.X = r.expr(x.X)
		e = x
	case parser.Binary:
		x.L, x.R = r.expr(x.L), r.expr(x.R)
		e = r.binary(x)
	case parser.Logic:
		x.Args = r.exprs(x.Args)
		e = r.logic(x)
	case parser.In:
		x.X, x.List = r.expr(x.X), slices.Clone(x.List)
		e = r.in(x)
	case parser.Between:
		x.X, x.Low, x.High = r.expr(x.X), r.expr(x.Low), r.expr(x.High)
		e = r.between(x)
	case parser.Case:
		x.Whens = slices.Clone(x.Whens)
		for i, w := range x.Whens {
			x.Whens[i] = parser.When{Cond: r.expr(w.Cond), Result: r.expr(w.Result)}
		}
		if x.Else != nil {
			x.Else = r.expr(x.Else)
		} else if r.IntN(3) == 0 {
			x.Else = parser.Const{Kind: parser.Null}
		}

		e = x
	case parser.Cast:
		x.X = r.expr(x.X)
		e = x
	case parser.Func:
		x.Args = r.exprs(x.Args)
		if other, ok := map[string]string{"length": "char_length", "char_length": "length", "ceil": "ceiling",
			"ceiling": "ceil", "power": "pow", "substring": "substr"}[x.Name]; ok && r.IntN(2) == 0 {
			x.Name = other
		}
		e = x
	case parser.Call:
		x.Args = r.exprs(x.Args)
		e = x
	}

	if boolean4(e) && r.IntN(6) == 0 {
		e = parser.Unary{Op: "NOT", X: r.negation(e)}
	}
	return e
}

// boolean4 reports whether e is sure to be a condition.
func boolean4(e parser.Expr) bool {
	switch x := e.(type) {
	case parser.Unary:
		return x.Op == "NOT" || x.Postfix
	case parser.Binary:
		_, ok := mirrored[x.Op]
		return ok
	case parser.Logic, parser.In, parser.Between, parser.Like:
		return true
	}
	return false
}

// negation is NOT e in some spelling.
func (r *respeller) negation(e parser.Expr) parser.Expr {
	switch x := e.(type) {
	case parser.Binary:
		if o, ok := opposite[x.Op]; ok && r.IntN(2) == 0 {
			return parser.Binary{Op: o, L: x.L, R: x.R}
		}
	case parser.Logic:
		if r.IntN(2) == 0 {
			out := parser.Logic{Op: map[string]string{"AND": "OR", "OR": "AND"}[x.Op]}
			for _, a := range x.Args {
				out.Args = append(out.Args, r.negation(a))
			}
			return out
		}
	case parser.In:
		x.Not = !x.Not
		return x
	}
	return parser.Unary{Op: "NOT", X: e}
}

func (r *respeller) binary(x parser.Binary) parser.Expr {
	m, comparison := mirrored[x.Op]
	if n, ok := x.R.(parser.Const); ok && comparison && n.Kind == parser.Number {
		if v, err := strconv.Atoi(n.Text); err == nil {
			x.R = r.number(x.L, v)
		}
	}
	switch {
	case comparison && r.IntN(2) == 0:
		return parser.Binary{Op: m, L: x.R, R: x.L}
	case (x.Op == "+" || x.Op == "*") && r.IntN(2) == 0:
		return parser.Binary{Op: x.Op, L: x.R, R: x.L}
	}
	return x
}

// number writes a whole number that is compared with x.
func (r *respeller) number(x parser.Expr, n int) parser.Expr {
	text := strconv.Itoa(n)
	fits := "i8 n m"
	if n == int(int32(n)) {
		fits = "i4 j4 i8 n m"
	}
	switch c, column := x.(parser.Column); {
	case r.IntN(5) == 0:
		return parser.Binary{Op: "+", L: parser.Const{Kind: parser.Number, Text: strconv.Itoa(n - 3)},
			R: parser.Const{Kind: parser.Number, Text: "3"}}
	case r.IntN(5) == 0:
		return parser.Cast{X: parser.Const{Kind: parser.Number, Text: text}, Type: `pg_catalog."int8"`}
	case column && r.IntN(3) == 0 && strings.Contains(fits, c.Name):
		return parser.Const{Kind: parser.String, Text: text}
	case column && r.IntN(3) == 0 && strings.Contains(fits, c.Name):
		r.values = append(r.values, Value{Text: text})
		return parser.Param{Number: len(r.values)}
	}
	return parser.Const{Kind: parser.Number, Text: text}
}

func (r *respeller) logic(x parser.Logic) parser.Expr {
	args := slices.Clone(x.Args)
	if r.IntN(2) == 0 {
		r.Shuffle(len(args), func(i, j int) { args[i], args[j] = args[j], args[i] })
	}
	if r.IntN(4) == 0 {
		args = append(args, args[r.IntN(len(args))])
	}
	if r.IntN(4) == 0 {
		args = append(args, parser.Const{Kind: parser.Bool, Text: strconv.FormatBool(x.Op == "AND")})
	}
	if len(args) > 2 && r.IntN(2) == 0 {
		args = []parser.Expr{parser.Logic{Op: x.Op, Args: args[:2]}, parser.Logic{Op: x.Op, Args: args[1:]}}
	}
	return parser.Logic{Op: x.Op, Args: args}
}

func (r *respeller) in(x parser.In) parser.Expr {
	r.Shuffle(len(x.List), func(i, j int) { x.List[i], x.List[j] = x.List[j], x.List[i] })
	x.List = append(x.List, x.List[0])
	if r.IntN(2) == 0 {
		return x
	}
	name, op := "OR", "="
	if x.Not {
		name, op = "AND", "<>"
	}
	out := parser.Logic{Op: name}
	for _, e := range x.List {
		out.Args = append(out.Args, r.binary(parser.Binary{Op: op, L: x.X, R: e}))
	}
	return out
}

func (r *respeller) between(x parser.Between) parser.Expr {
	switch {
	case x.Op == "BETWEEN" && r.IntN(2) == 0:
		return r.logic(parser.Logic{Op: "AND", Args: []parser.Expr{r.binary(parser.Binary{Op: ">=", L: x.X, R: x.Low}),
			r.binary(parser.Binary{Op: "<=", L: x.X, R: x.High})}})
	case x.Op == "NOT BETWEEN" && r.IntN(2) == 0:
		return r.logic(parser.Logic{Op: "OR", Args: []parser.Expr{r.binary(parser.Binary{Op: ">", L: x.X, R: x.High}),
			r.binary(parser.Binary{Op: "<", L: x.X, R: x.Low})}})
	}
	return x
}

// However a condition is respelled, it is the same question; and conditions that are the same question are true for the
// same rows.
func TestRespelled(t *testing.T) {
	patient.Test(t)
	s := connect(t)
	g := gen{rand.New(rand.NewPCG(*seed, 7))}
	r := &respeller{Rand: g.Rand}
	truths := map[string]string{} // question to the rows' values
	spelled := map[string]string{}
	asked, different := 0, 0
	for range *expressions / 2 {
		source := g.truth(1 + g.IntN(4))
		e, err := parse(source)
		if err != nil {
			t.Fatal(err)
		}
		want, err := s.bind(t.Context(), Root{Condition: true, Expr: e})
		if err != nil {
			continue
		}
		asked++
		for range 3 {
			r.values = nil
			other := r.expr(e)
			text := parser.SQL(other, "t", nil)
			if text != parser.SQL(e, "t", nil) {
				different++
			}
			got, err := s.bind(t.Context(), Root{Condition: true, Expr: other}, r.values...)
			if sqlstate.Is(err, "22003") || sqlstate.Is(err, "22012") {
				continue // of constants: what is not evaluated after all does not fail
			}
			if err != nil || got != want {
				t.Fatalf("%s\nrespelled %s %v\nerror %v\n got %s\nwant %s", shorten(source), shorten(text), r.values,
					err, shorten(got), shorten(want))
			}
		}

		rows := s.ExecParams(t.Context(), "SELECT coalesce(string_agg(CASE WHEN v LIKE 'ERROR%' THEN 'e' WHEN v = "+
			"'=true' THEN 't' ELSE 'f' END, '' ORDER BY id), '') FROM (SELECT id, public.attempt($1, id) AS v "+
			"FROM public.x WHERE ordinary) AS q",
			[][]byte{[]byte(source)}, nil, nil, nil).Read()
		if rows.Err != nil {
			t.Fatal(rows.Err)
		}
		values := string(rows.Rows[0][0])
		if before, ok := truths[want]; ok {
			for i := range values {
				if values[i] != before[i] && values[i] != 'e' && before[i] != 'e' {
					t.Fatalf("%s is %s and %s is %s, and both are asked as %s", shorten(source), values,
						shorten(spelled[want]), before, shorten(want))
				}
			}
		}

		truths[want], spelled[want] = values, source
	}
	t.Logf("%d conditions, %d questions, %d other spellings", asked, len(truths), different)
	if *expressions >= 1000 && (asked < *expressions/3 || different < asked || len(truths) < asked/3) {
		t.Error("too little is tried")
	}
}
