package ledger

import (
	"errors"
	"fmt"
	"time"

	"fugu/ledger/audit"
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

// entry tells of an epoch that began, or was named.
func (e Epoch) entry() audit.Entry {
	return audit.Entry{At: e.At, Event: audit.NewEpoch, Dataset: e.Dataset, User: e.User, Epoch: e.Number, Label: e.Label, Independent: e.Independent, Reason: e.Reason}
}

// Standing is where a dataset stands.
type Standing struct {
	Epoch  int64
	Label  string // of the epoch; may be empty
	Period int64  // in which a charge would be booked now
	Due    bool   // that period has not begun: nothing was spent in it
}
