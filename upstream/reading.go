package upstream

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/internal/hook"
	"fugu/mechanism"
	"fugu/sqlstate"
)

// Done takes what was read: F, or the error that reading it has failed with. Until it returns, nothing that others can
// see of the reader changes, so it returns when everybody may know that the rows were read. An error of its own takes
// the place of F.
//
// Whoever is connected to the database can see a transaction's end to the millisecond: CREATE INDEX CONCURRENTLY and
// VACUUM wait for its snapshot, pg_locks shows it, and a statement that has to wait for one of the reader's connections
// goes on. How long rows are read for depends on them, so the transaction and its connection last until Done returns.
type Done func(mechanism.Statistics, error) error

// Statistics runs the questions on one snapshot of the protected tables, and hands F to done. start holds F as it is
// where no protected row is in a cell. An error of a statement's rows is PV005, without a detail.
//
// Where it fails before it begins to read, done is not called.
func (r *Reader) Statistics(ctx context.Context, questions []Question, start []*big.Rat, done Done) error {
	return r.with(ctx, func(c *pgconn.PgConn) error {
		if err := begin(ctx, c, alone()); err != nil {
			return err
		}
		defer rollback(ctx, c)
		return measure(ctx, c, questions, start, done)
	})
}

// alone keeps a transaction from parallel workers. They come and go with a scan, and everybody can see by a statement
// of their own whether the server has any left. It also keeps it from joins by nested loops, where there is another
// way: they go through one side as often as the other has rows that meet a condition, and take as long.
func alone() string {
	set := "; SET LOCAL max_parallel_workers_per_gather = 0"
	if !hook.ReadLazily {
		set += "; SET LOCAL enable_nestloop = off"
	}
	return set
}

// measure runs the questions in the connection's transaction, which is alone.
func measure(ctx context.Context, c *pgconn.PgConn, questions []Question, start []*big.Rat, done Done) error {
	s, failed := statistics(ctx, c, questions, start)
	if failed = scrub(ctx, failed); sqlstate.Is(failed, sqlstate.ConnectionFailure) {
		failed = lost(failed)
	}
	if hook.EarlyEnd {
		rollback(ctx, c)
	}
	err := done(s, failed)

	// Who gives up what was read gives up the connection too, as it is given up in the midst of reading.
	if err != nil && failed == nil {
		giveUp(c)
	}
	return err
}

// ErrLost is in the error of a statement that had begun to read protected rows when its connection was lost.
var ErrLost = errors.New("the connection was lost while rows were read")

func lost(cause error) error {
	return sqlstate.New(sqlstate.ConnectionFailure, "the connection to the database was lost").
		WithHint("Try again when it is back: rows may have been read, so another try is charged again.").
		Because(fmt.Errorf("%w: %w", ErrLost, cause))
}

// giveUp ends a connection that has read its rows in the way in which pgx ends one that has not: by a request to
// cancel, and then by closing it.
func giveUp(c *pgconn.PgConn) {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	_ = c.CancelRequest(ctx) // which finds nothing to cancel, or nobody to ask
	_ = c.Close(ctx)
}

// begin begins a transaction in which all statements see one snapshot, with what is to be set in it.
func begin(ctx context.Context, c *pgconn.PgConn, set string) error {
	level := "REPEATABLE READ"
	if hook.LooseSnapshot {
		level = "READ COMMITTED"
	}
	_, err := c.Exec(ctx, "BEGIN ISOLATION LEVEL "+level+" READ ONLY"+set).ReadAll()
	return err
}

func rollback(ctx context.Context, c *pgconn.PgConn) {
	_ = c.Exec(context.WithoutCancel(ctx), "ROLLBACK").Close()
}
