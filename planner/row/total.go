package row

import (
	"math/big"
	"slices"
	"strings"

	"fugu/sqlstate"
)

// value is the total form of a term: SQL that has a value, or NULL, for every row, and bounds of that value.
type value struct {
	*term
	sem    class    // what it means: an integer may be computed as numeric
	max    *big.Int // integer: |x| ≤ max
	hi, lo int      // numeric, single, double: a finite x is 0, or 10^lo ≤ |x| ≤ 10^hi
	chars  int      // text, padded: at most; -1: no bound
}

func (v value) class() class { return v.sem }

// rule makes the total form of an operation from those of its operands.
type rule struct {
	name  string // as people write it
	total string // what keeps it from failing; empty: it cannot fail
	apply func(t *term, args []value) (value, error)
}

// total gives the total form of a term in normal form.
func total(t *term) (value, error) {
	switch t.kind {
	case kColumn, kNull:
		return leaf(t), nil
	case kConst:
		return constantValue(t), nil
	case kOp:
	default:
		return value{}, refuse(t, "Report this: a constant was left over.", "this expression cannot be evaluated on protected rows")
	}
	args := make([]value, len(t.args))
	for i, a := range t.args {
		var err error
		if args[i], err = total(a); err != nil {
			return value{}, err
		}
	}
	r, ok := rules[t.op]
	if !ok {
		return value{}, refuse(t, hintOperands, "%s cannot be evaluated on protected rows", describe(t.op))
	}
	if !strings.HasPrefix(t.op, "IS ") || !strings.HasSuffix(t.op, "NULL") {
		for i, a := range args {
			if c := a.class(); c == other {
				return value{}, refuse(t.args[i], "Columns of this type can be tested with IS NULL, and counted.", "a value of this type cannot be used on protected rows")
			} else if c == enum && !comparesEnums(t.op) {
				return value{}, refuse(t.args[i], "Compare it with = or IN.", "a value of an enum type cannot be used in %s on protected rows", describe(t.op))
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

const hintOperands = "Cast the operands to types that have the operation: numbers, text, dates or timestamps."

func refuse(t *term, hint, format string, args ...any) error {
	return sqlstate.New(sqlstate.NotAnswerable, format, args...).WithHint("%s", hint).At(t.position())
}

func describe(name string) string {
	switch {
	case name == opNegate:
		return "operator -"
	case name[0] >= 'a' && name[0] <= 'z':
		return "function " + name
	case name[0] >= 'A' && name[0] <= 'Z':
		return name
	}
	return "operator " + name
}

// Bounds of what a column may hold.
var (
	maxInt2 = big.NewInt(1 << 15)
	maxInt4 = big.NewInt(1 << 31)
	maxInt8 = new(big.Int).Lsh(big.NewInt(1), 63)
)

const (
	numericHi, numericLo = 131072, -16383 // manual, section 8.1.2
	doubleHi, doubleLo   = 309, -324
	singleHi, singleLo   = 39, -45
)

// leaf is a value of which only the type is known.
func leaf(t *term) value {
	v := value{term: t, sem: t.class(), chars: -1}
	switch t.class() {
	case null:
		v.max, v.chars = new(big.Int), 0
	case integer:
		v.max = map[uint32]*big.Int{oidInt2: maxInt2, oidInt4: maxInt4, oidInt8: maxInt8}[t.typ.OID]
	case numeric:
		v.hi, v.lo = numericHi, numericLo
		if p, s, ok := t.typ.decimal(); ok {
			v.hi, v.lo = max(p-s, 0), -max(s, 0)
		}
	case double:
		v.hi, v.lo = doubleHi, doubleLo
	case single:
		v.hi, v.lo = singleHi, singleLo
	case text, padded:
		if n, ok := t.typ.length(); ok {
			v.chars = n
		} else if t.typ.OID == oidName {
			v.chars = 63
		}
	}
	if t.kind == kNull {
		v.max, v.hi, v.lo, v.chars = new(big.Int), 0, 0, 0
	}
	return v
}

// constantValue knows the value itself.
func constantValue(t *term) value {
	v := leaf(t)
	switch t.class() {
	case integer:
		if n, ok := new(big.Int).SetString(t.text, 10); ok {
			v.max = n.Abs(n)
			if v.max.Cmp(maxInt4) >= 0 && v.typ.OID != oidInt8 {
				v.term = constant(oidInt8, t.text)
			} else if v.max.Cmp(maxInt4) < 0 && v.typ.OID != oidInt4 { // as it is printed
				v.term = constant(oidInt4, t.text)
			}
		}
	case numeric, single, double:
		if x, ok := new(big.Rat).SetString(t.text); ok && len(t.text) < 60 && plainDecimal.MatchString(t.text) {
			v.hi, v.lo = decades(x)
		}
	case text, padded:
		v.chars = len(t.text)
	}
	return v
}

// decades bounds |x| by powers of ten.
func decades(x *big.Rat) (hi, lo int) {
	if x.Sign() == 0 {
		return 0, 0
	}
	f, _ := new(big.Rat).Abs(x).Float64()
	for p := 1.0; f > p; p *= 10 {
		hi++
	}
	if hi > 0 {
		return hi, hi - 1
	}
	for p := 1.0; f < p; p /= 10 {
		lo--
	}
	return lo + 1, lo
}

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

// within is x where low < x < high, and NULL elsewhere, also for NaN. x is evaluated once: a comparison in CASE would write it twice, and nested guards
// would grow without bound.
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

// fit bounds two doubles so that their product, or with inverse their quotient, neither overflows nor underflows.
func fit(a, b value, inverse bool) (value, value) {
	const most, half = 307, 153
	hi, lo := func() int { return b.hi }, func() int { return b.lo }
	less, more := func(hi int) { b = b.limit(hi) }, func(lo int) { b = b.floor(lo) }
	if inverse {
		hi, lo = func() int { return -b.lo }, func() int { return -b.hi }
		less, more = func(hi int) { b = b.floor(-hi) }, func(lo int) { b = b.limit(-lo) }
	}
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
