package row

import (
	"math/big"
)

// plus is a sum of two or more operands.
func plus(t *term, args []value) (value, error) {
	if isTime(args) {
		return shift(t, args)
	}
	return chain(t, args, func(a, b value) value { return integers("+", a, b, new(big.Int).Add(a.max, b.max)) }, add)
}

func times(t *term, args []value) (value, error) {
	return chain(t, args, func(a, b value) value { return integers("*", a, b, new(big.Int).Mul(a.max, b.max)) },
		multiply)
}

func minus(t *term, args []value) (value, error) {
	if isTime(args) {
		return shift(t, args)
	}
	return chain(t, args, func(a, b value) value { return integers("-", a, b, new(big.Int).Add(a.max, b.max)) }, add)
}

// chain applies an operator from left to right in the class of t.
func chain(t *term, args []value, whole func(a, b value) value,
	apply func(name string, a, b value) value) (value, error) {
	if err := numbers(t, args); err != nil {
		return value{}, err
	}

	// Single precision is computed as double precision, and rounded at the end.
	c := t.class()
	acc := args[0]
	for _, b := range args[1:] {
		switch {
		case c == integer:
			acc = whole(acc, b)
		case c == single:
			acc = apply(t.op, acc.as(double), b.as(double))
			if t.op != "*" { // a sum of multiples of 2^-149 is one
				acc.lo = singleLo
			}
		default:
			acc = apply(t.op, acc.as(c), b.as(c))
		}
	}
	return acc.as(c), nil
}

// integers computes in int8 where the result provably fits, else in numeric, where nothing overflows.
func integers(name string, a, b value, bound *big.Int) value {
	v := value{sem: integer, max: bound, term: &term{op: name, typ: plain(oidInt8)}}
	if bound.Cmp(maxInt8) < 0 && a.typ.OID != oidNumeric && b.typ.OID != oidNumeric {
		if a.typ.OID != oidInt8 && b.typ.OID != oidInt8 {
			if a.kind == kConst {
				b.term = cast(b.term, plain(oidInt8))
			} else {
				a.term = cast(a.term, plain(oidInt8))
			}
		}
		v.args = []*term{a.term, b.term}
		return v
	}
	v.typ.OID, v.args = oidNumeric, []*term{a.exact().term, b.exact().term}
	return v
}

// exact is an integer as numeric.
func (v value) exact() value {
	if v.typ.OID != oidNumeric {
		v.term = cast(v.term, plain(oidNumeric))
	}
	return v
}

// add is a sum or difference of numeric or of double.
func add(name string, a, b value) value {
	if a.class() == double {
		a, b = a.limit(307), b.limit(307)
	} else if max(a.hi, b.hi) >= 100_000 {
		a, b = a.limit(300), b.limit(300)
	}
	v := function(name, natural[a.class()], a, b)
	v.hi, v.lo = max(a.hi, b.hi)+1, min(a.lo, b.lo)
	if a.class() == double { // what cancellation leaves is at least a unit in the last place
		v.lo -= 17
	}
	return v
}

func multiply(name string, a, b value) value {
	if a.class() == numeric {
		if a.hi+b.hi > 100_000 {
			a, b = a.limit(300), b.limit(300)
		}
		v := function(name, oidNumeric, a, b)
		v.hi, v.lo = a.hi+b.hi, max(a.lo+b.lo, numericLo)
		return v
	}
	a, b = fit(a, b, false)
	v := function(name, oidFloat8, a, b)
	v.hi, v.lo = a.hi+b.hi, a.lo+b.lo
	return v
}

// divide is a quotient of numeric or of double, or with div the whole part of one.
func divide(a, b value, name string) value {
	if a.class() == numeric {
		if a.hi-b.lo > 100_000 {
			a, b = a.limit(300), b.limit(300)
		}
		v := function(name, oidNumeric, a, b.nonzero())
		v.hi, v.lo = a.hi-b.lo+1, numericLo
		return v
	}
	a, b = fit(a, b, true)
	v := function(name, oidFloat8, a, b.nonzero())
	v.hi, v.lo = a.hi-b.lo, a.lo-b.hi
	return v
}

// nonzero is v, NULL for zero.
func (v value) nonzero() value {
	if v.kind == kConst {
		if x, ok := new(big.Rat).SetString(v.text); ok && len(v.text) < 60 && x.Sign() != 0 {
			return v
		}
	}
	oid := v.typ.OID
	v.term = op("NULLIF", oid, v.term, constant(oid, "0"))
	return v
}

func quotient(t *term, args []value) (value, error) {
	if err := numbers(t, args); err != nil {
		return value{}, err
	}
	a, b := args[0], args[1]
	switch c := t.class(); c {
	case integer:
		// The one quotient of two integers that overflows is that of the least and -1: div of numerics has it.
		v := value{sem: integer, max: a.max, term: &term{op: "/", typ: plain(oidInt8)}}
		safe := a.max.Cmp(maxInt8) < 0 || b.kind == kConst && b.text != "-1"
		if a.typ.OID == oidNumeric || b.typ.OID == oidNumeric || !safe {
			v.op, v.typ.OID, v.args = "div", oidNumeric, []*term{a.exact().term, b.exact().nonzero().term}
			return v, nil
		}

		if a.typ.OID != oidInt8 {
			a.term = cast(a.term, plain(oidInt8))
		}
		v.args = []*term{a.term, b.nonzero().term}
		return v, nil
	case single:
		return divide(a.as(double), b.as(double), "/").as(single), nil
	default:
		return divide(a.as(c), b.as(c), "/"), nil
	}
}

func remainder(t *term, args []value) (value, error) {
	if err := numbers(t, args); err != nil {
		return value{}, err
	}
	a, b := args[0], args[1]
	if t.class() == integer {
		v := value{sem: integer, max: a.max}
		if b.max.Cmp(a.max) < 0 {
			v.max = b.max
		}
		if a.typ.OID == oidNumeric || b.typ.OID == oidNumeric {
			v.term = op("%", oidNumeric, a.exact().term, b.exact().nonzero().term)
			return v, nil
		}

		if a.typ.OID != oidInt8 {
			a.term = cast(a.term, plain(oidInt8))
		}
		v.term = op("%", oidInt8, a.term, b.nonzero().term)
		return v, nil
	}

	// A remainder is below what divides, and has the digits of both.
	a, b = a.as(numeric).limit(300), b.as(numeric).limit(300)
	v := function("%", oidNumeric, a, b.nonzero())
	v.hi, v.lo = b.hi, min(a.lo, b.lo)
	return v, nil
}

// negative is -x and abs(x): both change the sign of the least integer.
func negative(t *term, args []value) (value, error) {
	if err := numbers(t, args); err != nil {
		return value{}, err
	}
	v := args[0].as(t.class())
	if v.class() == integer && v.typ.OID != oidNumeric {
		if v.max.Cmp(maxInt8) >= 0 {
			v = v.exact()
		} else if v.typ.OID != oidInt8 {
			v.term = cast(v.term, plain(oidInt8))
		}
	}
	v.term = op(t.op, v.typ.OID, v.term)
	return v, nil
}
