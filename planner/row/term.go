package row

import (
	"strconv"
	"strings"
	"sync/atomic"

	"fugu/parser"
)

// term is a node of a row expression with its type. Terms are not changed once they are built: they are shared.
type term struct {
	kind   kind
	op     string // of an op: an operator, a keyword, or a function of pg_catalog's
	args   []*term
	typ    Type
	column parser.Column
	// of a constant, in the form that PostgreSQL writes; of a literal, as the client wrote it
	text   string
	number int                    // of a slot or a parameter
	pos    int                    // in the client's text; 0: unknown
	key    atomic.Pointer[string] // cached by String: sessions share what was planned
	semi   *parser.Semi
}

type kind int

const (
	kOp      kind = iota
	kColumn       // column
	kConst        // text, canonical; for Null see kNull
	kNull         // NULL
	kLiteral      // a constant that PostgreSQL has still to read: text
	kParam        // the client's parameter number
)

// Operators with a spelling of their own.
const (
	opNegate  = "neg"
	opCase    = "CASE" // condition, result, ..., and possibly the result of ELSE
	opCast    = "CAST"
	opIn      = "IN"
	opNotIn   = "NOT IN"
	opAny     = "= ANY"
	opAll     = "<> ALL"
	opCollate = "COLLATE" // a text in the database's own collation
	// a subquery over ordinary tables: its left side, its value, the ON of its sources, its WHERE; each may be missing
	opSemi = "EXISTS"
)

func op(name string, oid uint32, args ...*term) *term {
	return &term{op: name, typ: plain(oid), args: args}
}

func truth(name string, args ...*term) *term { return op(name, oidBool, args...) }

func cast(t *term, to Type) *term { return &term{op: opCast, typ: to, args: []*term{t}, pos: t.pos} }

func constant(oid uint32, text string) *term { return &term{kind: kConst, typ: plain(oid), text: text} }

// at notes where a term that was just made stands.
func (t *term) at(pos int) *term {
	t.pos = pos
	return t
}

func boolean3(b bool) *term { return constant(oidBool, strconv.FormatBool(b)) }

// class is the class of t's type. Resolve leaves no type of a user's but enums.
func (t *term) class() class {
	if t.typ.OID >= firstUser {
		return enum
	}
	return classes[t.typ.OID]
}

func (t *term) is(name string) bool { return t.kind == kOp && t.op == name }

// constant reports whether t is a value that does not depend on the row.
func (t *term) constant() bool { return t.kind == kConst || t.kind == kNull }

// fixed reports whether t depends on no row.
func (t *term) fixed() bool {
	if t.kind == kColumn || t.semi != nil {
		return false
	}
	for _, a := range t.args {
		if !a.fixed() {
			return false
		}
	}
	return true
}

// position is where t stands in the client's text, as far as that is known.
func (t *term) position() int {
	if t.pos > 0 {
		return t.pos
	}
	if t.kind == kColumn {
		return t.column.Position
	}
	for _, a := range t.args {
		if p := a.position(); p > 0 {
			return p
		}
	}
	return 0
}

// of is t with other arguments.
func (t *term) of(args []*term) *term {
	return &term{kind: t.kind, op: t.op, args: args, typ: t.typ, column: t.column, text: t.text, number: t.number,
		pos: t.pos, semi: t.semi}
}

// size is the number of nodes of t as it is printed, at most limit.
func (t *term) size(limit int) int {
	n := 1
	for _, a := range t.args {
		if n >= limit {
			break
		}
		n += a.size(limit - n)
	}
	return n
}

// String prints t for comparison with other terms: equal terms print equally.
func (t *term) String() string {
	if key := t.key.Load(); key != nil {
		return *key
	}
	key := parser.SQL(t.form(nil), "t", nil)
	t.key.Store(&key)
	return key
}

// expr turns t into an expression of the parser's. What chooses among values keeps its shape, for those who follow
// where values come from, and so does what has few values whatever its operands are, and an equality of two values of
// one class that are compared without a conversion.
func (t *term) expr() parser.Expr {
	exprs := func(ts []*term) []parser.Expr {
		out := make([]parser.Expr, len(ts))
		for i, a := range ts {
			out[i] = a.expr()
		}
		return out
	}

	switch {
	case t.kind == kColumn:
		return t.column
	case t.is(opCase):
		var c parser.Case
		for i := 0; i+1 < len(t.args); i += 2 {
			c.Whens = append(c.Whens, parser.When{Cond: t.args[i].expr(), Result: t.args[i+1].expr()})
		}
		if len(t.args)%2 == 1 {
			c.Else = t.args[len(t.args)-1].expr()
		}
		return c
	case t.is("COALESCE"):
		return parser.Call{Name: t.op, Args: exprs(t.args)}
	case t.is("AND"):
		return parser.Logic{Op: t.op, Args: exprs(t.args)}
	case t.is("=") && t.args[0].class() == t.args[1].class() && t.args[0].class() != other:
		return parser.Binary{Op: t.op, L: t.args[0].expr(), R: t.args[1].expr()}
	case t.is("width_bucket"):
		return parser.Func{Name: t.op, Args: exprs(t.args)}
	case t.is(opCast):
		return parser.Cast{X: t.args[0].expr(), Type: t.castType()}
	}
	return t.form(nil)
}

// form prints t as SQL around its columns. bare prints literals and parameters; nil where there are none.
func (t *term) form(bare func(*term) string) parser.Form {
	w := &writer{bare: bare}
	w.write(t)
	w.form.Text = append(w.form.Text, w.b.String())
	return w.form
}

type writer struct {
	form parser.Form
	b    strings.Builder
	bare func(*term) string
}

func (w *writer) write(t *term) {
	if t.kind != kOp {
		w.leaf(t)
		return
	}
	switch t.op {
	case opNegate:
		w.list("(- ", "", ")", t.args)
	case "NOT":
		w.list("(NOT ", "", ")", t.args)
	case "IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE", "IS UNKNOWN", "IS NOT UNKNOWN":
		w.list("(", "", " "+t.op+")", t.args)
	case opIn, opNotIn:
		w.b.WriteByte('(')
		w.write(t.args[0])
		w.list(" "+t.op+" (", ", ", "))", w.distinct(t.args[1:]))
	case "BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC", "NOT BETWEEN SYMMETRIC":
		w.list("(", " "+t.op+" ", " AND ", t.args[:2])
		w.list("", "", ")", t.args[2:])
	case opAny, opAll:
		w.list("(", " "+t.op+" (", "))", t.args)
	case opCase:
		w.choice(t.args)
	case opCast:
		w.list("CAST(", "", " AS "+t.castType()+")", t.args)
	case opSemi:
		w.subquery(t)
	case opCollate:
		w.list("(", "", ` COLLATE pg_catalog."default")`, t.args)
	case "COALESCE", "NULLIF", "GREATEST", "LEAST":
		w.list(t.op+"(", ", ", ")", t.args)
	default:
		if c := t.op[0]; c >= 'a' && c <= 'z' {
			w.list("pg_catalog."+t.op+"(", ", ", ")", t.args)
			return
		}
		w.list("(", " "+t.op+" ", ")", t.args)
	}
}

// leaf writes what has no operands.
func (w *writer) leaf(t *term) {
	switch t.kind {
	case kColumn:
		w.form.Text = append(w.form.Text, w.b.String())
		w.b.Reset()
		w.form.Columns = append(w.form.Columns, t.column)
	case kConst:
		w.b.WriteString(constantSQL(t))
	case kNull:
		if _, ok := typeNames[t.typ.OID]; ok {
			w.b.WriteString("CAST(NULL AS " + plain(t.typ.OID).sql() + ")")
			return
		}
		w.b.WriteString("NULL")
	case kLiteral, kParam:
		if w.bare != nil {
			w.b.WriteString(w.bare(t))
			return
		}
		w.b.WriteString("?" + strconv.Itoa(t.number) + parser.QuoteLiteral(t.text)) // no SQL: for comparison only
	}
}

// choice writes a CASE: condition, result, ..., and possibly the result of ELSE.
func (w *writer) choice(args []*term) {
	w.b.WriteString("(CASE")
	for i, a := range args {
		switch {
		case i%2 == 1:
			w.b.WriteString(" THEN ")
		case i == len(args)-1:
			w.b.WriteString(" ELSE ")
		default:
			w.b.WriteString(" WHEN ")
		}
		w.write(a)
	}
	w.b.WriteString(" END)")
}

// subquery writes a semi-join.
func (w *writer) subquery(t *term) {
	x, value, on, where := t.semiParts()
	w.b.WriteByte('(')

	// IN compares a value with those of the subquery; without one it is EXISTS.
	if x != nil {
		w.list("", "", " IN (SELECT ", []*term{x})
		w.write(value)
	} else {
		w.b.WriteString("EXISTS (SELECT")
	}

	// Sources are written as they were joined, since their conditions depend on each other.
	w.b.WriteString(" FROM ")
	for i, s := range t.semi.Sources {
		if i > 0 {
			w.b.WriteString(map[bool]string{false: " CROSS JOIN ", true: " LEFT JOIN "}[s.Left])
		}
		w.b.WriteString(parser.QuoteIdent(s.Table.Schema) + "." + parser.QuoteIdent(s.Table.Name) + " AS " +
			parser.Alias("t", s.Rel))
		if s.Left && on[i] == nil {
			w.b.WriteString(" ON TRUE")
		} else if s.Left {
			w.list(" ON ", "", "", on[i:i+1])
		}
	}

	if where != nil {
		w.list(" WHERE ", "", "", []*term{where})
	}
	w.b.WriteString("))")
}

// semiParts tells the operands of a semi-join apart: what is looked for and the value that it is compared with, the
// conditions of LEFT JOIN by source, and WHERE.
func (t *term) semiParts() (x, value *term, on []*term, where *term) {
	args := t.args
	next := func() *term {
		a := args[0]
		args = args[1:]
		return a
	}

	// The operands stand in the order in which they were resolved.
	if t.semi.X != nil {
		x, value = next(), next()
	}
	on = make([]*term, len(t.semi.Sources))
	for i, s := range t.semi.Sources {
		if s.Left && s.On != nil {
			on[i] = next()
		}
	}

	if t.semi.Where != nil {
		where = next()
	}
	return x, value, on, where
}

func (t *term) castType() string {
	if e, ok := elements[t.typ.OID]; ok {
		return plain(e).sql() + "[]"
	}
	return t.typ.sql()
}

func (w *writer) list(open, sep, end string, args []*term) {
	w.b.WriteString(open)
	for i, a := range args {
		if i > 0 {
			w.b.WriteString(sep)
		}
		w.write(a)
	}
	w.b.WriteString(end)
}

// distinct leaves out literals that share the slot of the one before.
func (w *writer) distinct(list []*term) []*term {
	if w.bare == nil || len(list) < 2 || list[1].kind != kLiteral || list[1].number != list[0].number {
		return list
	}
	return list[:1]
}

// constantSQL prints a constant so that PostgreSQL gives it its type; a constant of an enum takes it from what it is
// compared with.
func constantSQL(t *term) string {
	switch t.class() {
	case boolean:
		return strings.ToUpper(t.text)
	case integer:
		if strings.HasPrefix(t.text, "-") {
			return "(" + t.text + ")"
		}
		return t.text
	case enum, other:
		return parser.QuoteLiteral(t.text)
	}
	return parser.QuoteLiteral(t.text) + "::" + t.typ.sql()
}
