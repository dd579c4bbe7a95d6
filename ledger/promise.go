package ledger

import (
	"errors"
	"time"
)

// What an answer is charged is what it tells of the pairs of values that it was to hide. So totals add up only while
// later answers hide none that earlier ones did not, and the ledger keeps what was promised in each period, in the
// words of whoever charges: it compares nothing itself, and has each charge say with which promises it was compared.

// ErrPromised is the error of a Charge that was not compared with the newest promise. Nothing was booked.
var ErrPromised = errors.New("another promise was charged meanwhile")

// Promise is what answers about a table hide: opaque here.
type Promise struct {
	Table string
	Text  []byte

	// Of one that was kept, by the ledger.
	Dataset string
	Entry   int64     // the number of the audit entry that tells of it: it grows with each promise
	Period  int64     // in which it was made
	At      time.Time // whole microseconds, UTC
}

// Promised is what charges to a dataset have promised.
type Promised struct {
	Period int64     // in which a charge would be booked now
	Newest int64     // Entry of the newest promise of that period; 0: there is none
	Tables []Promise // the newest of each table, of whatever period, in the order of their entries
	Others []Promise // those of other datasets, of the latest period of each
}
