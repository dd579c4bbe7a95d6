package build

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fugu/policy"
)

// looks is the view that a condition is written into to see what it calls; it is never there for anybody else.
const looks = schema + `."fugu looks"`

// guestCode is a function that a view calls, by itself or by an operator, and that a guest may replace.
const guestCode = `SELECT f.oid::regprocedure::text FROM pg_rewrite w
		JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
		LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
		JOIN pg_proc f ON d.refclassid = 'pg_proc'::regclass AND f.oid = d.refobjid OR f.oid = o.oprcode,
		unnest($2::text[]) g
	WHERE w.ev_class = $1::text::regclass AND pg_has_role(g, f.proowner, 'MEMBER') ORDER BY 1 LIMIT 1`

// checkCode refuses conditions of secrets that call a function which a guest may replace: a build would run what it has
// become, with the keeper's rights on every row. What a table calls by itself, for its checks and indexes, is a finding
// of upstream.CheckGuest. guests are those that can reach the database.
func (f *family) checkCode(ctx context.Context, db pgx.Tx, p *policy.Policy, guests []string) error {
	if len(guests) == 0 {
		return nil
	}
	for _, s := range p.Secrets {
		if s.Table != f.root.Qualified() || s.Proportion == "" {
			continue
		}
		theirs, err := f.root.guestsCode(ctx, db, s.Proportion, guests)
		switch {
		case err != nil:
			return fmt.Errorf("secret %s: looking what its condition calls: %w", s.Name, err)
		case theirs != "":
			return fmt.Errorf("secret %s: its condition calls %s, which belongs to a role that guests can be: they "+
				"could have a build run anything; give it another owner", s.Name, theirs)
		}
	}
	return nil
}

// guestsCode is a function that a condition calls and that a guest may replace; empty: there is none. PostgreSQL writes
// down what a view depends on, whatever the condition looks like, and runs nothing for it.
func (s *source) guestsCode(ctx context.Context, db pgx.Tx, condition string, guests []string) (
	name string, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		view := `CREATE VIEW ` + looks + ` AS SELECT (` + condition + `) AS holds FROM ` + s.qualified() + ` AS t`
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
