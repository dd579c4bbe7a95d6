// Package ledger keeps, durably, what every answer cost and the answer itself. An answer may be shown to a client when
// Charge or Find has returned it, and only then: at that moment its cost is on disk.
//
// Losses are booked per dataset, period, scope and secret. They only grow: nothing here refunds or edits, and the
// database refuses it as well. An operator can have a period begin, which is audited and gives up what the budget
// promised. What was answered once is answered the same way again, whoever asks, until the data are said to be others
// (see Epoch) or the answer is compacted; then it is charged anew.
//
// The package knows privacy losses and limits. It knows no SQL of clients, no mechanism and no policy: an answer is
// opaque bytes beside a few descriptive rows, and the caller says what identifies it. It does not protect the file from
// whoever may write to it, and does not notice when it is replaced by an older copy.
package ledger

import (
	"context"
	"time"

	"fugu/ledger/audit"
)

// Ledger is a store of charges and answers. It is safe for concurrent use, also by several processes.
type Ledger interface {
	// Find returns the answer stored under key, if all the scopes have been charged for it. One that is Pending is
	// none: it is returned with false.
	Find(ctx context.Context, key Key, scopes ...string) (Answer, bool, error)

	// Charge books c for everybody and for each of its shares, and stores its answer, all or nothing, and returns once
	// they are on disk.
	//
	// Where the key has an answer already, that one is returned in place of c's; everybody has paid for it, and those
	// of the shares that have not are charged the losses stored with it. A charge that takes any secret of any of the
	// scopes beyond its limit is an *Exhausted error, and one of data that are no longer the dataset's is *Stale. One
	// that does not know the newest answer or promise is ErrOvertaken or ErrPromised. After any error nothing may be
	// shown; it is possible that the charge was booked nevertheless.
	//
	// ctx bounds the wait for the ledger, not the transaction itself once it runs.
	Charge(ctx context.Context, c Charge) (Answer, error)

	// Claim makes the caller the only one, of all processes that use the ledger, who reads rows for the charge that a
	// key has ahead, until release, and waits for whoever is. Where release is nil another has been: look again, for
	// there may be an answer. It charges nothing and keeps nothing: a process that ends has no claim any more.
	Claim(ctx context.Context, key Key, id int64) (release func(), err error)

	// Give stores the answer of what was charged ahead, and returns once it is on disk. Where the key has an answer
	// already, that one is returned in its place; where it was given up meanwhile, or charged anew, ErrAbandoned.
	Give(ctx context.Context, o Outcome) (Answer, error)

	// Abandon gives up what was charged ahead and has no answer: it stays charged, and its key is charged anew when it
	// is asked again. Where there is an answer, it stays.
	Abandon(ctx context.Context, key Key, id int64, user string) error

	// Standing returns where a dataset stands: its data, and the period in which a charge with the given Renew would be
	// booked now.
	Standing(ctx context.Context, dataset string, renew time.Duration) (Standing, error)

	// Promised returns what was promised of a dataset's tables, for a charge with the given Renew to be compared with.
	Promised(ctx context.Context, dataset string, renew time.Duration) (Promised, error)

	// Advance takes in that the data of a dataset are others from now on, and returns once that is on disk. Which epoch
	// it begins, if any, is said at Epoch; what it returns is the epoch as it then stands.
	Advance(ctx context.Context, e Epoch) (Epoch, error)

	// Spent returns the accounts of a scope in the latest period begun, ordered by secret; a secret without charges has
	// none.
	Spent(ctx context.Context, dataset, scope string) ([]Account, error)

	// History returns the answers of a dataset behind the id after, oldest first, but for those that are Derived: what
	// Losses of a joint account count with.
	History(ctx context.Context, dataset string, after int64) ([]Past, error)

	// Given returns the last answers of a dataset behind the id after that are neither failures nor Derived, at most
	// limit ≥ 1, newest first. One that was compacted has bytes that mean nothing.
	Given(ctx context.Context, dataset string, after int64, limit int) ([]Given, error)

	// Releases returns the last answers of a dataset, at most limit ≥ 1, newest first.
	Releases(ctx context.Context, dataset string, limit int) ([]Answer, error)

	// Scopes returns the scopes of a dataset that were charged, in order.
	Scopes(ctx context.Context, dataset string) ([]string, error)

	// Refuse writes into the audit chain that statements were not answered, and that there were lost ones besides, of
	// which nothing else is known. All of it is written, or nothing.
	Refuse(ctx context.Context, refusals []Refusal, lost int64) error

	// Audit verifies everything: that the totals are the sums of the charges, that the audit chain is whole, and that
	// answers and charges are what the chain says. It calls visit, which may be nil, with each link and returns the
	// last. What it cannot find is a ledger that was put back as a whole to what it was: keep the last hash elsewhere.
	Audit(ctx context.Context, visit func(audit.Link) error) (head audit.Link, err error)

	// Close waits for a running Charge. Calls after Close fail.
	Close() error
}
