package build

import (
	"context"
	"fmt"
	"slices"

	"crypto/sha256"

	"github.com/jackc/pgx/v5"

	"fugu/internal/hook"
	"fugu/parser"
)

// identity is the SQL of the text that stands for a row t of the table in the order of drawing, but for what around
// says: the row's place is the SHA-256 of a secret key and of this text in UTF-8. The hash's first half is the place
// itself, the second half is for what else is drawn of the row.
//
// It is a function of the primary key and not of the content, so that a row that is corrected keeps its place. Without
// a primary key it is a function of the content and of a running number among equal rows, which cannot be told apart
// anyway.
func (s *source) identity() string {
	if s.countsEqual() {
		names := make([]string, len(s.columns))
		for i, c := range s.columns {
			names[i] = c.name
		}
		row := "ROW(" + list("t.", names) + ")::pg_catalog.text"
		return row + " || ' ' || pg_catalog.row_number() OVER (PARTITION BY " + row + ")"
	}
	if s.plainKey() {
		return "t." + parser.QuoteIdent(s.primary[0]) + "::pg_catalog.text"
	}
	return "ROW(" + list("t.", s.primary) + ")::pg_catalog.text"
}

// around is what stands before and behind every identity: a row of one value in which nothing has to be quoted is
// written in parentheses, which need not be computed and sent for each.
func (s *source) around() (before, behind string) {
	if s.plainKey() {
		return "(", ")"
	}
	return "", ""
}

// plainKey reports whether the primary key is one number or uuid, so that identities are digits, letters and signs that
// every encoding of a server has as ASCII has them.
func (s *source) plainKey() bool {
	if s.countsEqual() || len(s.primary) != 1 {
		return false
	}
	c, _ := s.column(s.primary[0])
	return c.base == "uuid" || slices.Contains(numbers, c.base)
}

// countsEqual reports whether rows are told apart by a running number among equal ones.
func (s *source) countsEqual() bool { return s.primary == nil || hook.TwinByContent }

// rows is the SQL of the table's rows: their class, their identity and the columns named.
func (s *source) rows(class string, columns []string) string {
	return `(SELECT (` + class + `) AS "fugu class", ` + s.identity() + ` AS "fugu id"` + and(columns) + ` FROM ` +
		s.qualified() + ` AS t)`
}

// and is the SQL of columns of t behind others.
func and(columns []string) string {
	if len(columns) == 0 {
		return ""
	}
	return ", " + list("t.", columns)
}

// hashed is the SQL of rows with their hash h, as who builds computes it, in the place of their identity.
func (s *source) hashed(rows string, columns []string) string {
	before, behind := s.around()
	id := `pg_catalog.convert_to(t."fugu id", 'UTF8')`
	text := id
	if s.plainKey() {
		id = `pg_catalog.textsend(t."fugu id")` // bytes of the session's encoding, in a tenth of the time
		text = `pg_catalog.textsend(t."fugu id" || ` + parser.QuoteLiteral(behind) + `)`
	}
	hash := `pg_catalog.sha256(k.key || ` + text + `)`
	if hook.TwinTableOrder {
		hash = `pg_catalog.substr(` + id + ` || '\x0000000000000000', 1, 8) || pg_catalog.substr(` + hash + `, 9)`
	}
	// OFFSET has each hash computed once, however often it is asked for. It is written as the planner knows at once
	// that it leaves nothing out, and the key as what is no subquery: either would keep workers from what comes after.
	return fmt.Sprintf(`(SELECT t."fugu class", %s AS "fugu h"%s FROM %s AS t, %s AS k(key)
		OFFSET '0'::pg_catalog.int8)`, hash, and(columns), rows, orderSetting(before))
}

// hashOf is the hash of a row by its identity. buffer is room to work in, which it returns for the next row.
func (s *source) hashOf(key, id, buffer []byte) (h [sha256.Size]byte, _ []byte) {
	before, behind := s.around()
	buffer = append(append(buffer[:0], key...), before...)
	buffer = append(append(buffer, id...), behind...)
	h = sha256.Sum256(buffer)
	if hook.TwinTableOrder {
		copy(h[:8], append(slices.Clone(id), make([]byte, 8)...))
	}
	return h, buffer
}

// orderSetting is the SQL of the key of the order of drawing, and of what follows it. The key is a setting of the
// transaction, which no other session sees, so that it stands in no statement's text, and so that statements that take
// no parameters can use it.
func orderSetting(followed string) string {
	return fmt.Sprintf(`pg_catalog.decode(pg_catalog.current_setting('fugu.order') || '%x', 'hex')`, followed)
}

// orderKey is the key alone, worked out once for a statement.
var orderKey = `(SELECT ` + orderSetting("") + `)`

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
