package row

import (
	"cmp"
	"slices"
	"strings"
)

// total gives the total form of a term in normal form.
func total(t *term) (value, error) {
	switch t.kind {
	case kColumn, kNull:
		return leaf(t), nil
	case kConst:
		return constantValue(t), nil
	case kOp:
	default:
		return value{}, refuse(t, "Report this: a constant was left over.", "this expression cannot be evaluated on "+
			"protected rows")
	}

	args := make([]value, len(t.args))
	for i, a := range t.args {
		var err error
		if args[i], err = total(a); err != nil {
			return value{}, err
		}
	}

	// An operation without a rule might fail on a row, and is refused.
	r, ok := rules[t.op]
	if !ok {
		return value{}, refuse(t, hintOperands, "%s cannot be evaluated on protected rows", describe(t.op))
	}

	// Whether a value is NULL can be asked of any type.
	if !strings.HasPrefix(t.op, "IS ") || !strings.HasSuffix(t.op, "NULL") {
		for i, a := range args {
			if c := a.class(); c == other && !(t.op == opCast && a.typ.OID == oidMoney) {
				return value{}, refuse(t.args[i], "Columns of this type can be tested with IS NULL, and counted.",
					"a value of this type cannot be used on protected rows")
			} else if c == enum && !comparesEnums(t.op) {
				return value{}, refuse(t.args[i], "Compare it with = or IN, or cast it: x::text.",
					"a value of an enum type cannot be used in %s on protected rows", describe(t.op))
			}
		}
	}

	meet(t.op, args)
	return r.apply(t, args)
}

func comparesEnums(name string) bool {
	_, ok := mirrored[name]
	return ok || slices.Contains([]string{opIn, opNotIn, opCase, opCast, "COALESCE", "NULLIF"}, name)
}

// rules are the operations of row expressions. docs are generated from them.
var rules map[string]rule

func init() {
	rules = map[string]rule{}
	for _, group := range [][]rule{logicRules, numberRules, textRules, timeRules, castRules} {
		for _, r := range group {
			if _, twice := rules[r.name]; twice {
				panic("two rules for " + r.name)
			}
			rules[r.name] = r
		}
	}
}

// Rule says how an operation is kept from failing.
type Rule struct {
	Name  string // as people write it
	Total string // empty: it cannot fail
}

// Rules lists the operations that row expressions can be made of, in order of their names.
func Rules() []Rule {
	var out []Rule
	for _, r := range rules {
		out = append(out, Rule{r.name, r.total})
	}
	slices.SortFunc(out, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Total, b.Total))
	})
	return slices.Compact(out)
}
