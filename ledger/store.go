package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"fugu/internal/hook"
	"fugu/ledger/claim"
)

// store is a Ledger in an SQL database. What SQLite and PostgreSQL do differently is settled when it is opened; the
// statements are the same.
type store struct {
	read    *sql.DB
	write   *sql.DB // of one connection: having it is being this process's writer; nil: read only
	onRead  reading
	onWrite reading
	writing writing
	seal    seal
	// alone makes a transaction the only one that writes, of all processes; nil: it is from the start.
	alone func(context.Context, *sql.Tx) error
	// claims are the questions that this process reads rows for.
	claims *claim.Claims
	// clock says which period it is, in the transaction of a charge or outside of one.
	clock func(context.Context, queryer) (time.Time, error)
	// patience bounds a transaction that has begun to write; 0: nothing can keep it.
	patience time.Duration
	// waiting bounds everything else that a client waits for: a reading, or until it can begin to write; 0:
	// defaultWaiting.
	waiting time.Duration
	path    string    // of an SQLite file
	lock    io.Closer // what keeps other servers out; may be nil
	// attempts is how often what has written nothing is tried: each may meet a connection that the server has ended.
	attempts int
}

// queryer is a database or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

const (
	// readers is how many Finds can run at a time; they wait for no writer [SQLite, Write-Ahead Logging].
	readers = 4

	// defaultWaiting is for how long a ledger is waited for: one that says nothing for so long is as good as none.
	defaultWaiting = 20 * time.Second
)

var errReadOnly = errors.New("the ledger is open for reading only")

// now is the time as entries have it.
func now() time.Time { return hook.Now().UTC().Truncate(time.Microsecond) }

// bounded is ctx with the end that waiting sets.
func (l *store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	waiting := l.waiting
	if waiting == 0 {
		waiting = defaultWaiting
	}
	return context.WithTimeout(ctx, waiting)
}

// again calls f until it succeeds, for what may be done twice.
func (l *store) again(ctx context.Context, f func() error) error {
	err := f()
	for n := 1; n < l.attempts && err != nil && ctx.Err() == nil; n++ {
		err = f()
	}
	return err
}

// Claim implements Ledger.
func (l *store) Claim(ctx context.Context, key Key, id int64) (release func(), err error) {
	if l.write == nil {
		return nil, errReadOnly
	}
	return l.claims.Claim(ctx, fmt.Sprintf("%s %d", key, id), func(ctx context.Context) (settled bool, err error) {
		ctx, cancel := l.bounded(ctx)
		defer cancel()
		err = l.again(ctx, func() error {
			s, ok, err := l.onRead.byKey(ctx, key)
			settled = !ok || s.ID != id || !s.Pending
			return err
		})
		return settled, err
	})
}

// Close implements Ledger.
func (l *store) Close() error {
	var errs []error
	if l.read != nil {
		errs = append(errs, l.read.Close())
	}

	if l.write != nil {
		// While this holds the one connection no Charge runs, and none can begin before the pool is closed.
		conn, err := l.write.Conn(context.Background())
		errs = append(errs, l.write.Close())
		if err == nil {
			errs = append(errs, conn.Close())
		}
	}

	if l.claims != nil {
		errs = append(errs, l.claims.Close())
	}
	if l.lock != nil {
		errs = append(errs, l.lock.Close())
	}
	return errors.Join(errs...)
}

// alter runs f in a transaction that is the only one that writes, and commits what it has done.
func (l *store) alter(ctx context.Context, f func(context.Context, *sql.Tx) error) error {
	if l.write == nil {
		return errReadOnly
	}
	working, tx, end, err := l.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := f(working, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// begin starts the transaction of a charge. ctx and waiting bound the wait for other writers; once it returns, the
// transaction is the only one that writes, and nothing but patience interrupts it: one broken off half-way is harder to
// be sure about.
func (l *store) begin(ctx context.Context) (working context.Context, tx *sql.Tx, end func(), err error) {
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	err = l.again(ctx, func() (err error) {
		working, tx, end, err = l.beginOnce(ctx)
		return err
	})
	return working, tx, end, err
}

func (l *store) beginOnce(ctx context.Context) (_ context.Context, tx *sql.Tx, end func(), err error) {
	conn, err := l.write.Conn(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if l.patience > 0 {
		working, cancel = context.WithTimeout(working, l.patience)
	}
	tx, err = conn.BeginTx(working, &sql.TxOptions{Isolation: l.isolation()})
	end = func() {
		if tx != nil {
			_ = tx.Rollback()
		}
		cancel()
		_ = conn.Close()
	}

	// Here others that write are waited for, which ends with ctx.
	if err == nil && l.alone != nil {
		err = l.alone(ctx, tx)
	}
	if err != nil {
		end()
		return nil, nil, nil, err
	}
	return working, tx, end, nil
}

// isolation is that of a writer: what it reads after it has become the only one must be what is committed by then.
func (l *store) isolation() sql.IsolationLevel {
	if l.alone != nil {
		return sql.LevelReadCommitted
	}
	return sql.LevelDefault
}

// snapshot is a transaction that sees one state of the ledger, so that others may be charging meanwhile.
func (l *store) snapshot(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := l.read.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := l.unhurried(ctx, tx); err != nil {
		return err
	}
	return f(tx)
}

// unhurried lets the statements of a transaction take as long as the ledger is large, where a server would end them.
func (l *store) unhurried(ctx context.Context, tx *sql.Tx) error {
	if l.alone == nil {
		return nil
	}
	_, err := tx.ExecContext(ctx, withoutTimeout)
	return err
}

const withoutTimeout = `SET LOCAL statement_timeout = 0`
