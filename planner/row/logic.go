package row

import (
	"slices"
	"strings"
)

// logic is a chain of AND or OR, in normal form if args are: flat, in order, each part once, and several equalities of
// one term as a list.
func logic(name string, args []*term) *term {
	neutral := name == "AND"
	equal, list := "=", opIn
	if neutral {
		equal, list = "<>", opNotIn
	}
	var flat []*term
	for _, a := range args {
		if a.is(name) {
			flat = append(flat, a.args...)
		} else {
			flat = append(flat, a)
		}
	}

	// A part that decides the whole is the whole; what is neutral is left out.
	var out []*term
	seen := map[string]bool{}
	lists := map[string][]*term{} // x to x and its values
	var order []string
	for _, a := range flat {
		switch {
		case a.kind == kConst && (a.text == "true") == neutral:
			continue
		case a.kind == kConst:
			return a
		case a.is(list), a.is(equal) && a.args[1].kind == kConst:
			x := a.args[0].String()
			if lists[x] == nil {
				order = append(order, x)
				lists[x] = a.args[:1:1]
			}
			lists[x] = append(lists[x], a.args[1:]...)
			continue
		}

		if !seen[a.String()] {
			seen[a.String()] = true
			out = append(out, a)
		}
	}

	// What is equal to one of several values is a list, wherever the equalities stood.
	for _, x := range order {
		out = append(out, listed(list, equal, lists[x]))
	}
	slices.SortStableFunc(out, func(a, b *term) int { return strings.Compare(a.String(), b.String()) })
	switch len(out) {
	case 0:
		return boolean3(neutral)
	case 1:
		return out[0]
	}
	return truth(name, out...)
}

// listed is x IN or NOT IN its values, sorted, each once.
func listed(list, equal string, args []*term) *term {
	values := slices.Clone(args[1:])
	slices.SortStableFunc(values, func(a, b *term) int { return strings.Compare(a.String(), b.String()) })
	values = slices.CompactFunc(values, func(a, b *term) bool { return a.String() == b.String() })
	if len(values) == 1 {
		return truth(equal, args[0], values[0])
	}
	return truth(list, append([]*term{args[0]}, values...)...)
}

// membership is x IN list.
func membership(x *term, list []*term) *term {
	parts := make([]*term, len(list))
	for i, e := range list {
		parts[i] = compare("=", x, e)
	}
	return logic("OR", parts)
}

func isNull(x *term, not bool) *term {
	switch {
	case x.kind == kNull:
		return boolean3(!not)
	case x.kind == kConst || decided(x):
		return boolean3(not)
	case not:
		return truth("IS NOT NULL", x)
	}
	return truth("IS NULL", x)
}

// decided reports whether t is a condition that is never NULL.
func decided(t *term) bool {
	switch {
	case t.kind != kOp:
		return false
	case t.op == "AND", t.op == "OR", t.op == "NOT":
		return !slices.ContainsFunc(t.args, func(a *term) bool { return !decided(a) })
	}
	return strings.HasPrefix(t.op, "IS ")
}

// isTrue is the test op of x; what comes out knows IS TRUE and IS NOT TRUE only.
func isTrue(name string, x *term) *term {
	if strings.HasSuffix(name, "FALSE") {
		x, name = negate(x), strings.Replace(name, "FALSE", "TRUE", 1)
	}
	not := name == "IS NOT TRUE"
	switch {
	case x.kind == kNull:
		return boolean3(not)
	case x.kind == kConst:
		return boolean3((x.text == "true") != not)
	case not && decided(x):
		return negate(x)
	case !not && decided(x):
		return x
	}
	return truth(name, x)
}

// choose simplifies CASE.
func choose(t *term) *term {
	n := len(t.args) / 2
	var otherwise *term
	if len(t.args)%2 == 1 {
		otherwise = t.args[len(t.args)-1]
	}

	// Conditions that are constant decide before any row is looked at.
	var arms []*term
	for i := range n {
		cond, result := t.args[2*i], t.args[2*i+1]
		if cond.constant() {
			if cond.kind == kConst && cond.text == "true" {
				otherwise = result
				break
			}
			continue
		}

		arms = append(arms, cond, result)
	}
	if otherwise == nil {
		otherwise = &term{kind: kNull, typ: t.typ}
	}

	// What is left may have a type of its own, where CASE has that of all of its results.
	retype := func(x *term) *term {
		switch {
		case x.typ.OID == t.typ.OID:
			return x
		case x.kind == kNull:
			return &term{kind: kNull, typ: t.typ}
		}

		return cast(x, plain(t.typ.OID))
	}

	// A last arm that gives what ELSE gives is none.
	for len(arms) > 0 && arms[len(arms)-1].String() == otherwise.String() {
		arms = arms[:len(arms)-2]
	}
	if len(arms) == 0 {
		return retype(otherwise)
	}

	// A choice between the two truth values is the condition itself.
	yes, no := arms[1], otherwise
	if len(arms) == 2 && t.class() == boolean && yes.kind == kConst && no.kind == kConst {
		name := "IS TRUE"
		if yes.text != "true" {
			name = "IS NOT TRUE"
		}
		return isTrue(name, arms[0])
	}

	if otherwise.kind != kNull {
		arms = append(arms, otherwise)
	}
	return &term{op: opCase, args: arms, typ: t.typ, pos: t.pos}
}

// coalesce brings COALESCE to its least form.
func coalesce(t *term) *term {
	// What stands behind a constant is never reached, and NULL is always passed over.
	var out []*term
	for _, a := range t.args {
		if a.is("COALESCE") && a.typ.OID == t.typ.OID {
			out = append(out, a.args...)
		} else if a.kind != kNull {
			out = append(out, a)
		}
		if a.kind == kConst {
			break
		}
	}

	if only := onlyChoice(t, out); only != nil {
		return only
	}

	// Of two truth values the second of which is a constant, a test of the first says the same.
	switch {
	case len(out) == 2 && t.class() == boolean && out[1].kind == kConst && out[1].text == "false":
		return isTrue("IS TRUE", out[0])
	case len(out) == 2 && t.class() == boolean && out[1].kind == kConst:
		return isTrue("IS NOT FALSE", out[0])
	}
	return &term{op: "COALESCE", args: out, typ: t.typ, pos: t.pos}
}

// onlyChoice is what a function that chooses among its arguments comes to, where none or one of them is left; nil:
// there are more.
func onlyChoice(t *term, left []*term) *term {
	switch {
	case len(left) == 0:
		return &term{kind: kNull, typ: t.typ}
	case len(left) > 1:
		return nil
	case left[0].typ.OID == t.typ.OID:
		return left[0]
	}
	return cast(left[0], t.typ)
}

// extreme brings GREATEST or LEAST to its least form: NULL is passed over, and equal arguments are one.
func extreme(t *term) *term {
	var out []*term
	for _, a := range t.args {
		if a.is(t.op) && a.typ.OID == t.typ.OID {
			out = append(out, a.args...)
		} else if a.kind != kNull {
			out = append(out, a)
		}
	}

	// Of equals that are shown differently the first is taken, so that the order of such types stays.
	if c := t.class(); c != single && c != double && c != numeric && c != padded {
		slices.SortStableFunc(out, func(a, b *term) int { return strings.Compare(a.String(), b.String()) })
	}
	out = slices.CompactFunc(out, func(a, b *term) bool { return a.String() == b.String() })
	if only := onlyChoice(t, out); only != nil {
		return only
	}
	return &term{op: t.op, args: out, typ: t.typ, pos: t.pos}
}
