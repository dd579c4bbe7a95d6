package row

import (
	"math"
	"math/big"
	"strconv"
)

const (
	exactSum = "integers that overflow their type are exact in a wider one; real and double precision are NULL " +
		"beyond 10^±100 where the result could overflow"
	divisor   = "NULL for a divisor of zero"
	notBelow  = "NULL below zero"
	exponents = "the exponent is a constant from -8 to 8"
)

var numberRules = []rule{
	{"+", exactSum, plus}, {"-", exactSum, minus}, {"*", exactSum, times},
	{"/", divisor, quotient}, {"%", divisor, remainder}, {opNegate, "", negative}, {"abs", "", negative},
	{"round", "digits are a constant", rounded}, {"trunc", "digits are a constant", rounded},
	{"ceil", "", rounded}, {"floor", "", rounded}, {"sign", "", rounded},
	{"div", divisor, func(t *term, args []value) (value, error) {
		if err := numbers(t, args); err != nil {
			return value{}, err
		}
		return divide(args[0].as(numeric).limit(300), args[1].as(numeric).limit(300), "div"), nil
	}},
	{"sqrt", notBelow, root}, {"cbrt", "", func(t *term, args []value) (value, error) {
		if err := numbers(t, args); err != nil {
			return value{}, err
		}
		return function("cbrt", oidFloat8, args[0].as(double)), nil
	}},
	{"exp", "NULL where the result is out of range", exponential}, {"ln", "NULL for zero and below", logarithm},
	{"log", "NULL for zero and below; a base is a constant", logarithm},
	{"power", exponents + "; NULL for a root of what is below zero", power},
	{"width_bucket", "bounds and count are constants", bucket},
}

func rounded(t *term, args []value) (value, error) {
	if err := numbers(t, args); err != nil {
		return value{}, err
	}

	v := args[0].as(t.class())
	if v.class() == numeric {
		v = v.limit(300)
	}
	terms := []*term{v.term}
	if len(args) == 2 {
		n, err := strconv.Atoi(args[1].text)
		if args[1].kind != kConst || err != nil || n < -1000 || n > 1000 {
			return value{}, refuse(t, "Write the number: round(x, 2).", "the digits of %s must be a constant from "+
				"-1000 to 1000", t.op)
		}
		terms = append(terms, args[1].term)
	}

	// To round up may make one digit more.
	v.term, v.hi = op(t.op, v.typ.OID, terms...), v.hi+1
	if v.class() == double {
		v.lo = 0
	}
	return v, nil
}

func root(t *term, args []value) (value, error) {
	if err := numbers(t, args); err != nil {
		return value{}, err
	}
	v := args[0].as(t.class()).unsigned()
	out := function("sqrt", v.typ.OID, v)
	out.hi, out.lo = v.hi/2+1, min(v.lo/2-1, 0)
	if v.class() == numeric {
		out.lo = numericLo
	}
	return out, nil
}

func exponential(t *term, args []value) (value, error) {
	if err := numbers(t, args); err != nil {
		return value{}, err
	}
	v := args[0].as(t.class())
	if v.class() == numeric {
		v.term = within(v.term, oidNumeric, "-2000", "2000")
		out := function("exp", oidNumeric, v)
		out.hi, out.lo = 900, numericLo
		return out, nil
	}
	v.term = within(v.term, oidFloat8, "-745.1332191019412", "709.7827128933841")
	return function("exp", oidFloat8, v), nil
}

func logarithm(t *term, args []value) (value, error) {
	if err := numbers(t, args); err != nil {
		return value{}, err
	}
	x := args[len(args)-1].as(t.class())
	if x.class() == numeric {
		x = x.limit(300)
	}
	x = x.above("0")

	// A logarithm fails for what is not above 0, so that these are NULL, and of a base only a constant is known to be
	// fit.
	terms := []value{x}
	if len(args) == 2 {
		base, err := strconv.ParseFloat(args[0].text, 64)
		if args[0].kind != kConst || err != nil || base <= 0 || math.Abs(base-1) < 1e-6 || base > 1e100 ||
			base < 1e-100 {
			return value{}, refuse(t, "Write the base: log(10, x).", "the base of a logarithm must be a positive "+
				"constant other than 1")
		}

		terms = []value{args[0].as(numeric), x}
	}

	out := function(t.op, x.typ.OID, terms...)
	out.hi, out.lo = 13, -20
	if x.class() == numeric {
		out.lo = numericLo
	}
	return out, nil
}

func power(t *term, args []value) (value, error) {
	if err := numbers(t, args); err != nil {
		return value{}, err
	}
	e, err := strconv.ParseFloat(args[1].text, 64)
	if args[1].kind != kConst || err != nil || math.Abs(e) > 8 || math.IsNaN(e) {
		return value{}, refuse(t, "Write power(x, 2), or x * x.", "%s", "the exponent must be a constant from -8 to 8")
	}
	c := t.class()
	x := args[0].as(c)
	if e != math.Trunc(e) {
		x = x.unsigned()
	}
	if c == numeric {
		if x = x.limit(300); e < 0 && x.lo < -1000 {
			// The inverse of a power does not overflow, however small the base.
			positive := constant(oidNumeric, canonicalNumeric(strconv.FormatFloat(-e, 'f', -1, 64)))
			p := value{term: op("power", oidNumeric, x.term, positive), sem: numeric, hi: 2500, lo: numericLo,
				chars: -1}
			one := constantValue(constant(oidNumeric, "1"))
			return divide(one, p, "/"), nil
		} else if e < 0 {
			x = x.nonzero()
		}

		out := function("power", oidNumeric, x, args[1].as(numeric))
		out.hi, out.lo = 8001, numericLo
		return out, nil
	}
	n := max(1, int(math.Ceil(math.Abs(e))))
	x = x.limit(300 / n)
	x = x.floor(-300 / n)
	if e < 0 {
		x = x.nonzero()
	}
	out := function("power", oidFloat8, x, args[1].as(double))
	out.hi, out.lo = 301, -301
	return out, nil
}

func bucket(t *term, args []value) (value, error) {
	if err := numbers(t, args); err != nil {
		return value{}, err
	}

	// Its bounds are constants: no row can make them equal, or their count none.
	var bounds [3]float64
	for i := range bounds {
		f, err := strconv.ParseFloat(args[i+1].text, 64)
		if args[i+1].kind != kConst || err != nil || math.IsNaN(f) || math.Abs(f) > 1e100 {
			return value{}, refuse(t, "Write width_bucket(x, 0, 100, 10).", "the bounds and the count of "+
				"width_bucket must be constants")
		}
		bounds[i] = f
	}

	if bounds[0] == bounds[1] || bounds[2] < 1 || bounds[2] > 1e6 {
		return value{}, refuse(t, "Write width_bucket(x, 0, 100, 10).", "width_bucket needs two bounds that differ, "+
			"and a count from 1 to 1000000")
	}
	c := numeric
	for _, a := range args[:3] {
		if a.class() == double || a.class() == single {
			c = double
		}
	}

	x := args[0].as(c)
	x.hi = numericHi // a NaN is an error here, so that the guard is always needed
	x = x.limit(300)
	v := function("width_bucket", oidInt4, x, args[1].as(c), args[2].as(c), args[3])
	v.max = big.NewInt(1 + int64(bounds[2]))
	return v, nil
}
