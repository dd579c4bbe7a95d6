package ledger

import (
	"context"
	"fmt"
	"time"

	"fugu/internal/hook"
	"fugu/ledger/audit"
	"fugu/privacy"
)

// Charge implements Ledger.
func (l *store) Charge(ctx context.Context, c Charge) (a Answer, err error) {
	if err = c.check(); err == nil {
		err = l.book(ctx, c, func(ctx context.Context, b *booking) (booked bool, err error) {
			var paid bool
			a, paid, err = b.book(ctx)
			return !paid, err
		})
	}
	if err != nil {
		return Answer{}, fmt.Errorf("charging: %w", err)
	}
	return a, nil
}

// book writes what is missing. paid: nothing is, and there is nothing to commit.
func (b *booking) book(ctx context.Context) (a Answer, paid bool, err error) {
	s, ok, err := b.current(ctx)
	if err != nil {
		return Answer{}, false, err
	}
	pay := b.limits()
	if !ok {
		if err := b.counted(ctx); err != nil {
			return Answer{}, false, err
		}
		s.Losses = b.Losses
	} else if pay, err = b.unpaid(ctx, &s); err != nil || len(pay) == 0 {
		return s.Answer, true, err
	} else if s.Mechanism == Derived {
		return Answer{}, false, fmt.Errorf("answer %d was derived for others", s.ID)
	}

	// All of them can pay, or nothing is written.
	period, err := b.period(ctx)
	if err != nil {
		return Answer{}, false, err
	}
	if err := b.compared(period); err != nil {
		return Answer{}, false, err
	}
	payments := make([]payment, len(pay))
	for i, x := range pay {
		payments[i] = payment{scope: x.Scope, period: period.number, losses: s.Losses}
		if b.free() {
			continue
		}
		if payments[i].totals, err = b.afford(ctx, period.number, x, s.Losses); err != nil {
			return Answer{}, false, err
		}
	}

	now := now()
	if err := b.promise(ctx, period, now); err != nil {
		return Answer{}, false, err
	}
	if !ok {
		if s, err = b.store(ctx, now); err != nil {
			return Answer{}, false, err
		}
	}
	for _, p := range payments {
		if err := b.pay(ctx, s.audited(), p, now); err != nil {
			return Answer{}, false, err
		}
	}
	return s.Answer, false, nil
}

// current returns the answer of the key, if there is one. It is an error if the answer is about other data than the
// charge.
func (b *booking) current(ctx context.Context) (s stored, ok bool, err error) {
	epoch, err := b.read.epoch(ctx, b.Dataset)
	if err != nil {
		return stored{}, false, err
	}
	if epoch.Number != b.Epoch {
		return stored{}, false, &Stale{Dataset: b.Dataset}
	}
	s, ok, err = b.read.byKey(ctx, b.Key)
	if err != nil {
		return stored{}, false, err
	}
	if ok && (s.dataset != b.Dataset || s.epoch != b.Epoch) {
		return stored{}, false, fmt.Errorf("the key belongs to an answer of dataset %q in its epoch %d",
			s.dataset, s.epoch)
	}
	return s, ok, nil
}

// unpaid returns the limits of the scopes that have not paid for the answer. What it costs them is what everybody paid:
// what the answer that was drawn tells, whatever this charge says.
func (b *booking) unpaid(ctx context.Context, s *stored) (pay []Share, err error) {
	if s.Losses, err = b.read.charged(ctx, s.ID, Everybody); err != nil {
		return nil, err
	}
	if s.Losses == nil {
		return nil, fmt.Errorf("it is damaged: answer %d was not paid for", s.ID)
	}
	for _, x := range b.Shares {
		if losses, err := b.read.charged(ctx, s.ID, x.Scope); err != nil {
			return nil, err
		} else if losses == nil {
			pay = append(pay, x)
		}
	}
	return pay, nil
}

// afford returns the totals of a scope after the losses, or says that they are too much for a secret.
func (b *booking) afford(
	ctx context.Context, period int64, x Share, losses map[string]privacy.Loss,
) (map[string]privacy.Loss, error) {
	totals := make(map[string]privacy.Loss, len(losses))
	for _, secret := range names(losses) {
		spent, err := b.spent(ctx, period, x.Scope, secret)
		if err != nil {
			return nil, err
		}
		totals[secret] = plus(spent, losses[secret])
		allowed := totals[secret].Allowed(x.Limit, spent.Releases())
		if !allowed && !hook.Overdraft && !(hook.Apart && x.Scope == Everybody) {
			return nil, &Exhausted{Dataset: b.Dataset, Scope: x.Scope, Secret: secret, Limit: x.Limit,
				Spent: spent, Wanted: losses[secret]}
		}
	}
	return totals, nil
}

// store inserts the answer.
func (b *booking) store(ctx context.Context, now time.Time) (stored, error) {
	s := stored{key: b.Key, dataset: b.Dataset, scope: Everybody, epoch: b.Epoch, Answer: Answer{
		Bytes: b.Answer, Failed: b.Failed, Mechanism: b.Mechanism, Assumption: b.Assumption, Requested: b.Requested,
		Losses: b.Losses, Cells: b.Cells, Certificates: b.Certificates, At: now, Pending: b.Ahead, Fresh: true}}
	if b.Ahead {
		s.phase = audit.Pending
	}

	// What people could read is sealed with the key of the answer, if the ledger has one.
	c, err := b.closed(&s.Answer, b.Key)
	if err != nil {
		return stored{}, err
	}
	certificates, err := list(b.Certificates)
	if err != nil {
		return stored{}, err
	}
	s.content = c.content

	row := b.write.answer.QueryRowContext(ctx, string(b.Key), b.Dataset, Everybody, now.UnixMicro(),
		float64(b.Requested.Epsilon), float64(b.Requested.Delta), b.Mechanism, b.Assumption, c.failed, c.cells, c.bytes,
		certificates, c.sealed, b.Epoch, int(s.phase))
	if err := row.Scan(&s.ID); err != nil {
		return stored{}, err
	}
	return s, b.storeTerms(ctx, &s)
}
