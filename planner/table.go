package planner

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"fugu/parser"
)

// Table is a protected table: what the policy and the catalog say of it.
type Table struct {
	Schema, Name string
	Reference    string // schema-qualified and quoted
	Rows         int64  // public size
	Columns      []Column
	Domains      map[string][]Value // public values of the columns that can be grouped by
	Secrets      []Secret

	cells sync.Map // group keys to []Cell; as many as there are ways to group by declared columns
}

// Column is a column of a protected table. Type is SQL text that names its type.
type Column struct{ Name, Type string }

// Value is a value of a column, in PostgreSQL's text form.
type Value struct {
	Text string
	Null bool
}

// Secret is a secret proportion: the share of rows for which Predicate holds.
type Secret struct {
	Name      string
	Predicate parser.Expr
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
