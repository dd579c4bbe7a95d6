package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"fugu/ledger/audit"
)

// Refusal is a statement about protected data that was not answered. It holds neither the statement nor the error's
// text, in which there may be literals.
type Refusal struct {
	At        time.Time
	User      string
	Dataset   string // empty: it did not come to that
	Code      string // SQLSTATE
	Statement string // as in Charge
	Times     int64  // how often, the last time at Until
	Until     time.Time
}

// Refuse implements Ledger.
func (l *store) Refuse(ctx context.Context, refusals []Refusal, lost int64) error {
	var entries []audit.Entry
	if lost > 0 {
		entries = append(entries, audit.Entry{At: now(), Event: audit.Lost, Times: lost})
	}

	for _, r := range refusals {
		if err := r.check(); err != nil {
			return fmt.Errorf("recording refusals: %w", err)
		}
		entries = append(entries, r.entry())
	}

	if len(entries) == 0 {
		return nil
	}

	// They extend the chain and touch no other table.
	err := l.alter(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := l.seal.extend(ctx, tx, entries)
		return err
	})
	if err != nil {
		return fmt.Errorf("recording refusals: %w", err)
	}
	return nil
}

func (r Refusal) entry() audit.Entry {
	e := audit.Entry{At: r.At.UTC().Truncate(time.Microsecond), Event: audit.Refused, Dataset: r.Dataset, User: r.User,
		Code: r.Code, Statement: r.Statement}
	if r.Times > 1 {
		until := r.Until.UTC().Truncate(time.Microsecond)
		e.Times, e.Until = r.Times, &until
	}
	return e
}

func (r Refusal) check() error {
	switch {
	case !text(r.User, r.Dataset) || r.User == "":
		return errors.New("a name is missing, or no UTF-8 text")
	case len(r.Code) != 5 || strings.Trim(r.Code, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "":
		return errors.New("a code is no SQLSTATE")
	case !fingerprint(r.Statement):
		return errors.New("a statement's fingerprint is not one")
	case r.Times < 1 || r.At.IsZero():
		return errors.New("a refusal without a time")
	}
	return nil
}
