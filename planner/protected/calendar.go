package protected

import (
	"regexp"
	"slices"
	"strings"

	"fugu/parser"
)

// Calendar is the time in which a column of dates and times lies, in units. That a value lies in a unit is public;
// which value it is, is not. So a group key may ask what is the same all through each unit, and its values are those at
// the units' beginnings. Of a timestamp with time zone, the units are those of UTC.
type Calendar struct {
	By            string  // day, week, month, quarter, year
	Starts, Lasts []Value // the first and last moment of each unit
}

// coarser are the units that are made of whole units: a week is in one day's month, but in two months.
var coarser = map[string][]string{
	"day":     {"day", "week", "month", "quarter", "year", "decade", "century", "millennium"},
	"week":    {"week"},
	"month":   {"month", "quarter", "year", "decade", "century", "millennium"},
	"quarter": {"quarter", "year", "decade", "century", "millennium"},
	"year":    {"year", "decade", "century", "millennium"},
}

// moreFields are the fields of EXTRACT beside the coarser units themselves that are the same all through a unit. The
// week of EXTRACT is that of the ISO year.
var moreFields = map[string][]string{
	"day":  {"dow", "isodow", "doy", "isoyear"},
	"week": {"isoyear"},
}

// formats are the templates of to_char that print the same all through a unit. What stands between them prints itself.
var formats = map[string]*regexp.Regexp{
	"day":     templates(`IYYY|YYYY|YY|MM|MON|Mon|mon|MONTH|Month|month|DDD|DD|D|ID|DAY|Day|day|DY|Dy|dy|WW|IW|W|Q`),
	"week":    templates(`IYYY|IW`),
	"month":   templates(`YYYY|YY|MM|MON|Mon|mon|MONTH|Month|month|Q`),
	"quarter": templates(`YYYY|YY|Q`),
	"year":    templates(`YYYY|YY`),
}

func templates(words string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:FM|` + words + `|[-/.,:; ]|"[^"\\]*")*$`)
}

// Even reports whether an expression is the same all through each unit of a column's calendar, as far as that column
// goes. given are the texts of the client's parameters by their numbers; nil: none has a value yet, and each may be
// anything.
func (k Calendar) Even(e parser.Expr, column parser.Column, given map[int]string) bool {
	return unit{k.By, column, given}.even(e)
}

// unit is what Even asks about.
type unit struct {
	by     string
	column parser.Column
	given  map[int]string
}

// even is Even.
func (u unit) even(e parser.Expr) bool {
	switch e := e.(type) {
	case parser.Column:
		return e.Rel != u.column.Rel || e.Name != u.column.Name
	case parser.Cast:
		if u.by == "day" && e.Type == `pg_catalog."date"` && u.moment(e.X) {
			return true
		}
	case parser.Func:
		if u.evenFunc(e) {
			return true
		}
	}

	// Anything else is the same where all that it is made of is.
	return !slices.ContainsFunc(parser.Below(e), func(x parser.Expr) bool { return !u.even(x) })
}

// evenFunc is even for a function of the column's moment itself.
func (u unit) evenFunc(f parser.Func) bool {
	if len(f.Args) < 2 {
		return false
	}
	allowed, what, moment := coarser[u.by], f.Args[0], f.Args[1]
	switch f.Name {
	case "date_trunc":
		if len(f.Args) == 3 && !u.says(f.Args[2], isUTC) {
			return false
		}
	case "extract", "date_part":
		allowed = slices.Concat(allowed, moreFields[u.by])
	case "to_char":
		return u.moment(f.Args[0]) && u.text(f.Args[1], formats[u.by].MatchString)
	default:
		return false
	}
	return u.moment(moment) && u.says(what, func(word string) bool { return slices.Contains(allowed, word) })
}

// moment reports whether an expression is a column's moment, or its day, in UTC: each is in the unit that the column is
// in. Precision is not cut: that rounds, and so into the next unit.
func (u unit) moment(e parser.Expr) bool {
	switch e := e.(type) {
	case parser.Column:
		return e.Rel == u.column.Rel && e.Name == u.column.Name
	case parser.Cast:
		return slices.Contains(moments, e.Type) && u.moment(e.X)
	case parser.Func:
		return e.Name == "timezone" && len(e.Args) == 2 && u.says(e.Args[0], isUTC) && u.moment(e.Args[1])
	}
	return false
}

// moments are the types whose values are a column's moment or its day.
var moments = []string{`pg_catalog."date"`, `pg_catalog."timestamp"`, `pg_catalog."timestamptz"`}

func isUTC(zone string) bool { return zone == "utc" }

// says reports whether a word, a constant, fits, however it is spelled.
func (u unit) says(e parser.Expr, fits func(word string) bool) bool {
	return u.text(e, func(s string) bool { return fits(strings.ToLower(s)) })
}

// text reports whether a constant fits. A parameter may, as long as none has a value: given is nil then.
func (u unit) text(e parser.Expr, fits func(string) bool) bool {
	switch e := e.(type) {
	case parser.Const:
		return e.Kind == parser.String && fits(e.Text)
	case parser.Param:
		if u.given == nil {
			return true
		}
		v, ok := u.given[e.Number]
		return ok && fits(v)
	case parser.Cast:
		return e.Type == `pg_catalog."text"` && u.text(e.X, fits)
	}
	return false
}
