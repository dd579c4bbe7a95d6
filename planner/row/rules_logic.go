package row

import (
	"math/big"
)

var logicRules = []rule{
	{name: "AND", apply: boolean2}, {name: "OR", apply: boolean2}, {name: "NOT", apply: boolean2},
	{name: "IS TRUE", apply: boolean2}, {name: "IS NOT TRUE", apply: boolean2},
	{name: "IS NULL", apply: always}, {name: "IS NOT NULL", apply: always},
	{name: "=", apply: comparison}, {name: "<>", apply: comparison}, {name: "<", apply: comparison},
	{name: ">", apply: comparison}, {name: "<=", apply: comparison}, {name: ">=", apply: comparison},
	{name: "IS DISTINCT FROM", apply: comparison}, {name: "IS NOT DISTINCT FROM", apply: comparison},
	{name: opIn, apply: comparison}, {name: opNotIn, apply: comparison},
	{name: opCase, apply: caseRule}, {name: "COALESCE", apply: merged},
	{name: "GREATEST", apply: merged}, {name: "LEAST", apply: merged},
	{name: "NULLIF", apply: nullIf}, {name: opSemi, apply: subquery},
}

func always(t *term, args []value) (value, error) { return rebuild(t, oidBool, args), nil }

func boolean2(t *term, args []value) (value, error) {
	for i, a := range args {
		if c := a.class(); c != boolean && c != null {
			return value{}, refuse(t.args[i], "Write a comparison.", "%s takes conditions, not values of type %s", t.op,
				c)
		}
	}
	return rebuild(t, oidBool, args), nil
}

// common is the class in which values of two classes are compared, other where they are not.
func common(a, b class) class {
	switch {
	case a == b:
		return a
	case a == null:
		return b
	case b == null:
		return a
	case a.number() && b.number():
		if m := max(a, b); m != single { // real and numeric meet in double precision
			return m
		}
		return double
	case a.moment() && b.moment():
		return max(a, b)
	case a == text && b == padded, a == padded && b == text:
		return text
	}
	return other
}

// comparison needs operands that PostgreSQL does not have to convert in a way that could fail. Dates and timestamps it
// compares as they are.
func comparison(t *term, args []value) (value, error) {
	c := args[0].class()
	for i, a := range args[1:] {
		if c = common(c, a.class()); c == other || c == enum && args[0].typ.OID != a.typ.OID && a.kind != kNull {
			return value{}, refuse(t, "Cast one of them: x::date, x::numeric.", "values of type %s and %s cannot be "+
				"compared on protected rows", args[0].class(), args[i+1].class())
		}
	}
	if c == single || c == double {
		for i := range args {
			if args[i].class() != single { // real meets double without a conversion that fails
				args[i] = args[i].as(c)
			}
		}
	}
	return rebuild(t, oidBool, args), nil
}

// subquery is a semi-join with conditions that cannot fail.
func subquery(t *term, args []value) (value, error) {
	if t.semi.X != nil {
		if _, err := comparison(truth("=", t.args[:2]...), args[:2]); err != nil {
			return value{}, err
		}
	}
	v := rebuild(t, oidBool, args)
	v.semi = t.semi
	return v, nil
}

// caseRule is CASE: conditions as they are, results in the class of the whole.
func caseRule(t *term, args []value) (value, error) {
	var conditions, results []value
	for i := range args {
		if i%2 == 0 && i < len(args)-1 {
			if c := args[i].class(); c != boolean && c != null {
				return value{}, refuse(t.args[i], "Write a comparison after WHEN.", "a condition cannot be of type %s",
					c)
			}
			conditions = append(conditions, args[i])
			continue
		}

		results = append(results, args[i])
	}

	// Results of different types become the one that PostgreSQL gives the whole.
	m, err := merge(t, results)
	if err != nil {
		return m, err
	}
	terms := make([]*term, 0, len(args))
	for i, r := range results {
		if i < len(conditions) {
			terms = append(terms, conditions[i].term)
		}
		terms = append(terms, r.term)
	}

	m.term = &term{op: opCase, typ: m.typ, args: terms, pos: t.pos}
	return m, nil
}

// merged is an operation whose value is one of its operands'.
func merged(t *term, args []value) (value, error) {
	m, err := merge(t, args)
	if err != nil {
		return m, err
	}
	m.term = rebuild(t, m.typ.OID, args).term
	return m, nil
}

// merge brings args to the class of t, in place, and gives bounds that hold for each.
func merge(t *term, args []value) (value, error) {
	c := t.class()
	if c == other {
		return value{}, refuse(t, hintOperands, "%s of this type cannot be evaluated on protected rows", describe(t.op))
	}

	m := value{term: &term{typ: plain(t.typ.OID)}, sem: c, max: new(big.Int)}
	if c == text {
		m.typ.OID = oidText
	}

	// The widest of the integers, the longest of the texts, bounds from the least to the greatest.
	wide := uint32(oidInt4)
	for i := range args {
		if args[i].kind == kNull {
			continue
		}
		a := args[i].class()
		if a != c && common(a, c) == other {
			return value{}, refuse(t, hintOperands, "%s cannot mix values of type %s and %s on protected rows",
				describe(t.op), a, c)
		}

		args[i] = args[i].as(c)
		if c == text && args[i].typ.OID != oidText {
			args[i].term = cast(args[i].term, plain(oidText))
		}
		v := args[i]
		if c == integer {
			if v.max.Cmp(m.max) > 0 {
				m.max = v.max
			}
			if width[v.typ.OID] > width[wide] {
				wide = v.typ.OID
			}
		}

		m.hi, m.lo = max(m.hi, v.hi), min(m.lo, v.lo)
		if v.chars < 0 || m.chars < 0 {
			m.chars = -1
		} else {
			m.chars = max(m.chars, v.chars)
		}
	}

	if c == integer {
		m.typ.OID = wide
	}
	return m, nil
}

// nullIf is the first operand, converted as the comparison of both converts it.
func nullIf(t *term, args []value) (value, error) {
	c := common(args[0].class(), args[1].class())
	if c == other {
		return value{}, refuse(t, "Cast one of them.", "values of type %s and %s cannot be compared on protected rows",
			args[0].class(), args[1].class())
	}
	v := args[0]
	if c.number() && t.class() == c {
		v = v.as(c)
	}
	if c == double && v.class() != single {
		v = v.as(c)
	}
	if c == double && args[1].class() != single {
		args[1] = args[1].as(c)
	}
	v.term = &term{op: "NULLIF", typ: v.typ, args: []*term{v.term, args[1].term}, pos: t.pos}
	return v, nil
}
