package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"fugu/ledger/audit"
	"fugu/privacy"
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

	// Latest returns the last entries of the audit chain, at most limit ≥ 1, newest first, as they stand: whether the
	// chain is whole, Audit says.
	Latest(ctx context.Context, limit int) ([]audit.Entry, error)

	// Reset begins a period, in which all accounts of a dataset start anew, and returns its entry of the audit chain.
	// What was charged before stays on record, but counts no more: what all answers reveal together is then bounded by
	// the sum of what was spent before and after, and not by the limit. Stored answers stay, for who has paid.
	Reset(ctx context.Context, dataset string, why Why) (audit.Link, error)

	// Compact drops the content of the answers that were given before a time, failures and twins excepted, and returns
	// their number. Their charges stay. Who asks again is charged anew for a new answer; a proxy that still has the old
	// one in its memory gives that. After an error some may be compacted, each with its entry in the chain.
	Compact(ctx context.Context, before time.Time, why Why) (answers int64, err error)

	// Export verifies one state of the ledger and writes all of it, sealed answers as they are, as Import reads it.
	Export(ctx context.Context, w io.Writer) (head audit.Link, err error)

	// Backup makes a verified copy of one state of the ledger in a new file: of an SQLite ledger one that can take its
	// place, of one in PostgreSQL what Export writes. The directory has to be there.
	Backup(ctx context.Context, path string) (head audit.Link, err error)
}

// Why is who does something to a ledger, and the reason. Both are written into the audit chain as they are.
type Why struct{ Operator, Reason string }

// maxReason is in characters.
const maxReason = 500

func (w Why) check() error {
	switch {
	case !text(w.Operator, w.Reason):
		return errors.New("operator and reason have to be UTF-8 text")
	case strings.TrimSpace(w.Operator) == "" || strings.TrimSpace(w.Reason) == "":
		return errors.New("say who does it, and for what reason: both are audited")
	case utf8.RuneCountInString(w.Reason) > maxReason:
		return fmt.Errorf("the reason has more than %d characters", maxReason)
	}
	return nil
}

// Total is an account at any time: those of earlier periods too.
type Total struct {
	Scope string
	Account
	Period int64
	Past   bool // another period has begun, and it does not count any more
}

// Payment is a charge of one secret.
type Payment struct {
	At                    time.Time
	Answer                int64
	Scope, User           string
	Secret                string
	Loss                  privacy.Loss
	Mechanism, Assumption string
	Failed, Past          bool // Past: another period began after it
}
