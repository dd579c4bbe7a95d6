package build

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/parser"
	"fugu/sqlstate"
)

// lockRegistry keeps other builds out until the end of the transaction.
const lockRegistry = `LOCK TABLE ` + registry + ` IN SHARE ROW EXCLUSIVE MODE`

// alone runs f in a transaction beside which no other builds or drops twins.
//
// The lock is one that only who may write the registry can take: an advisory lock could be held by any guest, for ever.
// It is taken before the transaction looks at anything, so that it sees what the build that it waited for has made.
func (k *Keeper) alone(ctx context.Context, f func(tx pgx.Tx) error) error {
	err := prepare(ctx, k.Conn, k.Guests)
	if is(err, sqlstate.UniqueViolation) { // another build has made the schema at the same moment
		err = prepare(ctx, k.Conn, k.Guests)
	}
	if err != nil {
		return err
	}
	begin := func(lock string) error {
		return pgx.BeginTxFunc(ctx, k.Conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, lock); err != nil {
				return fmt.Errorf("locking the list of twins: %w", err)
			}
			// Counting needs room for every bucket of every class.
			if _, err := tx.Exec(ctx, `SET LOCAL work_mem = '64MB'`); err != nil {
				return fmt.Errorf("asking for memory: %w", err)
			}
			return f(tx)
		})
	}
	if err = begin(lockRegistry + ` NOWAIT`); !is(err, sqlstate.LockNotAvailable) {
		return err
	}
	k.say(0, "waiting for another build of twins in this database, or for who drops one")
	return begin(lockRegistry)
}

// is reports whether PostgreSQL's error is of that code.
func is(err error, code sqlstate.Code) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && pe.Code == string(code)
}

// prepare makes the schema that twins are in, which nobody but the keeper and the guests may look into. It is refused if
// somebody else could put tables into it: code of theirs would run with the keeper's rights.
func prepare(ctx context.Context, db *pgx.Conn, guests []string) error {
	var exists, mine, open bool
	err := db.QueryRow(ctx, `SELECT count(*) > 0, coalesce(bool_and(r.rolname = current_user), false), coalesce(bool_or(EXISTS (
			SELECT FROM aclexplode(n.nspacl) a WHERE a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner)), false)
		FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner WHERE n.nspname = $1`, schema).Scan(&exists, &mine, &open)
	switch {
	case err != nil:
		return fmt.Errorf("looking for the schema of twins: %w", err)
	case exists && (!mine || open):
		return fmt.Errorf("schema %s is not the keeper's alone: it has to belong to the keeper's role, and nobody else may "+
			"create anything in it; make it anew with: CREATE SCHEMA %s AUTHORIZATION the keeper", schema, schema)
	}

	var statements []string
	if !exists {
		statements = []string{`CREATE SCHEMA ` + schema, `REVOKE ALL ON SCHEMA ` + schema + ` FROM PUBLIC`}
	}
	statements = append(statements, makeRegistry)
	for _, g := range guests {
		statements = append(statements, `GRANT USAGE ON SCHEMA `+schema+` TO `+parser.QuoteIdent(g),
			`GRANT SELECT ON `+registry+` TO `+parser.QuoteIdent(g))
	}
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		for _, sql := range statements {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("making the schema of twins, %s: %w", schema, err)
			}
		}
		return nil
	})
}
