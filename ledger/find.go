package ledger

import (
	"context"
	"fmt"
)

// Find implements Ledger.
func (l *store) Find(ctx context.Context, key Key, scopes ...string) (Answer, bool, error) {
	if err := key.check(); err != nil {
		return Answer{}, false, fmt.Errorf("finding an answer: %w", err)
	}

	ctx, cancel := l.bounded(ctx)
	defer cancel()
	var s stored

	// An answer is for those scopes alone that have paid for it; nobody else is told that it is there.
	err := l.again(ctx, func() (err error) {
		var ok bool
		if s, ok, err = l.onRead.byKey(ctx, key); err != nil || !ok {
			return err
		}
		for _, scope := range append([]string{Everybody}, scopes...) {
			if s.Losses, err = l.onRead.charged(ctx, s.ID, scope); err != nil || s.Losses == nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Answer{}, false, fmt.Errorf("finding an answer: %w", err)
	}
	if s.Losses == nil {
		return Answer{}, false, nil
	}
	return s.Answer, !s.Pending, nil
}

// Spent implements Ledger.
func (l *store) Spent(ctx context.Context, dataset, scope string) ([]Account, error) {
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	var out []Account
	err := l.again(ctx, func() error {
		out = nil
		return each(ctx, l.onRead.accounts, func(row scanner) error {
			var a Account
			err := row.Scan(&a.Secret, &a.Loss.Pure, &a.Loss.Kappa2, &a.Loss.Delta, &a.Releases)
			out = append(out, a)
			return err
		}, dataset, scope)
	})
	if err != nil {
		return nil, fmt.Errorf("reading what was spent: %w", err)
	}
	return out, nil
}

// Releases implements Ledger.
func (l *store) Releases(ctx context.Context, dataset string, limit int) ([]Answer, error) {
	if limit < 1 {
		return nil, fmt.Errorf("reading releases: a limit of %d", limit)
	}

	ctx, cancel := l.bounded(ctx)
	defer cancel()
	var out []Answer
	err := l.again(ctx, func() error {
		var found []stored
		err := each(ctx, l.onRead.last, func(row scanner) error {
			s, err := l.seal.scan(row)
			found = append(found, s)
			return err
		}, dataset, limit)
		// What everybody was charged is in another table than the answer.
		out = make([]Answer, len(found))
		for i, s := range found {
			if err == nil {
				s.Losses, err = l.onRead.charged(ctx, s.ID, s.scope)
				out[i] = s.Answer
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading releases: %w", err)
	}
	return out, nil
}

// Scopes implements Ledger.
func (l *store) Scopes(ctx context.Context, dataset string) ([]string, error) {
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	var out []string
	err := l.again(ctx, func() error {
		out = nil
		return each(ctx, l.onRead.scopes, func(row scanner) error {
			var s string
			err := row.Scan(&s)
			out = append(out, s)
			return err
		}, dataset)
	})
	if err != nil {
		return nil, fmt.Errorf("reading scopes: %w", err)
	}
	return out, nil
}

// Given implements Ledger.
func (l *store) Given(ctx context.Context, dataset string, after int64, limit int) ([]Given, error) {
	var out []Given
	err := l.again(ctx, func() error {
		out = nil
		return each(ctx, l.onRead.given, func(row scanner) error {
			s, err := l.seal.scan(row)
			out = append(out, Given{s.ID, s.epoch, s.key, s.Bytes})
			return err
		}, dataset, after, limit)
	})
	if err != nil {
		return nil, fmt.Errorf("reading what was given: %w", err)
	}
	return out, nil
}
