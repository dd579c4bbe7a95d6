// Package corpus compares Fugu with PostgreSQL itself, statement by statement: releases without noise must make Fugu's
// answers PostgreSQL's own.
//
// testdata/accept holds statements in the shapes that tools send, each with its source or the word that it has none,
// and statements that cover what stands above and below a cut (test/compat/record has the programs that recorded some
// of them); testdata/reject holds what must be refused, with code, position and hint. Beside each file stands a golden
// file with the state of every statement; go test -tags fuguhooks -rewrite writes them. A generator makes further
// statements from a grammar. A statement is answered as PostgreSQL answers it, or refused; anything else fails.
//
// These tests need the build tag fuguhooks: without it no release is exact. Without it, the parser alone reads the
// corpus.
package corpus
