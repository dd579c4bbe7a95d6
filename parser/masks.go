package parser

import "fugu/parser/shadow"

// Shadower is a Catalog that shadows values which depend on protected rows. What does not implement it shadows nothing.
type Shadower interface{ Shadows() *shadow.Shadows }

// Introspector is a Catalog that shows protected tables. What does not implement it shows none.
type Introspector interface{ Introspection() *shadow.Introspection }

// Hider is a Catalog that hides columns.
type Hider interface{ Hidden() *shadow.Hidden }

// mask puts what stands between the client and the server's catalog into the statement.
func (a *analysis) mask() error {
	var masks shadow.Masks
	if c, ok := a.catalog.(Shadower); ok {
		masks.Shadows = c.Shadows()
	}
	if c, ok := a.catalog.(Introspector); ok {
		masks.Listing = c.Introspection()
	}
	if c, ok := a.catalog.(Hider); ok {
		masks.Hidden = c.Hidden()
	}
	changed, err := masks.Apply(shadow.Statement{Root: a.stmt.root.Stmt, Text: a.src.sql, Begin: a.stmt.begin, First: a.stmt.first})
	a.stmt.Masked = a.stmt.Masked || changed
	return err
}
