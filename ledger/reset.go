package ledger

import (
	"context"
	"fmt"

	"fugu/ledger/audit"
)

// Reset implements Manager.
func (l *store) Reset(ctx context.Context, dataset string, why Why) (head audit.Link, err error) {
	err = why.check()
	if err == nil {
		var spent int64
		if err = l.read.QueryRowContext(ctx,
			`SELECT count(*) FROM totals WHERE dataset = $1 AND period = `+latestPeriod,
			dataset).Scan(&spent); err == nil && spent == 0 {
			err = fmt.Errorf("nothing was charged to dataset %q that could be reset", dataset)
		}
	}

	// The new period and its entry in the chain are one transaction.
	if err == nil {
		var number int64
		err = l.book(ctx, Charge{Dataset: dataset}, func(ctx context.Context, b *booking) (begun bool, err error) {
			number, err = b.reset(ctx, why)
			return err == nil, err
		})
		if err == nil {
			err = l.read.QueryRowContext(ctx, `SELECT entry, hash FROM audit WHERE number = $1`,
				number).Scan(&head.Text, &head.Hash)
		}
	}

	if err != nil {
		return audit.Link{}, fmt.Errorf("resetting: %w", err)
	}
	return head, nil
}

// reset begins a period, and says before it who has it begin and why. It returns the last entry.
func (b *booking) reset(ctx context.Context, why Why) (number int64, err error) {
	p, err := b.read.period(ctx, b.Dataset)
	if err != nil {
		return 0, err
	}
	if _, err := b.append(ctx, audit.Entry{At: now(), Event: audit.Reset, Dataset: b.Dataset, Period: p.number + 1,
		User: why.Operator, Reason: why.Reason}); err != nil {
		return 0, err
	}
	if err := b.renew(ctx, audit.ByReset); err != nil {
		return 0, err
	}
	var hash string
	err = b.read.head.QueryRowContext(ctx).Scan(&number, &hash)
	return number, err
}
