package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/internal/hook"
)

// counts are the numbers of rows of each class, in all and by their place in the order of drawing.
type counts struct {
	classes  []int64
	ordered  histogram
	contents []byte // a digest of which rows are of which class
}

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

// unchanged reports whether the rows that a draw was made of are those that there are now, each of the class that it
// was of then. Where classes were others, the rows are counted by those; where that fails, they are not known to be the
// same.
func (s *source) unchanged(ctx context.Context, db pgx.Tx, d, now Draw) (same bool, err error) {
	contents := now.Contents
	if d.Class != now.Class {
		err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			c, err := s.count(ctx, tx, "("+s.ordered(d.Class, nil)+")", len(d.Noisy))
			contents = c.contents
			return err
		})
		var pe *pgconn.PgError
		if errors.As(err, &pe) || errors.Is(err, errNoClass) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return bytes.Equal(contents, d.Contents), nil
}

// errNoClass is about a row that is of none of the classes.
var errNoClass = errors.New("rows with a value that the policy does not list as a category, or whose combination of values no public count has")

// count counts the rows of each class of what ordered gives, in one scan.
func (s *source) count(ctx context.Context, db pgx.Tx, ordered string, classes int) (counts, error) {
	out := counts{classes: make([]int64, classes), ordered: newHistogram(classes)}
	hashes, stray := newHistogram(classes), false
	err := eachRow(ctx, db, ordered, func(class int, h []byte) {
		if class < 0 || class >= classes {
			stray = true
			return
		}
		bucket := bucketOf(h)
		out.classes[class]++
		out.ordered[class][bucket]++
		// The digest is a sum, so that the order of the scan does not matter, of 24 bits of each hash.
		hashes[class][bucket] += int64(h[2]) | int64(h[3])<<8 | int64(h[4])<<16
	})
	if err == nil && stray {
		err = errNoClass
	}
	if err != nil {
		return counts{}, fmt.Errorf("counting the rows of %s: %w", s.qualified(), err)
	}

	sum := newDigest()
	for class := range classes {
		for bucket, n := range out.ordered[class] {
			if n > 0 {
				sum.add(class, bucket, n, hashes[class][bucket])
			}
		}
	}
	out.contents = sum.bytes()
	return out, nil
}
