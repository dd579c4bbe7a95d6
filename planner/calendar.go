package planner

import (
	"regexp"
	"strings"

	"fugu/parser"
	"fugu/sqlstate"
)

// calendar returns the calendar of a column, if it has one.
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
		if (strings.Contains(text, own) || strings.Contains(own, text)) && !k.Even(key.Expr, c, b.given) {
			return false
		}
	}
	return true
}

// threshold is the printed middle of a comparison of a column with what is no column.
var threshold = regexp.MustCompile(`^ (?:<|<=|>|>=) `)

// units is a FROM item with the units of a column's calendar, each by its beginning. A condition that compares the
// column alone with a threshold leaves out the units of which neither end meets it: then nothing between does.
func (b *Bound) units(src *parser.Source, column, typ, name string) string {
	t := b.sources.tables[src.Rel]
	k := t.Calendars[column]
	array := func(v []Value) string { return parser.QuoteLiteral(string(Array(v))) + "::pg_catalog.text[]" }

	// Only the conditions that compare the column alone with one threshold can leave a unit out.
	var where []string
	for _, e := range b.joinedBy(src) {
		f, ok := e.(parser.Form)
		if !ok || len(f.Columns) != 1 || f.Columns[0].Rel != src.Rel || f.Columns[0].Name != column {
			continue
		}
		if f.Text[0] != "(" || !threshold.MatchString(f.Text[1]) {
			continue
		}
		ends := "(VALUES (CAST(starts AS " + typ + ")), (CAST(lasts AS " + typ + "))) AS " +
			parser.Alias("t", src.Rel) + "(" + parser.QuoteIdent(column) + ")"
		where = append(where, "EXISTS ("+parser.SelectSQL(nil, ends, b.sql(f), nil)+")")
	}

	from := "ROWS FROM (pg_catalog.unnest(" + array(k.Starts) + "), pg_catalog.unnest(" + array(k.Lasts) + "))" +
		" AS u(starts, lasts)"
	return "(" + parser.SelectSQL([]string{"starts AS " + name}, from, strings.Join(where, " AND "), nil) + ")"
}

// tooFine refuses a key that tells more of a column than its calendar makes public.
func tooFine(k Calendar, t *Table, c parser.Column) error {
	longer := " Longer units are public, too."
	if k.By == "week" {
		longer = ""
	}

	// Written so, the key means the same in every session: of a timestamp with time zone the units are those of UTC.
	zone := ""
	if typ, err := t.ColumnType(c.Name); err == nil && typ == "timestamp with time zone" {
		zone = ", 'UTC'"
	}
	return sqlstate.New(sqlstate.NotAllowed,
		"of column %s of %s, it is public which %s a value is in, and this key may tell more", c.Name, t, k.By).
		WithHint("Group by date_trunc('%s', %s%s).%s", k.By, c.Name, zone, longer).
		At(max(c.Position, 1))
}
