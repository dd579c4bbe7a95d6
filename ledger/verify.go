package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"fugu/privacy"
)

// verify adds all charges up again, in the order in which they were booked, and compares with the running totals, bit for
// bit. It reads one snapshot, so others may be charging meanwhile.
func verify(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("verifying: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var unpaid int64
	err = tx.QueryRowContext(ctx, `SELECT id FROM answers a WHERE NOT EXISTS (SELECT 1 FROM charges c WHERE c.answer = a.id AND c.scope = a.scope) LIMIT 1`).Scan(&unpaid)
	switch {
	case err == nil:
		return fmt.Errorf("it is damaged: answer %d was not paid for", unpaid)
	case !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("verifying: %w", err)
	}
	type account struct{ dataset, scope, secret string }
	type sum struct {
		privacy.Loss
		releases int
	}
	collect := func(query string, visit func(account, sum)) error {
		rows, err := tx.QueryContext(ctx, query)
		if err != nil {
			return fmt.Errorf("verifying: %w", err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var a account
			var s sum
			if err := rows.Scan(&a.dataset, &a.scope, &a.secret, &s.Pure, &s.Kappa2, &s.Delta, &s.releases); err != nil {
				return fmt.Errorf("verifying: %w", err)
			}
			visit(a, s)
		}
		return rows.Err()
	}
	booked, totals := map[account]sum{}, map[account]sum{}
	err = errors.Join(
		collect(`SELECT a.dataset, c.scope, c.secret, c.pure, c.kappa2, c.delta, 1 FROM charges c JOIN answers a ON a.id = c.answer ORDER BY c.id`,
			func(a account, s sum) { booked[a] = sum{plus(booked[a].Loss, s.Loss), booked[a].releases + 1} }),
		collect(`SELECT dataset, scope, secret, pure, kappa2, delta, releases FROM totals`, func(a account, s sum) { totals[a] = s }))
	if err != nil {
		return err
	}
	for a, s := range totals {
		if booked[a] != s {
			return fmt.Errorf("it is damaged: the total of dataset %q, scope %q, secret %q is not the sum of its charges", a.dataset, a.scope, a.secret)
		}
		delete(booked, a)
	}
	for a := range booked {
		return fmt.Errorf("it is damaged: dataset %q, scope %q, secret %q has charges and no total", a.dataset, a.scope, a.secret)
	}
	return nil
}
