package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"fugu/ledger/audit"
	"fugu/privacy"
)

// founding is how the content of a ledger begins, in the transaction that makes the table of its audit chain.
type founding func(ctx context.Context, tx *sql.Tx) error

// upgradable refuses a schema of another version than the one known: one of the future, and one of the past where
// nothing may be written.
func upgradable(version, known int, begin founding) error {
	switch {
	case version > known:
		return fmt.Errorf("a newer fugu wrote it (schema %d, this one knows up to %d)", version, known)
	case version < known && begin == nil:
		return fmt.Errorf("an older fugu wrote it (schema %d): start the server once to bring it up to date", version)
	}
	return nil
}

// upgrade takes the steps that are missing behind a schema version; the one that leads to the version chained makes the
// table of the audit chain, which begin then fills, and the one to the version bound makes totals bind everybody.
func (s seal) upgrade(
	ctx context.Context, tx *sql.Tx, steps []string, begin founding, version, chained, bound int,
) error {
	for v, step := range steps[version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("migrating from schema %d: %w", version+v, err)
		}
	}
	if version < chained {
		if err := begin(ctx, tx); err != nil {
			return fmt.Errorf("beginning the audit chain: %w", err)
		}
	}
	if version < bound {
		if err := s.bind(ctx, tx); err != nil {
			return fmt.Errorf("adding up the totals: %w", err)
		}
	}
	return nil
}

// begin makes the first entry of a chain: it tells of what an older Fugu had booked.
func (s seal) begin(ctx context.Context, tx *sql.Tx) error {
	done := audit.NewDone(nil, nil, nil)
	answers, charges, err := s.readPaid(ctx, tx, done)
	if err != nil {
		return err
	}
	books, err := audit.NewBooks(done, answers, charges)
	if err != nil {
		return err
	}
	l, err := s.chain.Follow("", books.Begin(now()))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, insertEntry, 0, l.Text, l.Hash)
	return err
}

// bind has everybody pay for each answer that only single users paid for, as it was when their budgets did not add up
// to any total: what they were told, they can tell each other. The total may be over its limit then.
func (s seal) bind(ctx context.Context, tx *sql.Tx) error {
	answers, charges, err := s.readPaid(ctx, tx, audit.NewDone(nil, nil, nil))
	if err != nil {
		return err
	}
	b := booking{seal: s, read: &reading{seal: s}}
	if err := b.read.prepare(ctx, tx); err != nil {
		return err
	}
	if err := b.write.prepare(ctx, tx); err != nil {
		return err
	}

	// What each scope has paid for each answer.
	type payer struct {
		answer int64
		scope  string
	}
	paid, users := map[payer]map[string]privacy.Loss{}, map[payer]string{}
	for _, c := range charges {
		p := payer{c.Answer, c.Scope}
		if paid[p] == nil {
			paid[p], users[p] = map[string]privacy.Loss{}, c.User
		}
		paid[p][c.Secret] = c.Loss
	}

	now := now()
	for _, a := range answers {
		if paid[payer{a.ID, Everybody}] != nil {
			continue
		}
		// The scope that asked first has paid all that the answer costs.
		first := payer{a.ID, a.Scope}
		if paid[first] == nil {
			return fmt.Errorf("it is damaged: answer %d was not paid for", a.ID)
		}
		b.Dataset, b.User = a.Dataset, users[first]

		// It is booked like a payment of today, so that the chain says where the totals come from.
		p := payment{scope: Everybody, losses: paid[first], totals: map[string]privacy.Loss{}}
		for secret, loss := range p.losses {
			spent, err := b.spent(ctx, 0, Everybody, secret)
			if err != nil {
				return err
			}
			p.totals[secret] = plus(spent, loss)
		}
		if err := b.pay(ctx, a, p, now); err != nil {
			return err
		}
	}
	return nil
}
