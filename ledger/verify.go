package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"fugu/ledger/audit"
	"fugu/privacy"
)

// verify adds all charges up again, in the order in which they were booked, and compares with the running totals, bit
// for bit; and follows the audit chain, in which every epoch and period must be.
func (l *store) verify(ctx context.Context) error {
	return l.snapshot(ctx, func(tx *sql.Tx) error {
		done, err := l.seal.readDone(ctx, tx)
		if err != nil {
			return err
		}
		if err := verifyTotals(ctx, tx); err != nil {
			return err
		}
		if _, err := l.seal.walk(ctx, tx, done.Take); err != nil {
			return err
		}
		return done.Rest()
	})
}

// Audit implements Ledger.
func (l *store) Audit(ctx context.Context, visit func(audit.Link) error) (head audit.Link, err error) {
	err = l.snapshot(ctx, func(tx *sql.Tx) error {
		head, err = l.seal.audit(ctx, tx, visit)
		return err
	})
	return head, err
}

// audit is Audit of the state that a transaction sees.
func (s seal) audit(ctx context.Context, tx *sql.Tx, visit func(audit.Link) error) (head audit.Link, err error) {
	done, err := s.readDone(ctx, tx)
	if err != nil {
		return audit.Link{}, err
	}
	if err := verifyTotals(ctx, tx); err != nil {
		return audit.Link{}, err
	}

	answers, charges, err := s.readPaid(ctx, tx, done)
	if err != nil {
		return audit.Link{}, err
	}
	books, err := audit.NewBooks(done, answers, charges)
	if err != nil {
		return audit.Link{}, err
	}

	// The chain is walked once: each entry is looked for in the tables, and at last what they have that no entry is of.
	head, err = s.walk(ctx, tx, func(number int64, l audit.Link) error {
		if err := books.Take(number, l); err != nil || visit == nil {
			return err
		}
		return visit(l)
	})
	if err == nil {
		err = books.Rest()
	}
	return head, err
}

// account identifies a running total.
type account struct {
	dataset, scope, secret string
	period                 int64
}

// sum is a running total, or the charges that it should be the sum of.
type sum struct {
	privacy.Loss
	releases int
}

// verifyTotals compares the running totals with the charges, and looks for answers that nobody paid for.
func verifyTotals(ctx context.Context, tx *sql.Tx) error {
	const (
		unpaidAnswer = `SELECT id FROM answers a
		  WHERE NOT EXISTS (SELECT 1 FROM charges c WHERE c.answer = a.id AND c.scope = '') LIMIT 1`
		charges = `SELECT a.dataset, c.scope, c.secret, c.pure, c.kappa2, c.delta, 1, c.period
		  FROM charges c JOIN answers a ON a.id = c.answer
		  WHERE NOT (a.mechanism IN ` + gratis + ` AND c.pure = 0 AND c.kappa2 = 0 AND c.delta = 0) ORDER BY c.id`
		all = `SELECT dataset, scope, secret, pure, kappa2, delta, releases, period FROM totals
		  ORDER BY dataset, period, scope, secret`
	)
	var unpaid int64
	switch err := tx.QueryRowContext(ctx, unpaidAnswer).Scan(&unpaid); {
	case err == nil:
		return fmt.Errorf("it is damaged: answer %d was not paid for", unpaid)
	case !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("verifying: %w", err)
	}

	// In order, so that of several that are damaged it is always the same one that is named.
	booked := map[account]sum{}
	var order []account
	err := scanSums(ctx, tx, charges, func(a account, s sum) error {
		if _, known := booked[a]; !known {
			order = append(order, a)
		}
		booked[a] = sum{plus(booked[a].Loss, s.Loss), booked[a].releases + 1}
		return nil
	})
	if err != nil {
		return fmt.Errorf("verifying: %w", err)
	}
	var wrong error
	err = scanSums(ctx, tx, all, func(a account, s sum) error {
		if booked[a] != s && wrong == nil {
			wrong = fmt.Errorf("it is damaged: the total of dataset %q, scope %q, secret %q is not the sum of its "+
				"charges",
				a.dataset, a.scope, a.secret)
		}
		delete(booked, a)
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("verifying: %w", err)
	case wrong != nil:
		return wrong
	}
	for _, a := range order {
		if _, left := booked[a]; left {
			return fmt.Errorf("it is damaged: dataset %q, scope %q, secret %q has charges and no total",
				a.dataset, a.scope, a.secret)
		}
	}
	return nil
}

// scanSums calls f with what each row of a query adds to which account.
func scanSums(ctx context.Context, tx *sql.Tx, query string, f func(account, sum) error) error {
	return rows(ctx, tx, query, func(row scanner) error {
		var a account
		var s sum
		err := row.Scan(&a.dataset, &a.scope, &a.secret, &s.Pure, &s.Kappa2, &s.Delta, &s.releases, &a.period)
		if err != nil {
			return err
		}
		return f(a, s)
	})
}

// readDone reads what was done to the ledger.
func (s seal) readDone(ctx context.Context, tx *sql.Tx) (*audit.Done, error) {
	var drops []audit.Drop
	var began, promised []audit.Entry
	const dropped = `SELECT answer, key, content, entry FROM compacted ORDER BY answer`
	err := rows(ctx, tx, dropped, func(row scanner) error {
		var x audit.Drop
		err := row.Scan(&x.Answer, &x.Key, &x.Content, &x.Entry)
		drops = append(drops, x)
		return err
	})

	// What has begun an epoch or a period, or was promised, stands in the chain in the same form.
	if err == nil {
		err = rows(ctx, tx, epochColumns, func(row scanner) error {
			e, err := scanEpoch(row)
			began = append(began, e.entry())
			return err
		})
	}
	if err == nil {
		err = rows(ctx, tx, periodColumns, func(row scanner) error {
			p, err := scanPeriod(row)
			began = append(began, p.entry())
			return err
		})
	}
	if err == nil {
		err = rows(ctx, tx, promiseColumns, func(row scanner) error {
			p, err := s.scanPromise(row)
			promised = append(promised, p.entry(s))
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("verifying: %w", err)
	}
	return audit.NewDone(began, promised, drops), nil
}

// readPaid reads the answers as they were before they were compacted, and all charges, both in the order of their ids.
func (s seal) readPaid(ctx context.Context, tx *sql.Tx, done *audit.Done) (
	answers []audit.Answer, charges []audit.Charge, err error,
) {
	// An answer that was compacted is digested as it was, by what the chain says of it.
	empty := s.content(emptied, noList)
	err = rows(ctx, tx, answerColumns+`ORDER BY id`, func(row scanner) error {
		x, err := s.scan(row)
		if err != nil {
			return err
		}
		answers = append(answers, x.audited())
		return done.Restore(&answers[len(answers)-1], empty)
	})

	if err == nil {
		err = rows(ctx, tx, chargeColumns+`ORDER BY id`, func(row scanner) error {
			c, err := scanCharge(row)
			charges = append(charges, c)
			return err
		})
	}

	if err == nil {
		err = s.loadTerms(ctx, tx, answers)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("verifying: %w", err)
	}
	return answers, charges, nil
}
