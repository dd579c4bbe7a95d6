package main

import (
	"context"
	"errors"
	"io"
	"time"

	"fugu/ledger"
	"fugu/ledger/audit"
)

var errNone = errors.New("there is no ledger yet")

// empty is a ledger that was never written: what a command that only looks finds before the first answer.
type empty struct{}

func (empty) Find(context.Context, ledger.Key, ...string) (ledger.Answer, bool, error) {
	return ledger.Answer{}, false, nil
}

func (empty) Charge(context.Context, ledger.Charge) (ledger.Answer, error) {
	return ledger.Answer{}, errors.New("there is no ledger to charge")
}

func (empty) Claim(context.Context, ledger.Key, int64) (func(), error) { return nil, errNone }

func (empty) Give(context.Context, ledger.Outcome) (ledger.Answer, error) {
	return ledger.Answer{}, errNone
}

func (empty) Abandon(context.Context, ledger.Key, int64, string) error { return errNone }

func (empty) Standing(context.Context, string, time.Duration) (ledger.Standing, error) {
	return ledger.Standing{}, nil
}

func (empty) Promised(context.Context, string, time.Duration) (ledger.Promised, error) {
	return ledger.Promised{}, nil
}

func (empty) Advance(context.Context, ledger.Epoch) (ledger.Epoch, error) {
	return ledger.Epoch{}, errNone
}

func (empty) Spent(context.Context, string, string) ([]ledger.Account, error) { return nil, nil }

func (empty) History(context.Context, string, int64) ([]ledger.Past, error) { return nil, nil }

func (empty) Given(context.Context, string, int64, int) ([]ledger.Given, error) { return nil, nil }

func (empty) Releases(context.Context, string, int) ([]ledger.Answer, error) { return nil, nil }

func (empty) Scopes(context.Context, string) ([]string, error) { return nil, nil }

func (empty) Refuse(context.Context, []ledger.Refusal, int64) error {
	return errNone
}

func (empty) Audit(context.Context, func(audit.Link) error) (audit.Link, error) {
	return audit.Link{}, errNone
}

func (empty) Datasets(context.Context) ([]string, error) { return nil, nil }

func (empty) Totals(context.Context, string) ([]ledger.Total, error) { return nil, nil }

func (empty) Payments(context.Context, string, string, int) ([]ledger.Payment, error) {
	return nil, nil
}

func (empty) Latest(context.Context, int) ([]audit.Entry, error) { return nil, nil }

func (empty) Reset(context.Context, string, ledger.Why) (audit.Link, error) {
	return audit.Link{}, errNone
}

func (empty) Compact(context.Context, time.Time, ledger.Why) (int64, error) { return 0, errNone }

func (empty) Export(context.Context, io.Writer) (audit.Link, error) { return audit.Link{}, errNone }

func (empty) Backup(context.Context, string) (audit.Link, error) { return audit.Link{}, errNone }

func (empty) Close() error { return nil }
