package row

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
)

const inYearsOnly = "NULL outside of the years 1 to 9999"

var timeRules = []rule{
	{"date_trunc", inYearsOnly + "; the unit is a constant", truncated},
	{"extract", "the field is a constant", field}, {"date_part", "the field is a constant", field},
	{"date_bin", inYearsOnly + "; width and origin are constants", binned},
	{"to_char", inYearsOnly + "; the format is a constant of digits, month and day names", formatted},
	{"timezone", inYearsOnly + "; the zone is a constant", zoned},
	{"to_timestamp", inYearsOnly + "; text is a constant", instant}, {"to_date", "of constants", constants},
	{"make_date", "of constants", constants}, {"make_timestamp", "of constants", constants},
}

var integerDigits = new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil)

func isTime(args []value) bool {
	return slices.ContainsFunc(args, func(a value) bool {
		c := a.class()
		return c.moment() || c == clock || c == interval
	})
}

// maxDays bounds how far a day is moved: from the years 1 to 9999 it stays a date.
var maxDays = big.NewInt(1_000_000)

// shift is the arithmetic of dates and times.
func shift(t *term, args []value) (value, error) {
	const hint = "Add whole days to dates, and constant intervals to dates and timestamps: x + interval '1 month'."
	refused := refuse(t, hint, "%s cannot be evaluated on values of type %s and %s on protected rows", describe(t.op),
		args[0].class(),
		args[1].class())
	if len(args) != 2 {
		return value{}, refused
	}

	// NULL in, NULL out.
	a, b := args[0], args[1]
	ca, cb := a.class(), b.class()
	if ca == null || cb == null {
		return leaf(&term{kind: kNull, typ: t.typ}), nil
	}

	// Results have to be in the years that PostgreSQL can write: operands are brought into them.
	switch {
	case ca == date && cb == integer:
		if b.max.Cmp(maxDays) > 0 {
			limit := maxDays.String()
			b.term, b.max = within(b.term, b.typ.OID, "-"+limit, limit), maxDays
		}
		return leaf(op(t.op, oidDate, a.inYears().term, b.narrow(oidInt4).term)), nil
	case ca.moment() && ca == cb && t.op == "-":
		out := leaf(op("-", t.typ.OID, a.inYears().term, b.inYears().term))
		if ca == date {
			out.max = big.NewInt(4_000_000)
		}
		return out, nil
	case ca.moment() && cb.moment() && t.op == "-":
		c := max(ca, cb)
		return leaf(op("-", t.typ.OID, a.as(c).inYears().term, b.as(c).inYears().term)), nil
	case ca.moment() && cb == interval && b.kind == kConst:
		if !modest(b.text) {
			return value{}, refuse(t.args[1], "Intervals can be of up to 2000 years.", "an interval of this length "+
				"cannot be added on protected rows")
		}
		return leaf(op(t.op, t.typ.OID, a.inYears().term, b.term)), nil
	case ca == date && cb == clock && t.op == "+":
		return leaf(op("+", t.typ.OID, a.inYears().term, b.term)), nil
	case ca == clock && cb == clock && t.op == "-", ca == clock && cb == interval && b.kind == kConst && modest(b.text):
		return leaf(op(t.op, t.typ.OID, a.term, b.term)), nil
	}
	return value{}, refused
}

var intervalPart = regexp.MustCompile(`^([-+]?[0-9]{1,9}) (year|mon|day)s?$`)

// modest reports whether an interval, as PostgreSQL writes it, is of at most some 2000 years.
func modest(s string) bool {
	words := strings.Fields(s)
	if n := len(words); n%2 == 1 { // the last word is a time of day
		clock := strings.TrimLeft(words[n-1], "-+")
		if hours, _, ok := strings.Cut(clock, ":"); !ok || len(hours) > 6 {
			return false
		}
		words = words[:n-1]
	}

	// All other words come in pairs: a number and its unit.
	for i := 0; i < len(words); i += 2 {
		m := intervalPart.FindStringSubmatch(words[i] + " " + words[i+1])
		if m == nil {
			return false
		}
		n, _ := atoi(strings.TrimPrefix(m[1], "+"))
		if limit := map[string]int{"year": 1000, "mon": 12, "day": 200_000}[m[2]]; n > limit || n < -limit {
			return false
		}
	}
	return true
}

var (
	dateFields = []string{"year", "month", "day", "quarter", "week", "dow", "isodow", "doy", "isoyear", "decade",
		"century", "millennium", "epoch", "julian"}
	timeFields = []string{"hour", "minute", "second", "milliseconds", "microseconds", "epoch"}
	spanFields = []string{"year", "month", "day", "quarter", "decade", "century", "millennium"}
	truncUnits = []string{"microseconds", "milliseconds", "second", "minute", "hour", "day", "week", "month", "quarter",
		"year", "decade", "century", "millennium"}
)

func field(t *term, args []value) (value, error) {
	f, x := args[0], args[1]
	fields := map[class][]string{date: dateFields, clock: timeFields,
		timestamp: slices.Concat(dateFields, timeFields), interval: slices.Concat(timeFields, spanFields)}
	fields[timestamptz] = fields[timestamp]
	c := x.class()
	if c == null {
		return leaf(&term{kind: kNull, typ: t.typ}), nil
	}

	allowed := fields[c]
	if c == date && t.op == "date_part" {
		allowed = fields[timestamp]
		x = x.as(timestamp)
	}

	if allowed == nil {
		return value{}, refuse(t, "Cast it: x::date, x::timestamp.", "%s cannot be used on values of type %s on "+
			"protected rows", t.op, c)
	}
	if f.kind != kConst || !slices.Contains(allowed, f.text) {
		return value{}, refuse(t, "The fields are "+strings.Join(allowed, ", ")+".", "%s of a %s takes one of its "+
			"fields, as a constant", t.op, c)
	}

	// Every field has its place in twenty digits, and six behind the point.
	v := function(t.op, t.typ.OID, f.pattern(), x)
	v.hi, v.lo = 20, -6
	return v, nil
}

// truncated is the rule of date_trunc.
func truncated(t *term, args []value) (value, error) {
	u, x := args[0], args[1]
	switch c := x.class(); {
	case c == null:
		return leaf(&term{kind: kNull, typ: t.typ}), nil
	case !c.moment():
		return value{}, refuse(t, "Cast it: x::timestamp.", "date_trunc cannot be used on values of type %s on "+
			"protected rows", c)
	case u.kind != kConst || !slices.Contains(truncUnits, u.text):
		return value{}, refuse(t, "The units are "+strings.Join(truncUnits, ", ")+".", "date_trunc takes a unit, as "+
			"a constant")
	case c == date:
		x = x.as(timestamptz) // as PostgreSQL does
	}

	// With a zone it takes moments, and so they are made moments of that zone.
	if len(args) == 3 {
		x = x.as(timestamptz)
		if err := zone(t, args[2]); err != nil {
			return value{}, err
		}
		return function("date_trunc", t.typ.OID, u.pattern(), x.inYears(), args[2].pattern()), nil
	}
	return function("date_trunc", t.typ.OID, u.pattern(), x.inYears()), nil
}

func binned(t *term, args []value) (value, error) {
	w, x, origin := args[0], args[1], args[2]
	c := t.class()
	if !x.class().moment() {
		return value{}, refuse(t, "Cast it: x::timestamp.", "date_bin cannot be used on values of type %s on "+
			"protected rows", x.class())
	}
	if w.kind != kConst || origin.kind != kConst || !modest(w.text) || strings.ContainsRune(w.text, '-') ||
		strings.Contains(w.text, "year") || strings.Contains(w.text, "mon") || strings.Trim(w.text, "0:") == "" {
		return value{}, refuse(t, "Write date_bin('15 minutes', x, timestamp '2024-01-01').",
			"width and origin of date_bin must be constants, the width of days or less")
	}
	if _, ok := canonical(origin.typ.OID, origin.text); !ok {
		return value{}, refuse(t, "Write timestamp '2024-01-01'.", "the origin of date_bin must be a time of the "+
			"years 1000 to 9999")
	}
	return function("date_bin", t.typ.OID, w, x.as(c).inYears(), origin.as(c)), nil
}

// safeFormat holds the templates of to_char that have a value for every time, and no part that depends on the locale.
var safeFormat = regexp.MustCompile(
	`^(?:FM|YYYY|IYYY|YY|MM|MON|Mon|mon|MONTH|Month|month|DDD|DD|D|ID|DAY|Day|day|DY|Dy|dy|HH24|HH12|HH|MI|SS|` +
		`MS|US|AM|PM|am|pm|WW|IW|W|Q|[-/.,:; ]|"[^"\\]*")*$`)

func formatted(t *term, args []value) (value, error) {
	x, f := args[0], args[1]
	switch c := x.class(); {
	case c == null:
		return leaf(&term{kind: kNull, typ: t.typ}), nil
	case !c.moment():
		return value{}, refuse(t, "Cast it: x::text, round(x, 2)::text.", "to_char cannot be used on values of type "+
			"%s on protected rows", c)
	case f.kind != kConst || !safeFormat.MatchString(f.text) || len(f.text) > 200:
		return value{}, refuse(t, "Write a format of YYYY, MM, DD, HH24, MI, SS, Mon, Dy, Q, IW and the like: "+
			"'YYYY-MM'.", "this format of to_char cannot be used on protected rows")
	case c == date:
		x = x.as(timestamp)
	}
	v := function("to_char", oidText, x.inYears(), f.pattern())
	v.chars = 40 * (len(f.text) + 1)
	return v, nil
}

// constants is a function that PostgreSQL has evaluated if its arguments were constants.
func constants(t *term, _ []value) (value, error) {
	return value{}, refuse(t, "Cast text in ISO form: x::date, x::timestamp.", "%s takes constants on protected rows",
		t.op)
}

// instant is a time from the seconds since 1970.
func instant(t *term, args []value) (value, error) {
	if len(args) == 2 {
		return constants(t, args)
	}
	if err := numbers(t, args); err != nil {
		return value{}, err
	}
	x := args[0].as(double)
	x.term = within(x.term, oidFloat8, "-62135596801", "253402300800")
	return leaf(op("to_timestamp", oidTimestamptz, x.term)), nil
}

func zoned(t *term, args []value) (value, error) {
	z, x := args[0], args[1]
	c := x.class()
	if !c.moment() {
		return value{}, refuse(t, "Cast it: x::timestamp AT TIME ZONE 'UTC'.", "AT TIME ZONE cannot be used on "+
			"values of type %s on protected rows", c)
	}
	if err := zone(t, z); err != nil {
		return value{}, err
	}
	if c == date {
		x = x.as(timestamptz)
	}
	return function("timezone", t.typ.OID, z.pattern(), x.inYears()), nil
}

// zone refuses what is not the name of a time zone. Names are checked when the statement is planned: Bind has
// PostgreSQL convert a constant time.
func zone(t *term, z value) error {
	if z.kind != kConst || z.class() != text {
		return refuse(t, "Write the zone's name: 'UTC', 'Europe/Berlin'.", "a time zone must be a constant name")
	}
	return nil
}
