package row

import (
	"math/big"
	"slices"
	"strings"
)

// arithmetic orders the operands of + and *. Integers and decimals are exact below the cut, so that their sums and
// products may be regrouped too.
func arithmetic(t *term) *term {
	c := t.class()
	if c == integer {
		switch {
		case t.op == "-" && t.args[1].kind == kConst && t.args[0].class() == integer && t.args[1].class() == integer:
			t = op("+", t.typ.OID, t.args[0], constant(oidInt8, negated(t.args[1].text)))
		case t.op == opNegate && t.args[0].is(opNegate):
			return t.args[0].args[0]
		case t.op == opNegate && t.args[0].kind == kConst:
			return constant(t.typ.OID, negated(t.args[0].text))
		}
	}

	if t.op != "+" && t.op != "*" {
		return t
	}
	same := c == integer || c == numeric
	var parts []*term
	for _, a := range t.args {
		same = same && a.class() == c
		if same && a.is(t.op) {
			parts = append(parts, a.args...)
		} else {
			parts = append(parts, a)
		}
	}

	// Only where nothing is rounded does the order of the operands change no result.
	if !same {
		parts = slices.Clone(t.args)
	} else if c == integer {
		parts = gather(t.op, parts)
	}
	slices.SortStableFunc(parts, func(a, b *term) int { // dates first and constants last, as people write
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a.String(), b.String())
	})

	if len(parts) == 1 {
		return parts[0]
	}
	return &term{op: t.op, args: parts, typ: t.typ, pos: t.pos}
}

func rank(t *term) int {
	switch {
	case t.class().moment():
		return 0
	case t.kind == kConst:
		return 2
	}
	return 1
}

// gather combines the constants among the parts of an integer sum or product.
func gather(name string, parts []*term) []*term {
	acc := big.NewInt(0)
	if name == "*" {
		acc.SetInt64(1)
	}
	neutral := acc.String()

	var out []*term
	for _, p := range parts {
		n, ok := new(big.Int).SetString(p.text, 10)
		switch {
		case p.kind != kConst || !ok:
			out = append(out, p)
		case name == "+":
			acc.Add(acc, n)
		default:
			acc.Mul(acc, n)
		}
	}

	// Beyond 63 bits the constant would be of another type than what the client wrote.
	if s := acc.String(); s != neutral || len(out) == 0 {
		if acc.BitLen() > 63 {
			return parts
		}
		out = append(out, constant(oidInt8, s))
	}
	return out
}

func negated(s string) string {
	if s == "0" {
		return s
	}
	return strings.TrimPrefix("-"+s, "--")
}
