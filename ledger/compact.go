package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"fugu/ledger/audit"
)

// compactAtOnce is how many answers lose their content in one transaction, so that charges do not wait long.
const compactAtOnce = 2000

// emptied is what stands in the place of an answer's bytes.
var emptied = []byte{0}

// dropped is what is kept of an answer whose content goes.
func (s *stored) dropped() audit.Drop {
	return audit.Drop{Answer: s.ID, Key: string(s.key), Content: s.content}
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

	// In one transaction, so that the chain tells of just those whose content is gone.
	err = l.alter(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var drops []audit.Drop
		err := rows(ctx, tx, oldest, func(row scanner) error {
			s, err := l.seal.scan(row)
			drops = append(drops, s.dropped())
			return err
		}, before.UnixMicro(), compactAtOnce)

		if err != nil || len(drops) == 0 {
			return err
		}
		n = int64(len(drops))
		return l.drop(ctx, tx, drops, audit.Entry{Event: audit.Compacted, User: why.Operator, Reason: why.Reason,
			Dropped: &audit.Dropped{Before: before, Answers: n, Digest: audit.Digest(drops)}})
	})
	if err != nil {
		n = 0
	}
	return n, err
}

// drop takes the contents of answers away and frees their keys, and writes the entry that tells of it.
func (l *store) drop(ctx context.Context, tx *sql.Tx, drops []audit.Drop, e audit.Entry) error {
	e.At = now()
	entries := []audit.Entry{e}
	if _, err := l.seal.extend(ctx, tx, entries); err != nil {
		return err
	}

	// The note comes first: without one, the database refuses that an answer changes.
	const noted = `INSERT INTO compacted (answer, key, content, entry) VALUES ($1, $2, $3, $4)`
	note, err := tx.PrepareContext(ctx, noted)
	if err != nil {
		return err
	}
	defer func() { _ = note.Close() }()
	const emptying = `UPDATE answers SET key = $1, bytes = $2, cells = '[]', sealed = 0 WHERE id = $3`
	drop, err := tx.PrepareContext(ctx, emptying)
	if err != nil {
		return err
	}
	defer func() { _ = drop.Close() }()
	for _, d := range drops {
		if _, err := note.ExecContext(ctx, d.Answer, d.Key, d.Content, entries[0].Number); err != nil {
			return err
		}
		if _, err := drop.ExecContext(ctx, d.Nobody(), emptied, d.Answer); err != nil {
			return err
		}
	}
	return nil
}
