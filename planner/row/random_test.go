package row

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// gen makes random expressions, by type, over the table x. They are well typed, mostly.
type gen struct{ *rand.Rand }

func (g gen) pick(s ...string) string { return s[g.IntN(len(s))] }

// any makes an expression of a random type.
func (g gen) any(depth int) string {
	return g.pick(g.whole(depth), g.number(depth), g.double(depth), g.text(depth), g.truth(depth), g.day(depth),
		g.stamp(depth))
}

func (g gen) whole(d int) string {
	if d <= 0 || g.IntN(5) == 0 {
		return g.pick("i2", "i4", "i8", "j4", "i4", "1", "2", "-1", "0", "7", "1000000", "2147483647", "3::int2",
			"9000000000", "'5'::int8", "NULL::int")
	}
	a, b := g.whole(d-1), g.whole(d-1)
	switch g.IntN(16) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s %s %s)", a, g.pick("+", "-", "*"), b)
	case 3, 4:
		return fmt.Sprintf("(%s %s %s)", a, g.pick("/", "%"), b)
	case 5:
		return g.pick("abs", "-", "+") + "(" + a + ")"
	case 6:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.truth(d-1), a, b)
	case 7:
		return fmt.Sprintf("%s(%s, %s)", g.pick("coalesce", "nullif", "greatest", "least", "mod"), a, b)
	case 8:
		return g.pick("length", "octet_length", "char_length", "ascii") + "(" + g.text(d-1) + ")"
	case 9:
		return fmt.Sprintf("(%s)::%s", g.pick(a, g.number(d-1), g.double(d-1)), g.pick("int2", "int4", "int8"))
	case 10:
		return fmt.Sprintf("(%s - %s)", g.day(d-1), g.day(d-1))
	case 11:
		return fmt.Sprintf("(%s)::%s", g.text(d-1), g.pick("int4", "int8", "int2"))
	case 12:
		return fmt.Sprintf("strpos(%s, %s)", g.text(d-1), g.text(d-1))
	case 13:
		return fmt.Sprintf("(%s)::int4", g.truth(d-1))
	case 14:
		return fmt.Sprintf("width_bucket(%s, 0, 100, 10)", g.pick(g.number(d-1), g.double(d-1)))
	}
	return "(" + a + ")"
}

func (g gen) number(d int) string {
	if d <= 0 || g.IntN(5) == 0 {
		return g.pick("n", "m", "n", "0.5", "2.5", "-3.25", "0.0", "1e10", "'7.50'::numeric", "NULL::numeric")
	}
	a, b := g.number(d-1), g.pick(g.number(d-1), g.whole(d-1))
	switch g.IntN(12) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s %s %s)", a, g.pick("+", "-", "*"), b)
	case 3, 4:
		return fmt.Sprintf("(%s %s %s)", a, g.pick("/", "%"), b)
	case 5:
		return g.pick("abs", "-", "sign", "ceil", "ceiling", "floor", "round", "trunc", "sqrt", "ln", "log") + "(" + a +
			")"
	case 6:
		return fmt.Sprintf("%s(%s, %s)", g.pick("round", "trunc"), a, g.pick("0", "1", "2", "-1"))
	case 7:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.truth(d-1), a, b)
	case 8:
		return fmt.Sprintf("%s(%s, %s)", g.pick("coalesce", "nullif", "greatest", "least", "div", "mod"), a, b)
	case 9:
		return fmt.Sprintf("(%s)::%s", g.pick(a, b, g.double(d-1), g.text(d-1)), g.pick("numeric", "numeric(5,2)",
			"numeric(20,4)", "numeric(3)"))
	case 10:
		return fmt.Sprintf("extract(%s FROM %s)", g.pick("year", "month", "day", "dow", "epoch", "quarter", "week",
			"julian"), g.pick(g.day(d-1), g.stamp(d-1)))
	}
	return fmt.Sprintf("power(%s, %s)", a, g.pick("2.0", "3.0", "1.0"))
}

func (g gen) double(d int) string {
	if d <= 0 || g.IntN(5) == 0 {
		return g.pick("f8", "f4", "f8", "0.5::float8", "2::float8", "'-3.25'::float8", "0::float8", "f4::float8",
			"NULL::float8", "1.5::float4")
	}
	a, b := g.double(d-1), g.pick(g.double(d-1), g.number(d-1), g.whole(d-1))
	switch g.IntN(12) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s %s %s)", a, g.pick("+", "-", "*"), b)
	case 3, 4:
		return fmt.Sprintf("(%s / %s)", a, b)
	case 5:
		return g.pick("abs", "-", "sign", "ceil", "floor", "round", "trunc", "sqrt", "ln", "log", "cbrt", "log10") +
			"(" + a + ")"
	case 6:
		return fmt.Sprintf("%s(%s, %s)", g.pick("coalesce", "greatest", "least", "nullif"), a, b)
	case 7:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.truth(d-1), a, b)
	case 8:
		return fmt.Sprintf("(%s)::%s", g.pick(a, b, g.text(d-1)), g.pick("float8", "float4", "real"))
	case 9:
		return fmt.Sprintf("power(%s, %s)", a, g.pick("2", "3", "0.5", "-1", "1"))
	case 10:
		return fmt.Sprintf("date_part('%s', %s)", g.pick("year", "month", "day", "hour", "epoch"),
			g.pick(g.day(d-1), g.stamp(d-1)))
	}
	return fmt.Sprintf("exp(%s)", a)
}

func (g gen) text(d int) string {
	if d <= 0 || g.IntN(5) == 0 {
		return g.pick("s", "v", "c", "nm", "s", "'abc'", "'12'::text", "' x'", "''", "NULL::text", "'2020-01-31'::text")
	}
	a, b := g.text(d-1), g.text(d-1)
	switch g.IntN(16) {
	case 0, 1:
		return g.pick("lower", "upper", "initcap", "btrim", "ltrim", "rtrim") + "(" + a + ")"
	case 2:
		return fmt.Sprintf("%s(%s, 'a 1')", g.pick("btrim", "ltrim", "rtrim"), a)
	case 3, 4:
		return fmt.Sprintf("substring(%s, %s%s)", a, g.small(), g.pick("", ", "+g.small()))
	case 5:
		return fmt.Sprintf("%s(%s, %s)", g.pick("left", "right"), a, g.small())
	case 6, 7:
		return fmt.Sprintf("(%s || %s)", a, g.pick(b, b, g.whole(d-1), "b", "d", "m"))
	case 8:
		return fmt.Sprintf("%s(%s, %s)", g.pick("concat"), a, g.pick(b, g.any(d-1)))
	case 9:
		return fmt.Sprintf("replace(%s, %s, 'xy')", a, g.pick("'a'", "'bc'", "''"))
	case 10:
		return fmt.Sprintf("split_part(%s, %s, %s)", a, g.pick("' '", "'-'", "'b'"), g.pick("1", "2", "-1"))
	case 11:
		return fmt.Sprintf("%s(%s, 5, 'z')", g.pick("lpad", "rpad"), a)
	case 12:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.truth(d-1), a, b)
	case 13:
		return fmt.Sprintf("%s(%s, %s)", g.pick("coalesce", "nullif", "greatest", "least"), a, b)
	case 14:
		return fmt.Sprintf("(%s)::%s", g.pick(a, g.whole(d-1), g.truth(d-1), g.day(d-1), g.stamp(d-1)),
			g.pick("text", "varchar(3)", "char(4)", "varchar"))
	}

	return fmt.Sprintf("to_char(%s, %s)", g.pick(g.day(d-1), g.stamp(d-1)), g.pick("'YYYY-MM'", "'DD Mon YYYY'",
		"'HH24:MI:SS.US'", "'IYYY-IW Q D'"))
}

// small is a whole number that can be an int4 argument.
func (g gen) small() string {
	return g.pick("i4", "j4", "1", "2", "0", "-1", "3", "i2 + 1", "length(s)")
}

func (g gen) day(d int) string {
	if d <= 0 || g.IntN(4) == 0 {
		return g.pick("d", "d", "date '2020-01-31'", "'1999-12-31'::date", "NULL::date", "date '2024-02-29'")
	}
	switch g.IntN(6) {
	case 0, 1:
		return fmt.Sprintf("(%s %s %s)", g.day(d-1), g.pick("+", "-"), g.pick("i4", "i2", "1", "-30", "j4",
			"length(s)"))
	case 2:
		return fmt.Sprintf("(%s)::date", g.pick(g.stamp(d-1), g.text(0)))
	case 3:
		return fmt.Sprintf("%s(%s, %s)", g.pick("coalesce", "nullif", "greatest", "least"), g.day(d-1), g.day(d-1))
	}
	return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.truth(d-1), g.day(d-1), g.day(d-1))
}

func (g gen) stamp(d int) string {
	if d <= 0 || g.IntN(4) == 0 {
		return g.pick("ts", "tz", "ts", "timestamp '2020-01-31 10:00'", "'2000-01-01'::timestamptz", "NULL::timestamp")
	}
	switch g.IntN(8) {
	case 0, 1:
		return fmt.Sprintf("(%s %s interval '%s')", g.pick(g.stamp(d-1), g.day(d-1)), g.pick("+", "-"),
			g.pick("1 month", "2 days", "-3 hours", "1 year 2 months", "1.5 seconds"))
	case 2:
		return fmt.Sprintf("date_trunc('%s', %s)", g.pick("month", "year", "day", "hour", "week", "quarter", "century"),
			g.pick(g.stamp(d-1), g.day(d-1)))
	case 3:
		return fmt.Sprintf("(%s)::%s", g.pick(g.stamp(d-1), g.day(d-1), g.text(0)),
			g.pick("timestamp", "timestamptz", "timestamp(0)"))
	case 4:
		return fmt.Sprintf("(%s AT TIME ZONE '%s')", g.stamp(d-1), g.pick("UTC", "Europe/Berlin", "America/New_York"))
	case 5:
		return fmt.Sprintf("date_bin('%s', %s, '2001-01-01')", g.pick("15 minutes", "1 day", "7 hours"), g.stamp(d-1))
	}

	return g.pick(fmt.Sprintf("coalesce(%s, %s)", g.stamp(d-1), g.stamp(d-1)), fmt.Sprintf("to_timestamp(%s)",
		g.double(0)), "to_timestamp('2024-02', 'YYYY-MM')", "make_date(2024, 2, 29)")
}

func (g gen) truth(d int) string {
	if d <= 0 || g.IntN(6) == 0 {
		return g.pick("b", "true", "false", "NULL::bool", "i4 > 1", "s = 'abc'", "b", "e = 'ok'", "ip IS NULL",
			"u IS NOT NULL", "e IN ('sad', 'happy')", "EXISTS (SELECT 1 FROM side WHERE k = i4 AND 1 / k > 0)",
			"i4 IN (SELECT k FROM side)", "f4 IN (SELECT w * w FROM side WHERE w > i4)", "iv > '1 day'",
			"tm < '12:00'")
	}

	cmp := g.pick("=", "<>", "<", ">", "<=", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
	switch g.IntN(14) {
	case 0, 1:
		return fmt.Sprintf("(%s %s %s)", g.pick(g.whole(d-1), g.number(d-1), g.double(d-1)), cmp,
			g.pick(g.whole(d-1), g.number(d-1), g.double(d-1)))
	case 2:
		return fmt.Sprintf("(%s %s %s)", g.text(d-1), cmp, g.text(d-1))
	case 3:
		return fmt.Sprintf("(%s %s %s)", g.pick(g.day(d-1), g.stamp(d-1)), cmp, g.pick(g.day(d-1), g.stamp(d-1)))
	case 4, 5:
		return fmt.Sprintf("(%s %s %s)", g.truth(d-1), g.pick("AND", "OR"), g.truth(d-1))
	case 6:
		return "NOT (" + g.truth(d-1) + ")"
	case 7:
		return fmt.Sprintf("(%s %s)", g.any(d-1), g.pick("IS NULL", "IS NOT NULL"))
	case 8:
		return fmt.Sprintf("((%s) %s)", g.truth(d-1), g.pick("IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE",
			"IS UNKNOWN"))
	case 9:
		return fmt.Sprintf("(%s %sIN (%s, %s, 3))", g.whole(d-1), g.pick("", "NOT "), g.whole(d-1),
			g.pick("1", "2", "NULL", "2.5"))
	case 10:
		return fmt.Sprintf("(%s %sBETWEEN %s%s AND %s)", g.pick(g.whole(d-1), g.number(d-1)), g.pick("", "NOT "),
			g.pick("", "SYMMETRIC "), g.number(d-1), g.whole(d-1))
	case 11:
		return fmt.Sprintf("(%s %sLIKE %s)", g.text(d-1), g.pick("", "NOT ", "I", "NOT I"),
			g.pick("'a%'", "'_b%'", "'abc'", `'a\%b%'`, "'%'", "'1!%%' ESCAPE '!'", "''"))
	case 12:
		return fmt.Sprintf("starts_with(%s, %s)", g.text(d-1), g.text(d-1))
	}
	return fmt.Sprintf("coalesce(%s, %s)", g.truth(d-1), g.truth(d-1))
}

// shorten makes an expression fit a message.
func shorten(s string) string {
	if len(s) > 1500 {
		s = s[:1500] + "..."
	}
	return strings.ReplaceAll(s, "pg_catalog.", "")
}
