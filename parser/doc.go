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
//
// # Layers
//
// Each layer knows those before it, and none behind it:
//
//   - The closed set: expr.go is what a row expression can be, print.go how it is written, allowed.go which functions,
//     operators, types and aggregates there are.
//   - Names: relations.go says what the names of relations mean, with.go those of WITH queries, names.go those of
//     columns.
//   - Below the cut: a reader turns the trees of PostgreSQL's grammar into expressions (read.go, operator.go, call.go)
//     and FROM into sources (from.go, join.go, project.go). These need each other, as subqueries stand in expressions.
//   - The cut: cutselect.go makes one of a SELECT, with its keys (group.go) and aggregates (aggregate.go,
//     percentile.go, mode.go), and puts columns of what takes the cut's place above it (lift.go, inner.go).
//   - The statement: parse.go is the way of a text from top to bottom. visit.go finds what is to be cut, utility.go the
//     query inside a statement of another kind, twin.go the names that mean a twin.
//   - The text above: rewrite.go and unnest.go write it, rename.go edits the client's own where that is enough, and
//     deparse.go proves that what is written reads back as the tree.
package parser
