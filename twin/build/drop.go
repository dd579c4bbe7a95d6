package build

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"fugu/policy"
)

// Drop drops the twin of a table, and those of the tables linked to it, and returns the tables that had one. What was
// told stays told, and paid for: a later build gives the same twin. apart says that the connection leads to the place
// of Keeper.Target.
func Drop(ctx context.Context, conn *pgx.Conn, apart bool, p *policy.Policy, root policy.Table) (
	dropped []string, err error) {
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		at := place{tx: tx, apart: apart}
		all, err := Twins(ctx, tx)
		if err != nil || all == nil {
			return err
		}
		if _, err := tx.Exec(ctx, lockRegistry); err != nil { // a build that goes on is waited for
			return err
		}

		// Linked tables refer to the root's twin, so they go first.
		for _, t := range slices.Backward(familyOf(p, root)) {
			name := t.Qualified()
			if !slices.ContainsFunc(all, func(t Twin) bool { return t.Schema == name.Schema && t.Table == name.Name }) {
				continue
			}
			if err := at.free(ctx, all, name); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "DROP TABLE IF EXISTS "+at.name(name)); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "DELETE FROM "+registry+" WHERE table_schema = $1 AND table_name = "+
				"$2", name.Schema, name.Name); err != nil {
				return err
			}
			if err := forgetColumns(ctx, tx, name); err != nil {
				return err
			}
			dropped = append(dropped, name.String())
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("dropping the twin of %s: %w", root.Qualified(), err)
	}
	return dropped, nil
}
