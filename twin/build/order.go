package build

import (
	"context"
	"fmt"
	"fugu/internal/hook"
	"fugu/parser"

	"github.com/jackc/pgx/v5"
)

// ordered is the SQL of the table's rows: their class, their hash h, keyed by setOrder's 32 secret bytes, and the
// columns named. The hash's first half is the row's place in the order of drawing, the second half is for what else is
// drawn of it. Both come first, so that scans that need no more need not go through the row.
//
// It is a function of the primary key and not of the content, so that a row that is corrected keeps its place. Without
// a primary key it is of the content and a running number among equal rows, which cannot be told apart anyway.
func (s *source) ordered(class string, columns []string) string {
	id := "ROW(" + list("t.", s.primary) + ")::pg_catalog.text"
	if s.primary == nil || hook.TwinByContent {
		names := make([]string, len(s.columns))
		for i, c := range s.columns {
			names[i] = c.name
		}
		id = "ROW(" + list("t.", names) + ")::pg_catalog.text"
		id += " || ' ' || pg_catalog.row_number() OVER (PARTITION BY " + id + ")"
	}
	hash := fmt.Sprintf(`pg_catalog.sha256(%s || pg_catalog.convert_to(%s, 'UTF8'))`, orderKey, id)
	if hook.TwinTableOrder {
		number := `pg_catalog.row_number() OVER (ORDER BY t.ctid)`
		hash = `pg_catalog.int8send(` + number + `) || pg_catalog.substr(` + hash + `, 9)`
	}
	// OFFSET 0 has what is computed here computed once a row.
	with := ""
	if len(columns) > 0 {
		with = ", " + list("t.", columns)
	}
	return fmt.Sprintf(`SELECT (%s) AS "fugu class", %s AS "fugu h"%s FROM %s AS t OFFSET 0`,
		class, hash, with, s.qualified())
}

// orderKey is the SQL of the key of the order of drawing. It is a setting of the transaction, which no other session
// sees, so that it stands in no statement's text, and so that statements that take no parameters can use it.
const orderKey = `(SELECT pg_catalog.decode(pg_catalog.current_setting('fugu.order'), 'hex'))`

// setOrder says the key for the rest of the transaction.
func setOrder(ctx context.Context, db pgx.Tx, key []byte) error {
	_, err := db.Exec(ctx, `SELECT pg_catalog.set_config('fugu.order', pg_catalog.encode($1::bytea, 'hex'), true)`, key)
	if err != nil {
		return fmt.Errorf("setting the order of drawing: %w", err)
	}
	return nil
}

// secretOf is the SQL of 32 bytes that nobody can compute without the key of the order of drawing, nor tell from random
// ones: of an expression that has bytes, for one use in one table. An order of drawing hashes texts that begin
// otherwise.
func secretOf(bytes, use string, s *source, column string) string {
	words := parser.QuoteLiteral(use + " of " + s.qualified() + " " + column + ": ")
	return "pg_catalog.sha256(" + orderKey + " || pg_catalog.convert_to(" + words + ", 'UTF8') || " + bytes + ")"
}
