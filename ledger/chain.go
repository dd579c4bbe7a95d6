package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"fugu/ledger/audit"
)

// The audit chain as a table.
const (
	insertEntry = `INSERT INTO audit (number, entry, hash) VALUES ($1, $2, $3)`
	lastEntry   = `SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1`
	allEntries  = `SELECT number, entry, hash FROM audit ORDER BY number`
)

// scanLast reads lastEntry.
func scanLast(row scanner) (number int64, hash string, err error) {
	err = row.Scan(&number, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		err = errors.New("the audit chain has no beginning")
	}
	return number, hash, err
}

// extend numbers entries, and writes them behind the last one. The transaction is the only one that writes.
func (s seal) extend(ctx context.Context, tx *sql.Tx, entries []audit.Entry) (last audit.Link, err error) {
	var number int64
	if number, last.Hash, err = scanLast(tx.QueryRowContext(ctx, lastEntry)); err != nil {
		return audit.Link{}, err
	}
	var values []string
	var args []any
	for i := range entries {
		number++
		entries[i].Number = number
		if last, err = s.chain.Follow(last.Hash, entries[i]); err != nil {
			return audit.Link{}, err
		}
		n := len(args)
		values = append(values, fmt.Sprintf("($%d, $%d, $%d)", n+1, n+2, n+3))
		args = append(args, number, last.Text, last.Hash)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO audit (number, entry, hash) VALUES `+strings.Join(values, ", "), args...)
	return last, err
}

// walk follows the chain from its beginning and calls visit with each link. It returns the last.
func (s seal) walk(ctx context.Context, tx *sql.Tx, visit func(int64, audit.Link) error) (audit.Link, error) {
	walk := s.chain.Walk()
	err := rows(ctx, tx, allEntries, func(row scanner) error {
		var number int64
		var l audit.Link
		if err := row.Scan(&number, &l.Text, &l.Hash); err != nil {
			return err
		}
		if err := walk.Step(number, l); err != nil {
			return err
		}
		return visit(number, l)
	})
	if err != nil {
		return audit.Link{}, fmt.Errorf("verifying: %w", err)
	}
	return walk.End()
}
