package ledger

import (
	"context"
	"io"
	"time"
)

// Manager is a Ledger with what an operator does to it. All of it may be done while proxies charge.
type Manager interface {
	Ledger

	// Datasets returns the datasets that were ever charged, in order.
	Datasets(ctx context.Context) ([]string, error)

	// Totals returns all accounts of a dataset, those of earlier periods first.
	Totals(ctx context.Context, dataset string) ([]Total, error)

	// Payments returns the last charges to a dataset, at most limit, newest first; of a user, if one is given.
	Payments(ctx context.Context, dataset, user string, limit int) ([]Payment, error)

	// Reset begins a period, in which all accounts of a dataset start anew, and returns its entry of the audit chain. What was
	// charged before stays on record, but counts no more: what all answers reveal together is then bounded by
	// the sum of what was spent before and after, and not by the limit. Stored answers stay, for who has paid.
	Reset(ctx context.Context, dataset string, why Why) (Link, error)

	// Compact drops the content of the answers that were given before a time, failures and twins excepted, and returns their
	// number. Their charges stay. Who asks again is charged anew for a new answer; a proxy that still has the old one in
	// its memory gives that. After an error some may be compacted, each with its entry in the chain.
	Compact(ctx context.Context, before time.Time, why Why) (answers int64, err error)

	// Export verifies one state of the ledger and writes all of it, sealed answers as they are, as Import reads it.
	Export(ctx context.Context, w io.Writer) (head Link, err error)

	// Backup makes a verified copy of one state of the ledger in a new file: of an SQLite ledger one that can take its
	// place, of one in PostgreSQL what Export writes. The directory has to be there.
	Backup(ctx context.Context, path string) (head Link, err error)
}

// Manage opens a ledger as Open does.
func Manage(ctx context.Context, url string, o Options) (Manager, error) {
	l, err := Open(ctx, url, o)
	if err != nil {
		return nil, err
	}
	return l.(*store), nil
}
