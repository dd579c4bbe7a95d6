package account

import (
	"context"

	"fugu/ledger"
)

// JointTable is what tests look at of one table.
type JointTable = jointTable

// Only returns the account with its only table.
func (a *Joint) Only() (*Joint, *JointTable) {
	for _, t := range a.tables {
		return a, t
	}
	return a, nil
}

// Last is the newest answer counted.
func (a *Joint) Last() int64 { return a.last }

// Forget counts from the beginning again, with the reference's rows as the digest says.
func (a *Joint) Forget() { a.last = 0 }

// CatchUp counts what the ledger has and the account has not.
func (a *Joint) CatchUp(ctx context.Context, l ledger.Ledger, epoch int64) error {
	return a.catchUp(ctx, l, epoch)
}

// Count takes in one answer.
func (a *Joint) Count(p ledger.Past, epoch int64) error { return a.count(p, epoch) }

// SetDigest says which rows of the reference the account is of, and which it was.
func (t *jointTable) SetDigest(digest string) (before string) {
	before, t.digest = t.digest, digest
	return before
}

// Kappa2 is what all answers cost a secret.
func (t *jointTable) Kappa2(secret string) float64 { return t.cost(secret).Kappa2 }

// After is the newest answer that the price counts with.
func (p Price) After() int64 { return *p.after }
