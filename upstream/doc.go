// Package upstream holds Fugu's two roles at the database. The guest is a client's own connection: its role has no right
// on any protected table, so that the database itself refuses whatever slips through. The reader is a small pool that
// runs nothing but statements composed by Fugu, read-only, with every setting pinned that could change an answer.
//
// What the reader reads from protected tables leaves this package only as mechanism.Statistics, which nobody can look
// into but a mechanism. Errors of the reader's statements leave it without PostgreSQL's message, detail, hint or context.
// Check looks for rights by which a guest could reach protected rows round the side.
package upstream
