package parser

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"fugu/parser/lex"
)

// Expr is a row expression over the sources of a cut. The types of this package are all there are: an Expr cannot hold a
// subquery over protected rows, a function that is not listed in functions.go, or an operator that is not in read.go.
type Expr interface {
	sql(b *strings.Builder, p printer)
}

// printer says how an Expr's columns and parameters are written.
type printer struct {
	alias string      // of the relation; empty: columns stand alone, as people write them
	param map[int]int // client's parameter number -> the statement's own; nil: unchanged
}

// SQL prints e fully parenthesised, columns qualified by alias; with an empty alias it is meant for people. Parameters are renumbered by param (the client's number
// to the new one); nil leaves them as they are. Equal expressions print equally, whatever their source looked like.
func SQL(e Expr, alias string, param map[int]int) string {
	var b strings.Builder
	e.sql(&b, printer{alias, param})
	return b.String()
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

func (e Column) sql(b *strings.Builder, p printer) {
	switch {
	case p.alias != "":
		b.WriteString(Alias(p.alias, e.Rel) + "." + QuoteIdent(e.Name))
	case plainIdent.MatchString(e.Name):
		b.WriteString(e.Name)
	default:
		b.WriteString(QuoteIdent(e.Name))
	}
}

var plainIdent = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

func (e Const) sql(b *strings.Builder, _ printer) {
	switch e.Kind {
	case Null:
		b.WriteString("NULL")
	case Bool:
		b.WriteString(strings.ToUpper(e.Text))
	case Number:
		b.WriteString(e.Text)
	default:
		b.WriteString(QuoteLiteral(e.Text))
	}
}

func (e Param) sql(b *strings.Builder, p printer) {
	n := e.Number
	if p.param != nil {
		n = p.param[n]
	}
	b.WriteString("$" + strconv.Itoa(n))
}

func (e Unary) sql(b *strings.Builder, p printer) {
	b.WriteByte('(')
	if !e.Postfix {
		b.WriteString(e.Op + " ")
	}
	e.X.sql(b, p)
	if e.Postfix {
		b.WriteString(" " + e.Op)
	}
	b.WriteByte(')')
}

func (e Binary) sql(b *strings.Builder, p printer) {
	b.WriteByte('(')
	e.L.sql(b, p)
	b.WriteString(" " + e.Op + " ")
	e.R.sql(b, p)
	b.WriteByte(')')
}

func (e Logic) sql(b *strings.Builder, p printer) {
	list(b, p, "(", " "+e.Op+" ", e.Args)
}

func (e In) sql(b *strings.Builder, p printer) {
	b.WriteByte('(')
	e.X.sql(b, p)
	if e.Not {
		b.WriteString(" NOT")
	}
	list(b, p, " IN (", ", ", e.List)
	b.WriteByte(')')
}

func (e Between) sql(b *strings.Builder, p printer) {
	b.WriteByte('(')
	e.X.sql(b, p)
	b.WriteString(" " + e.Op + " ")
	e.Low.sql(b, p)
	b.WriteString(" AND ")
	e.High.sql(b, p)
	b.WriteByte(')')
}

func (e Like) sql(b *strings.Builder, p printer) {
	b.WriteByte('(')
	e.X.sql(b, p)
	b.WriteString(" " + e.Op + " ")
	e.Pattern.sql(b, p)
	if e.Escape != nil {
		b.WriteString(" ESCAPE ")
		e.Escape.sql(b, p)
	}
	b.WriteByte(')')
}

func (e Case) sql(b *strings.Builder, p printer) {
	b.WriteString("(CASE")
	if e.Operand != nil {
		b.WriteByte(' ')
		e.Operand.sql(b, p)
	}
	for _, w := range e.Whens {
		b.WriteString(" WHEN ")
		w.Cond.sql(b, p)
		b.WriteString(" THEN ")
		w.Result.sql(b, p)
	}
	if e.Else != nil {
		b.WriteString(" ELSE ")
		e.Else.sql(b, p)
	}
	b.WriteString(" END)")
}

func (e Cast) sql(b *strings.Builder, p printer) {
	b.WriteString("CAST(")
	e.X.sql(b, p)
	fmt.Fprintf(b, " AS %s)", e.Type)
}

func (e Func) sql(b *strings.Builder, p printer) {
	list(b, p, "pg_catalog."+e.Name+"(", ", ", e.Args)
}

func (e Any) sql(b *strings.Builder, p printer) {
	b.WriteByte('(')
	e.X.sql(b, p)
	b.WriteString(map[bool]string{false: " = ANY (", true: " <> ALL ("}[e.Not])
	e.Array.sql(b, p)
	b.WriteString("))")
}

func (e Form) sql(b *strings.Builder, p printer) {
	for i, t := range e.Text {
		b.WriteString(t)
		if i < len(e.Columns) {
			e.Columns[i].sql(b, p)
		}
	}
}

func (e Call) sql(b *strings.Builder, p printer) {
	list(b, p, e.Name+"(", ", ", e.Args)
}

func list(b *strings.Builder, p printer, open, sep string, args []Expr) {
	b.WriteString(open)
	for i, a := range args {
		if i > 0 {
			b.WriteString(sep)
		}
		a.sql(b, p)
	}
	b.WriteByte(')')
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

// QuoteIdent writes an identifier so that it is read back unchanged.
func QuoteIdent(s string) string { return lex.QuoteIdent(s) }

// QuoteLiteral writes a string constant; standard_conforming_strings is on in every session of ours.
func QuoteLiteral(s string) string { return `'` + strings.ReplaceAll(s, `'`, `''`) + `'` }
