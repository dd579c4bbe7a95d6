package parser

import "strings"

// Expr is a row expression over the sources of a cut. The types of this package are all there are: an Expr cannot hold
// a subquery over protected rows, a function, an operator or a type that is not listed in allowed.go.
type Expr interface {
	sql(b *strings.Builder, p printer)
}

// Column is a column of one of the cut's sources.
type Column struct {
	Name     string
	Rel      int // of its Source
	Position int // 1-based, in characters
}

// Const is a literal. Kind decides how Text is written.
type Const struct {
	Kind     ConstKind
	Text     string
	Position int
}

// ConstKind is the kind of a literal.
type ConstKind int

// Kinds of literals.
const (
	Null ConstKind = iota
	Bool
	Number // integer or decimal, as PostgreSQL's scanner read it
	String // of unknown type until PostgreSQL resolves it
)

// Param is a parameter of the client's, $Number.
type Param struct{ Number int }

// Unary is a prefix operator or a postfix test: "-", "NOT", "IS NULL", "IS TRUE" and their kin.
type Unary struct {
	Op      string
	Postfix bool
	X       Expr
}

// Binary is an infix operator: comparison, arithmetic, LIKE, IS DISTINCT FROM.
type Binary struct {
	Op   string
	L, R Expr
}

// Logic is a chain of AND or OR.
type Logic struct {
	Op   string
	Args []Expr
}

// In is X [NOT] IN (List).
type In struct {
	X    Expr
	Not  bool
	List []Expr
}

// Between is X [NOT] BETWEEN [SYMMETRIC] Low AND High; Op is the part between X and Low.
type Between struct {
	Op           string
	X, Low, High Expr
}

// Like is X Op Pattern [ESCAPE Escape].
type Like struct {
	Op                 string
	X, Pattern, Escape Expr
}

// Case is CASE [Operand] WHEN .. THEN .. [ELSE ..] END.
type Case struct {
	Operand Expr
	Whens   []When
	Else    Expr
}

// When is one arm of a Case.
type When struct{ Cond, Result Expr }

// Cast is CAST(X AS Type); Type is one of castTypes, quoted, with its modifiers. Below Any it may be an array of one.
type Cast struct {
	X        Expr
	Type     string
	Position int
}

// Func is a call of a function of pg_catalog's, one of functions.
type Func struct {
	Name     string
	Args     []Expr
	Position int
}

// Any is X = ANY(Array), or with Not X <> ALL(Array). Array is a Param or a String, or a Cast of one.
type Any struct {
	X        Expr
	Not      bool
	Array    Expr
	Position int
}

// Form is an expression that the planner has composed: Text[0] Columns[0] Text[1] ... It holds neither constants of
// unknown type nor parameters.
type Form struct {
	Text    []string // one more than Columns
	Columns []Column
}

// Call is one of the keyword functions COALESCE, NULLIF, GREATEST, LEAST.
type Call struct {
	Name string
	Args []Expr
}

// Semi is EXISTS (SELECT FROM Sources WHERE Where), or X IN (SELECT Value FROM ...): a subquery over ordinary tables.
// NOT stands around it.
type Semi struct {
	X, Value Expr // nil: EXISTS
	Sources  []Source
	Where    Expr
}

// Source is a relation that a cut reads. Column.Rel refers to it.
type Source struct {
	Table    Table
	Rel      int
	Left     bool // LEFT JOIN with what stands before it, on On; otherwise every combination, which WHERE filters
	On       Expr
	Position int
}

// and joins conditions; nil for none.
func and(es []Expr) Expr {
	switch len(es) {
	case 0:
		return nil
	case 1:
		return es[0]
	}
	return Logic{"AND", es}
}

// Conjuncts are the conditions that an expression joins by AND, at any depth; it alone if it joins none.
func Conjuncts(e Expr) []Expr {
	l, ok := e.(Logic)
	if !ok || l.Op != "AND" {
		return []Expr{e}
	}
	var out []Expr
	for _, a := range l.Args {
		out = append(out, Conjuncts(a)...)
	}
	return out
}

// Below returns the expressions directly below e, in order of appearance.
func Below(e Expr) []Expr {
	switch e := e.(type) {
	case Unary:
		return []Expr{e.X}
	case Binary:
		return []Expr{e.L, e.R}
	case Logic:
		return e.Args
	case In:
		return append([]Expr{e.X}, e.List...)
	case Between:
		return []Expr{e.X, e.Low, e.High}
	case Like:
		if e.Escape != nil {
			return []Expr{e.X, e.Pattern, e.Escape}
		}
		return []Expr{e.X, e.Pattern}

	// As they are written: operand, WHEN and THEN in turn, ELSE.
	case Case:
		var out []Expr
		if e.Operand != nil {
			out = append(out, e.Operand)
		}
		for _, w := range e.Whens {
			out = append(out, w.Cond, w.Result)
		}
		if e.Else != nil {
			out = append(out, e.Else)
		}
		return out
	case Cast:
		return []Expr{e.X}
	case Call:
		return e.Args
	case Semi:
		var out []Expr
		for _, x := range []Expr{e.X, e.Value, e.Where} {
			if x != nil {
				out = append(out, x)
			}
		}
		return out
	case Func:
		return e.Args
	case Any:
		return []Expr{e.X, e.Array}
	case Form:
		out := make([]Expr, len(e.Columns))
		for i, c := range e.Columns {
			out[i] = c
		}
		return out
	}
	return nil
}

// Walk calls f for e and every expression below it, parents first, in order of appearance.
func Walk(e Expr, f func(Expr)) {
	f(e)
	for _, c := range Below(e) {
		Walk(c, f)
	}
}

// Params calls f for each parameter in e, in order of appearance.
func Params(e Expr, f func(number int)) {
	Walk(e, func(x Expr) {
		if p, ok := x.(Param); ok {
			f(p.Number)
		}
	})
}
