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
	Calendars    map[string]Calendar  // of columns of which a time is public, and of it no values
	Bounds       map[string][2]string // of the values of columns, where the policy says them
	Secrets      []Secret
	Link         *Link // nil: a root
	Twin         bool  // it is answered from its twin, and no statistic of it is ever asked
	AtLeast      int64 // of a twin whose rows are not listed: what is told is of so many rows of the sample; 0: they are

	cells    shared[[]Cell]   // by keys, of those that are declared columns
	alone    shared[[]seldom] // by the statement that counted them
	declared shared[bool]     // by the statement that looked for other values in the reference: there are none
}

// Column is a column of a protected table.
type Column struct {
	Name, Type string // Type is SQL text that names its type
	Collation  string // SQL that names it where it is not the database's own: unequal texts may be equal, and stand in another order
}

// Value is a value in PostgreSQL's text form.
type Value = row.Value

// Secret is a property of the table that stays hidden: exactly one of Predicate, Column, Number and Parameter.
type Secret struct {
	Name      string
	Predicate parser.Expr // the share of rows for which it holds, in the form in which no row can make it fail
	Column    string      // the shares of the rows that have each of its values
	Number    parser.Expr // the mean of a numeric expression, in the form in which no row can make it fail
	Parameter bool        // of the distribution that a column is drawn from: all rows are of one class
	Text      string      // as people read it

	Classes []Value // of Column: the values whose shares are secret
}

// Class is the number of a row's class by its Label, -1 if it is in none: of a Predicate 1 inside and 0 outside.
func (s Secret) Class(label Value) int {
	if s.Parameter {
		return 0
	}
	if s.Predicate != nil {
		if label.Text == "t" {
			return 1
		}
		return 0
	}
	return slices.Index(s.Classes, label)
}

// Size is the number of classes into which the secret divides the rows.
func (s Secret) Size() int {
	switch {
	case s.Predicate != nil:
		return 2
	case s.Number != nil || s.Parameter:
		return 1
	}
	return len(s.Classes)
}

// Where says which rows a class has, for people.
func (s Secret) Where(class int) string {
	switch {
	case s.Number != nil || s.Parameter:
		return "in all"
	case s.Predicate == nil && s.Classes[class].Null:
		return "where " + s.Column + " is NULL"
	case s.Predicate == nil:
		return "where " + s.Column + " is " + s.Classes[class].Text
	case class == 1:
		return "inside the predicate"
	}
	return "outside the predicate"
}

// label prints what tells a row's class.
func (s Secret) label(alias string) string {
	if s.Parameter {
		return "true"
	}
	if s.Predicate != nil {
		return "(" + parser.SQL(s.Predicate, alias, nil) + ") IS TRUE"
	}
	return "(" + parser.SQL(parser.Column{Name: s.Column}, alias, nil) + ")::pg_catalog.text"
}

// number prints the expression whose mean is secret.
func (s Secret) number(alias string) string {
	return "CAST(" + parser.SQL(s.Number, alias, nil) + " AS pg_catalog.float8)"
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

func (t *Table) total(ctx context.Context, db row.Database, root row.Root) (parser.Expr, error) {
	typing, err := row.Resolve(ctx, db, t.quoted()+" AS t", "t", []row.Root{root}, nil)
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

// collation is SQL that names a column's collation, empty if it has the database's own, or none.
func (t *Table) collation(name string) string {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return ""
	}
	return t.Columns[i].Collation
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
		} else if k, ok := t.Calendars[c.Name]; ok {
			names = append(names, c.Name+" (by "+k.By+")")
		}
	}
	if len(names) == 0 {
		return "The policy declares no public group keys for this table."
	}
	return "The policy declares public values for: " + strings.Join(names, ", ") + "."
}
