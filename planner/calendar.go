package planner

import (
	"regexp"
	"slices"
	"strings"

	"fugu/parser"
	"fugu/sqlstate"
)

// Calendar is the time in which a column of dates and times lies, in units. That a value lies in a unit is public; which
// value it is, is not. So a group key may ask what is the same all through each unit, and its values are those at the
// units' beginnings. Of a timestamp with time zone, the units are those of UTC.
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

// moreFields are the fields of EXTRACT beside the coarser units themselves that are the same all through a unit. The week of EXTRACT is
// that of the ISO year.
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

// calendar is that of a column, if it has one.
func (b *Bound) calendar(c parser.Column) (Calendar, bool) {
	t := b.sources.tables[c.Rel]
	if t == nil {
		return Calendar{}, false
	}
	k, ok := t.Calendars[c.Name]
	return k, ok
}

func (b *Bound) inCalendar(c parser.Column) bool {
	_, ok := b.calendar(c)
	return ok
}

// inUnits reports whether a form, of keys or in a key, asks of a column what is the same all through each unit of its
// calendar. That is read off the keys as they were written: forms have guards around what was asked.
func (b *Bound) inUnits(form parser.Expr, c parser.Column) bool {
	k, ok := b.calendar(c)
	if !ok {
		return false
	}
	text := b.sql(form)
	for i, key := range b.cut.Keys {
		own := b.sql(b.forms.keys[i])
		if (strings.Contains(text, own) || strings.Contains(own, text)) && !b.even(key.Expr, c, k) {
			return false
		}
	}
	return true
}

// even reports whether an expression is the same all through each unit of a column's calendar, as far as that column goes.
func (b *Bound) even(e parser.Expr, c parser.Column, k Calendar) bool {
	switch e := e.(type) {
	case parser.Column:
		return e.Rel != c.Rel || e.Name != c.Name
	case parser.Cast:
		if k.By == "day" && e.Type == `pg_catalog."date"` && b.moment(e.X, c) {
			return true
		}
	case parser.Func:
		if b.evenFunc(e, c, k) {
			return true
		}
	}
	return !slices.ContainsFunc(parser.Below(e), func(x parser.Expr) bool { return !b.even(x, c, k) })
}

// evenFunc is even for a function of the column's moment itself.
func (b *Bound) evenFunc(f parser.Func, c parser.Column, k Calendar) bool {
	if len(f.Args) < 2 {
		return false
	}
	allowed, what, moment := coarser[k.By], f.Args[0], f.Args[1]
	switch f.Name {
	case "date_trunc":
		if len(f.Args) == 3 && !b.says(f.Args[2], func(zone string) bool { return zone == "utc" }) {
			return false
		}
	case "extract", "date_part":
		allowed = slices.Concat(allowed, moreFields[k.By])
	case "to_char":
		return b.moment(f.Args[0], c) && b.text(f.Args[1], formats[k.By].MatchString)
	default:
		return false
	}
	return b.moment(moment, c) && b.says(what, func(unit string) bool { return slices.Contains(allowed, unit) })
}

// moment reports whether an expression is a column's moment, or its day, in UTC: each is in the unit that the column is in.
// Precision is not cut: that rounds, and so into the next unit.
func (b *Bound) moment(e parser.Expr, c parser.Column) bool {
	switch e := e.(type) {
	case parser.Column:
		return e.Rel == c.Rel && e.Name == c.Name
	case parser.Cast:
		return slices.Contains([]string{`pg_catalog."date"`, `pg_catalog."timestamp"`, `pg_catalog."timestamptz"`}, e.Type) && b.moment(e.X, c)
	case parser.Func:
		return e.Name == "timezone" && len(e.Args) == 2 && b.says(e.Args[0], func(zone string) bool { return zone == "utc" }) && b.moment(e.Args[1], c)
	}
	return false
}

// says reports whether a word, a constant, fits, however it is spelled.
func (b *Bound) says(e parser.Expr, fits func(word string) bool) bool {
	return b.text(e, func(s string) bool { return fits(strings.ToLower(s)) })
}

// text reports whether a constant fits. A parameter may, as long as none has a value: given is nil then.
func (b *Bound) text(e parser.Expr, fits func(string) bool) bool {
	switch e := e.(type) {
	case parser.Const:
		return e.Kind == parser.String && fits(e.Text)
	case parser.Param:
		if b.given == nil {
			return true
		}
		v, ok := b.given[e.Number]
		return ok && fits(v)
	case parser.Cast:
		return e.Type == `pg_catalog."text"` && b.text(e.X, fits)
	}
	return false
}

// threshold is the printed middle of a comparison of a column with what is no column.
var threshold = regexp.MustCompile(`^ (?:<|<=|>|>=) `)

// units is a FROM item with the units of a column's calendar, each by its beginning. A condition that compares the column alone with a threshold
// leaves out the units of which neither end meets it: then nothing between does.
func (b *Bound) units(src *parser.Source, column, typ, name string) string {
	t := b.sources.tables[src.Rel]
	k := t.Calendars[column]
	array := func(v []Value) string { return parser.QuoteLiteral(string(Array(v))) + "::pg_catalog.text[]" }

	var where []string
	for _, e := range b.joinedBy(src) {
		f, ok := e.(parser.Form)
		if !ok || len(f.Columns) != 1 || f.Columns[0].Rel != src.Rel || f.Columns[0].Name != column || f.Text[0] != "(" || !threshold.MatchString(f.Text[1]) {
			continue
		}
		ends := "(VALUES (CAST(starts AS " + typ + ")), (CAST(lasts AS " + typ + "))) AS " + parser.Alias("t", src.Rel) + "(" + parser.QuoteIdent(column) + ")"
		where = append(where, "EXISTS ("+selectSQL(nil, ends, b.sql(f), nil)+")")
	}
	from := "ROWS FROM (pg_catalog.unnest(" + array(k.Starts) + "), pg_catalog.unnest(" + array(k.Lasts) + ")) AS u(starts, lasts)"
	return "(" + selectSQL([]string{"starts AS " + name}, from, strings.Join(where, " AND "), nil) + ")"
}

// tooFine refuses a key that tells more of a column than its calendar makes public.
func (k Calendar) tooFine(t *Table, c parser.Column) error {
	longer := ", or of longer units"
	if k.By == "week" {
		longer = ""
	}
	return sqlstate.New(sqlstate.NotAllowed, "of column %s of %s, it is public which %s a value is in, and this key may tell more", c.Name, t, k.By).
		WithHint("Group by date_trunc or EXTRACT of %ss%s; of a timestamp with time zone they are those of UTC.", k.By, longer).At(max(c.Position, 1))
}
