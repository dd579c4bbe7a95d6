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

// since is, of the dataset $1, the entry of its last reset: the accounts that count are those since then.
const since = `(SELECT coalesce(max(entry), 0) FROM resets WHERE dataset = $1)`

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

// Total is an account at any time: those of the eras before the last reset too.
type Total struct {
	Scope string
	Account
	Since int64 // entry of the reset with which it began; 0: the beginning
	Past  bool  // a reset has ended it, and it does not count any more
}

// Reset implements Manager.
func (l *store) Reset(ctx context.Context, dataset string, why Why) (head Link, err error) {
	err = why.check()
	if err == nil {
		err = l.alter(ctx, func(ctx context.Context, tx *sql.Tx) error {
			var spent, last int64
			err := tx.QueryRowContext(ctx, `SELECT count(*), (SELECT coalesce(max(id), 0) FROM charges) FROM totals WHERE dataset = $1 AND since = `+since, dataset).Scan(&spent, &last)
			if err != nil {
				return err
			}
			if spent == 0 {
				return fmt.Errorf("nothing was charged to dataset %q that could be reset", dataset)
			}
			entries := []Entry{{At: now(), Event: Reset, Dataset: dataset, User: why.Operator, Reason: why.Reason, Charges: last}}
			if head, err = l.seal.extend(ctx, tx, entries); err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, `INSERT INTO resets (entry, dataset, charge) VALUES ($1, $2, $3)`, entries[0].Number, dataset, last)
			return err
		})
	}
	if err != nil {
		return Link{}, fmt.Errorf("resetting: %w", err)
	}
	return head, nil
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
	const query = `SELECT scope, secret, pure, kappa2, delta, releases, since, CASE WHEN since < ` + since + ` THEN 1 ELSE 0 END FROM totals WHERE dataset = $1 ORDER BY since, scope, secret`
	err = l.snapshot(ctx, func(tx *sql.Tx) error {
		return rows(ctx, tx, query, func(row scanner) error {
			var t Total
			err := row.Scan(&t.Scope, &t.Secret, &t.Loss.Pure, &t.Loss.Kappa2, &t.Loss.Delta, &t.Releases, &t.Since, &t.Past)
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
	Failed, Past          bool // Past: a reset came after it
}

// Payments implements Manager.
func (l *store) Payments(ctx context.Context, dataset, user string, limit int) (out []Payment, err error) {
	const query = `SELECT c.at, c.answer, c.scope, c."user", c.secret, c.pure, c.kappa2, c.delta, a.mechanism, a.assumption, a.failed,
	    CASE WHEN EXISTS (SELECT 1 FROM resets r WHERE r.dataset = a.dataset AND r.charge >= c.id) THEN 1 ELSE 0 END
	  FROM charges c JOIN answers a ON a.id = c.answer WHERE a.dataset = $1 AND ($2 = '' OR c."user" = $2 OR c.scope = $2)
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
