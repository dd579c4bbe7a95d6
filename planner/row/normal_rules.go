package row

import (
	"maps"
	"slices"
	"strings"
)

// normalRule is a named step to the normal form. Its tests cite it, see TestNormalRules.
type normalRule struct {
	name string
	says string   // what it does, for the docs
	ops  []string // the operations that it is tried on; nil: all
	// apply gives what t is asked as, for a t whose operands are in normal form; nil where the rule does not fit.
	apply func(t *term) *term
}

// normalRules are tried in this order: the first that fits is the only one.
var normalRules = []normalRule{
	{"NullOperand", "an operation on NULL is NULL, if it is so whatever its other operands are", nil, nullOperand},
	{"Junction", "AND and OR are flat and in order, each part once; equalities of one value with constants are one IN",
		[]string{"AND", "OR"}, func(t *term) *term { return logic(t.op, t.args) }},
	{"Negation", "NOT moves to the comparisons, which have opposites",
		[]string{"NOT"}, func(t *term) *term { return negate(t.args[0]) }},
	{"Comparison", "a constant stands on the right, in the other side's type; whole numbers and days are bounded by " +
		"`>` and `<=`; a constant summand goes over to the right",
		[]string{"=", "<>", "<", ">", "<=", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"},
		func(t *term) *term { return compare(t.op, t.args[0], t.args[1]) }},
	{"Membership", "IN and NOT IN are lists of constants in order, each once",
		[]string{opIn, opNotIn}, listMembership},
	{"Range", "BETWEEN is two comparisons, or four where it is SYMMETRIC",
		[]string{"BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC", "NOT BETWEEN SYMMETRIC"}, between},
	{"NullTest", "IS UNKNOWN is IS NULL, and is decided where the operand is a constant or cannot be NULL",
		[]string{"IS NULL", "IS UNKNOWN", "IS NOT NULL", "IS NOT UNKNOWN"},
		func(t *term) *term { return isNull(t.args[0], strings.Contains(t.op, "NOT")) }},
	{"TruthTest", "IS FALSE is IS TRUE of the opposite, and no test of what cannot be NULL",
		[]string{"IS TRUE", "IS FALSE", "IS NOT TRUE", "IS NOT FALSE"},
		func(t *term) *term { return isTrue(t.op, t.args[0]) }},
	{"PlainPattern", "LIKE without wildcards is `=`", []string{"LIKE", "NOT LIKE"}, plainPattern},
	{"Choice", "CASE has no branch that is never reached, or that gives what comes after it", []string{opCase}, choose},
	{"FirstKnown", "COALESCE is flat and ends at its first constant", []string{"COALESCE"}, coalesce},
	{"Extreme", "GREATEST and LEAST are flat, each operand once, in order where that cannot be seen",
		[]string{"GREATEST", "LEAST"}, extreme},
	{"IdleCast", "a cast that changes nothing is left out", []string{opCast}, idleCast},
	{"Arithmetic", "sums and products have their operands in order; of integers, constants are gathered, and `x - 2` " +
		"is a sum", []string{"+", "*", "-", opNegate}, arithmetic},
	{"Spelling", "functions of two names have one", slices.Sorted(maps.Keys(otherNames)), otherName},
	{"Field", "fields of dates are in lower case", []string{"extract", "date_part", "date_trunc"}, lowerField},
}

// everyOperation are the rules that are tried on all operations, and normalRulesOf those by operation.
var everyOperation, normalRulesOf = func() (all []normalRule, of map[string][]normalRule) {
	of = map[string][]normalRule{}
	for _, r := range normalRules {
		if r.ops == nil {
			all = append(all, r)
		}
		for _, op := range r.ops {
			of[op] = append(of[op], r)
		}
	}
	return all, of
}()

// NormalRule says what one step to the normal form does.
type NormalRule struct{ Name, Says string }

// NormalRules lists the steps to the normal form in the order in which they are tried.
func NormalRules() []NormalRule {
	var out []NormalRule
	for _, r := range normalRules {
		out = append(out, NormalRule{r.name, r.says})
	}
	return out
}

// normalOp applies the first rule that fits an operation on operands in normal form. It returns that rule's name; none,
// and t itself, where none fits.
func normalOp(t *term) (out *term, rule string) {
	for _, rules := range [][]normalRule{everyOperation, normalRulesOf[t.op]} {
		for _, r := range rules {
			if out := r.apply(t); out != nil {
				return out, r.name
			}
		}
	}
	return t, ""
}

func nullOperand(t *term) *term {
	if !strict(t.op) || !slices.ContainsFunc(t.args, func(a *term) bool { return a.kind == kNull }) {
		return nil
	}
	return &term{kind: kNull, typ: plain(t.typ.OID), pos: t.pos}
}

// strict reports whether an operation on NULL is NULL. Those that are written with capitals look at NULL in their own
// ways.
func strict(name string) bool {
	c := name[0]
	return name == opCast || (c < 'A' || c > 'Z') && name != "concat" && name != "concat_ws"
}

func listMembership(t *term) *term {
	in := membership(t.args[0], t.args[1:])
	if t.op == opNotIn {
		return negate(in)
	}
	return in
}

// between writes the two comparisons out, and for SYMMETRIC those with the bounds exchanged.
func between(t *term) *term {
	x, low, high := t.args[0], t.args[1], t.args[2]
	inside := func(low, high *term) *term {
		return logic("AND", []*term{compare(">=", x, low), compare("<=", x, high)})
	}
	switch t.op {
	case "BETWEEN":
		return inside(low, high)
	case "NOT BETWEEN":
		return logic("OR", []*term{compare("<", x, low), compare(">", x, high)})
	case "BETWEEN SYMMETRIC":
		return logic("OR", []*term{inside(low, high), inside(high, low)})
	}
	return logic("AND", []*term{negate(inside(low, high)), negate(inside(high, low))})
}

func plainPattern(t *term) *term {
	x, pattern := t.args[0], t.args[1]
	if pattern.kind != kConst || x.class() != text || strings.ContainsAny(pattern.text, `\%_`) {
		return nil
	}
	if t.op == "LIKE" {
		return compare("=", x, pattern)
	}
	return compare("<>", x, pattern)
}

// idleCast drops a cast by which PostgreSQL changes nothing: integers of all widths are one class here, and a name is
// shorter than a text.
func idleCast(t *term) *term {
	a := t.args[0]
	if t.typ.Mod >= 0 || a.kind == kNull {
		return nil
	}
	texts := t.class() == text && a.typ.OID != oidName && t.typ.OID != oidName
	if a.typ == t.typ || a.class() == t.class() && (t.class() == integer || texts) {
		return a
	}
	return nil
}

// otherNames are names of functions that have another one.
var otherNames = map[string]string{"mod": "%", "^": "power", "pow": "power", "char_length": "length",
	"character_length": "length", "ceiling": "ceil", "substr": "substring", "position": "strpos", "log10": "log"}

func otherName(t *term) *term {
	out := t.of(t.args)
	out.op = otherNames[t.op]
	return out
}

func lowerField(t *term) *term {
	f := t.args[0]
	if f.kind != kConst {
		return nil
	}
	lower := constant(oidText, strings.ToLower(strings.TrimSpace(f.text)))
	return t.of(append([]*term{lower}, t.args[1:]...))
}
