package row

import (
	"math/big"

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

// rebuild is t with the operands' total forms.
func rebuild(t *term, oid uint32, args []value) value {
	terms := make([]*term, len(args))
	for i, a := range args {
		terms[i] = a.term
	}
	return leaf(&term{op: t.op, typ: plain(oid), args: terms, pos: t.pos})
}

// function is a call with total arguments whose bounds are its type's.
func function(name string, oid uint32, args ...value) value {
	return rebuild(&term{op: name}, oid, args)
}

func numbers(t *term, args []value) error {
	for i, a := range args {
		if c := a.class(); !c.number() && c != null {
			return refuse(t.args[i], hintOperands, "%s cannot be used on values of type %s on protected rows",
				describe(t.op), c)
		}
	}
	return nil
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

	// NULL is no number and no text: it may count as the least of either.
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

// asText is v as text, however it was padded.
func (v value) asText() value {
	if v.kind != kConst && v.typ.OID != oidText {
		v.term = cast(v.term, plain(oidText))
	}
	v.sem = text
	return v
}

// bounded is text of at most maxRead characters.
func (v value) bounded() value {
	v = v.asText()
	if v.chars < 0 || v.chars > maxRead {
		v.term, v.chars = op("left", oidText, v.term, constant(oidInt4, itoa(maxRead))), maxRead
	}
	return v
}

// pattern is a constant as text, whatever kind of text it was.
func (v value) pattern() value {
	v.term = constant(oidText, v.text)
	return v
}

// rule makes the total form of an operation from those of its operands.
type rule struct {
	name  string // as people write it
	total string // what keeps it from failing; empty: it cannot fail
	apply func(t *term, args []value) (value, error)
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

// Text has no bound in PostgreSQL but memory, and running out of it is an error too: what functions read, and what they
// make, is bounded here.
const (
	maxRead = 1_000_000  // characters of a text that a function reads
	maxMade = 20_000_000 // characters that a function may make
)
