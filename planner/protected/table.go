// Package protected says what a protected table is: what the policy and the catalog declare of it, and the properties
// of it that stay secret. It composes the statements that are about a table alone, over its reference, and keeps what
// they told for those that come later. It plans no statement of a client's, and reads no protected row.
package protected

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fugu/parser"
	"fugu/planner/row"
)

// Table is a protected table: what the policy and the catalog say of it.
type Table struct {
	Schema, Name string
	Reference    string // schema-qualified and quoted
	Rows         int64  // public size
	Columns      []Column
	Domains      map[string][]Value   // public values of the columns that can be grouped by
	Observed     map[string]bool      // columns whose public values are those that the reference has
	Calendars    map[string]Calendar  // of columns of which a time is public, and of it no values
	Bounds       map[string][2]string // of the values of columns, where the policy says them
	Secrets      []Secret
	Link         *Link // nil: a root
	Twin         bool  // it is answered from its twin, and no statistic of it is ever asked

	// AtLeast is of a twin whose rows are not listed: what is told is of so many rows of the sample. 0: they are
	// listed.
	AtLeast int64

	Kept Kept
}

// Column is a column of a protected table.
type Column struct {
	Name, Type string // Type is SQL text that names its type

	// Collation is SQL that names it where it is not the database's own: unequal texts may be equal, and stand in
	// another order.
	Collation string
}

// Value is a value in PostgreSQL's text form.
type Value = row.Value

// Link says to which table the rows of another belong: each row to the one row of To with the same key. Secrets live on
// the root, the table at the end of the links.
type Link struct {
	To   *Table
	Keys []LinkKey
}

// LinkKey is a column of the linked table and the column of To that it equals.
type LinkKey struct{ Own, To string }

// Root is the table whose rows the table's rows belong to.
func (t *Table) Root() *Table {
	for t.Link != nil {
		t = t.Link.To
	}
	return t
}

// Predicate gives a condition over the table's rows in the form in which no row can make it fail.
func (t *Table) Predicate(ctx context.Context, db row.Database, condition parser.Expr) (parser.Expr, error) {
	out, err := t.total(ctx, db, row.Root{Condition: true, Expr: condition})
	if err == nil && out == nil {
		return parser.Const{Kind: parser.Bool, Text: "true"}, nil
	}
	return out, err
}

// Number gives an expression whose mean can be taken in the form in which no row can make it fail.
func (t *Table) Number(ctx context.Context, db row.Database, expr parser.Expr) (parser.Expr, error) {
	return t.total(ctx, db, row.Root{Aggregate: "avg", Expr: expr})
}

// total resolves an expression and gives its total form; nil: a condition that always holds.
func (t *Table) total(ctx context.Context, db row.Database, root row.Root) (parser.Expr, error) {
	typing, err := row.Resolve(ctx, db, t.Quoted()+" AS t", []row.Root{root}, nil)
	if err != nil {
		return nil, err
	}
	out, _, err := typing.Bind(ctx, db, nil)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// String is the table's qualified name as people write it.
func (t *Table) String() string { return t.Schema + "." + t.Name }

// Quoted is the table's qualified name as SQL.
func (t *Table) Quoted() string {
	return parser.QuoteIdent(t.Schema) + "." + parser.QuoteIdent(t.Name)
}

// ColumnType is SQL text that names a column's type. It is an error if the table has no such column.
func (t *Table) ColumnType(name string) (string, error) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return "", fmt.Errorf("table %s has no column %q", t, name)
	}
	return t.Columns[i].Type, nil
}

// Collation is SQL that names a column's collation, empty if it has the database's own, or none.
func (t *Table) Collation(name string) string {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return ""
	}
	return t.Columns[i].Collation
}

// Groupable names the columns that can be grouped by, for hints.
func (t *Table) Groupable() string {
	names := make([]string, 0, len(t.Domains))
	for _, c := range t.Columns {
		if _, ok := t.Domains[c.Name]; ok {
			names = append(names, c.Name)
		} else if k, ok := t.Calendars[c.Name]; ok {
			names = append(names, c.Name+" (by "+k.By+")")
		}
	}
	if len(names) == 0 {
		return "The policy declares no public group keys for this table."
	}
	return "The policy declares public values for: " + strings.Join(names, ", ") + "."
}
