// Package parser turns SQL text into Statements: it finds the places where a statement aggregates protected rows (the
// cuts), reads what stands below them into a small closed language of row expressions, and writes the statement anew
// with each cut replaced by a relation of values that others supply.
//
// PostgreSQL's own grammar does the reading (pg_query_go v6, the grammar of PostgreSQL 17, the newest whose deparser
// serves us); its tree stays inside this package. What reaches the protected table is never that tree but an Expr,
// which can hold nothing that is not on the allow-list, printed by this package with full parentheses.
//
// Whatever names a protected table and is not understood is refused with PV001, a position, and a hint. The package
// does not know policies, types of columns or privacy, and it does not decide what an aggregate costs.
package parser
