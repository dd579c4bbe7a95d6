// Package ledger keeps, durably, what every answer cost and the answer itself. An answer may be shown to a client when
// Charge or Find has returned it, and only then: at that moment its cost is on disk.
//
// Losses are booked per dataset, period, scope and secret. They only grow: nothing here refunds or edits, and the
// database refuses it as well. An operator can have a period begin, which is audited and gives up what the budget promised.
// What was answered once is answered the same way again, whoever asks, until the data are said to be others (see Epoch) or
// the answer is compacted; then it is charged anew.
//
// The package knows privacy losses and limits. It knows no SQL of clients, no mechanism and no policy: an answer is opaque
// bytes beside a few descriptive rows, and the caller says what identifies it. It does not protect the file from
// whoever may write to it, and does not notice when it is replaced by an older copy.
package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"fugu/privacy"
)

// Key identifies an answer: the lower-case hexadecimal SHA-256 of everything that was asked. The caller computes it.
type Key string

// Charge is an answer with what it costs.
type Charge struct {
	Key     Key
	Dataset string
	Epoch   int64  // the data that it is of: Standing.Epoch as it was before they were read
	User    string // who asked
	// Statement is the fingerprint of the statement's shape, up to 64 hexadecimal digits; empty: it has none. It is
	// written into the audit chain.
	Statement string
	Reason    string // why, in the operator's words, for the audit chain alone; empty: the statement says it
	Losses    map[string]privacy.Loss
	Limit     privacy.Budget // of everybody together, for each secret
	Shares    []Share        // further limits, of scopes that are told the answer
	Renew     time.Duration  // how long a period is; 0: it never ends

	Requested             privacy.Budget
	Mechanism, Assumption string // may be empty only of a failure
	Answer                []byte
	Failed                bool // the statistics statement failed, and that is the answer
	Cells                 []Cell
	Certificates          []Certificate

	// Ahead charges before the answer is known, which comes by Give: until then Answer is whatever tells what it will be.
	Ahead bool

	// Terms say, for the joint account of the dataset, what was released: opaque here; nil: nothing says it. After is the
	// newest answer of the dataset, but for Derived ones, that Losses count with, 0 where there was none: once there is a newer one, the charge is
	// ErrOvertaken. nil: Losses depend on no other answer.
	Terms []byte
	After *int64
}

// Certificate is what holds for one secret of one release by itself: every pair of its values is
// (Epsilon,Delta)-indistinguishable under the assumptions.
type Certificate struct {
	Secret      string     `json:"secret"`
	Mechanism   string     `json:"mechanism"`
	Assumptions []string   `json:"assumptions"`
	Pair        [2]float64 `json:"pair"` // the values that are hardest to hide; 0, 0: all alike
	Epsilon     float64    `json:"epsilon"`
	Delta       float64    `json:"delta"`
	Estimation  float64    `json:"estimation"` // the ε that holds under estimation error; 0: not known, below 0: unbounded

	// Together is δ of all answers of the dataset, this one the last, at the ε of its whole budget: of a joint account alone.
	Together float64 `json:"together,omitempty"`
}

// Cell describes one released value. It holds noisy values only.
type Cell struct {
	Column   string  `json:"column"`
	GroupKey string  `json:"group_key"`
	Value    string  `json:"value"`
	SD       float64 `json:"sd"` // of the noise, in the units of Value, as Lower and Upper are
	Lower    float64 `json:"lower"`
	Upper    float64 `json:"upper"`
	Secret   string  `json:"secret"`
}

// Answer is a stored answer.
type Answer struct {
	ID                    int64 // grows with each new answer
	Bytes                 []byte
	Failed                bool
	Mechanism, Assumption string
	Requested             privacy.Budget
	Losses                map[string]privacy.Loss // by secret: what it costs each scope that asks
	Cells                 []Cell
	Certificates          []Certificate
	At                    time.Time // when it was first given; whole microseconds, UTC
	Fresh                 bool      // this call stored it; false: it was there already
	Pending               bool      // it is charged, and there is no answer yet: Bytes are those of its Charge
}

// Account is what the releases to one scope have cost one secret.
type Account struct {
	Secret   string
	Loss     privacy.Loss
	Releases int
}

// Ledger is a store of charges and answers. It is safe for concurrent use, also by several processes.
type Ledger interface {
	// Find returns the answer stored under key, if all the scopes have been charged for it. One that is Pending is none:
	// it is returned with false.
	Find(ctx context.Context, key Key, scopes ...string) (Answer, bool, error)

	// Charge books c for everybody and for each of its shares, and stores its answer, all or nothing, and returns once
	// they are on disk.
	//
	// Where the key has an answer already, that one is returned in place of c's; everybody has paid for it, and those of
	// the shares that have not are charged the losses stored with it. A charge that takes any secret of any of the scopes
	// beyond its limit is an *Exhausted error, and one of data that are no longer the dataset's is *Stale. After any error
	// nothing may be shown; it is possible that the charge was booked nevertheless.
	//
	// ctx bounds the wait for the ledger, not the transaction itself once it runs.
	Charge(ctx context.Context, c Charge) (Answer, error)

	// Give stores the answer of what was charged ahead, and returns once it is on disk. Where the key has an answer already,
	// that one is returned in its place; where it was given up meanwhile, or charged anew, ErrAbandoned.
	Give(ctx context.Context, o Outcome) (Answer, error)

	// Abandon gives up what was charged ahead and has no answer: it stays charged, and its key is charged anew when it is
	// asked again. Where there is an answer, it stays.
	Abandon(ctx context.Context, key Key, id int64, user string) error

	// Standing returns where a dataset stands: its data, and the period in which a charge with the given Renew would be
	// booked now.
	Standing(ctx context.Context, dataset string, renew time.Duration) (Standing, error)

	// Advance takes in that the data of a dataset are others from now on, and returns once that is on disk. Which epoch
	// it begins, if any, is said at Epoch; what it returns is the epoch as it then stands.
	Advance(ctx context.Context, e Epoch) (Epoch, error)

	// Spent returns the accounts of a scope in the latest period begun, ordered by secret; a secret without charges has none.
	Spent(ctx context.Context, dataset, scope string) ([]Account, error)

	// History returns the answers of a dataset behind the id after, oldest first, but for those that are Derived: what Losses
	// of a joint account count with.
	History(ctx context.Context, dataset string, after int64) ([]Past, error)

	// Given returns the last answers of a dataset behind the id after that are neither failures nor Derived, at most limit ≥ 1,
	// newest first. One that was compacted has bytes that mean nothing.
	Given(ctx context.Context, dataset string, after int64, limit int) ([]Given, error)

	// Releases returns the last answers of a dataset, at most limit ≥ 1, newest first.
	Releases(ctx context.Context, dataset string, limit int) ([]Answer, error)

	// Scopes returns the scopes of a dataset that were charged, in order.
	Scopes(ctx context.Context, dataset string) ([]string, error)

	// Refuse writes into the audit chain that statements were not answered, and that there were lost ones besides, of which
	// nothing else is known. All of it is written, or nothing.
	Refuse(ctx context.Context, refusals []Refusal, lost int64) error

	// Audit verifies everything: that the totals are the sums of the charges, that the audit chain is whole, and that
	// answers and charges are what the chain says. It calls visit, which may be nil, with each link and returns the last.
	// What it cannot find is a ledger that was put back as a whole to what it was: keep the last hash elsewhere.
	Audit(ctx context.Context, visit func(Link) error) (head Link, err error)

	// Close waits for a running Charge. Calls after Close fail.
	Close() error
}

// Options say how to open a ledger.
type Options struct {
	// Dir is where a relative path starts; empty: the working directory.
	Dir string
	// Exclusive refuses a file that another process has opened Exclusive, and keeps others out likewise. The
	// transactions are sound without it: it is against running two servers on one file by mistake. A PostgreSQL ledger
	// is made for several servers, and ignores it.
	Exclusive bool
	// ReadOnly opens a ledger that must exist (else fs.ErrNotExist), to look at it: Charge fails.
	ReadOnly bool
	// Key, of KeyBytes random bytes, seals answers and the audit chain: who can read or write the database, but has no
	// key, can neither read what was given nor make a chain that fits. nil: all is in the open. A ledger has one key from
	// its beginning to its end.
	Key []byte

	// fill makes the content of a new ledger in the transaction that makes its tables, in the place of the beginning of an
	// audit chain. It is not called where there is a ledger.
	fill func(context.Context, *sql.Tx, seal) error
}

// sqlitePath is the path in the URL of an SQLite ledger, empty of another.
func sqlitePath(url, dir string) string {
	path, ok := strings.CutPrefix(url, "sqlite:")
	if ok && path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if !ok {
		return ""
	}
	return path
}

// Open opens the ledger at url, "sqlite:PATH" for one server or "postgres://..." for any number, and creates it where it
// does not exist. It checks the whole ledger: where
// the running totals are not the sums of the charges, or an answer was not paid for, the ledger is refused.
func Open(ctx context.Context, url string, o Options) (Ledger, error) {
	if path := sqlitePath(url, o.Dir); path != "" {
		l, err := openSQLite(ctx, path, o)
		if err != nil {
			return nil, fmt.Errorf("ledger %s: %w", path, err)
		}
		return l, nil
	}
	if strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://") {
		l, err := openPostgres(ctx, url, o)
		if err != nil {
			return nil, fmt.Errorf("ledger in PostgreSQL: %w", err) // the url may hold a password: it is not repeated
		}
		return l, nil
	}
	return nil, errors.New("a ledger is given as sqlite:PATH or a PostgreSQL URL")
}
