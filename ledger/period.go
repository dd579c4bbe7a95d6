package ledger

import (
	"context"
	"fmt"
	"time"
)

// A period is a time for which one budget is. Those of a dataset are numbered from 0, the totals of each begin at
// nothing, and every charge is booked in the latest one begun, for everybody and all shares alike. None is ever begun
// twice or gone back to: the number only grows, in the transaction of the charge that finds the latest one over. A
// clock that is put back therefore begins nothing until it has caught up, and one that jumps ahead, however far, begins
// one.

// Standing implements Ledger.
func (l *store) Standing(ctx context.Context, dataset string, renew time.Duration) (s Standing, err error) {
	err = l.again(ctx, func() error {
		e, err := l.onRead.epoch(ctx, dataset)
		if err != nil {
			return err
		}
		p, err := l.onRead.period(ctx, dataset)
		if err != nil {
			return err
		}

		s = Standing{Epoch: e.Number, Label: e.Label, Period: p.number}
		if renew == 0 {
			return nil
		}

		// By the clock of the database: that of a proxy may be off, and there may be several.
		now, err := l.clock(ctx, l.read)
		if s.Due = p.due(renew, now); s.Due {
			s.Period++
		}
		return err
	})
	if err != nil {
		return Standing{}, fmt.Errorf("reading where the dataset stands: %w", err)
	}
	return s, nil
}

// period returns the period that the charge falls in, which it begins where the latest one is over. The first charge
// under a policy that renews fixes when period 0 began.
func (b *booking) period(ctx context.Context) (period, error) {
	p, err := b.read.period(ctx, b.Dataset)
	if err != nil || b.Renew == 0 {
		return p, err
	}
	now, err := b.clock(ctx)
	if err != nil {
		return period{}, err
	}

	// A period is written down where something is charged in it, so a dataset that nobody asks about has none.
	since, over := p.over(b.Renew, now)
	switch {
	case over:
		p.number++
		p.began, p.reason, p.promise = since, "renewal", 0
	case !p.known:
		p.began, p.reason = now, "first"
	default:
		return p, nil
	}

	p.at = now
	return p, b.begin(ctx, p)
}

// renew begins the next period now, for a reason other than time.
func (b *booking) renew(ctx context.Context, reason string) error {
	p, err := b.read.period(ctx, b.Dataset)
	if err != nil {
		return err
	}
	now, err := b.clock(ctx)
	if err != nil {
		return err
	}
	// Where the clock was put back, the next period ends no sooner than it would have.
	began := now
	if p.began.After(now) {
		began = p.began
	}
	return b.begin(ctx, period{dataset: b.Dataset, number: p.number + 1, began: began, at: now, reason: reason})
}

// begin writes a period.
func (b *booking) begin(ctx context.Context, p period) error {
	_, err := b.write.period.ExecContext(ctx, p.dataset, p.number, p.began.UnixMicro(), p.at.UnixMicro(), p.reason)
	if err != nil {
		return err
	}
	_, err = b.append(ctx, p.entry())
	return err
}
