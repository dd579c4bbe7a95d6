// Package build makes twins: copies of protected tables in which the secrets are blurred once. It reads the protected
// tables as the keeper, in one transaction, asks package twin for the law, and writes what package twin's theorem lets
// it publish. Nothing of a build is visible to anybody before its price is in the ledger, and nothing but
// the twin ever is.
//
//	describe    what the tables are made of, from PostgreSQL's catalog: columns, keys, checks, indexes
//	count       N: how many rows each class has
//	look        in one scan: that the rows are those of an earlier draw, and which of each class come first in the
//	            order of drawing, for the Ñ that is in the ledger or that is drawn before
//	draw        Ñ and the price, from the ledger or into it: a build that was killed goes on with the same Ñ
//	settle      the last row of each class that is taken, and the last that stands once more
//	lay         each of them as often as it stands, in random order, with fresh keys; then the rows of linked tables
//	publish     the twin under its name, in the place of the one before
//
// The order of drawing is one for a protected table, for ever: a keyed hash of each row's primary key. Two twins of one
// table whose rows were drawn independently would give N away by their overlap (capture and recapture).
//
// The package knows no clients and no protocol. Its errors are for the DBA, who may see the protected rows; no analyst
// ever sees one.
package build
