package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/dataset"
	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
	"fugu/sqlstate"
	"fugu/twin/build"
	"fugu/twin/columns"
)

// twinSuspicions is about one table that has a twin: $1 is its name, $2 the columns that its twin leaves out, $3 the
// tables that go with it, $4 whether the policy says what the unit of a row is. It finds in the catalog what may break
// the assumption that rows are exchangeable, or show which rows were taken.
//
// (PostgreSQL joins literals that follow each other in lines of their own.)
const twinSuspicions = `
WITH t AS (SELECT to_regclass($1)::oid AS oid),
 family AS (SELECT to_regclass(n)::oid AS oid FROM unnest($3::text[]) AS n),
 kept AS (SELECT a.* FROM pg_attribute a JOIN t ON t.oid = a.attrelid
   WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attname <> ALL ($2::text[])),
 keys AS (SELECT i.indrelid, array_agg(k.n ORDER BY k.n) AS columns, bool_or(i.indisprimary) AS main
   FROM pg_index i, unnest(i.indkey::int2[]) AS k(n) WHERE i.indisunique GROUP BY i.indexrelid, i.indrelid),
 links AS (SELECT c.conname, c.conrelid, c.confrelid,
     (SELECT array_agg(k ORDER BY k) FROM unnest(c.conkey) AS k) AS columns
   FROM pg_constraint c WHERE c.contype = 'f')
SELECT 1, format('its rows refer to rows of the same table (%s), which the twin need not have: drop the column',
   conname)
 FROM links, t
 WHERE conrelid = t.oid AND confrelid = t.oid AND EXISTS (SELECT FROM kept WHERE attnum = ANY (columns))
UNION ALL SELECT 2, format('column %s may say how many rows there are, or stand for the order of them: drop it',
   quote_ident(attname))
 FROM kept
 WHERE attname ~* ('(^|_)(rank|ranking|rownum|row_number|running|cumulative|cum|ntile|percentile|quantile|of_class'
     '|seq|sequence)(_|$)')
   OR (attidentity <> '' OR EXISTS (SELECT FROM pg_attrdef d
       WHERE d.adrelid = attrelid AND d.adnum = attnum AND pg_get_expr(d.adbin, d.adrelid) ~ '^nextval'))
     AND NOT EXISTS (SELECT FROM keys WHERE indrelid = attrelid AND columns = ARRAY[attnum])
UNION ALL SELECT 3, format('column %s is unique, and no key that is made anew: '
   'who knows a row finds it in the twin by it; drop it', quote_ident(attname))
 FROM kept
 WHERE EXISTS (SELECT FROM keys WHERE indrelid = attrelid AND columns = ARRAY[attnum] AND NOT main)
   AND atttypid <> ALL ('{int2,int4,int8,uuid}'::regtype[])
UNION ALL SELECT 4, format('rows of the ordinary table %s refer to its rows (%s): '
   'they show which rows there are; link the table, or keep the guest from it', conrelid::regclass, conname)
 FROM links, t
 WHERE confrelid = t.oid AND conrelid NOT IN (SELECT oid FROM family)
UNION ALL SELECT 5, format('each of its rows has a row of the ordinary table %s for its own (%s), '
   'which shows that it is there; link the table, or drop the column', confrelid::regclass, conname)
 FROM links l, t
 WHERE conrelid = t.oid AND confrelid NOT IN (SELECT oid FROM family)
   AND EXISTS (SELECT FROM keys k WHERE k.indrelid = conrelid AND k.columns = l.columns)
UNION ALL SELECT 5, format('most of its rows have a row of the ordinary table %s for their own (%s), by the '
   'statistics of PostgreSQL: those to which no row of the twin refers show what was left out; drop the column, or '
   'keep the guest from that table', confrelid::regclass, conname)
 FROM links l, t
 WHERE conrelid = t.oid AND confrelid NOT IN (SELECT oid FROM family)
   AND NOT EXISTS (SELECT FROM keys k WHERE k.indrelid = conrelid AND k.columns = l.columns)
   AND EXISTS (SELECT FROM kept JOIN pg_class c ON c.oid = attrelid
     JOIN pg_stats s ON s.schemaname = c.relnamespace::regnamespace::name AND s.tablename = c.relname
       AND s.attname = kept.attname
     WHERE l.columns = ARRAY[attnum]
       AND CASE WHEN n_distinct < 0 THEN -n_distinct ELSE n_distinct / greatest(reltuples, 1) END > 0.5)
UNION ALL SELECT 6, format('several of its rows may be about one row of %s (%s): '
   'if that is their subject, link the table to it and let it have the secret, drop the column, '
   'or accept with independent_rows: true that they are drawn one by one', confrelid::regclass, conname)
 FROM links l, t
 WHERE NOT $4::bool AND conrelid = t.oid AND confrelid NOT IN (SELECT oid FROM family)
   AND EXISTS (SELECT FROM kept WHERE attnum = ANY (l.columns))
   AND NOT EXISTS (SELECT FROM keys k WHERE k.indrelid = conrelid AND k.columns = l.columns)
UNION ALL SELECT 7, format('column %s of the ordinary table %s may be a total of its rows: who knows that solves the '
   'secret out of it; drop the column, keep the guest from it, or declare it (public)', quote_ident(a.attname),
   a.attrelid::regclass)
 FROM pg_attribute a
 WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid NOT IN (SELECT oid FROM family)
   AND a.attrelid IN (SELECT confrelid FROM links, t WHERE conrelid = t.oid
     UNION SELECT conrelid FROM links, t WHERE confrelid = t.oid)
   AND (a.attname ~* '(^|_)(totals?|counts?|number|num|sums?|lifetime|sold|average|avg|turnover)(_|$)'
     OR a.attname IN (SELECT relname || plural FROM pg_class c, t, (VALUES (''), ('s'), ('es')) v (plural)
       WHERE c.oid = t.oid))
ORDER BY 1, 2`

// checkTwins prints of each table with a twin whether it is built, what it costs, and what may break what it rests on.
func (h *house) checkTwins(ctx context.Context, stdout io.Writer, p *policy.Policy) error {
	var family, references []string

	for _, t := range p.Tables {
		if t.Answers == policy.FromTwin {
			family = append(family, dataset.Quoted(t.Qualified()))
		}
	}
	for _, t := range p.Tables {
		if t.Answers != policy.FromTwin {
			continue
		}
		reader := h.room(p.Database).reader
		rows, err := reader.Query(ctx, "SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "+
			"WHERE n.nspname = $1 AND c.relname = $2",
			[][]byte{[]byte(parser.TwinSchema), []byte(t.Name)}, []uint32{25, 25})
		if err != nil {
			return err
		}
		state := "is built"
		if len(rows) == 0 {
			state = "is not built yet: run fugu twin build"
		}
		price := "it comes with that of the table that it is linked to"
		if t.Link == nil {
			price = fmt.Sprintf("its price is epsilon %v, delta %v, once, assuming %s",
				p.Privacy.Epsilon, p.Privacy.Delta, policy.Exchangeable)
		}
		fmt.Fprintf(stdout, "   twin of %s: %s; %s\n", t.Qualified(), state, price)
		if t.Twin.Rows == policy.Aggregate {
			fmt.Fprintf(stdout, "   rows of it are not listed, "+
				"and groups of fewer than %d rows of the sample are left out\n", t.Twin.AtLeast)
		}
		for _, line := range columns.Asked(p, t) {
			fmt.Fprintln(stdout, line)
		}
		if len(t.Twin.Columns) > 0 {
			references = append(references, dataset.Quoted(t.Reference))
		}
		if t.Twin.Unit != "" {
			fmt.Fprintf(stdout, "warning: %s\n", build.Subjects(p, t))
		}
		accepted := t.Twin.Unit != "" || t.Twin.IndependentRows || t.Link != nil
		found, err := reader.Query(ctx, twinSuspicions, [][]byte{[]byte(dataset.Quoted(t.Qualified())),
			array(t.Twin.Drop), array(family), fmt.Append(nil, accepted)}, nil)
		if err != nil {
			return err
		}
		for _, r := range found {
			fmt.Fprintf(stdout, "warning: table %s: %s\n", t.Qualified(), r[1].Text)
		}
	}
	if len(family) == 0 {
		return nil
	}
	return h.checkKeeper(ctx, stdout, append(family, references...), p)
}

// keeperSuspicions is about the role that asks it: $1 are the tables that have twins, $2 the guests, $3 the schema of
// twins.
const keeperSuspicions = `
SELECT format('the keeper cannot read %s; GRANT SELECT ON %1$s TO %I;', t, current_user)
 FROM unnest($1::text[]) AS t WHERE NOT has_table_privilege(t, 'SELECT')
UNION ALL SELECT format('the keeper cannot make the schema of twins; GRANT CREATE ON DATABASE %I TO %I;',
   current_database(), current_user)
 WHERE to_regnamespace($3) IS NULL AND NOT has_database_privilege(current_database(), 'CREATE')
UNION ALL SELECT format('the guest %I can act as the keeper; '
   'REVOKE %I FROM %1$I, or give twins a keeper of their own', r, current_user)
 FROM unnest($2::text[]) AS r JOIN pg_roles o ON o.rolname = r WHERE pg_has_role(r, current_user, 'MEMBER')
UNION ALL SELECT format('the guest %I can make relations in the schema of twins: '
   'REVOKE CREATE ON SCHEMA %I FROM PUBLIC, %1$I;', r, $3)
 FROM unnest($2::text[]) AS r JOIN pg_roles o ON o.rolname = r
 WHERE to_regnamespace($3) IS NOT NULL AND has_schema_privilege(r, $3, 'CREATE')`

// checkKeeper prints what the role that builds twins lacks, or has too much, and refuses policies with conditions by
// which it cannot build.
func (h *house) checkKeeper(ctx context.Context, stdout io.Writer, tables []string, policies ...*policy.Policy) error {
	if h.config.Upstream.Keeper == "" {
		fmt.Fprintln(stdout, "warning: upstream.keeper is missing: twins cannot be built")
		return nil
	}
	keeper, err := build.Connect(ctx, string(h.config.Upstream.Keeper))
	if err != nil {
		return fmt.Errorf("upstream.keeper: %w", err)
	}
	defer func() { _ = keeper.Close(context.WithoutCancel(ctx)) }()

	guests := []*pgconn.Config{h.guest}
	for _, g := range h.guests {
		guests = append(guests, g)
	}
	roles := []string{}
	for _, g := range guests {
		if h.twinsApart() { // they are in another database, perhaps on a server where these roles are none
			break
		}
		if !slices.Contains(roles, g.User) {
			roles = append(roles, g.User)
		}
	}
	// A query that failed says so when its rows are collected.
	rows, _ := keeper.Query(ctx, keeperSuspicions, tables, roles, parser.TwinSchema)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, f := range found {
		fmt.Fprintf(stdout, "warning: %s\n", f)
	}
	for _, p := range policies {
		if err == nil {
			err = checkConditions(ctx, keeper, p)
		}
	}
	return err
}

// checkConditions refuses secrets by whose conditions twins cannot be built.
func checkConditions(ctx context.Context, keeper *pgx.Conn, p *policy.Policy) error {
	for _, t := range p.Tables {
		if t.Answers != policy.FromTwin {
			continue
		}

		// A table that the keeper may not read was warned of: nothing can be said about conditions on it.
		err := build.CheckConditions(ctx, keeper, p, t.Qualified())
		var refused *pgconn.PgError
		if errors.As(err, &refused) && refused.Code == string(sqlstate.InsufficientPrivilege) {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// array writes texts as an array of PostgreSQL's.
func array(list []string) []byte {
	values := make([]planner.Value, len(list))
	for i, v := range list {
		values[i].Text = v
	}
	return planner.Array(values)
}
