package pipeline

import (
	"context"
	"slices"
	"strings"

	"fugu/parser"
	"fugu/planner"
	"fugu/sqlstate"
	"fugu/upstream"
	"fugu/wire"
)

// catalog is what one statement's names are looked up in: the snapshot, and the database for ordinary tables.
type catalog struct {
	*Snapshot
	ctx    context.Context
	reader planner.Querier
	means  meanings
}

// Ordinary finds a table that can be read beside protected rows. A name without a schema is looked for in all of them:
// mayRead finds out whether the session means the same one.
func (c catalog) Ordinary(schema, name string) (parser.Table, error) {
	rows, err := c.reader.Query(c.ctx, `SELECT n.nspname, a.attname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
	    JOIN pg_type t ON t.oid = a.atttypid AND (t.typtype = 'e' OR t.typtype = 'b' AND t.typnamespace = 'pg_catalog'::regnamespace)
	  WHERE c.relname = $2 AND CASE $1 WHEN '' THEN n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ELSE n.nspname = $1 END
	    AND c.relkind IN ('r', 'p', 'm') AND NOT c.relrowsecurity AND c.relpersistence <> 't' AND has_table_privilege(c.oid, 'SELECT')
	  ORDER BY n.nspname <> 'public', n.nspname, a.attnum`, [][]byte{[]byte(schema), []byte(name)}, []uint32{25, 25})
	if err != nil {
		return parser.Table{}, err
	}
	if len(rows) == 0 || schema == "pg_catalog" || schema == "information_schema" {
		return parser.Table{}, sqlstate.New(sqlstate.NotAnswerable, "the relation %s cannot be read together with protected rows", strings.TrimPrefix(schema+"."+name, ".")).
			WithHint("It must be a plain table without row-level security that the reader may SELECT from. Anything else can be joined above the aggregate: aggregate the protected table in a subquery first.")
	}
	t := parser.Table{Schema: rows[0][0].Text, Name: name, Ordinary: true}
	for _, r := range rows {
		if r[0].Text == t.Schema {
			t.Columns = append(t.Columns, r[1].Text)
		}
	}
	return t, nil
}

// mayRead asks the session itself whether it may read the ordinary tables, and means them by the names that it wrote.
func (s *statement) mayRead(ctx context.Context, b wire.Binding, tables []parser.Table) error {
	for _, t := range tables {
		written, full := parser.QuoteLiteral(t.Written), parser.QuoteLiteral(parser.QuoteIdent(t.Schema)+"."+parser.QuoteIdent(t.Name))
		rows, err := b.Ask(ctx, "SELECT pg_catalog.to_regclass("+written+")::pg_catalog.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass("+full+")::pg_catalog.oid, "+
			"pg_catalog.has_table_privilege(pg_catalog.to_regclass("+full+"), 'SELECT')")
		if err != nil {
			return err
		}
		switch {
		case len(rows) != 1 || len(rows[0]) != 2 || rows[0][0] != "t":
			return sqlstate.New(sqlstate.NotAnswerable, "%s does not mean the table %s.%s in this session", t.Written, t.Schema, t.Name).
				WithHint("Write %s.%s.", t.Schema, t.Name)
		case rows[0][1] != "t":
			return sqlstate.New(sqlstate.InsufficientPrivilege, "permission denied for table %s", t.Name)
		}
	}
	return nil
}

// locked are the tables that a snapshot has to hold still: the same ones in the same order for all, against deadlocks.
func locked(tables []parser.Table) []upstream.Ordinary {
	var out []upstream.Ordinary
	for _, t := range tables {
		if !slices.ContainsFunc(out, func(o upstream.Ordinary) bool { return o.Schema == t.Schema && o.Name == t.Name }) {
			out = append(out, upstream.Ordinary{Schema: t.Schema, Name: t.Name, Columns: t.Columns})
		}
	}
	slices.SortFunc(out, func(a, b upstream.Ordinary) int { return strings.Compare(a.String(), b.String()) })
	return out
}
