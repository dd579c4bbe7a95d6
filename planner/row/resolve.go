package row

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"fugu/parser"
	"fugu/sqlstate"
)

// Root is an expression of a statement: a condition, a group key, or, with an Aggregate, the argument of that function.
type Root struct {
	Aggregate string // count, sum, corr ...; empty: a key or condition
	Further   bool   // the next argument of the aggregate whose first one the root before is
	Value     bool   // the type that is asked for is the argument's, not the aggregate's; count looks at its value too
	Condition bool
	Expr      parser.Expr
	Position  int // of the aggregate in the client's statement; 0: it has none
}

// Typing is what PostgreSQL resolves the expressions of one statement to.
type Typing struct {
	Params     []int    // the client's numbers, in order of appearance
	ParamTypes []uint32 // likewise
	Types      []uint32 // of each Root
	Results    []uint32 // of each Root's aggregate, or of itself

	roots []Root
	terms []*term
	uses  []Use
}

// maxNodes bounds the columns of the statement that asks for types: PostgreSQL's targets of a SELECT are at most 1664.
const maxNodes = 1600

// Resolve asks PostgreSQL what the roots mean in a SELECT from the relations that from names, the first of them with
// the alias t. The order of the roots is that of the client's statement, as far as parameters take their types from
// where they come first. paramTypes gives the types that the client gave for its parameters, 0 where it gave none.
func Resolve(ctx context.Context, db Database, from string, roots []Root,
	paramTypes func(number int) uint32) (*Typing, error) {
	r := &resolver{Typing: &Typing{roots: roots}, numbers: map[int]int{}, columns: map[string][]*term{}}
	for _, root := range roots {
		parser.Params(root.Expr, func(n int) {
			if _, ok := r.numbers[n]; !ok {
				r.Params = append(r.Params, n)
				r.numbers[n] = len(r.Params)
			}
		})
	}

	// Literals that stand for themselves get slots behind those of the parameters.
	r.slots = len(r.Params)
	for _, root := range roots {
		t, err := r.term(root.Expr, root.Aggregate == "count")
		if err != nil {
			return nil, err
		}
		r.terms = append(r.terms, t)
	}

	if len(r.nodes) > maxNodes {
		return nil, sqlstate.New(sqlstate.StatementTooComplex, "the expressions on protected rows have more than %d "+
			"parts", maxNodes).WithHint("Split the statement.")
	}

	types := make([]uint32, r.slots)
	for i, n := range r.Params {
		types[i] = paramTypes(n)
	}
	d, err := db.Describe(ctx, r.probe(from), types)
	if err != nil {
		return nil, r.mistyped(err)
	}

	// What is typed is what everything below goes by: nothing asks PostgreSQL for a type again.
	if err := r.typed(d); err != nil {
		return nil, err
	}
	if err := r.enums(ctx, db); err != nil {
		return nil, err
	}
	for _, t := range r.terms {
		r.Types = append(r.Types, t.typ.OID)
	}
	r.collectUses()
	return r.Typing, nil
}

type resolver struct {
	*Typing
	numbers map[int]int // client's parameter number -> the probe's
	slots   int         // numbers given out
	nodes   []node      // whose types PostgreSQL is asked for
	scope   []string    // the FROM clauses of the subqueries around
	columns map[string][]*term
	leaves  []*term // literals and parameters
}

// node is a term inside of subqueries.
type node struct {
	*term
	scope []string
}

func (r *resolver) ask(t *term) { r.nodes = append(r.nodes, node{t, r.scope}) }

func (r *resolver) termsOf(es []parser.Expr) ([]*term, error) {
	out := make([]*term, len(es))
	for i, e := range es {
		t, err := r.term(e, false)
		if err != nil {
			return nil, err
		}
		out[i] = t
	}
	return out, nil
}

// term makes a term of e. untyped: what stands here may be of any type, so that a quoted literal is text at once.
func (r *resolver) term(e parser.Expr, untyped bool) (*term, error) {
	switch e := e.(type) {
	case parser.Column:
		t := &term{kind: kColumn, column: e}
		name := parser.SQL(e, "t", nil)
		if r.columns[name] == nil {
			r.ask(t)
		}
		r.columns[name] = append(r.columns[name], t)
		return t, nil
	case parser.Const:
		return r.constant(e, untyped), nil
	case parser.Param:
		t := &term{kind: kParam, number: e.Number}
		r.leaves = append(r.leaves, t)
		return t, nil
	case parser.Form:
		return nil, fmt.Errorf("resolving an expression that is resolved already")
	case parser.Cast:
		return r.cast(e)
	case parser.Func:
		return r.function(e)
	case parser.Semi:
		return r.semiJoin(e)
	}
	return r.operation(e)
}

func (r *resolver) cast(e parser.Cast) (*term, error) {
	typ, ok := parseType(e.Type)
	if !ok {
		name := strings.NewReplacer("pg_catalog.", "", `"`, "").Replace(e.Type)
		return nil, sqlstate.New(sqlstate.NotAnswerable, "a cast to %s cannot be evaluated on protected rows", name).
			WithHint("Precision and length must be within PostgreSQL's own bounds; try it without them.").
			At(e.Position)
	}
	args, err := r.termsOf([]parser.Expr{e.X})
	return &term{op: opCast, typ: typ, args: args, pos: e.Position}, err
}

// operation makes a term of what has operands, and has PostgreSQL asked for its type where that is not sure.
func (r *resolver) operation(e parser.Expr) (*term, error) {
	name, parts, typ := shape(e)
	if name == "" {
		return nil, fmt.Errorf("resolving an expression of type %T", e)
	}
	var args []*term
	for _, p := range parts {
		a, err := r.term(p, strings.HasSuffix(name, " NULL"))
		if err != nil {
			return nil, err
		}
		args = append(args, a)
	}

	t := &term{op: name, args: args, typ: plain(typ)}
	switch e := e.(type) {
	case parser.Any:
		t.pos = e.Position
	case parser.In:
		r.share(t)
	case parser.Unary:
		switch { // signs of constants are part of them
		case name == "+":
			return args[0], nil
		case name == opNegate && args[0].kind == kConst && args[0].class().number():
			return constant(args[0].typ.OID, strings.TrimPrefix("-"+args[0].text, "--")), nil
		}
	case parser.Case:
		if e.Operand != nil {
			return r.simpleCase(t), nil
		}
	}

	// The form gives it no type, so PostgreSQL is asked.
	if typ == 0 {
		r.ask(t)
	}
	return t, nil
}

// shape gives operator and operands of e, and its type where that is sure.
func shape(e parser.Expr) (string, []parser.Expr, uint32) {
	switch e := e.(type) {
	case parser.Unary:
		switch {
		case !e.Postfix && e.Op == "-":
			return opNegate, []parser.Expr{e.X}, 0
		case !e.Postfix && e.Op == "+":
			return "+", []parser.Expr{e.X}, 0
		}
		return e.Op, []parser.Expr{e.X}, oidBool
	case parser.Binary:
		if _, ok := mirrored[e.Op]; ok {
			return e.Op, []parser.Expr{e.L, e.R}, oidBool
		}
		return e.Op, []parser.Expr{e.L, e.R}, 0
	case parser.Logic:
		return e.Op, e.Args, oidBool
	case parser.In:
		name := opIn
		if e.Not {
			name = opNotIn
		}
		return name, append([]parser.Expr{e.X}, e.List...), oidBool
	case parser.Between:
		return e.Op, []parser.Expr{e.X, e.Low, e.High}, oidBool
	case parser.Like:
		pattern := e.Pattern
		if e.Escape != nil {
			pattern = parser.Func{Name: "like_escape", Args: []parser.Expr{e.Pattern, e.Escape}}
		}
		return e.Op, []parser.Expr{e.X, pattern}, oidBool
	case parser.Case:
		var parts []parser.Expr
		if e.Operand != nil {
			parts = append(parts, e.Operand)
		}
		for _, w := range e.Whens {
			parts = append(parts, w.Cond, w.Result)
		}
		if e.Else != nil {
			parts = append(parts, e.Else)
		}
		return opCase, parts, 0
	case parser.Call:
		return e.Name, e.Args, 0
	case parser.Any:
		if e.Not {
			return opAll, []parser.Expr{e.X, e.Array}, oidBool
		}
		return opAny, []parser.Expr{e.X, e.Array}, oidBool
	}
	return "", nil, 0
}

// simpleCase makes CASE WHEN of a CASE with an operand, which is the first of its parts: PostgreSQL compares with "=".
func (r *resolver) simpleCase(t *term) *term {
	operand, rest := t.args[0], t.args[1:]
	out := &term{op: opCase}
	for i := 0; i < len(rest); i++ {
		if i%2 == 0 && i < len(rest)-1 {
			out.args = append(out.args, truth("=", operand, rest[i]))
			continue
		}
		out.args = append(out.args, rest[i])
	}
	r.ask(out)
	return out
}

// share gives the literals of a long list one slot, since a statement has at most 65535 parameters.
func (r *resolver) share(t *term) {
	list := t.args[1:]
	for _, a := range list {
		if a.kind != kLiteral {
			return
		}
	}
	for _, a := range list[1:] {
		a.number = list[0].number
	}
	r.slots = list[0].number
}

func (r *resolver) constant(c parser.Const, untyped bool) *term {
	switch {
	case c.Kind == parser.Null:
		return &term{kind: kNull, typ: plain(oidUnknown), pos: c.Position}
	case c.Kind == parser.Bool:
		return constant(oidBool, c.Text).at(c.Position)
	case c.Kind == parser.Number:
		return numberConstant(c.Text).at(c.Position)
	case untyped:
		return constant(oidText, c.Text).at(c.Position)
	}
	r.slots++
	t := &term{kind: kLiteral, text: c.Text, number: r.slots, pos: c.Position}
	r.leaves = append(r.leaves, t)
	return t
}

// numberConstant types a number as PostgreSQL does (manual, section 4.1.2.6).
func numberConstant(s string) *term {
	if n, err := strconv.ParseInt(s, 0, 64); err == nil && !strings.HasPrefix(s, "0") || s == "0" {
		oid := uint32(oidInt8)
		if n == int64(int32(n)) {
			oid = oidInt4
		}
		return constant(oid, strconv.FormatInt(n, 10))
	} else if err == nil {
		return numberConstant(strconv.FormatInt(n, 10))
	}
	return constant(oidNumeric, tidy(expand(s)))
}

func (r *resolver) function(f parser.Func) (*term, error) {
	t := &term{op: f.Name, pos: f.Position}
	for _, a := range f.Args {
		x, err := r.term(a, f.Name == "concat" || f.Name == "concat_ws")
		if err != nil {
			return nil, err
		}
		t.args = append(t.args, x)
	}
	r.ask(t)
	return t, nil
}

// semiJoin makes a term of a subquery, whose columns are seen in it alone.
func (r *resolver) semiJoin(e parser.Semi) (*term, error) {
	t := truth(opSemi)
	t.semi = &e
	add := func(x parser.Expr) error {
		a, err := r.term(x, false)
		t.args = append(t.args, a)
		return err
	}

	// What is outside of the subquery is resolved there, before its own tables are in sight.
	if e.X != nil {
		if err := add(e.X); err != nil {
			return nil, err
		}
	}

	var inner []parser.Expr
	if e.X != nil {
		inner = append(inner, e.Value)
	}
	var from []string
	for _, s := range e.Sources {
		from = append(from, parser.QuoteIdent(s.Table.Schema)+"."+parser.QuoteIdent(s.Table.Name)+" AS "+
			parser.Alias("t", s.Rel))
		if s.Left && s.On != nil {
			inner = append(inner, s.On)
		}
	}
	if e.Where != nil {
		inner = append(inner, e.Where)
	}

	outside := r.scope
	r.scope = append(outside[:len(outside):len(outside)], strings.Join(from, ", "))
	defer func() { r.scope = outside }()
	for _, x := range inner {
		if err := add(x); err != nil {
			return nil, err
		}
	}
	return t, nil
}
