package planner

import (
	"slices"
	"strconv"
	"strings"

	"fugu/parser"
	"fugu/sqlstate"
)

// declared is the public domain of a protected table's column.
func (b *Bound) declared(e parser.Expr) ([]Value, bool) {
	col, ok := e.(parser.Column)
	if !ok || b.sources.tables[col.Rel] == nil {
		return nil, false
	}
	d, ok := b.sources.tables[col.Rel].Domains[col.Name]
	if null := (Value{Null: true}); ok && b.sources.source(col.Rel).Left && !slices.Contains(d, null) {
		d = append(slices.Clone(d), null)
	}
	return d, ok
}

// told reports whether a protected table's column has public values, by whose texts its values are told from each
// other.
func (b *Bound) told(c parser.Column) bool {
	t := b.sources.tables[c.Rel]
	if t == nil || len(t.Domains[c.Name]) == 0 {
		return false
	}
	i := slices.IndexFunc(t.Columns, func(x Column) bool { return x.Name == c.Name })
	return i >= 0 && t.Columns[i].Collation == "" && comparable(t.Columns[i].Type)
}

// comparable reports whether the values of a type are equal where their texts are, and only there.
func comparable(typ string) bool {
	name, _, _ := strings.Cut(typ, "(")
	known := []string{"smallint", "integer", "bigint", "boolean", "text", "character varying", "date"}
	return slices.Contains(known, name)
}

// public reports whether an expression reads columns, and only such as have public values.
func (b *Bound) public(e parser.Expr) bool {
	of := columns(e)
	other := func(c parser.Column) bool { return c.Rel != b.sources.root || !b.told(c) }
	return len(of) > 0 && !slices.ContainsFunc(of, other)
}

// listed reports whether a column's values are declared one by one, and not by the times that they lie in.
func (b *Bound) listed(c parser.Column) bool {
	t := b.sources.tables[c.Rel]
	return t != nil && t.Domains[c.Name] != nil
}

// filters are the conditions of WHERE that speak of columns in e alone: they choose among its values, and what they
// leave out is as public as the statement.
func (b *Bound) filters(e parser.Expr) []parser.Expr {
	own := columns(e)
	var out []parser.Expr
	for _, w := range b.forms.where {
		// Conditions that are joined by AND stand or fall one by one.
		conjuncts := []parser.Expr{w}
		if l, ok := w.(parser.Logic); ok && l.Op == "AND" {
			conjuncts = l.Args
		}

		for _, c := range conjuncts {
			of := columns(c)
			if slices.ContainsFunc(of, b.inCalendar) { // one value stands for many: valuesOf looks at these
				continue
			}
			other := func(x parser.Column) bool { return !slices.Contains(own, x) }
			if len(of) > 0 && !slices.ContainsFunc(of, other) {
				out = append(out, c)
			}
		}
	}
	return out
}

// maxCells bounds the key combinations of one cut.
const maxCells = 20_000

func (c *Cut) tooMany(position int) error {
	return sqlstate.New(sqlstate.ProgramLimitExceeded,
		"the group keys have more than %d public combinations", maxCells).
		WithHint("Group by fewer columns, or by something coarser.").At(position)
}

// maxPreimage bounds the combinations of declared values that an expression's domain is computed from.
const maxPreimage = 200_000

// preimage is a FROM clause with every combination of the values that the columns in e can have; empty if there are no
// columns, not ok if the values of one of them are not known.
func (b *Bound) preimage(e parser.Expr, k Key) (from string, ok bool, err error) {
	columns := map[int][]string{}
	known, size := true, 1
	var rels []int
	parser.Walk(e, func(x parser.Expr) {
		if _, semi := x.(parser.Semi); semi {
			known = false
		}
		col, isColumn := x.(parser.Column)
		if !isColumn || slices.Contains(columns[col.Rel], col.Name) {
			return
		}

		// A calendar stands for its units, where nothing finer is asked.
		if t := b.sources.tables[col.Rel]; t != nil {
			d, declared := t.Domains[col.Name]
			if !declared && b.inUnits(e, col) {
				d, declared = t.Calendars[col.Name].Starts, true
			}
			known = known && declared
			size *= max(1, len(d))
			if size > maxPreimage {
				err = b.tooMany(k.position)
				size = 1
			}
		}
		if columns[col.Rel] == nil {
			rels = append(rels, col.Rel)
		}
		columns[col.Rel] = append(columns[col.Rel], col.Name)
	})
	if !known || err != nil {
		return "", false, err
	}

	var items []string
	for _, rel := range rels {
		items = append(items, b.valuesOf(rel, columns[rel]))
	}
	return strings.Join(items, " CROSS JOIN "), true, nil
}

// valuesOf is a FROM item with every combination of the values that columns of a source can have; an outer join adds
// NULL in all of them. Rows of an ordinary table that conditions on it alone leave out, or no public values reach, have
// no part in it.
func (b *Bound) valuesOf(rel int, columns []string) string {
	quoted := make([]string, len(columns))
	for i, name := range columns {
		quoted[i] = parser.QuoteIdent(name)
	}
	list, alias := strings.Join(quoted, ", "), " AS "+parser.Alias("t", rel)
	nulls := strings.TrimSuffix(strings.Repeat(" NULL,", len(columns)), ",")
	src := b.sources.source(rel)
	t := b.sources.tables[rel]

	// An ordinary table's rows are public as they are.
	if t == nil {
		name := parser.QuoteIdent(src.Table.Schema) + "." + parser.QuoteIdent(src.Table.Name)
		texts := make([]string, len(quoted)) // by which values differ that are equal in the column's collation
		for i, c := range quoted {
			texts[i] = parser.Alias("t", rel) + "." + c + `::pg_catalog.text COLLATE pg_catalog."C"`
		}
		distinct := "DISTINCT ON (" + strings.Join(texts, ", ") + ") "
		sql := parser.SelectSQL([]string{distinct + list}, name+alias, b.reachable(src), nil)
		if src.Left {
			sql += " UNION ALL SELECT" + nulls
		}
		return "(" + sql + ")" + alias
	}

	// Of a protected one there are the values that the policy declares.
	var items []string
	for i, name := range columns {
		typ, err := t.ColumnType(name)
		if err != nil {
			typ = "pg_catalog.text" // cannot be: the column has a domain
		}
		values := "pg_catalog.unnest(" + parser.QuoteLiteral(string(Array(t.Domains[name]))) + "::pg_catalog.text[])"
		if _, ok := t.Domains[name]; !ok {
			values = b.units(src, name, typ, "v"+strconv.Itoa(i))
		}
		items = append(items, values+" AS v"+strconv.Itoa(i))
		value := "CAST(v" + strconv.Itoa(i) + " AS " + typ + ")"
		if c := t.Collation(name); c != "" { // conditions compare it as they compare the table's
			value += " COLLATE " + c
		}
		quoted[i] = value + " AS " + quoted[i]
	}
	sql := "SELECT " + strings.Join(quoted, ", ") + " FROM " + strings.Join(items, " CROSS JOIN ")
	if src.Left {
		sql += " UNION ALL SELECT" + nulls
	}
	return "(" + sql + ")" + alias
}

// reachable is a condition on rows of an ordinary table, that others on the table alone let them through, and that
// public values stand beside them: where it is joined on what follows from columns with declared values, rows that
// others would be joined with are in no group, as those others are not. Of these values, conditions on the columns
// alone choose, as they do where the columns are the keys.
func (b *Bound) reachable(src *parser.Source) string {
	out := b.ownConditions(src)
	for _, c := range b.joinedBy(src) {
		equal, ok := c.(parser.Binary)
		if !ok || equal.Op != "=" {
			continue
		}

		// Either side may be the ordinary table's.
		for _, side := range [][2]parser.Expr{{equal.L, equal.R}, {equal.R, equal.L}} {
			own, other := columns(side[0]), columns(side[1])
			unlisted := slices.ContainsFunc(other, func(c parser.Column) bool { return !b.listed(c) })
			if len(own) == 0 || !ofOnly(own, src.Rel) || len(other) == 0 || unlisted {
				continue
			}

			if from, ok, err := b.preimage(side[1], Key{}); ok && err == nil {
				where := forms{where: b.filters(side[1])}.whereSQL(b.number)
				beside := parser.SelectSQL([]string{b.sql(side[1])}, from, where, nil)
				out = append(out, b.sql(side[0])+" IN ("+beside+")")
			}
		}
	}
	return strings.Join(out, " AND ")
}
