// Package forgetful has a ledger for tests that need many independent releases of one statement.
package forgetful

import (
	"context"
	"sync"
	"time"

	"fugu/ledger"
)

// Ledger stores nothing but what is being answered: each answer is a first one, and costs nothing. What is only read
// goes to the ledger inside.
type Ledger struct {
	ledger.Ledger
	mu      sync.Mutex
	last    int64                        // the number of the last charge
	pending map[ledger.Key]ledger.Answer // what was charged, and has no answer yet
}

// New makes one that reads in another ledger.
func New(inside ledger.Ledger) *Ledger {
	return &Ledger{Ledger: inside, pending: map[ledger.Key]ledger.Answer{}}
}

// Find implements ledger.Ledger: it finds what is being answered, and no answer.
func (l *Ledger) Find(_ context.Context, key ledger.Key, _ ...string) (ledger.Answer, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending[key], false, nil
}

// Claim implements ledger.Ledger: whoever has charged reads, and waits for nobody.
func (*Ledger) Claim(context.Context, ledger.Key, int64) (release func(), err error) {
	return func() {}, nil
}

// Charge implements ledger.Ledger: the answer is c's.
func (l *Ledger) Charge(_ context.Context, c ledger.Charge) (ledger.Answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	a := ledger.Answer{ID: l.last, Bytes: c.Answer, Failed: c.Failed, Mechanism: c.Mechanism, Assumption: c.Assumption,
		Requested: c.Requested, Losses: c.Losses, Cells: c.Cells, At: time.Now(), Fresh: true, Pending: c.Ahead}
	if a.Pending {
		l.pending[c.Key] = a
	}
	return a, nil
}

// Give implements ledger.Ledger: the answer is o's.
func (l *Ledger) Give(_ context.Context, o ledger.Outcome) (ledger.Answer, error) {
	l.forget(o.Charged.ID)
	a := o.Charged
	a.Bytes, a.Failed, a.Cells, a.Pending, a.Fresh = o.Answer, o.Failed, o.Cells, false, true
	return a, nil
}

// Abandon implements ledger.Ledger.
func (l *Ledger) Abandon(_ context.Context, _ ledger.Key, id int64, _ string) error {
	l.forget(id)
	return nil
}

// forget ends a charge.
func (l *Ledger) forget(id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, a := range l.pending {
		if a.ID == id {
			delete(l.pending, key)
		}
	}
}
