package ledger

import (
	"context"
	"database/sql"
	"time"

	"fugu/ledger/audit"
)

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
	const query = `SELECT scope, secret, pure, kappa2, delta, releases, period, CASE WHEN period < ` + latestPeriod +
		` THEN 1 ELSE 0 END FROM totals WHERE dataset = $1 ORDER BY period, scope, secret`
	err = l.snapshot(ctx, func(tx *sql.Tx) error {
		return rows(ctx, tx, query, func(row scanner) error {
			var t Total
			err := row.Scan(&t.Scope, &t.Secret, &t.Loss.Pure, &t.Loss.Kappa2, &t.Loss.Delta, &t.Releases, &t.Period,
				&t.Past)
			out = append(out, t)
			return err
		}, dataset)
	})
	return out, err
}

// Payments implements Manager.
func (l *store) Payments(ctx context.Context, dataset, user string, limit int) (out []Payment, err error) {
	const query = `SELECT c.at, c.answer, c.scope, c."user", c.secret, c.pure, c.kappa2, c.delta, a.mechanism,
	  a.assumption, a.failed,
	    CASE WHEN c.period < ` + latestPeriod + ` THEN 1 ELSE 0 END
	  FROM charges c JOIN answers a ON a.id = c.answer WHERE a.dataset = $1 AND ($2 = '' OR c."user" = $2)
	  ORDER BY c.id DESC LIMIT $3`
	err = l.snapshot(ctx, func(tx *sql.Tx) error {
		return rows(ctx, tx, query, func(row scanner) error {
			var p Payment
			var at int64
			err := row.Scan(&at, &p.Answer, &p.Scope, &p.User, &p.Secret, &p.Loss.Pure, &p.Loss.Kappa2, &p.Loss.Delta,
				&p.Mechanism, &p.Assumption, &p.Failed, &p.Past)
			p.At = time.UnixMicro(at).UTC()
			out = append(out, p)
			return err
		}, dataset, user, limit)
	})
	return out, err
}

// Latest implements Manager.
func (l *store) Latest(ctx context.Context, limit int) (out []audit.Entry, err error) {
	const query = `SELECT entry FROM audit ORDER BY number DESC LIMIT $1`
	err = l.snapshot(ctx, func(tx *sql.Tx) error {
		return rows(ctx, tx, query, func(row scanner) error {
			var link audit.Link
			if err := row.Scan(&link.Text); err != nil {
				return err
			}
			e, err := link.Entry()
			out = append(out, e)
			return err
		}, limit)
	})
	return out, err
}
