package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"fugu/internal/hook"
	"fugu/ledger/claim"
)

// postgresSchema is where a ledger in PostgreSQL lives. PostgreSQL gives no other role any right on it.
const postgresSchema = "fugu_ledger"

// postgresPatience bounds a transaction that writes, so that a connection that hangs does not keep a client for ever.
// The server ends one whose proxy is lost before that, and lets the next one write.
const postgresPatience = 20 * time.Second

// postgresSettings are those of every connection, whatever the URL or the role says.
var postgresSettings = map[string]string{
	"application_name":                    "fugu ledger",
	"client_encoding":                     "UTF8",
	"search_path":                         postgresSchema,
	"synchronous_commit":                  "on", // a COMMIT that returns is on disk [PostgreSQL, Asynchronous Commit]
	"standard_conforming_strings":         "on",
	"lock_timeout":                        "10s",
	"statement_timeout":                   "15s",
	"idle_in_transaction_session_timeout": "15s",
}

// openPostgres opens the ledger in a PostgreSQL database, for any number of proxies: each charge takes a lock on the
// totals, and the next one, of whichever proxy, reads what it committed.
func openPostgres(ctx context.Context, url string, o Options) (_ *store, err error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the URL cannot be read") // pgx would repeat it
	}
	for name, value := range postgresSettings {
		config.RuntimeParams[name] = value
	}
	sealed, err := newSeal(o.Key)
	if err != nil {
		return nil, err
	}
	l := &store{seal: sealed, onRead: reading{seal: sealed}, onWrite: reading{seal: sealed}, alone: lockTotals,
		clock: serverClock, patience: postgresPatience, attempts: readers + 1}
	defer func() {
		if err != nil {
			_ = l.Close()
		}
	}()
	if !o.ReadOnly {
		l.claims = claim.New(claim.OnServer(stdlib.GetConnector(*claiming(config)), firstHash))
		l.write = hook.OpenDB(stdlib.GetConnector(*config))
		l.write.SetMaxOpenConns(1)
		l.write.SetMaxIdleConns(1)
		if err := l.seal.migratePostgres(ctx, l.write, o.founding(sealed)); err != nil {
			return nil, err
		}
		if err := durable(ctx, l.write); err != nil {
			return nil, err
		}
		if err := errors.Join(l.onWrite.prepare(ctx, l.write), l.writing.prepare(ctx, l.write)); err != nil {
			return nil, err
		}
	}

	// What only looks does so on connections that cannot write.
	looking := config.Copy()
	looking.RuntimeParams["default_transaction_read_only"] = "on"
	l.read = hook.OpenDB(stdlib.GetConnector(*looking))
	l.read.SetMaxOpenConns(readers)
	l.read.SetMaxIdleConns(readers)
	if err := l.seal.migratePostgres(ctx, l.read, nil); err != nil {
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

// firstHash is the hash of the first entry of the audit chain: one for a ledger, and known to nobody else.
const firstHash = `(SELECT hash FROM audit WHERE number = 0)`

// claiming is the connection that has claims. A server notices soon that the machine at the other end is gone, and lets
// others have what it had.
func claiming(config *pgx.ConnConfig) *pgx.ConnConfig {
	c := config.Copy()
	c.RuntimeParams["tcp_keepalives_idle"] = "10"
	c.RuntimeParams["tcp_keepalives_interval"] = "5"
	c.RuntimeParams["tcp_keepalives_count"] = "3"
	return c
}

// durable refuses a server on which what was committed can be lost.
func durable(ctx context.Context, db *sql.DB) error {
	var fsync, synchronous string
	var recovery bool
	const settings = `SELECT current_setting('fsync'), current_setting('synchronous_commit'), pg_is_in_recovery()`
	row := db.QueryRowContext(ctx, settings)
	if err := row.Scan(&fsync, &synchronous, &recovery); err != nil {
		return fmt.Errorf("reading PostgreSQL's settings: %w", err)
	}
	if fsync != "on" || synchronous != "on" || recovery {
		return fmt.Errorf("PostgreSQL does not give what durability needs: fsync %s, synchronous_commit %s, in "+
			"recovery %t",
			fsync, synchronous, recovery)
	}
	return nil
}

// lockTotals waits until no other transaction writes. The lock lets everybody read.
func lockTotals(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `LOCK TABLE totals IN EXCLUSIVE MODE`)
	return err
}

// serverClock is the time of a ledger in PostgreSQL: the server's, which is one for all proxies; of the moment, since a
// transaction began before it waited for others.
func serverClock(ctx context.Context, q queryer) (time.Time, error) {
	var at int64
	err := q.QueryRowContext(ctx, `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint`).Scan(&at)
	return time.UnixMicro(at).UTC(), err
}
