package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"fugu/internal/hook"
	"fugu/parser"
)

// identity is the SQL of what stands for a row t of the table in the order of drawing: the row's place is the SHA-256
// of a secret key and of its text in UTF-8, in parentheses where it is plain. The hash's first half is the place
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
		return "t." + parser.QuoteIdent(s.primary[0])
	}
	return "ROW(" + list("t.", s.primary) + ")::pg_catalog.text"
}

// plainKey reports whether the primary key is one number or uuid: a row of one value in which nothing has to be quoted
// is written in parentheses, which need not be computed for each, and in signs that every encoding of a server has as
// ASCII has them.
func (s *source) plainKey() bool { return s.countsNumbers() || s.keyType() == "uuid" }

// countsNumbers reports whether the primary key is one whole number.
func (s *source) countsNumbers() bool { return slices.Contains(numbers, s.keyType()) }

// keyType is the type of a primary key of one column; empty: there is none.
func (s *source) keyType() string {
	if s.countsEqual() || len(s.primary) != 1 {
		return ""
	}
	c, _ := s.column(s.primary[0])
	return c.base
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

// hashed is the SQL of rows with their hash h, as who builds computes it, in the place of their identity. Of rows that
// no class takes as many as it can tell are left out before they are hashed, which is the dearest thing of all.
func (s *source) hashed(rows string, columns []string) string {
	id, some := `pg_catalog.convert_to(t."fugu id", 'UTF8')`, ""
	text := id
	if s.plainKey() {
		id = `pg_catalog.textsend(t."fugu id"::pg_catalog.text)` // in a tenth of the time
		text = `pg_catalog.textsend(t."fugu id"::pg_catalog.text || ')')`
	}
	if s.countsNumbers() {
		some = ` WHERE ` + mayBeTaken(s.Rows)
	}
	hash := `pg_catalog.sha256(` + hashHead + ` || ` + text + `)`
	if hook.TwinTableOrder {
		hash = `pg_catalog.substr(` + id + ` || '\x0000000000000000', 1, 8) || pg_catalog.substr(` + hash + `, 9)`
	}
	// OFFSET has each hash computed once, however often it is asked for. It is written as the planner knows at once
	// that it leaves nothing out.
	return fmt.Sprintf(`(SELECT t."fugu class", %s AS "fugu h"%s FROM %s AS t%s OFFSET '0'::pg_catalog.int8)`, hash,
		and(columns), rows, some)
}

// sent is the SQL of an identity as PostgreSQL is to send it, which a placer understands.
func (s *source) sent() string {
	if s.countsNumbers() {
		return `"fugu id"::pg_catalog.int8`
	}
	return `"fugu id"`
}

// placer works out the hashes of rows by what PostgreSQL sends of their identities, as hashed does there.
type placer struct {
	keyType string
	text    []byte // the text that is hashed, of which the first bytes stay
	first   int
}

func (s *source) placer(key []byte) *placer {
	p := &placer{keyType: s.keyType(), text: slices.Clone(key)}
	if s.plainKey() {
		p.text = append(p.text, '(')
	}
	p.first = len(p.text)
	return p
}

// place returns the hash of a row, and the number by which the sieve knows it, if its key is one. It makes nothing
// anew.
func (p *placer) place(id []byte) (h [sha256.Size]byte, number int64) {
	text := p.text[:p.first]
	switch {
	case slices.Contains(numbers, p.keyType) && len(id) == 8:
		number = int64(binary.BigEndian.Uint64(id))
		text = append(strconv.AppendInt(text, number, 10), ')')
	case p.keyType == "uuid" && len(id) == 16:
		for i, n := range []int{4, 2, 2, 2, 6} {
			if i > 0 {
				text = append(text, '-')
			}
			text = hex.AppendEncode(text, id[:n])
			id = id[n:]
		}
		text = append(text, ')')
	default:
		text = append(text, id...)
	}

	// The buffer is kept for the next row.
	h, p.text = sha256.Sum256(text), text
	if hook.TwinTableOrder {
		copy(h[:8], append(bytes.TrimSuffix(slices.Clone(text[p.first:]), []byte(")")), make([]byte, 8)...))
	}
	return h, number
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
