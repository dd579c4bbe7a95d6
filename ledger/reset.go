package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"fugu/privacy"
)

// latest is the period of the dataset $1 that began last.
const latest = `(SELECT coalesce(max(number), 0) FROM periods WHERE dataset = $1)`

// causeReset is the cause of a period that begins because somebody says so. In the chain it follows on the Reset that tells who.
const causeReset = "reset"

// Why is who does something to a ledger, and the reason. Both are written into the audit chain as they are.
type Why struct{ Operator, Reason string }

// maxReason is in characters.
const maxReason = 500

func (w Why) check() error {
	switch {
	case !text(w.Operator, w.Reason):
		return errors.New("operator and reason have to be UTF-8 text")
	case strings.TrimSpace(w.Operator) == "" || strings.TrimSpace(w.Reason) == "":
		return errors.New("say who does it, and for what reason: both are audited")
	case utf8.RuneCountInString(w.Reason) > maxReason:
		return fmt.Errorf("the reason has more than %d characters", maxReason)
	}
	return nil
}

// Total is an account at any time: those of earlier periods too.
type Total struct {
	Scope string
	Account
	Period int64
	Past   bool // another period has begun, and it does not count any more
}

// Reset implements Manager.
func (l *store) Reset(ctx context.Context, dataset string, why Why) (head Link, err error) {
	err = why.check()
	if err == nil {
		var spent int64
		if err = l.read.QueryRowContext(ctx, `SELECT count(*) FROM totals WHERE dataset = $1 AND period = `+latest, dataset).Scan(&spent); err == nil && spent == 0 {
			err = fmt.Errorf("nothing was charged to dataset %q that could be reset", dataset)
		}
	}
	if err == nil {
		var number int64
		err = l.book(ctx, Charge{Dataset: dataset}, func(ctx context.Context, b *booking) (begun bool, err error) {
			number, err = b.reset(ctx, why)
			return err == nil, err
		})
		if err == nil {
			err = l.read.QueryRowContext(ctx, `SELECT entry, hash FROM audit WHERE number = $1`, number).Scan(&head.Text, &head.Hash)
		}
	}
	if err != nil {
		return Link{}, fmt.Errorf("resetting: %w", err)
	}
	return head, nil
}

// reset begins a period, and says before it who has it begin and why. It returns the last entry.
func (b *booking) reset(ctx context.Context, why Why) (number int64, err error) {
	p, err := b.read.period(ctx, b.Dataset)
	if err != nil {
		return 0, err
	}
	if err := b.append(ctx, Entry{At: now(), Event: Reset, Dataset: b.Dataset, Period: p.number + 1, User: why.Operator, Reason: why.Reason}); err != nil {
		return 0, err
	}
	if err := b.renew(ctx, causeReset); err != nil {
		return 0, err
	}
	var hash string
	err = b.read.head.QueryRowContext(ctx).Scan(&number, &hash)
	return number, err
}

// Datasets implements Manager.
func (l *store) Datasets(ctx context.Context) (out []string, err error) {
	err = l.snapshot(ctx, func(tx *sql.Tx) error {
		return rows(ctx, tx, `SELECT DISTINCT dataset FROM totals ORDER BY dataset`, func(row scanner) error {
			var s string
			err := row.Scan(&s)
			out = append(out, s)
			return err
		})
	})
	return out, err
}

// Totals implements Manager.
func (l *store) Totals(ctx context.Context, dataset string) (out []Total, err error) {
	const query = `SELECT scope, secret, pure, kappa2, delta, releases, period, CASE WHEN period < ` + latest + ` THEN 1 ELSE 0 END FROM totals WHERE dataset = $1 ORDER BY period, scope, secret`
	err = l.snapshot(ctx, func(tx *sql.Tx) error {
		return rows(ctx, tx, query, func(row scanner) error {
			var t Total
			err := row.Scan(&t.Scope, &t.Secret, &t.Loss.Pure, &t.Loss.Kappa2, &t.Loss.Delta, &t.Releases, &t.Period, &t.Past)
			out = append(out, t)
			return err
		}, dataset)
	})
	return out, err
}

// Payment is a charge of one secret.
type Payment struct {
	At                    time.Time
	Answer                int64
	Scope, User           string
	Secret                string
	Loss                  privacy.Loss
	Mechanism, Assumption string
	Failed, Past          bool // Past: another period began after it
}

// Payments implements Manager.
func (l *store) Payments(ctx context.Context, dataset, user string, limit int) (out []Payment, err error) {
	const query = `SELECT c.at, c.answer, c.scope, c."user", c.secret, c.pure, c.kappa2, c.delta, a.mechanism, a.assumption, a.failed,
	    CASE WHEN c.period < ` + latest + ` THEN 1 ELSE 0 END
	  FROM charges c JOIN answers a ON a.id = c.answer WHERE a.dataset = $1 AND ($2 = '' OR c."user" = $2)
	  ORDER BY c.id DESC LIMIT $3`
	err = l.snapshot(ctx, func(tx *sql.Tx) error {
		return rows(ctx, tx, query, func(row scanner) error {
			var p Payment
			var at int64
			err := row.Scan(&at, &p.Answer, &p.Scope, &p.User, &p.Secret, &p.Loss.Pure, &p.Loss.Kappa2, &p.Loss.Delta, &p.Mechanism, &p.Assumption, &p.Failed, &p.Past)
			p.At = time.UnixMicro(at).UTC()
			out = append(out, p)
			return err
		}, dataset, user, limit)
	})
	return out, err
}
