package row

import (
	"math/big"
	"strconv"
	"strings"
	"time"
)

// mirrored gives the comparison with its sides exchanged.
var mirrored = map[string]string{"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<=",
	"IS DISTINCT FROM": "IS DISTINCT FROM", "IS NOT DISTINCT FROM": "IS NOT DISTINCT FROM"}

// compare is l name r: a constant stands on the right, in the type of the left; bounds of whole numbers and days are
// written with > and <=; and a comparison with a truth value is the condition itself.
func compare(name string, l, r *term) *term {
	if l.constant() && !r.constant() || l.constant() == r.constant() && l.String() > r.String() ||
		l.String() == r.String() && (name == ">" || name == ">=") {
		l, r, name = r, l, mirrored[name]
	}

	distinct := strings.HasPrefix(name, "IS")
	switch {
	case (l.kind == kNull || r.kind == kNull) && !distinct:
		return &term{kind: kNull, typ: plain(oidBool)}
	case r.kind == kNull:
		return isNull(l, name == "IS DISTINCT FROM")
	case l.class() == boolean && r.kind == kConst && (name == "=" || name == "<>"):
		if (r.text == "true") == (name == "=") {
			return l
		}
		return negate(l)
	}

	// Two constants are compared here; with one, bounds are brought to one form.
	if l.kind == kConst && r.kind == kConst {
		if v, ok := settled(name, l, r); ok {
			return boolean3(v)
		}
	} else if r.kind == kConst {
		if !distinct {
			name, r = align(name, l.class(), r)
			if l.class() == integer {
				l, name, r = isolate(l, name, r)
				name, r = align(name, l.class(), r)
			}
		} else if _, c := align("=", l.class(), r); c.class() == l.class() {
			r = c
		}
	}
	return truth(name, l, r)
}

// settled compares two numbers, or tells whether two texts are equal.
func settled(name string, l, r *term) (value, ok bool) {
	// Texts are compared for equality alone: their order depends on a collation.
	c := 0
	switch {
	case l.class() == text && r.class() == text && (name == "=" || name == "<>"):
		c = strings.Compare(l.text, r.text)
	case (l.class() == integer || l.class() == numeric) && (r.class() == integer || r.class() == numeric) &&
		plainDecimal.MatchString(l.text) && plainDecimal.MatchString(r.text):
		a, _ := new(big.Rat).SetString(l.text)
		b, _ := new(big.Rat).SetString(r.text)
		c = a.Cmp(b)
	default:
		return false, false
	}

	switch name {
	case "=", "IS NOT DISTINCT FROM":
		return c == 0, true
	case "<>", "IS DISTINCT FROM":
		return c != 0, true
	case "<":
		return c < 0, true
	case "<=":
		return c <= 0, true
	case ">":
		return c > 0, true
	}
	return c >= 0, true
}

// isolate takes constants to the right: x + 2 > 5 is x > 3.
func isolate(l *term, name string, r *term) (*term, string, *term) {
	// Below the cut sums of integers cannot overflow, so that what is on both sides may be taken off.
	for r.class() == integer {
		switch {
		case l.is(opNegate):
			l, name, r = l.args[0], mirrored[name], constant(oidInt8, negated(r.text))
			continue
		case l.is("+") && l.args[len(l.args)-1].kind == kConst:
			n, ok := wholes(r.text, l.args[len(l.args)-1].text)
			if !ok {
				return l, name, r
			}
			r = constant(oidInt8, n[0].Sub(n[0], n[1]).String())
			if l = op("+", l.typ.OID, l.args[:len(l.args)-1]...); len(l.args) == 1 {
				l = l.args[0]
			}
			continue
		}

		break
	}
	return l, name, r
}

func wholes(texts ...string) ([]*big.Int, bool) {
	var out []*big.Int
	for _, s := range texts {
		n, ok := new(big.Int).SetString(s, 10)
		if !ok {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}

// align writes the constant of a comparison in the class of the other side, where that changes no result.
func align(name string, c class, r *term) (string, *term) {
	from := r.class()
	switch c {
	case integer:
		if from == integer || from == numeric {
			return whole(name, r)
		}
	case numeric:
		if from == integer || from == numeric {
			return name, constant(oidNumeric, canonicalNumeric(r.text))
		}
	case single, double:
		if from == integer || from == numeric {
			if f, err := strconv.ParseFloat(r.text, 64); err == nil && plainDecimal.MatchString(r.text) {
				return name, constant(oidFloat8, formatFloat(f))
			}
		}
	case date:
		if from.moment() {
			return wholeDay(name, r)
		}
	case timestamp, timestamptz:
		if from.moment() {
			oid := natural[c]
			if s, ok := canonical(oid, strings.TrimSuffix(r.text, "+00")); ok {
				return name, constant(oid, s)
			}
		}
	}
	return name, r
}

// whole writes a bound on whole numbers with > or <=.
func whole(name string, r *term) (string, *term) {
	x, ok := new(big.Rat).SetString(r.text)
	if !ok || !plainDecimal.MatchString(r.text) {
		return name, r
	}
	// The greatest whole number not above x.
	floor := new(big.Int).Div(x.Num(), x.Denom())
	exact := x.IsInt()
	switch {
	case exact && (name == ">=" || name == "<"):
		floor.Sub(floor, big.NewInt(1))
	case !exact && (name == "=" || name == "<>"):
		return name, constant(oidNumeric, canonicalNumeric(r.text))
	}
	if floor.BitLen() > 63 {
		return name, r
	}
	return moved(name), constant(oidInt8, floor.String())
}

// moved writes >= as > and < as <=, for a bound that has been moved.
func moved(name string) string {
	switch name {
	case ">=":
		return ">"
	case "<":
		return "<="
	}
	return name
}

// wholeDay does for days what whole does for numbers.
func wholeDay(name string, r *term) (string, *term) {
	s := strings.TrimSuffix(r.text, "+00")
	d, err := time.Parse(time.DateTime, s)
	exact := true
	if err == nil {
		exact = d.Equal(d.Truncate(24 * time.Hour))
		d = d.Truncate(24 * time.Hour)
	} else if d, err = time.Parse(time.DateOnly, s); err != nil {
		return name, r
	}
	if d.Year() < 1001 || !exact && (name == "=" || name == "<>") {
		return name, r
	}
	if exact && (name == ">=" || name == "<") {
		d = d.AddDate(0, 0, -1)
	}
	return moved(name), constant(oidDate, d.Format(time.DateOnly))
}
