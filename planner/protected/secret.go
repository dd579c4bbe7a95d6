package protected

import (
	"slices"

	"fugu/parser"
)

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

// Label prints what tells a row's class, for Class to read.
func (s Secret) Label(alias string) string {
	if s.Parameter {
		return "true"
	}
	if s.Predicate != nil {
		return "(" + parser.SQL(s.Predicate, alias, nil) + ") IS TRUE"
	}
	return "(" + parser.SQL(parser.Column{Name: s.Column}, alias, nil) + ")::pg_catalog.text"
}

// Mean prints the expression whose mean is secret, in double precision.
func (s Secret) Mean(alias string) string {
	return "CAST(" + parser.SQL(s.Number, alias, nil) + " AS pg_catalog.float8)"
}
