package ledger

import (
	"errors"

	"fugu/privacy"
)

// What twins are made from. A table's twins are drawn in one order for ever, and what one has told is not drawn again:
// without them a second twin would be independent of the first, and the overlap of the two would show the secret. They
// are never compacted.
const (
	Twin     = "twin"             // the mechanism of what a twin has told
	Ordering = "order of drawing" // of the key of a table's order: it tells nothing by itself, and costs nothing
)

// kept are the mechanisms of answers that keep their content, as SQL lists them.
const kept = `('` + Twin + `', '` + Ordering + `')`

// gratis are the mechanisms of answers that cost nothing, as SQL lists them.
const gratis = `('` + Derived + `', '` + Ordering + `')`

// Derived is the mechanism of an answer that is computed from answers before it. It tells nothing that they do not, so
// it is charged nothing, whatever is left of a limit, and counts as no release. It is stored for the scopes of its
// Charge alone: what it is computed from they have paid for, and others may not have.
const Derived = "from-past"

// free reports whether the charge is for an answer that costs nothing.
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
