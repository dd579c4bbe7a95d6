package ledger

import (
	"context"
	"errors"
	"fmt"

	"fugu/privacy"
)

// Derived is the mechanism of an answer that is computed from answers before it. It tells nothing that they do not, so it is
// charged nothing, whatever is left of a limit, and counts as no release. It is stored for the scopes of its Charge alone:
// what it is computed from they have paid for, and others may not have.
const Derived = "from-past"

// Given is an answer as others are computed from it.
type Given struct {
	ID    int64
	Epoch int64
	Key   Key
	Bytes []byte
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

// free reports whether the charge is of an answer that costs nothing.
func (c Charge) free() bool { return c.Mechanism == Derived || c.Mechanism == Ordering }

// checkFree refuses a charge that says that it is free, and is not.
func (c Charge) checkFree() error {
	if !c.free() {
		return nil
	}
	for _, l := range c.Losses {
		if l != (privacy.Loss{}) {
			return errors.New("an answer that is free by its mechanism, and costs something")
		}
	}
	if c.Failed || len(c.Certificates) > 0 {
		return errors.New("an answer that is free by its mechanism, and failed or certifies something")
	}
	return nil
}
