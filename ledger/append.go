package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"fugu/internal/hook"
)

// lastEntry is the end of the audit chain.
const lastEntry = `SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1`

// extend numbers entries, and writes them behind the last one. The transaction is the only one that writes.
func (s seal) extend(ctx context.Context, tx *sql.Tx, entries []Entry) (last Link, err error) {
	var number int64
	switch err := tx.QueryRowContext(ctx, lastEntry).Scan(&number, &last.Hash); {
	case errors.Is(err, sql.ErrNoRows):
		return Link{}, errors.New("the audit chain has no beginning")
	case err != nil:
		return Link{}, err
	}
	var values []string
	var args []any
	for i := range entries {
		number++
		entries[i].Number = number
		if last, err = s.chain.follow(last.Hash, entries[i]); err != nil {
			return Link{}, err
		}
		n := len(args)
		values = append(values, fmt.Sprintf("($%d, $%d, $%d)", n+1, n+2, n+3))
		args = append(args, number, last.Text, last.Hash)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO audit (number, entry, hash) VALUES `+strings.Join(values, ", "), args...)
	return last, err
}

// alter runs f in a transaction that is the only one that writes, and commits what it has done.
func (l *store) alter(ctx context.Context, f func(context.Context, *sql.Tx) error) error {
	if l.write == nil {
		return errReadOnly
	}
	working, tx, end, err := l.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := f(working, tx); err != nil {
		return err
	}
	return tx.Commit()
}

var errReadOnly = errors.New("the ledger is open for reading only")

// now is the time as entries have it.
func now() time.Time { return hook.Now().UTC().Truncate(time.Microsecond) }
