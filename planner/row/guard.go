package row

import "math/big"

// as gives v in another class, NULL where PostgreSQL's own conversion would fail.
func (v value) as(c class) value {
	if v.class() == integer && v.typ.OID == oidNumeric && c.number() && c != integer {
		v.sem, v.hi, v.lo = numeric, len(v.max.String()), 0
	}
	from := v.class()
	switch {
	case from == c:
		return v
	case v.kind == kNull:
		return leaf(&term{kind: kNull, typ: plain(natural[c])})
	}

	to := func(v value, oid uint32) value {
		v.term, v.sem = cast(v.term, plain(oid)), c
		return v
	}
	switch {
	case from == integer && c.number():
		v.hi, v.lo = len(v.max.String()), 0
		return to(v, natural[c])
	case from == numeric && c == double:
		v = v.limit(300)
		if v.lo < -300 {
			v.term, v.lo = op("round", oidNumeric, v.term, constant(oidInt4, "300")), -300
		}
		return to(v, oidFloat8)
	case c == single:
		if v = v.as(double); v.hi > 38 {
			v.term, v.hi = within(v.term, oidFloat8, "-3.4028235677973366e+38", "3.4028235677973366e+38"), 39
		}
		if v.lo < singleLo { // to multiples of the least float4, 2^-149
			v.term, v.lo = flush(v.term, "1.2621774483536189e-29"), singleLo
		}
		return to(v, oidFloat4)
	case from == single && c == double:
		return to(v, oidFloat8)
	case from == text && c == padded:
		return to(v.bounded(), oidBpchar)
	case c == numeric && (from == single || from == double):
		// Infinity is a numeric too; the range says that anything can come.
		v.hi, v.lo = numericHi, -345
		return to(v, oidNumeric)
	case from == date && (c == timestamp || c == timestamptz):
		v.term = inYears(v.term)
		return to(v, natural[c])
	}
	return to(v, natural[c])
}

// within is x where low < x < high, and NULL elsewhere, also for NaN. x is evaluated once: a comparison in CASE would
// write it twice, and nested guards would grow without bound.
func within(x *term, oid uint32, low, high string) *term {
	lo, hi := constant(oid, low), constant(oid, high)
	clamped := op("LEAST", oid, op("GREATEST", oid, x, lo), hi)
	return op("NULLIF", oid, op("NULLIF", oid, clamped, hi), lo)
}

// flush rounds a double to multiples of about 2^-53 tiny: what is less becomes zero, and what is far above tiny is not
// changed. Adding does not underflow.
func flush(x *term, tiny string) *term {
	c := constant(oidFloat8, tiny)
	return op("-", oidFloat8, op("+", oidFloat8, x, c), c)
}

// limit keeps |v| below 10^hi: values beyond are NULL, and so is NaN.
func (v value) limit(hi int) value {
	if v.hi <= hi {
		return v
	}
	bound := "1e+" + itoa(hi)
	v.term, v.hi = within(v.term, v.typ.OID, "-"+bound, bound), hi
	return v
}

// floor keeps a double from being less than 10^lo, but for zero.
func (v value) floor(lo int) value {
	if v.lo < lo {
		v.term, v.lo = flush(v.term, "1e"+itoa(lo+17)), lo
	}
	return v
}

// above is v, NULL where it is not above floor.
func (v value) above(floor string) value {
	oid := v.typ.OID
	bound := constant(oid, floor)
	v.term = op("NULLIF", oid, op("GREATEST", oid, v.term, bound), bound)
	return v
}

// unsigned is v, NULL below zero.
func (v value) unsigned() value {
	if v.class() == numeric {
		return v.limit(300).above("-1e-16383")
	}
	return v.above("-5e-324")
}

// fit bounds two doubles so that their product, or with inverse their quotient, neither overflows nor underflows.
func fit(a, b value, inverse bool) (value, value) {
	const most, half = 307, 153
	hi, lo := func() int { return b.hi }, func() int { return b.lo }
	less, more := func(hi int) { b = b.limit(hi) }, func(lo int) { b = b.floor(lo) }
	if inverse {
		hi, lo = func() int { return -b.lo }, func() int { return -b.hi }
		less, more = func(hi int) { b = b.floor(-hi) }, func(lo int) { b = b.limit(-lo) }
	}

	// The factor that is far out alone is bounded by what the other leaves; of two, each by half.
	if a.hi+hi() > most {
		if hi() > half && a.hi > half {
			a = a.limit(half)
		}
		if hi() > half {
			less(most - a.hi)
		} else {
			a = a.limit(most - hi())
		}
	}

	if a.lo+lo() < -most {
		if lo() < -half && a.lo < -half {
			a = a.floor(-half)
		}
		if lo() < -half {
			more(-most - a.lo)
		} else {
			a = a.floor(-most - lo())
		}
	}
	return a, b
}

// inYears keeps a date or a timestamp within the years 1 to 9999; infinity is beyond.
func inYears(x *term) *term {
	switch classes[x.typ.OID] {
	case date:
		return within(x, oidDate, "0001-12-31 BC", "10000-01-01")
	case timestamptz:
		return within(x, oidTimestamptz, "0001-12-31 23:59:59.999999+00 BC", "10000-01-01 00:00:00+00")
	}
	return within(x, oidTimestamp, "0001-12-31 23:59:59.999999 BC", "10000-01-01 00:00:00")
}

func (v value) inYears() value {
	if v.kind != kConst {
		v.term = inYears(v.term)
	}
	return v
}

// narrow gives an integer in the type, and NULL where it does not fit.
func (v value) narrow(oid uint32) value {
	limit := map[uint32]*big.Int{oidInt2: maxInt2, oidInt4: maxInt4, oidInt8: maxInt8}[oid]
	if width[v.typ.OID] <= width[oid] && v.kind != kConst {
		return v
	}
	if v.max.Cmp(limit) >= 0 {
		low := new(big.Int).Neg(limit)
		v.term = within(v.term, v.typ.OID, low.Sub(low, big.NewInt(1)).String(), limit.String())
		v.max = limit
	}
	if v.typ.OID != oid && v.kind != kConst {
		v.term = cast(v.term, plain(oid))
	}
	return v
}

// width orders the types in which integers are computed.
var width = map[uint32]int{oidInt2: 2, oidInt4: 4, oidInt8: 8, oidNumeric: 16}

// summand is an argument of sum or avg: of a type like those that PostgreSQL sums to int8 it fits int8, and decimals
// are of a length that can be summed. Columns stay what they are; who sums bounds them.
func summand(v value, oid uint32) value {
	switch {
	case v.kind == kColumn:
	case v.class() == integer && (oid == oidInt2 || oid == oidInt4):
		return v.narrow(oidInt8)
	case v.class() == numeric:
		return v.limit(300)
	}
	return v
}

func (v value) int4(t *term) (value, error) {
	if c := v.class(); c != integer && c != null {
		return v, refuse(t, "Write a whole number.", "an argument of type %s cannot be used here on protected rows", c)
	}
	if v.kind == kNull {
		return leaf(&term{kind: kNull, typ: plain(oidInt4)}), nil
	}
	return v.narrow(oidInt4), nil
}
