package row

import (
	"strconv"
)

var castRules = []rule{{opCast, "NULL where the value has no place in the type; text is read in plain forms only: " +
	"12.5, true, 2024-01-31", castRule}}

func castRule(t *term, args []value) (value, error) {
	v, to := args[0], t.class()
	from := v.class()
	refused := refuse(t, hintOperands, "a cast from %s to %s cannot be evaluated on protected rows", from, to)
	switch {
	case v.kind == kNull:
		return leaf(&term{kind: kNull, typ: t.typ}), nil
	case v.typ.OID == oidMoney && to.number() && to != integer:
		// An int8 of the currency's smallest unit, of which a whole one has 10^10 at most.
		v = value{term: cast(v.term, plain(oidNumeric)), sem: numeric, hi: 19, lo: -10, chars: -1}
		if to != numeric {
			return v.as(to), nil
		}
		return v.scaled(t.typ), nil
	case from.number() && to == integer:
		if from != integer {
			if v = v.roundToInteger(); v.max == nil {
				return value{}, refused
			}
		}
		return v.narrow(t.typ.OID), nil
	case from.number() && to == numeric:
		return v.as(numeric).scaled(t.typ), nil
	case from.number() && to.number():
		return v.as(to), nil
	case from == boolean && to == integer:
		return leaf(cast(v.term, plain(oidInt4))), nil
	case from == integer && to == boolean:
		return leaf(truth("<>", v.term, constant(oidInt4, "0"))), nil
	case to == text || to == padded:
		return toText(t, v, refused)
	case from == text || from == padded:
		return fromText(t, v, refused)
	case from.moment() && to.moment():
		v = v.as(to)
	case (from == timestamp || from == timestamptz) && to == clock, from == to:
	default:
		return value{}, refused
	}

	// Rounding to fewer digits of a second may lead out of the years that there are.
	if n, ok := t.typ.length(); ok && from.moment() && n < 6 {
		v = v.inYears()
	}
	if v.typ != t.typ {
		v.term, v.sem = cast(v.term, t.typ), to
	}
	return v, nil
}

// roundToInteger rounds as PostgreSQL's casts to integers do; what is beyond int8 is NULL.
func (v value) roundToInteger() value {
	switch v.class() {
	case single:
		v = v.as(double)
		fallthrough
	case double:
		v.term = within(op("round", oidFloat8, v.term), oidFloat8, "-9223372036854777856", "9223372036854775808")
	case numeric:
		v = v.limit(300)
		v.term = within(op("round", oidNumeric, v.term), oidNumeric, "-9223372036854775809", "9223372036854775808")
	}
	return value{term: cast(v.term, plain(oidInt8)), sem: integer, max: maxInt8, chars: -1}
}

// scaled rounds to numeric(p,s); NULL where there are too many digits.
func (v value) scaled(t Type) value {
	p, s, ok := t.decimal()
	if !ok {
		return v
	}
	v = v.limit(300)
	bound := "1e+" + strconv.Itoa(p-s)
	if p < s {
		bound = "1e" + strconv.Itoa(p-s)
	}
	v.term = within(op("round", oidNumeric, v.term, constant(oidInt4, itoa(s))), oidNumeric, "-"+bound, bound)
	v.term, v.hi, v.lo = cast(v.term, t), max(p-s, 0), -max(s, 0)
	return v
}

func toText(t *term, v value, refused error) (value, error) {
	switch c := v.class(); {
	case c == other:
		return value{}, refused
	case c == numeric:
		v = v.limit(300)
		fallthrough
	case c != text && c != padded:
		v.chars = shown
	}
	v.term, v.sem = cast(v.term, t.typ), t.class()
	if n, ok := t.typ.length(); ok {
		if n > maxRead {
			return value{}, tooMuch(t)
		}
		v.chars = n
	}
	return v, nil
}

// Forms of text that a cast is sure to read.
const (
	spaces      = `[ \t\n\v\f\r]*`
	formNumber  = `[-+]?(?:[0-9]{1,100}(?:\.[0-9]{0,100})?|\.[0-9]{1,100})(?:[eE][-+]?[0-9]{1,2})?`
	formInteger = `[-+]?[0-9]{1,30}`
	formBool    = `(?:[tT](?:[rR](?:[uU][eE]?)?)?|[fF](?:[aA](?:[lL](?:[sS][eE]?)?)?)?|` +
		`[yY](?:[eE][sS]?)?|[nN][oO]?|[oO](?:[nN]|[fF][fF]?)|1|0)`
	formUUID = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`
	formYear = `(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])`
	formLeap = `(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)-02-29`
	formDate = `(?:` + formYear +
		`-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)|` +
		formLeap + `)`
	formTime  = `(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?`
	formStamp = formDate + `(?:[ T]` + formTime + `)?`
)

// fromText reads text that has a plain form; every other text is NULL.
func fromText(t *term, v value, refused error) (value, error) {
	read := func(form string, oid uint32) *term {
		pattern := "^" + spaces + "(" + form + ")" + spaces + "$"
		return cast(op("substring", oidText, v.asText().term, constant(oidText, pattern)), plain(oid))
	}

	// Where a substring is NULL there was no plain form, and the cast of NULL cannot fail.
	switch c := t.class(); c {
	case integer:
		out := value{term: read(formInteger, oidNumeric), sem: integer, max: integerDigits, chars: -1}
		return out.narrow(t.typ.OID), nil
	case numeric:
		out := value{term: read(formNumber, oidNumeric), sem: numeric, hi: 199, lo: -199, chars: -1}
		return out.scaled(t.typ), nil
	case double, single:
		out := value{term: read(formNumber, oidFloat8), sem: double, hi: 199, lo: -199, chars: -1}
		return out.as(c), nil
	case boolean:
		return leaf(read(formBool, oidBool)), nil
	case uuid:
		return leaf(read(formUUID, oidUUID)), nil
	case date:
		return leaf(read(formDate, oidDate)), nil
	case timestamp, timestamptz:
		return leaf(cast(read(formStamp, oidTimestamp), t.typ)), nil
	case clock:
		return leaf(cast(read(formTime, oidTime), t.typ)), nil
	}
	return value{}, refused
}
