// Package row is about the values of row expressions: what types PostgreSQL resolves them to, the one form in which
// equal questions are asked, and the total form that has a value for every row.
//
// Three steps, each on a tree of typed terms:
//
//	Resolve  asks PostgreSQL for the type of every node, so that operators, functions and literals mean below the cut
//	         what they mean to the client. It happens once, when a statement is planned.
//	Bind     puts the parameters in their places as constants, lets PostgreSQL evaluate what is constant, and brings
//	         the rest to its normal form: however a condition is spelled, one text comes out (normalRules).
//	total    writes each term so that no row can make it fail: where PostgreSQL would raise an error there is NULL,
//	         except that integers that overflow are exact in a wider type. An error would tell about rows, and noise
//	         does not cover it.
//
// Nothing here reads a protected row. What is constant is evaluated by PostgreSQL, in a statement without a table.
package row
