package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"
)

// store is a Ledger in an SQL database. What SQLite and PostgreSQL do differently is settled when it is opened; the
// statements are the same.
type store struct {
	read     *sql.DB
	write    *sql.DB // of one connection: having it is being this process's writer; nil: read only
	onRead   reading
	onWrite  reading
	bookings bookings
	seal     seal
	// alone makes a transaction the only one that writes, of all processes; nil: it is from the start.
	alone func(context.Context, *sql.Tx) error
	// clock says which period it is, in the transaction of a charge or outside of one.
	clock func(context.Context, queryer) (time.Time, error)
	// patience bounds a transaction that has begun to write; 0: nothing can keep it.
	patience time.Duration
	// waiting bounds everything else that a client waits for: a reading, or until it can begin to write; 0: defaultWaiting.
	waiting time.Duration
	path    string    // of an SQLite file
	lock    io.Closer // what keeps other servers out; may be nil
	// attempts is how often what has written nothing is tried: each may meet a connection that the server has ended.
	attempts int
}

// defaultWaiting is for how long a ledger is waited for: one that says nothing for so long is as good as none.
const defaultWaiting = 20 * time.Second

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
	if l.lock != nil {
		errs = append(errs, l.lock.Close())
	}
	return errors.Join(errs...)
}

// begin starts the transaction of a charge. ctx and waiting bound the wait for other writers; once it returns, the
// transaction is the only one that writes, and nothing but patience interrupts it: one broken off half-way is harder to be
// sure about.
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

// preparer is a database or a transaction.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// prepareAll prepares each text into its statement.
func prepareAll(ctx context.Context, db preparer, texts map[**sql.Stmt]string) error {
	for stmt, text := range texts {
		var err error
		if *stmt, err = db.PrepareContext(ctx, text); err != nil {
			return fmt.Errorf("preparing the ledger's statements: %w", err)
		}
	}
	return nil
}

// upgrade takes the steps that are missing behind a schema version; the one that leads to the version chained makes the
// table of the audit chain, which then begins, and the one to the version bound makes totals bind everybody.
func upgrade(ctx context.Context, tx *sql.Tx, s seal, steps []string, version, chained, bound int) error {
	for v, step := range steps[version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("migrating from schema %d: %w", version+v, err)
		}
	}
	if version < chained {
		if err := s.begin(ctx, tx); err != nil {
			return fmt.Errorf("beginning the audit chain: %w", err)
		}
	}
	if version < bound {
		if err := s.bind(ctx, tx); err != nil {
			return fmt.Errorf("adding up the totals: %w", err)
		}
	}
	return nil
}
