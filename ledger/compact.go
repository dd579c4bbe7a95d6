package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"time"
)

// compactAtOnce is how many answers lose their content in one transaction, so that charges do not wait long.
const compactAtOnce = 2000

// Dropped tells, in an entry of the audit chain, which answers have lost their content.
type Dropped struct {
	Before  time.Time `json:"before"` // they were given before that
	Answers int64     `json:"answers"`
	Digest  string    `json:"digest"` // SHA-256 of their ids, keys and contents
}

// dropped is what the chain needs to know of an answer without content.
type dropped struct {
	answer       int64
	key, content string
	entry        int64
}

// emptied is what stands in the place of an answer's bytes.
var emptied = []byte{0}

// nobody is the key of an answer that can not be found any more, so that its own is free for a new one.
func (d dropped) nobody() Key {
	sum := sha256.Sum256(fmt.Appendf(nil, "compacted %d %s", d.answer, d.key))
	return Key(hex.EncodeToString(sum[:]))
}

func digestOf(ds []dropped) string {
	h := sha256.New()
	for _, d := range ds {
		fmt.Fprintf(h, "%d %s %s\n", d.answer, d.key, d.content)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Compact implements Manager.
func (l *store) Compact(ctx context.Context, before time.Time, why Why) (answers int64, err error) {
	err = why.check()
	for n := int64(compactAtOnce); err == nil && n == compactAtOnce; answers += n {
		n, err = l.compactSome(ctx, before.UTC().Truncate(time.Microsecond), why)
	}
	if err != nil {
		return answers, fmt.Errorf("compacting: %w", err)
	}
	return answers, nil
}

// compactSome compacts the oldest answers that have a content, at most compactAtOnce.
func (l *store) compactSome(ctx context.Context, before time.Time, why Why) (n int64, err error) {
	const oldest = answerColumns + `WHERE failed = 0 AND begun <> 1 AND mechanism NOT IN ` + kept + ` AND at < $1
		AND NOT EXISTS (SELECT 1 FROM compacted c WHERE c.answer = answers.id) ORDER BY id LIMIT $2`
	err = l.alter(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var ds []dropped
		err := rows(ctx, tx, oldest, func(row scanner) error {
			s, err := l.seal.scan(row)
			ds = append(ds, dropped{answer: s.ID, key: string(s.key), content: s.content})
			return err
		}, before.UnixMicro(), compactAtOnce)
		if err != nil || len(ds) == 0 {
			return err
		}
		n = int64(len(ds))
		return l.drop(ctx, tx, ds, Entry{Event: Compacted, User: why.Operator, Reason: why.Reason,
			Dropped: &Dropped{Before: before, Answers: int64(len(ds)), Digest: digestOf(ds)}})
	})
	if err != nil {
		n = 0
	}
	return n, err
}

// drop takes the contents of answers away and frees their keys, and writes the entry that tells of it.
func (l *store) drop(ctx context.Context, tx *sql.Tx, ds []dropped, e Entry) error {
	e.At = now()
	entries := []Entry{e}
	if _, err := l.seal.extend(ctx, tx, entries); err != nil {
		return err
	}
	note, err := tx.PrepareContext(ctx, `INSERT INTO compacted (answer, key, content, entry) VALUES ($1, $2, $3, $4)`)
	if err != nil {
		return err
	}
	defer func() { _ = note.Close() }()
	drop, err := tx.PrepareContext(ctx, `UPDATE answers SET key = $1, bytes = $2, cells = '[]', sealed = 0 WHERE id = $3`)
	if err != nil {
		return err
	}
	defer func() { _ = drop.Close() }()
	for _, d := range ds {
		if _, err := note.ExecContext(ctx, d.answer, d.key, d.content, entries[0].Number); err != nil {
			return err
		}
		if _, err := drop.ExecContext(ctx, string(d.nobody()), emptied, d.answer); err != nil {
			return err
		}
	}
	return nil
}
