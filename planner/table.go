package planner

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
	Bounds       map[string][2]string // of the values of columns, where the policy says them
	Secrets      []Secret
	Link         *Link // nil: a root

	cells cellLists // by keys, of those that are declared columns
}

// Column is a column of a protected table. Type is SQL text that names its type.
type Column struct{ Name, Type string }

// Value is a value in PostgreSQL's text form.
type Value = row.Value

// Secret is a secret proportion: the share of rows for which Predicate holds.
type Secret struct {
	Name      string
	Predicate parser.Expr // in the form in which no row can make it fail
	Text      string      // as people read it
}

// Predicate gives a condition over the table's rows in the form in which no row can make it fail.
func (t *Table) Predicate(ctx context.Context, db row.Database, condition parser.Expr) (parser.Expr, error) {
	typing, err := row.Resolve(ctx, db, t.quoted()+" AS t", "t", []row.Root{{Condition: true, Expr: condition}}, nil)
	if err != nil {
		return nil, err
	}
	out, err := typing.Bind(ctx, db, nil)
	if err == nil && out[0] == nil {
		return parser.Const{Kind: parser.Bool, Text: "true"}, nil
	}
	return out[0], err
}

// String is the table's qualified name as people write it.
func (t *Table) String() string { return t.Schema + "." + t.Name }

// quoted is the table's qualified name as SQL.
func (t *Table) quoted() string {
	return parser.QuoteIdent(t.Schema) + "." + parser.QuoteIdent(t.Name)
}

func (t *Table) columnType(name string) (string, error) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return "", fmt.Errorf("table %s has no column %q", t, name)
	}
	return t.Columns[i].Type, nil
}

// bounds are the least and greatest value that the policy gives a column, in text form; empty where it says nothing.
func (t *Table) bounds(column string) (low, high string) {
	b := t.Bounds[column]
	return b[0], b[1]
}

// groupable names the columns that can be grouped by, for hints.
func (t *Table) groupable() string {
	names := make([]string, 0, len(t.Domains))
	for _, c := range t.Columns {
		if _, ok := t.Domains[c.Name]; ok {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return "The policy declares no public group keys for this table."
	}
	return "The policy declares public values for: " + strings.Join(names, ", ") + "."
}
