package forgetful

import (
	"context"
	"time"

	"fugu/ledger"
)

// Memory keeps answers until its test ends, and no account of them: for tests that build thousands of twins.
type Memory struct {
	ledger.Ledger // there is none: what is not defined here is not called

	answers map[ledger.Key]ledger.Answer
}

// NewMemory makes one without answers.
func NewMemory() Memory { return Memory{answers: map[ledger.Key]ledger.Answer{}} }

// Find implements ledger.Ledger.
func (m Memory) Find(_ context.Context, key ledger.Key, _ ...string) (ledger.Answer, bool, error) {
	a, ok := m.answers[key]
	return a, ok, nil
}

// Releases implements ledger.Ledger: it lists none.
func (Memory) Releases(context.Context, string, int) ([]ledger.Answer, error) { return nil, nil }

// Charge implements ledger.Ledger: it keeps the first answer to a question.
func (m Memory) Charge(_ context.Context, c ledger.Charge) (ledger.Answer, error) {
	if _, ok := m.answers[c.Key]; !ok {
		m.answers[c.Key] = ledger.Answer{Bytes: c.Answer, Mechanism: c.Mechanism}
	}
	return m.answers[c.Key], nil
}

// Standing implements ledger.Ledger: nothing is spent.
func (Memory) Standing(context.Context, string, time.Duration) (ledger.Standing, error) {
	return ledger.Standing{}, nil
}
