package planner

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
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

// evenly says of columns of which all that is asked is thresholds between the units of their calendars what tells their
// values apart there: the unit, and the value itself where it lies in none.
type evenly map[parser.Column]string

// even finds these columns for the statement's conditions, and for the arguments of each aggregate, with its FILTER. A
// threshold is between units if both ends of each unit are on one side of it, and what is made of such thresholds alone
// is the same all through each unit.
func (b *Bound) even(ctx context.Context, q Querier) (where evenly, args []evenly, err error) {
	conditions := b.conjuncts()
	for _, rel := range slices.Sorted(maps.Keys(b.forms.on)) {
		conditions = append(conditions, b.forms.on[rel])
	}
	if where, err = b.evenIn(ctx, q, conditions); err != nil {
		return nil, nil, err
	}
	for _, of := range b.forms.args {
		own, err := b.evenIn(ctx, q, of)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, own)
	}
	return where, args, nil
}

// evenIn does so for some expressions as they are evaluated: a time means there what it does in the client's time zone.
func (b *Bound) evenIn(ctx context.Context, q Querier, list []parser.Expr) (evenly, error) {
	out := evenly{}
	for _, rel := range b.sources.protected {
		for _, column := range b.sources.tables[rel].Columns {
			c := parser.Column{Name: column.Name, Rel: rel}
			k, ok := b.calendar(c)
			if !ok || len(k.Starts) == 0 {
				continue
			}
			asked, ok := thresholds(list, c)
			if !ok || len(asked) == 0 {
				continue
			}

			// PostgreSQL compares both ends of each unit with each threshold.
			rows, err := q.Query(ctx, b.uneven(c, k, asked), nil, nil)
			if err != nil {
				return nil, fmt.Errorf("comparing the units of %s: %w", c.Name, err)
			}
			if len(rows) == 1 && rows[0][0].Text == "f" {
				out[c] = b.unitOrValue(c, k)
			}
		}
	}
	return out, nil
}

// thresholds are the comparisons of a column with a threshold, if nothing else is asked of it.
func thresholds(list []parser.Expr, c parser.Column) (out []parser.Expr, ok bool) {
	is := func(x parser.Column) bool { return x.Name == c.Name && x.Rel == c.Rel }
	for _, e := range list {
		if !slices.ContainsFunc(columns(e), is) {
			continue
		}
		f, form := e.(parser.Form)
		if form && len(f.Columns) == 1 && f.Text[0] == "(" && threshold.MatchString(f.Text[1]) {
			out = append(out, e)
			continue
		}

		// A form is not looked into, nor a subquery.
		_, semi := e.(parser.Semi)
		if below := parser.Below(e); !form && !semi && len(below) > 0 {
			more, ok := thresholds(below, c)
			if ok {
				out = append(out, more...)
				continue
			}
		}
		return nil, false
	}
	return out, true
}

// uneven composes a statement that says whether a condition is met at one end of a unit and not at the other.
func (b *Bound) uneven(c parser.Column, k Calendar, conditions []parser.Expr) string {
	typ := b.typeOf(c)
	at := func(end, condition string) string {
		return "(SELECT " + condition + " FROM (VALUES (CAST(" + end + " AS " + typ + "))) AS " +
			parser.Alias("t", c.Rel) + "(" + parser.QuoteIdent(c.Name) + "))"
	}
	var differ []string
	for _, e := range conditions {
		differ = append(differ, at("starts", b.sql(e))+" IS DISTINCT FROM "+at("lasts", b.sql(e)))
	}
	ends := "SELECT 1 FROM ROWS FROM (pg_catalog.unnest(" + parser.QuoteLiteral(string(Array(k.Starts))) +
		"::pg_catalog.text[]), pg_catalog.unnest(" + parser.QuoteLiteral(string(Array(k.Lasts))) +
		"::pg_catalog.text[])) AS u(starts, lasts)"
	return "SELECT EXISTS (" + ends + " WHERE " + strings.Join(differ, " OR ") + ")"
}

// unitOrValue prints what tells the values of a column apart by their units, and by themselves where they are in none.
func (b *Bound) unitOrValue(c parser.Column, k Calendar) string {
	value := parser.SQL(c, "t", nil)
	end := func(v Value) string { return "CAST(" + parser.QuoteLiteral(v.Text) + " AS " + b.typeOf(c) + ")" }
	return "CASE WHEN " + value + " BETWEEN " + end(k.Starts[0]) + " AND " + end(k.Lasts[len(k.Lasts)-1]) + " THEN (" +
		parser.SQL(b.unitOf(c, k), "t", nil) + ")::pg_catalog.text ELSE " + value + "::pg_catalog.text END"
}

// typeOf names the type of a column of a protected table.
func (b *Bound) typeOf(c parser.Column) string {
	typ, err := b.sources.tables[c.Rel].ColumnType(c.Name)
	if err != nil {
		return "pg_catalog.text" // cannot be: the column has a calendar
	}
	return typ
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
