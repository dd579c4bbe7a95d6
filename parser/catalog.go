package parser

import "fugu/parser/shadow"

// Table is a relation that a statement names: a protected table, unless it says otherwise.
type Table struct {
	Schema, Name string
	Columns      []string
	Virtual      bool              // one of Fugu's own
	Ordinary     bool              // an ordinary table, which can be joined below a cut
	Strange      map[string]string // of an ordinary table: the types of columns that cannot be read below a cut
	Long         []string          // columns whose values may be so long that they are stored out of line
	Written      string            // of an ordinary table: its name as the statement has it, quoted
	View         string            // the query of a view over protected tables
	Part         bool              // the view is a partition of a protected table: the rows of it that belong there
	Aggregates   bool              // its twin's rows are not listed: no name means the twin, which is for the cut
	Linked       bool              // its twin's rows come with those of another
	Twin         bool              // it has a twin, which stands in its place wherever a name of it can be rewritten

	Link    *Link   // of a linked table's twin: whose rows its rows go with; nil: its twin does not show that
	Classes []Class // of its twin's rows, if their columns tell them apart
	Cells   int     // of so many public cells, which have as many classes each
}

// Link leads from a row to the row of another table that it goes with, by values that are the same in both, column by
// column.
type Link struct {
	To        *Table
	Own, Onto []string
}

// Class is one of the classes that the law of a twin divides rows into. Classes of a cell are neighbours.
type Class struct {
	Name  string
	Where string // a condition on the table's columns
}

// String is the qualified name, without quotes: for people, not for SQL.
func (t Table) String() string { return t.Schema + "." + t.Name }

// described is what a message calls a relation that shows protected rows.
func (t Table) described() string {
	switch {
	case t.Part:
		return "the partition " + t.String() + " of a protected table"
	case t.View != "":
		return "the view " + t.String() + " over protected tables"
	}
	return "the protected table " + t.String()
}

// Catalog finds relations. schema is empty where the statement gave none.
type Catalog interface {
	// Table finds the relations that are not ordinary.
	Table(schema, name string) (Table, bool)
	// Ordinary finds a table that can be joined with protected ones, or says why it cannot.
	Ordinary(schema, name string) (Table, error)
}

// Placed is a Catalog of a database, by whose name statements may call it before a schema's. Of what does not implement
// it, and of the empty name, any database is taken for its own.
type Placed interface{ Database() string }

// Shadower is a Catalog that shadows values which depend on protected rows. What does not implement it shadows nothing.
type Shadower interface{ Shadows() *shadow.Shadows }

// Introspector is a Catalog that shows protected tables. What does not implement it shows none.
type Introspector interface {
	Introspection() *shadow.Introspection
	// Definitions is what the Introspection asks for when a statement needs it: a shadow.Definitions.
	Definitions() (map[string]string, error)
}

// Hider is a Catalog that hides columns.
type Hider interface{ Hidden() *shadow.Hidden }

// Twinner is a Catalog of tables that statements mean the twin of. schema is empty where the statement gave none; a
// twin is found by its own name, too.
type Twinner interface {
	Twin(schema, name string) (Table, bool)
}
