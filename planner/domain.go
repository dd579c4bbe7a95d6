package planner

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fugu/parser"
	"fugu/planner/row"
	"fugu/sqlstate"
)

// maxCells bounds the key combinations of one cut.
const maxCells = 20_000

// maxKept bounds the cells that a plan keeps for itself; more are found anew for each binding.
const maxKept = 500

// maxShared bounds the cells that a table keeps for further plans, over all lists. A policy with many group keys has more
// orders of them than memory.
const maxShared = 10 * maxCells

// maxPreimage bounds the combinations of declared values that an expression's domain is computed from.
const maxPreimage = 200_000

// Cell is one group of the answer: a grouping set, and the values of its keys; the other keys are NULL.
type Cell struct {
	Set  int
	Keys []Value
}

// Querier runs a statement over references, ordinary tables and constants, and returns its rows in text form.
type Querier interface {
	row.Evaluator
	Query(ctx context.Context, sql string, params [][]byte, paramTypes []uint32) ([][]Value, error)
}

// shared reports whether the cells are those of declared columns alone: plans that group by the same ones share a list,
// and there are only so many of those.
func (b *Bound) shared() bool {
	if b.Sets != nil || !b.sources.single() || len(b.forms.where) > 0 {
		return false
	}
	for _, k := range b.forms.keys {
		if _, ok := b.declared(k); !ok {
			return false
		}
	}
	return true
}

// cells lists the product of what the parts of the keys can be, in each grouping set.
func (b *Bound) cells(ctx context.Context, q Querier) ([]Cell, error) {
	name := ""
	for _, k := range b.keys() {
		name += k + ";"
	}
	if b.shared() {
		if list, ok := b.Table.cells.load(name); ok {
			return list, nil
		}
	}
	parts, err := b.parts(ctx, q)
	if err != nil {
		return nil, err
	}
	cells := []Cell{}
	for s, set := range b.sets() {
		n := 1
		var keys [][]int
		var rows [][][]Value
		for _, p := range parts {
			if k, r := p.of(set); len(k) > 0 {
				keys, rows = append(keys, k), append(rows, r)
				if n *= len(r); n+len(cells) > maxCells {
					return nil, b.tooMany(max(b.cut.Position, 1))
				}
			}
		}
		for i := range n {
			cell := Cell{Set: s, Keys: make([]Value, len(b.Keys))}
			for k := range cell.Keys {
				cell.Keys[k].Null = true
			}
			rest := i
			for p := range slices.Backward(rows) {
				row := rows[p][rest%len(rows[p])]
				for j, k := range keys[p] {
					cell.Keys[k] = row[j]
				}
				rest /= len(rows[p])
			}
			cells = append(cells, cell)
		}
	}
	if b.shared() {
		b.Table.cells.store(name, cells, len(cells), maxShared)
	}
	return cells, nil
}

// domain lists the values that a key can have.
func (b *Bound) domain(ctx context.Context, q Querier, i int) ([]Value, error) {
	if d, ok := b.declared(b.forms.keys[i]); ok && len(b.filters(b.forms.keys[i])) == 0 {
		return d, nil
	}
	sql, err := b.domainSQL(i)
	if err != nil {
		return nil, err
	}
	rows, err := q.Query(ctx, sql, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("finding the values of %s: %w", b.Keys[i].Label, err)
	}
	if len(rows) > maxCells {
		return nil, b.tooMany(b.Keys[i].position)
	}
	out := make([]Value, len(rows))
	for j, r := range rows {
		out[j] = r[0]
	}
	return out, nil
}

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

// domainSQL composes a statement whose rows are all the values that a key can have, in their order: what follows from the
// declared domains of the columns in it, from ordinary tables, or from the form of the expression. No protected row has a
// part in it.
func (b *Bound) domainSQL(i int) (string, error) {
	parts, err := b.images(b.forms.keys[i], b.Keys[i])
	if err != nil {
		return "", err
	}
	return "SELECT v::pg_catalog.text FROM (SELECT DISTINCT v FROM (" + strings.Join(parts, " UNION ") + ") AS u) AS d ORDER BY v", nil
}

// filters are the conditions of WHERE that speak of columns in e alone: they choose among its values, and what they leave
// out is as public as the statement.
func (b *Bound) filters(e parser.Expr) []parser.Expr {
	own := columns(e)
	var out []parser.Expr
	for _, w := range b.forms.where {
		conjuncts := []parser.Expr{w}
		if l, ok := w.(parser.Logic); ok && l.Op == "AND" {
			conjuncts = l.Args
		}
		for _, c := range conjuncts {
			of := columns(c)
			if slices.ContainsFunc(of, b.inCalendar) { // one value stands for many: valuesOf looks at these
				continue
			}
			if len(of) > 0 && !slices.ContainsFunc(of, func(x parser.Column) bool { return !slices.Contains(own, x) }) {
				out = append(out, c)
			}
		}
	}
	return out
}

// columns are the columns in e, without positions; one of no table stands for a subquery.
func columns(e parser.Expr) []parser.Column {
	var out []parser.Column
	parser.Walk(e, func(e parser.Expr) {
		switch e := e.(type) {
		case parser.Column:
			out = append(out, parser.Column{Name: e.Name, Rel: e.Rel})
		case parser.Semi:
			out = append(out, parser.Column{Rel: -1})
		}
	})
	return out
}

// images are statements whose rows together are the values of e.
func (b *Bound) images(e parser.Expr, k Key) ([]string, error) {
	value := func(e parser.Expr) string {
		return "SELECT " + b.valueOf(e, k) + " AS v"
	}
	if from, ok, err := b.preimage(e, k); err != nil {
		return nil, err
	} else if ok && from == "" {
		return []string{value(e)}, nil
	} else if ok {
		sql := value(e) + " FROM " + from
		if f := b.filters(e); len(f) > 0 {
			sql += " WHERE " + forms{where: f}.whereSQL(b.number)
		}
		return []string{sql}, nil
	}
	var results []parser.Expr
	switch e := e.(type) {
	case parser.Case:
		for _, w := range e.Whens {
			results = append(results, w.Result)
		}
		if e.Else == nil {
			e.Else = parser.Const{}
		}
		results = append(results, e.Else)
	case parser.Call:
		if e.Name == "COALESCE" {
			results = e.Args
		}
	case parser.Cast:
		if parts, err := b.images(e.X, k); err == nil {
			return parts, nil
		}
	}
	// Whether what has values by its form can be NULL is as public as the reference.
	null := "SELECT NULL::" + k.Type + " FROM " + b.from(true) + " WHERE (" + b.sql(e) + ") IS NULL"
	if bucket, ok := e.(parser.Func); ok && bucket.Name == "width_bucket" {
		last := "LEAST(" + b.sql(bucket.Args[3]) + ", " + strconv.Itoa(maxCells) + ") + 1"
		return []string{"SELECT CAST(v AS " + k.Type + ") FROM pg_catalog.generate_series(0, " + last + ") AS b(v)", null}, nil
	}
	if results == nil && k.Type == "pg_catalog.bool" {
		return []string{"SELECT v FROM pg_catalog.unnest('{f,t}'::pg_catalog.bool[]) AS b(v)", null}, nil
	}
	if results == nil {
		return nil, b.undeclared(e, k)
	}
	var out []string
	for _, r := range results {
		parts, err := b.images(r, k)
		if err != nil {
			return nil, err
		}
		out = append(out, parts...)
	}
	return out, nil
}

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

// valuesOf is a FROM item with every combination of the values that columns of a source can have; an outer join adds NULL in
// all of them. Rows of an ordinary table that conditions on it alone leave out, or no public values reach, have no part in it.
func (b *Bound) valuesOf(rel int, columns []string) string {
	quoted := make([]string, len(columns))
	for i, name := range columns {
		quoted[i] = parser.QuoteIdent(name)
	}
	list, alias := strings.Join(quoted, ", "), " AS "+parser.Alias("t", rel)
	nulls := strings.TrimSuffix(strings.Repeat(" NULL,", len(columns)), ",")
	src := b.sources.source(rel)
	t := b.sources.tables[rel]
	if t == nil {
		name := parser.QuoteIdent(src.Table.Schema) + "." + parser.QuoteIdent(src.Table.Name)
		texts := make([]string, len(quoted)) // by which values differ that are equal in the column's collation
		for i, c := range quoted {
			texts[i] = parser.Alias("t", rel) + "." + c + `::pg_catalog.text COLLATE pg_catalog."C"`
		}
		distinct := "DISTINCT ON (" + strings.Join(texts, ", ") + ") "
		sql := selectSQL([]string{distinct + list}, name+alias, b.reachable(src), nil)
		if src.Left {
			sql += " UNION ALL SELECT" + nulls
		}
		return "(" + sql + ")" + alias
	}
	var items []string
	for i, name := range columns {
		typ, err := t.columnType(name)
		if err != nil {
			typ = "pg_catalog.text" // cannot be: the column has a domain
		}
		values := "pg_catalog.unnest(" + parser.QuoteLiteral(string(Array(t.Domains[name]))) + "::pg_catalog.text[])"
		if _, ok := t.Domains[name]; !ok {
			values = b.units(src, name, typ, "v"+strconv.Itoa(i))
		}
		items = append(items, values+" AS v"+strconv.Itoa(i))
		value := "CAST(v" + strconv.Itoa(i) + " AS " + typ + ")"
		if c := t.collation(name); c != "" { // conditions compare it as they compare the table's
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

// undeclared says which column keeps an expression from being a key.
func (b *Bound) undeclared(e parser.Expr, k Key) error {
	var col *parser.Column
	parser.Walk(e, func(e parser.Expr) {
		if x, ok := e.(parser.Column); ok && col == nil {
			if t := b.sources.tables[x.Rel]; t != nil && t.Domains[x.Name] == nil {
				col = &x
			}
		}
	})
	if col == nil && k.mode {
		return sqlstate.New(sqlstate.NotAnswerable, "mode is answered of public values, and those of %s are not known", k.Label).
			WithHint("%s", b.Table.groupable()).At(k.position)
	}
	if col == nil {
		return sqlstate.New(sqlstate.NotAllowed, "the values that %s can have are not known", k.Label).
			WithHint("%s", b.Table.groupable()).At(k.position)
	}
	t := b.sources.tables[col.Rel]
	if c, ok := t.Calendars[col.Name]; ok {
		return c.tooFine(t, *col)
	}
	if k.mode {
		return sqlstate.New(sqlstate.NotAnswerable, "mode is answered of public values, and the policy declares none for column %s of %s", col.Name, t).
			WithHint("The owner of the policy can declare them, under group_by: a list, a range, or reference. %s", t.groupable()).At(k.position)
	}
	return sqlstate.New(sqlstate.NotAllowed, "the policy declares no public values for column %s of %s", col.Name, t).
		WithHint("%s", t.groupable()).At(max(col.Position, 1))
}
