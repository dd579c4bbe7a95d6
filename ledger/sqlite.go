package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"fugu/internal/hook"
	"fugu/ledger/claim"
)

// openSQLite opens a ledger in an SQLite file.
func openSQLite(ctx context.Context, path string, o Options) (_ *store, err error) {
	opening.Lock()
	defer opening.Unlock()
	sealed, err := newSeal(o.Key)
	if err != nil {
		return nil, err
	}
	l := &store{path: path, seal: sealed, onRead: reading{seal: sealed}, onWrite: reading{seal: sealed},
		clock: processClock, claims: claim.New(claim.InFile(lockFile(path)))}
	defer func() {
		if err != nil {
			_ = l.Close()
		}
	}()

	// The lock comes before the file is made, and is let go of with the store.
	switch {
	case o.Lock != nil:
		l.lock = o.Lock
		if err := takeOver(path, o.Lock); err != nil {
			return nil, err
		}
	case o.Exclusive:
		f, err := lock(path)
		if err != nil {
			return nil, err
		}
		l.lock = f
	}
	if err := ensure(path, !o.ReadOnly); err != nil {
		return nil, err
	}

	// Whoever writes brings the tables to this version; whoever reads alone can only look whether they are.
	if !o.ReadOnly {
		if err := l.openWriter(ctx, path, o.founding(sealed)); err != nil {
			return nil, err
		}
	}

	if l.read, err = connect(path, readers, url.Values{"_query_only": {"1"}}); err != nil {
		return nil, err
	}
	if err := l.seal.migrateSQLite(ctx, l.read, nil); err != nil {
		return nil, err
	}

	if err := l.verify(ctx); err != nil {
		return nil, err
	}
	if err := l.onRead.prepare(ctx, l.read); err != nil {
		return nil, err
	}
	return l, nil
}

// openWriter opens the one connection that writes, and brings the schema up to date.
func (l *store) openWriter(ctx context.Context, path string, begin founding) (err error) {
	settings := url.Values{"_journal_mode": {"WAL"}, "_txlock": {"immediate"}, "_cache_size": {writerCache}}
	if l.write, err = connect(path, 1, settings); err != nil {
		return err
	}
	if err := l.seal.migrateSQLite(ctx, l.write, begin); err != nil {
		return err
	}

	// Some file systems do not allow write-ahead logging, and SQLite goes on without it.
	var journal string
	var synchronous, foreignKeys int
	row := l.write.QueryRowContext(ctx, `SELECT journal_mode, synchronous, foreign_keys
	  FROM pragma_journal_mode, pragma_synchronous, pragma_foreign_keys`)
	if err := row.Scan(&journal, &synchronous, &foreignKeys); err != nil {
		return fmt.Errorf("reading SQLite's settings: %w", err)
	}
	if full := 2; journal != "wal" || synchronous != full || foreignKeys != 1 {
		return fmt.Errorf("SQLite does not give what durability needs: journal_mode %s, synchronous %d, foreign_keys "+
			"%d",
			journal, synchronous, foreignKeys)
	}
	if err := l.onWrite.prepare(ctx, l.write); err != nil {
		return err
	}
	return l.writing.prepare(ctx, l.write)
}

// writerCache is the page cache of the connection that charges, in KiB as SQLite wants it: the indexes of 100,000
// answers stay in memory.
const writerCache = "-65536"

// connect opens a pool of connections that stay open. The file must exist: SQLite would create it with another mode.
func connect(path string, connections int, extra url.Values) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}

	v := url.Values{
		"mode":                {"rw"},
		"_busy_timeout":       {"10000"}, // ms
		"_foreign_keys":       {"1"},
		"_synchronous":        {"FULL"}, // sync the log at each commit [SQLite, PRAGMA synchronous]
		"_recursive_triggers": {"1"},    // or REPLACE would delete past the triggers [SQLite, ON CONFLICT]
	}
	for name, value := range extra {
		v[name] = value
	}

	db, err := hook.Open("sqlite3", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+v.Encode())
	if err != nil {
		return nil, err
	}

	// As many stay open as may be, so that none has to be opened amid a charge.
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// processClock is the time of a ledger in a file: this process's.
func processClock(context.Context, queryer) (time.Time, error) {
	return now(), nil
}
