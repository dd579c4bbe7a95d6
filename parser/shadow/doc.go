// Package shadow stands between clients and what the catalog of the server says of protected tables. Shadows mask
// values that depend on their rows; that is a defence, and what cannot be masked is refused. An Introspection shows the
// tables to clients that have no right on them, and Hidden leaves out what their twins have not; these are courtesies.
//
// A mask is a subselect of our own in the place of a relation or an argument, in the tree of the client's statement.
package shadow
