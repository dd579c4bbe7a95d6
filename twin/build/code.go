package build

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"fugu/policy"
)

// looks is the view that a condition is written into to see what it calls; it is never there for anybody else.
const looks = `"fugu looks"`

// guestCode is a function that a view calls, by itself or by an operator, and that a guest may replace.
const guestCode = `SELECT f.oid::regprocedure::text FROM pg_rewrite w
		JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
		LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
		JOIN pg_proc f ON d.refclassid = 'pg_proc'::regclass AND f.oid = d.refobjid OR f.oid = o.oprcode,
		unnest($2::text[]) g
	WHERE w.ev_class = $1::text::regclass AND pg_has_role(g, f.proowner, 'MEMBER') ORDER BY 1 LIMIT 1`

// guestsCode is a function that a condition calls and that a guest may replace; empty: there is none. To run the
// condition, or only to plan it, would run what the function has become, with the keeper's rights on every row. What a
// table calls by itself, for its checks and indexes, is a finding of upstream.CheckGuest.
//
// PostgreSQL writes down what a view depends on, whatever the condition looks like, and runs nothing for it.
func guestsCode(ctx context.Context, db querier, table policy.QualifiedName, condition string, guests []string) (
	name string, err error) {
	if len(guests) == 0 {
		return "", nil
	}
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		// Before the first build no schema is the keeper's own but that of its session.
		var within string
		err := tx.QueryRow(ctx, "SELECT CASE WHEN to_regnamespace($1) IS NULL THEN 'pg_temp' ELSE $1 END", schema).
			Scan(&within)
		if err != nil {
			return err
		}

		looks := within + "." + looks
		view := `CREATE VIEW ` + looks + ` AS SELECT (` + condition + `) AS holds FROM ` + quoted(table) + ` AS t`
		if _, err := tx.Exec(ctx, view); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, guestCode, looks, guests).Scan(&name); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return errPutAside
	})
	if errors.Is(err, errPutAside) {
		err = nil
	}
	return name, err
}
