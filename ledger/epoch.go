package ledger

import (
	"context"
	"fmt"
)

// Advance implements Ledger.
func (l *store) Advance(ctx context.Context, e Epoch) (Epoch, error) {
	err := e.check()
	if err == nil {
		err = l.book(ctx, Charge{Dataset: e.Dataset}, func(ctx context.Context, b *booking) (begun bool, err error) {
			e, begun, err = b.advance(ctx, e)
			return begun, err
		})
	}
	if err != nil {
		return Epoch{}, fmt.Errorf("advancing the epoch: %w", err)
	}
	return e, nil
}

// advance writes the epoch, if it is one that has not begun, and returns the one that stands.
func (b *booking) advance(ctx context.Context, e Epoch) (_ Epoch, begun bool, err error) {
	last, err := b.read.epoch(ctx, e.Dataset)
	if err != nil {
		return Epoch{}, false, err
	}

	e.Number = last.Number + 1
	if e.Label != "" {
		var known int
		// A label is begun once: the one that stands is no news, and an older one is no way back.
		switch err := b.read.labelled.QueryRowContext(ctx, e.Dataset, e.Label).Scan(&known); {
		case err != nil:
			return Epoch{}, false, err
		case e.Label == last.Label:
			return last, false, nil
		case known > 0:
			return Epoch{}, false, &Stale{e.Dataset, e.Label}
		case last.Label == "":
			e.Number, e.Independent = last.Number, false
		}
	}

	e.At = now()
	independent := 0
	if e.Independent {
		independent = 1
	}
	_, err = b.write.epoch.ExecContext(ctx, e.Dataset, e.Number, e.Label, independent, e.User, e.Reason,
		e.At.UnixMicro())
	if err == nil {
		_, err = b.append(ctx, e.entry())
	}

	// Rows that are independent of those before have a budget of their own.
	if err == nil && e.Independent {
		err = b.renew(ctx, "epoch")
	}
	return e, true, err
}
