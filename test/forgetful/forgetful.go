// Package forgetful has a ledger for tests that need many independent releases of one statement.
package forgetful

import (
	"context"
	"time"

	"fugu/ledger"
)

// Ledger stores nothing: each answer is a first one, and costs nothing. What is only read goes to the ledger inside.
type Ledger struct{ ledger.Ledger }

// Find implements ledger.Ledger: it finds nothing.
func (Ledger) Find(context.Context, ledger.Key, ...string) (ledger.Answer, bool, error) {
	return ledger.Answer{}, false, nil
}

// Charge implements ledger.Ledger: the answer is c's.
func (Ledger) Charge(_ context.Context, c ledger.Charge) (ledger.Answer, error) {
	return ledger.Answer{ID: 1, Bytes: c.Answer, Failed: c.Failed, Mechanism: c.Mechanism, Assumption: c.Assumption,
		Requested: c.Requested, Losses: c.Losses, Cells: c.Cells, At: time.Now(), Fresh: true, Pending: c.Ahead}, nil
}

// Give implements ledger.Ledger: the answer is o's.
func (Ledger) Give(_ context.Context, o ledger.Outcome) (ledger.Answer, error) {
	a := o.Charged
	a.Bytes, a.Failed, a.Cells, a.Pending, a.Fresh = o.Answer, o.Failed, o.Cells, false, true
	return a, nil
}

// Abandon implements ledger.Ledger: there is nothing to give up.
func (Ledger) Abandon(context.Context, ledger.Key, int64, string) error { return nil }
