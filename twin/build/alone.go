package build

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fugu/parser"
	"fugu/sqlstate"
)

// exclusively runs f in a transaction beside which no other builds or drops twins, and with the place where they are
// published.
//
// The lock is one that only who may write the registry can take: an advisory lock could be held by any guest, for ever.
// It is taken before the transaction looks at anything, so that it sees what the build that it waited for has made.
func (k *Keeper) exclusively(ctx context.Context, f func(tx pgx.Tx, at place) error) error {
	if k.Target == nil {
		return k.locked(ctx, k.Conn, k.readers(), func(tx pgx.Tx) error { return f(tx, place{tx, false}) })
	}

	// Beside the protected tables nothing is left but an empty registry, whose lock keeps other builds of them out: the
	// twins' database commits, and what was put aside for it never does.
	from, err := k.origin(ctx)
	if err != nil {
		return err
	}
	var made error
	reached := false
	err = k.locked(ctx, k.Conn, nil, func(source pgx.Tx) error {
		reached = true
		made = k.locked(ctx, k.Target, k.readers(), func(tx pgx.Tx) error {
			at := place{tx, true}
			if err := at.record(ctx, from); err != nil {
				return err
			}
			return f(source, at)
		})
		return errPutAside
	})
	if reached {
		return made
	}
	return err
}

// errPutAside has a transaction rolled back.
var errPutAside = errors.New("what was put aside")

// locked runs f in a transaction of one database, beside which nobody else builds or drops twins there.
func (k *Keeper) locked(ctx context.Context, conn *pgx.Conn, readers []string, f func(tx pgx.Tx) error) error {
	err := k.prepare(ctx, conn, readers)
	if is(err, sqlstate.UniqueViolation) { // another build has made the schema at the same moment
		err = k.prepare(ctx, conn, readers)
	}
	if err != nil {
		return err
	}

	begin := func(lock string) error {
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, lock); err != nil {
				return fmt.Errorf("locking the list of twins: %w", err)
			}
			if err := hurry(ctx, tx); err != nil {
				return err
			}
			return f(tx)
		})
	}

	// Whoever has to wait is told so, and then waits as long as it takes.
	if err = begin(lockRegistry + ` NOWAIT`); !is(err, sqlstate.LockNotAvailable) {
		return err
	}
	k.say(0, "waiting for another build of twins in this database, or for who drops one")
	return begin(lockRegistry)
}

// prepare makes the schema that twins are in, which nobody but the keeper and those who read twins may look into. It is
// refused if somebody else could put tables into it: code of theirs would run with the keeper's rights.
func (k *Keeper) prepare(ctx context.Context, db *pgx.Conn, readers []string) error {
	var exists, mine, open, said bool
	const look = `SELECT count(*) > 0, coalesce(bool_and(r.rolname = current_user), false),
			coalesce(bool_or(EXISTS (
			SELECT FROM aclexplode(n.nspacl) a WHERE a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner)), false),
			NOT EXISTS (SELECT FROM pg_class c JOIN pg_namespace m ON m.oid = c.relnamespace
				WHERE m.nspname = $1 AND c.relname = 'fugu twins'
				AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'noise'))
		FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner WHERE n.nspname = $1`
	err := db.QueryRow(ctx, look, schema).Scan(&exists, &mine, &open, &said)
	switch {
	case err != nil:
		return fmt.Errorf("looking for the schema of twins: %w", err)
	case exists && (!mine || open):
		return fmt.Errorf("schema %s is not the keeper's alone: it has to belong to the keeper's role, and nobody "+
			"else may create anything in it; make it anew with: CREATE SCHEMA %s AUTHORIZATION the keeper",
			schema, schema)
	}

	// All of it may be there already: what is missing is made.
	var statements []string
	if !exists {
		statements = []string{`CREATE SCHEMA ` + schema, `REVOKE ALL ON SCHEMA ` + schema + ` FROM PUBLIC`}
	}
	statements = append(statements, makeRegistry, makeChannels)
	if !said {
		statements = append(statements, addNoise)
	}

	// Who reads twins reads what is said of them, too.
	readable := registry + ", " + channelsTable
	if db == k.Target {
		statements = append(statements, makeOrigins)
		readable += ", " + origins
	}
	for _, role := range readers {
		statements = append(statements, `GRANT USAGE ON SCHEMA `+schema+` TO `+parser.QuoteIdent(role),
			`GRANT SELECT ON `+readable+` TO `+parser.QuoteIdent(role))
	}
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		for _, sql := range statements {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("making the schema of twins, %s: %w", schema, err)
			}
		}
		if db == k.Target {
			return makeAbout(ctx, tx, readers)
		}
		return nil
	})
}

// hurry has the server work for one large transaction: with a fixed amount of memory, and more than that where the
// keeper's role was given it. Rows in random order are sorted in pieces that fit a processor's cache sooner than in
// large ones: of 2,000,000 rows 256 MB took a sixth of the processor time of writing them more than 64 MB. Each of the
// workers that build an index has a part of that memory, and none comes for less than 32 MB.
func hurry(ctx context.Context, tx pgx.Tx) error {
	for _, sql := range []string{
		`SELECT set_config(name,
				greatest(pg_size_bytes(current_setting(name)), pg_size_bytes(size)) / 1024 || 'kB', true)
			FROM (VALUES ('work_mem', '64MB'), ('maintenance_work_mem', '256MB')) v(name, size)`,
		// There is too little in these statements that compiled code does faster for what compiling takes.
		`SET LOCAL jit = off`,
		// Rows that are sent elsewhere go in the order that they were laid in.
		`SET LOCAL synchronize_seqscans = off`,
	} {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return fmt.Errorf("asking for memory: %w", err)
		}
	}
	return nil
}
