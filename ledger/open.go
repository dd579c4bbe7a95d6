package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Options say how to open a ledger.
type Options struct {
	// Dir is where a relative path starts; empty: the working directory.
	Dir string
	// Exclusive refuses a file that another process has opened Exclusive, and keeps others out likewise. The
	// transactions are sound without it: it is against running two servers on one file by mistake. A PostgreSQL ledger
	// is made for several servers, and ignores it.
	Exclusive bool
	// Lock is that of LockOf, of the process whose clients this one takes over, and is closed with the ledger: both
	// charge for a while, as several servers charge a ledger in PostgreSQL. nil: the lock is taken.
	Lock *os.File
	// ReadOnly opens a ledger that must exist (else fs.ErrNotExist), to look at it: Charge fails.
	ReadOnly bool
	// Key, of KeyBytes random bytes, seals answers and the audit chain: who can read or write the database, but has no
	// key, can neither read what was given nor make a chain that fits. nil: all is in the open. A ledger has one key
	// from its beginning to its end.
	Key []byte

	// fill makes the content of a new ledger in the place of the beginning of an audit chain. It is not called where
	// there is a ledger.
	fill func(context.Context, *sql.Tx, seal) error
}

// founding is how a new ledger begins.
func (o Options) founding(s seal) founding {
	if o.fill == nil {
		return s.begin
	}
	return func(ctx context.Context, tx *sql.Tx) error { return o.fill(ctx, tx, s) }
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

// Open opens the ledger at url, "sqlite:PATH" for one server or "postgres://..." for any number, and creates it where
// it does not exist. It checks the whole ledger: where the running totals are not the sums of the charges, or an answer
// was not paid for, the ledger is refused.
func Open(ctx context.Context, url string, o Options) (Ledger, error) {
	if path := sqlitePath(url, o.Dir); path != "" {
		l, err := openSQLite(ctx, path, o)
		if err != nil {
			return nil, fmt.Errorf("ledger %s: %w", path, damaged(path, err))
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

// Manage opens a ledger as Open does.
func Manage(ctx context.Context, url string, o Options) (Manager, error) {
	l, err := Open(ctx, url, o)
	if err != nil {
		return nil, err
	}
	return l.(*store), nil
}
