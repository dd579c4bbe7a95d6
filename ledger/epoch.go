package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Epoch is one state of a dataset's data. Epochs are numbered from 0; the data of the one before are gone when the next
// begins, and no answer about them is given any more.
//
// Whether the budget begins anew is another matter. What was told of the old data is told of the new ones as well where
// the two depend on each other, so the totals carry on, unless the data are Independent of all before.
//
// Advance begins an epoch, or finds that none begins:
//   - without a Label it always begins the next one;
//   - the label of the epoch that stands changes nothing;
//   - the label of one that is over is *Stale: nothing leads back;
//   - a new label names the epoch that stands, if that has none yet, and begins the next one otherwise.
type Epoch struct {
	Dataset     string
	Number      int64 // given by the ledger
	Label       string
	Independent bool // its data were drawn independently of all before; of a label that only names an epoch, false
	User        string
	Reason      string
	At          time.Time // whole microseconds, UTC; given by the ledger
}

// Stale is the error of a charge, or of a label, for data that have been replaced. Nothing was booked.
type Stale struct {
	Dataset string
	Label   string // empty: of a charge
}

// Error implements error.
func (e *Stale) Error() string {
	if e.Label != "" {
		return fmt.Sprintf("the epoch %q of dataset %q is over: its data have been replaced", e.Label, e.Dataset)
	}
	return fmt.Sprintf("the data of dataset %q were replaced meanwhile", e.Dataset)
}

// check refuses an epoch that could be booked wrongly.
func (e Epoch) check() error {
	switch {
	case e.Dataset == "" || e.User == "" || e.Reason == "":
		return errors.New("no dataset, user or reason")
	case !text(e.Dataset, e.Label, e.User, e.Reason):
		return errors.New("a name is not UTF-8 text")
	}
	return nil
}

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
	_, err = b.write.epoch.ExecContext(ctx, e.Dataset, e.Number, e.Label, independent, e.User, e.Reason, e.At.UnixMicro())
	if err == nil {
		err = b.append(ctx, e.entry())
	}
	if err == nil && e.Independent {
		err = b.renew(ctx, "epoch")
	}
	return e, true, err
}

// epoch returns the epoch of a dataset that stands.
func (r *reading) epoch(ctx context.Context, dataset string) (Epoch, error) {
	e, err := scanEpoch(r.lastEpoch.QueryRowContext(ctx, dataset))
	if errors.Is(err, sql.ErrNoRows) {
		return Epoch{Dataset: dataset}, nil
	}
	return e, err
}

const epochColumns = `SELECT dataset, number, label, independent, "user", reason, at FROM epochs `

func scanEpoch(row scanner) (e Epoch, err error) {
	var at int64
	err = row.Scan(&e.Dataset, &e.Number, &e.Label, &e.Independent, &e.User, &e.Reason, &at)
	e.At = time.UnixMicro(at).UTC()
	return e, err
}

// entry tells of an epoch that began, or was named.
func (e Epoch) entry() Entry {
	return Entry{At: e.At, Event: NewEpoch, Dataset: e.Dataset, User: e.User, Epoch: e.Number, Label: e.Label, Independent: e.Independent, Reason: e.Reason}
}
