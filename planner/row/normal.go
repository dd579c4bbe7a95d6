package row

import (
	"slices"
	"strings"
)

// The normal form: of the many ways to write a question there is one that is asked, so that another spelling finds the
// answer that is stored. Each rule keeps the value for every row, in three-valued logic.

// normal brings t to its normal form.
func normal(t *term) *term {
	if t.kind != kOp {
		return t
	}
	args := make([]*term, len(t.args))
	for i, a := range t.args {
		args[i] = normal(a)
		if t.op == opCase && i%2 == 0 && i < len(t.args)-1 {
			args[i] = filter(args[i])
		}
	}
	if t.semi != nil {
		for i := range args {
			if t.semi.X == nil || i > 1 {
				args[i] = filter(args[i])
			}
		}
	}
	out := normalOp(t, args)
	if out.pos == 0 && out.kind == kOp && t.pos > 0 {
		out = out.of(out.args).at(t.pos)
	}
	return out
}

// filter is a condition, in normal form, of which it only counts whether it is true.
func filter(t *term) *term {
	switch {
	case t.kind == kNull:
		return boolean3(false)
	case t.is("IS TRUE"):
		return filter(t.args[0])
	case t.is("AND"), t.is("OR"):
		args := make([]*term, len(t.args))
		for i, a := range t.args {
			args[i] = filter(a)
		}
		return logic(t.op, args)
	}
	return t
}

func normalOp(t *term, args []*term) *term {
	rebuilt := t.of(args)
	if strict(t.op) && slices.ContainsFunc(args, func(a *term) bool { return a.kind == kNull }) {
		return &term{kind: kNull, typ: plain(t.typ.OID), pos: t.pos}
	}
	switch t.op {
	case "AND", "OR":
		return logic(t.op, args)
	case "NOT":
		return negate(args[0])
	case "=", "<>", "<", ">", "<=", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM":
		return compare(t.op, args[0], args[1])
	case opIn:
		return membership(args[0], args[1:])
	case opNotIn:
		return negate(membership(args[0], args[1:]))
	case "BETWEEN":
		return logic("AND", []*term{compare(">=", args[0], args[1]), compare("<=", args[0], args[2])})
	case "NOT BETWEEN":
		return logic("OR", []*term{compare("<", args[0], args[1]), compare(">", args[0], args[2])})
	case "BETWEEN SYMMETRIC", "NOT BETWEEN SYMMETRIC":
		one := logic("AND", []*term{compare(">=", args[0], args[1]), compare("<=", args[0], args[2])})
		two := logic("AND", []*term{compare(">=", args[0], args[2]), compare("<=", args[0], args[1])})
		if t.op == "BETWEEN SYMMETRIC" {
			return logic("OR", []*term{one, two})
		}
		return logic("AND", []*term{negate(one), negate(two)})
	case "IS NULL", "IS UNKNOWN", "IS NOT NULL", "IS NOT UNKNOWN":
		return isNull(args[0], strings.Contains(t.op, "NOT"))
	case "IS TRUE", "IS FALSE", "IS NOT TRUE", "IS NOT FALSE":
		return isTrue(t.op, args[0])
	case "LIKE", "NOT LIKE":
		if p := args[1]; p.kind == kConst && args[0].class() == text && !strings.ContainsAny(p.text, `\%_`) {
			return compare(map[string]string{"LIKE": "=", "NOT LIKE": "<>"}[t.op], args[0], p)
		}
	case opCase:
		return choose(rebuilt)
	case "COALESCE":
		return coalesce(rebuilt)
	case "GREATEST", "LEAST":
		return extreme(rebuilt)
	case opCast:
		a := args[0]
		if t.typ.Mod < 0 && a.kind != kNull && (a.typ == t.typ || a.class() == t.class() &&
			(t.class() == integer || t.class() == text && a.typ.OID != oidName && t.typ.OID != oidName)) {
			return a
		}
	case "+", "*", "-", opNegate:
		return arithmetic(rebuilt)
	case "mod":
		rebuilt.op = "%"
	case "^", "pow":
		rebuilt.op = "power"
	case "char_length", "character_length":
		rebuilt.op = "length"
	case "ceiling":
		rebuilt.op = "ceil"
	case "substr":
		rebuilt.op = "substring"
	case "position":
		rebuilt.op = "strpos"
	case "log10":
		rebuilt.op = "log"
	case "extract", "date_part", "date_trunc":
		if f := args[0]; f.kind == kConst {
			rebuilt.args = append([]*term{constant(oidText, strings.ToLower(strings.TrimSpace(f.text)))}, args[1:]...)
		}
	}
	return rebuilt
}

// strict reports whether an operation on NULL is NULL. Those that are written with capitals look at NULL in their own
// ways.
func strict(name string) bool {
	c := name[0]
	return name == opCast || (c < 'A' || c > 'Z') && name != "concat" && name != "concat_ws"
}

// negate is NOT t, for a t in normal form.
func negate(t *term) *term {
	switch {
	case t.kind == kNull:
		return &term{kind: kNull, typ: plain(oidBool)}
	case t.kind == kConst:
		return boolean3(t.text != "true")
	case t.kind != kOp:
		return truth("NOT", t)
	case t.op == "NOT":
		return t.args[0]
	case t.op == "AND" || t.op == "OR":
		args := make([]*term, len(t.args))
		for i, a := range t.args {
			args[i] = negate(a)
		}
		return logic(map[string]string{"AND": "OR", "OR": "AND"}[t.op], args)
	}
	o, ok := opposite[t.op]
	if _, comparison := mirrored[t.op]; comparison {
		return compare(o, t.args[0], t.args[1])
	}
	if ok {
		return truth(o, t.args...)
	}
	return truth("NOT", t)
}

// opposite gives the operator whose result is the other truth value, NULL where it is NULL.
var opposite = both(map[string]string{"=": "<>", "<": ">=", ">": "<=", "IS NULL": "IS NOT NULL",
	"IS TRUE": "IS NOT TRUE", "IS FALSE": "IS NOT FALSE",
	"IS DISTINCT FROM": "IS NOT DISTINCT FROM", "LIKE": "NOT LIKE", "ILIKE": "NOT ILIKE", opIn: opNotIn})

func both(m map[string]string) map[string]string {
	out := map[string]string{}
	for a, b := range m {
		out[a], out[b] = b, a
	}
	return out
}
