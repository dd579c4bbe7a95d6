package row

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fugu/internal/hook"
	"fugu/parser"
	"fugu/sqlstate"
)

// maxText bounds the total form of one expression, in bytes, roughly.
const maxText = 256 << 10

// Bind gives the total form of each root with the parameters' values in the places of Params. Columns, CASE, COALESCE,
// casts and AND at its top are parser's own; the rest is a Form. It is nil where a condition is true for every row, and
// where the argument of count is never NULL. Equal questions come out equal, and no row can make one fail. No text of
// the client's is in them but quoted constants. All of them together have the cost.
func (t *Typing) Bind(ctx context.Context, db Evaluator, values []Value) ([]parser.Expr, Cost, error) {
	if len(values) != len(t.Params) {
		return nil, 0, fmt.Errorf("binding %d values to %d parameters", len(values), len(t.Params))
	}

	b := &binder{db: db, values: map[int]*term{}}
	for i, n := range t.Params {
		v := &term{kind: kLiteral, typ: plain(t.ParamTypes[i]), text: values[i].Text}
		if values[i].Null {
			v = &term{kind: kNull, typ: v.typ}
		}
		b.values[n] = v
	}

	terms := make([]*term, len(t.terms))
	for i, x := range t.terms {
		bound, err := b.substitute(x)
		if err != nil {
			return nil, 0, err
		}
		terms[i] = b.fold(bound)
	}

	// PostgreSQL evaluates all that has no column at once.
	if err := b.evaluate(ctx); err != nil {
		return nil, 0, err
	}

	// Costs add up over the statement: each cheap by itself may be dear together.
	var all Cost
	out := make([]parser.Expr, len(terms))
	for i, x := range terms {
		var err error
		var c Cost
		if out[i], c, err = t.roots[i].finish(b.replace(x)); err != nil {
			return nil, 0, err
		}
		if all += c; all > MaxCost && !hook.DearRows {
			return nil, 0, tooDear(all).At(x.position())
		}
	}
	return out, all, nil
}

// finish brings a bound term to its normal and its total form, which has a cost.
func (r Root) finish(x *term) (parser.Expr, Cost, error) {
	if !hook.AsSpelled {
		if x = normal(x); r.Condition {
			x = filter(x)
		}
	}
	switch {
	case r.Condition && x.kind == kConst && x.text == "true", r.Aggregate == "count" && !r.Value && x.kind == kConst:
		return nil, 0, nil
	}

	if hook.RowErrors {
		return x.expr(), 0, nil
	}
	v, err := total(x)
	if err != nil {
		return nil, 0, err
	}
	if r.Aggregate != "" && r.Aggregate != "count" {
		v = summand(v, x.typ.OID)
	}
	// What guards add is bounded; a long list of constants is not at fault.
	if limit := maxText/16 + 8*x.size(maxText); v.size(limit) >= limit {
		return nil, 0, sqlstate.New(sqlstate.StatementTooComplex, "the expression is too long once every operation "+
			"in it is kept from failing").
			WithHint("Split it, or nest fewer functions.").At(x.position())
	}

	c, err := dear(v.term, x)
	if err != nil {
		return nil, 0, err
	}
	return v.expr(), c, nil
}

type binder struct {
	db     Evaluator
	values map[int]*term
	asked  []*term // constant terms that PostgreSQL shall evaluate
	answer map[*term]*term
}

// substitute puts constants in the places of parameters, and lists in the places of arrays.
func (b *binder) substitute(t *term) (*term, error) {
	switch {
	case t.kind == kParam:
		return b.values[t.number], nil
	case t.kind != kOp:
		return t, nil
	}
	out := t.of(make([]*term, len(t.args)))
	for i, a := range t.args {
		var err error
		if out.args[i], err = b.substitute(a); err != nil {
			return nil, err
		}
	}
	if t.op == opAny || t.op == opAll {
		return spread(out)
	}
	return out, nil
}

// spread turns x = ANY(array) into x IN (elements).
func spread(t *term) (*term, error) {
	array := t.args[1]
	oid := elements[array.typ.OID]
	if array.is(opCast) {
		array = array.args[0]
	}
	name, empty := opIn, false
	if t.op == opAll {
		name, empty = opNotIn, true
	}
	if array.kind == kNull {
		return &term{kind: kNull, typ: plain(oidBool)}, nil
	}

	list, ok := arrayElements(array.text)
	if oid == 0 || !ok {
		return nil, sqlstate.New(sqlstate.NotAnswerable, "this array cannot be used on protected rows").
			WithHint("Use an array of one dimension, without bounds, of a built-in type: '{1,2,3}'.").At(t.position())
	}

	// Of no elements ANY is false and ALL is true, whatever x is.
	if len(list) == 0 {
		return boolean3(empty), nil
	}
	out := truth(name, t.args[0])
	for _, v := range list {
		e := &term{kind: kLiteral, typ: plain(oid), text: v.Text, pos: t.position()}
		if v.Null {
			e = &term{kind: kNull, typ: plain(oid)}
		}
		out.args = append(out.args, e)
	}
	return out, nil
}

// fold reads the literals that need no help, and notes what PostgreSQL shall evaluate: literals in any other form, and
// the largest terms without a column.
func (b *binder) fold(t *term) *term {
	switch t.kind {
	case kLiteral:
		if s, ok := canonical(t.typ.OID, t.text); ok {
			return &term{kind: kConst, typ: t.typ, text: s, pos: t.pos}
		}
		b.ask(t)
		return t
	case kOp:
	default:
		return t
	}

	// A literal that is cast to its own type is that literal.
	if t.op == opCast && t.typ.Mod < 0 {
		if a := t.args[0]; a.kind == kLiteral && a.typ.OID == t.typ.OID {
			return b.fold(a)
		}
	}

	if t.fixed() && !t.isList() {
		b.ask(t)
		return t
	}

	switch {
	case t.op == "timezone":
		b.checkZone(t.args[0])
	case t.op == "date_trunc" && len(t.args) == 3:
		b.checkZone(t.args[2])
	}

	out := t.of(make([]*term, len(t.args)))
	for i, a := range t.args {
		out.args[i] = b.fold(a)
	}
	return out
}

// checkZone has PostgreSQL use the time zone once, since an unknown one is an error for a row.
func (b *binder) checkZone(zone *term) {
	if zone.fixed() && zone.class() == text {
		b.ask(op("timezone", oidTimestamp, zone, constant(oidTimestamptz, "2000-01-01 00:00:00+00")))
	}
}

// isList reports whether t only says which rows count: normal deals with it even where it is constant, and a list can
// be longer than the parameters of a statement.
func (t *term) isList() bool { return t.op == opIn || t.op == opNotIn || t.op == "AND" || t.op == "OR" }

func (b *binder) ask(t *term) { b.asked = append(b.asked, t) }

// maxAsked bounds what one statement evaluates: PostgreSQL's limits are 1664 columns and 65535 parameters.
const maxAsked = 1000

// evaluate has PostgreSQL evaluate what was asked, in as few statements as can be.
func (b *binder) evaluate(ctx context.Context) error {
	b.answer = make(map[*term]*term, len(b.asked))
	for chunk := range slices.Chunk(b.asked, maxAsked) {
		err := b.evaluateAll(ctx, chunk)
		if e := sqlstate.As(err); err == nil || e.Code == sqlstate.InternalError || e.Position > 0 {
			if err != nil {
				return err
			}
			continue
		}
		for _, t := range chunk { // which of them was it?
			if alone := b.evaluateAll(ctx, []*term{t}); sqlstate.Is(alone, sqlstate.As(err).Code) {
				return sqlstate.As(alone).At(t.position())
			}
		}
		return err
	}
	return nil
}

func (b *binder) evaluateAll(ctx context.Context, terms []*term) error {
	var cols []string
	var params [][]byte
	var types []uint32
	bare := func(l *term) string {
		params, types = append(params, []byte(l.text)), append(types, l.typ.OID)
		return "$" + itoa(len(params))
	}

	for _, t := range terms {
		show := "(%s)::pg_catalog.text"
		if t.class() == padded { // with its blanks
			show = "CASE WHEN %[1]s IS NOT NULL THEN pg_catalog.concat(%[1]s) END"
		}
		cols = append(cols, fmt.Sprintf(show, parser.SQL(t.form(bare), "", nil)))
	}

	// All constants are evaluated in one statement, and come back in the texts that PostgreSQL gives them.
	rows, err := b.db.Evaluate(ctx, "SELECT "+strings.Join(cols, ", "), params, types)
	if err != nil {
		return err
	}
	if len(rows) != 1 || len(rows[0]) != len(terms) {
		return fmt.Errorf("evaluating %d constants gave %d rows", len(terms), len(rows))
	}
	for i, t := range terms {
		v := rows[0][i]
		c := &term{kind: kConst, typ: Type{t.typ.OID, -1}, text: v.Text, pos: t.position()}
		if v.Null {
			c.kind, c.text = kNull, ""
		} else if s, ok := canonical(t.typ.OID, v.Text); ok {
			c.text = s
		}

		b.answer[t] = c
	}
	return nil
}

// replace puts the values of what was asked in its place.
func (b *binder) replace(t *term) *term {
	if c, ok := b.answer[t]; ok {
		return c
	}
	if t.kind != kOp || len(b.asked) == 0 {
		return t
	}
	out := t.of(make([]*term, len(t.args)))
	for i, a := range t.args {
		out.args[i] = b.replace(a)
	}
	return out
}
