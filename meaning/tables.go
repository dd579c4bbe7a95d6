// Package meaning asks whether the names in a statement mean to the client's own session what they were taken for: the
// protected tables, ordinary ones, and PostgreSQL's own functions, operators and types. Nothing secret hangs on it: the
// guest has no right on a protected table, and a doubt is refused.
package meaning

import (
	"context"
	"slices"
	"strings"

	"fugu/parser"
	"fugu/sqlstate"
	"fugu/upstream"
)

// Ask runs a statement in the client's session, and returns its rows as text.
type Ask = func(ctx context.Context, sql string) ([][]string, error)

// MayRead asks the session itself whether it may read the ordinary tables, and means them by the names that it wrote.
func MayRead(ctx context.Context, ask Ask, tables []parser.Table) error {
	for _, t := range tables {
		written := parser.QuoteLiteral(t.Written)
		full := parser.QuoteLiteral(parser.QuoteIdent(t.Schema) + "." + parser.QuoteIdent(t.Name))

		rows, err := ask(ctx, "SELECT pg_catalog.to_regclass("+written+")::pg_catalog.oid OPERATOR(pg_catalog.=) "+
			"pg_catalog.to_regclass("+full+")::pg_catalog.oid, "+
			"pg_catalog.has_table_privilege(pg_catalog.to_regclass("+full+"), 'SELECT')")
		if err != nil {
			return err
		}

		// A name that means nothing there is answered like one that means another table.
		switch {
		case len(rows) != 1 || len(rows[0]) != 2 || rows[0][0] != "t":
			return sqlstate.New(sqlstate.NotAnswerable, "%s does not mean the table %s.%s in this session", t.Written,
				t.Schema, t.Name).
				WithHint("Write %s.%s.", t.Schema, t.Name)
		case rows[0][1] != "t":
			return sqlstate.New(sqlstate.InsufficientPrivilege, "permission denied for table %s", t.Name)
		}
	}
	return nil
}

// Locked are the tables that a snapshot has to hold still: the same ones in the same order for all, against deadlocks.
func Locked(tables []parser.Table) []upstream.Ordinary {
	var out []upstream.Ordinary
	for _, t := range tables {
		same := func(o upstream.Ordinary) bool { return o.Schema == t.Schema && o.Name == t.Name }
		if !slices.ContainsFunc(out, same) {
			out = append(out, upstream.Ordinary{Schema: t.Schema, Name: t.Name, Columns: t.Columns})
		}
	}
	slices.SortFunc(out, func(a, b upstream.Ordinary) int { return strings.Compare(a.String(), b.String()) })
	return out
}
