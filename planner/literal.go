package planner

import (
	"math"
	"slices"
	"strings"

	"fugu/parser"
)

// This file says how many bits the parts of a description take: see Chosen.

// frequent are the names of operations that have half of all codes for themselves; there is room for 16, and for 128
// others.
var frequent = []string{
	"+", "-", "*", "/", "=", "<", ">", "<=", ">=", "CASE", "COALESCE", "date_trunc", "extract", "date_part", "lower",
	"round",
}

// named is the length of an operation's name.
func named(e parser.Expr) float64 {
	name := ""
	switch e := e.(type) {
	case parser.Binary:
		name = e.Op
	case parser.Func:
		name = e.Name
	case parser.Call:
		name = e.Name
	case parser.Case:
		name = "CASE"
	case parser.Cast:
		_, modifiers, _ := strings.Cut(e.Type, "(")
		return 1 + 7 + 4*float64(len(modifiers)) // digits, a comma, an end
	}
	if slices.Contains(frequent, name) {
		return 1 + 4
	}
	return 1 + 7
}

// lengthOf is the length of a whole number from 0 on, in Elias' gamma code.
func lengthOf(n int) float64 {
	return 2*math.Floor(math.Log2(float64(max(0, n)+1))) + 1
}

// units are what the first argument of date_trunc and its kin can be, and other words of theirs.
var units = []string{
	"microseconds", "milliseconds", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade",
	"century", "millennium", "epoch", "dow", "isodow", "doy", "isoyear", "timezone", "seconds",
}

// literal is the length of an expression without columns: three bits say which of five kinds it is.
func (d *description) literal(e parser.Expr) float64 {
	switch e := e.(type) {
	case parser.Const:
		switch {
		case e.Kind == parser.Null || e.Kind == parser.Bool:
			return 3 + 2
		case e.Kind == parser.Number:
			return digits(e.Text)
		case slices.Contains(units, strings.ToLower(e.Text)):
			return 3 + math.Log2(float64(len(units)))
		}
		return characters(e.Text)
	case parser.Param:
		// A parameter is as long as the value that was bound to it.
		text := d.b.given[e.Number]
		if d.spelled {
			return paramBits + characters(text)
		}
		if strings.Trim(text, "0123456789.") == "" {
			return digits(text)
		}
		return characters(text)
	}

	bits := 3 + named(e)
	for _, x := range parser.Below(e) {
		bits += d.literal(x)
	}
	return bits
}

// digits is the length of a number: digits, a point, an exponent with its sign, and an end.
func digits(text string) float64 { return 3 + 4*float64(len(text)+1) }

// characters is the length of other text, and its end.
func characters(text string) float64 { return 3 + 8*float64(len(text)+1) }

// placed is the length of what column c is compared with. It stands between the values of twice the reference's rows,
// or of the column's domain, wherever it is; or, of a column with a calendar, between two units of that, which has half
// of all codes there. Where every word counts, it is what it reads.
func (d *description) placed(c parser.Column, e parser.Expr) float64 {
	if d.spelled {
		return d.literal(e)
	}
	values, other := d.rows, 0.0
	if t := d.b.sources.tables[c.Rel]; t != nil {
		if domain, ok := t.Domains[c.Name]; ok {
			values = math.Min(values, float64(len(domain)))
		} else if k, ok := t.Calendars[c.Name]; ok {
			if _, even := d.even[parser.Column{Name: c.Name, Rel: c.Rel}]; even {
				return 1 + math.Log2(float64(len(k.Starts)+1))
			}
			other = 1
		}
	}
	own := d.literal(e)
	return other + 1 + math.Min(own, math.Log2(2*values+1)*d.elements(e))
}

// elements bounds how many values a constant has: of an array no more than commas and one.
func (d *description) elements(e parser.Expr) float64 {
	n := 0
	parser.Walk(e, func(e parser.Expr) {
		switch e := e.(type) {
		case parser.Const:
			n += strings.Count(e.Text, ",")
		case parser.Param:
			n += strings.Count(d.b.given[e.Number], ",")
		}
	})
	return float64(n + 1)
}

// keeping are the types that values can be cast to with none becoming equal to another.
var keeping = []string{`pg_catalog."float8"`, `pg_catalog."numeric"`, `pg_catalog."text"`}

// kept takes off a cast that keeps each value apart from all others, and leaves any other expression as it is.
func kept(e parser.Expr) parser.Expr {
	for {
		c, ok := e.(parser.Cast)
		if !ok || !slices.Contains(keeping, c.Type) {
			return e
		}
		e = c.X
	}
}
