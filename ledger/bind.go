package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"fugu/privacy"
)

// bind has everybody pay for each answer that only single users paid for, as it was when their budgets did not add up to
// any total: what they were told, they can tell each other. The total may be over its limit then.
func (l seal) bind(ctx context.Context, tx *sql.Tx) error {
	p, err := l.payments(ctx, tx, new(done))
	if err != nil {
		return err
	}
	b := booking{seal: l, read: &reading{seal: l}}
	if err := b.read.prepare(ctx, tx); err != nil {
		return err
	}
	if err := b.write.prepare(ctx, tx); err != nil {
		return err
	}
	now := now()
	paid, users := map[payment]map[string]privacy.Loss{}, map[payment]string{}
	for _, x := range p.charges {
		id := payment{x.answer, x.scope}
		if paid[id] == nil {
			paid[id], users[id] = map[string]privacy.Loss{}, x.user
		}
		paid[id][x.secret] = x.loss
	}
	for _, s := range p.answers {
		if paid[payment{s.ID, Everybody}] != nil {
			continue
		}
		first := payment{s.ID, s.scope}
		if s.Losses = paid[first]; s.Losses == nil {
			return fmt.Errorf("it is damaged: answer %d was not paid for", s.ID)
		}
		b.Dataset, b.User = s.dataset, users[first]
		totals := map[string]privacy.Loss{}
		for secret, loss := range s.Losses {
			spent, err := b.spent(ctx, 0, Everybody, secret)
			if err != nil {
				return err
			}
			totals[secret] = plus(spent, loss)
		}
		if err := b.pay(ctx, s, Everybody, 0, totals, now); err != nil {
			return err
		}
	}
	return nil
}
