package row

// The normal form: of the many ways to write a question there is one that is asked, so that another spelling finds the
// answer that is stored. Each rule (see normalRules) keeps the value for every row, in three-valued logic.

// normal brings t to its normal form.
func normal(t *term) *term {
	if t.kind != kOp {
		return t
	}
	out, _ := normalOp(t.of(normalArgs(t)))
	if out.pos == 0 && out.kind == kOp && t.pos > 0 {
		out = out.of(out.args).at(t.pos)
	}
	return out
}

// normalArgs brings the operands of t to their normal forms; of conditions it only counts whether they are true.
func normalArgs(t *term) []*term {
	args := make([]*term, len(t.args))
	for i, a := range t.args {
		args[i] = normal(a)

		when := t.op == opCase && i%2 == 0 && i < len(t.args)-1
		where := t.semi != nil && (t.semi.X == nil || i > 1)
		if when || where {
			args[i] = filter(args[i])
		}
	}
	return args
}

// filter returns the normal form of a condition that only lets rows through: false and NULL are the same to it.
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

	// A comparison that is negated is its opposite: both are NULL where an operand is.
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
