package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"fugu/dataset"
	"fugu/internal/doubt"
	"fugu/internal/finding"
	"fugu/parser"
	"fugu/planner"
	"fugu/twin/margin"
)

// checkApart says, in the place of what check says of tables that Fugu watches, what there is of their twins.
func (h *house) checkApart(ctx context.Context, f *findings) error {
	for _, note := range h.notes {
		f.add(finding.Note, f.setting("upstream", "twins"), note, "protected tables are where guests cannot go, so "+
			"that there is nothing to watch over", "nothing, unless it says what to run")
	}

	for _, p := range h.policies {
		f.add(finding.OK, f.under(p, "dataset"), fmt.Sprintf("dataset %s: %s, twins in a database of their own, %s",
			p.Dataset, numbered(len(p.Tables), "table"), numbered(len(p.Secrets), "secret")), "", "")
		for _, t := range p.Tables {
			if t.Link == nil {
				f.add(finding.Note, f.in(p, t.At), fmt.Sprintf("twin of %s: %s", t.Qualified(), price(p, t)),
					"statements on the table are answered from its twin alone, and cost nothing",
					"nothing; fugu twin show tells what is built")
			}
		}
	}

	// Without the keeper nobody here may read the catalog of the protected tables.
	if h.config.Upstream.Keeper == "" {
		return h.checkKeeper(ctx, f, nil)
	}
	return h.checkSource(ctx, f)
}

// checkSource says what in the protected tables' catalog may break what their twins rest on, and what who builds lacks.
func (h *house) checkSource(ctx context.Context, f *findings) error {
	keeper, err := pgx.Connect(ctx, string(h.config.Upstream.Keeper))
	if err != nil {
		return fmt.Errorf("connecting as upstream.keeper: %w", err)
	}
	defer func() { _ = keeper.Close(context.WithoutCancel(ctx)) }()

	// Every table of a policy there has a twin, and goes with its family.
	var all []string
	for _, p := range h.policies {
		family := []string{}
		for _, t := range p.Tables {
			family = append(family, dataset.Quoted(t.Qualified()))
		}
		all = append(all, family...)
		for _, t := range p.Tables {
			if t.Link == nil {
				if _, err := margin.Of(p, t.Qualified()); err != nil {
					return err
				}
			}
			if err := f.doubtTwin(ctx, throughConn(keeper), p, t, family); err != nil {
				return fmt.Errorf("as upstream.keeper: %w", err)
			}
		}
	}

	if err := h.checkKeeper(ctx, f, all, h.policies...); err != nil {
		return err
	}
	return h.checkBuilder(ctx, f)
}

// throughConn is a connection as who doubts asks it.
func throughConn(conn *pgx.Conn) doubt.Ask {
	return func(ctx context.Context, sql string, params [][]byte) (out [][]planner.Value, err error) {
		result := conn.PgConn().ExecParams(ctx, sql, params, nil, nil, nil).Read()
		for _, r := range result.Rows {
			var row []planner.Value
			for _, v := range r {
				row = append(row, planner.Value{Text: string(v), Null: v == nil})
			}
			out = append(out, row)
		}
		return out, result.Err
	}
}

// checkBuilder says what the role of upstream.twins lacks to make twins under their tables' names.
func (h *house) checkBuilder(ctx context.Context, f *findings) error {
	conn, err := pgx.Connect(ctx, string(h.config.Upstream.Twins))
	if err != nil {
		return fmt.Errorf("connecting as upstream.twins: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()

	// A schema that is there takes the right to make tables in it, any other the right to make schemas.
	schemas := []string{parser.TwinSchema}
	for _, p := range h.policies {
		for _, t := range p.Tables {
			if !slices.Contains(schemas, t.Schema) {
				schemas = append(schemas, t.Schema)
			}
		}
	}

	const lacks = `SELECT CASE WHEN n.oid IS NULL THEN format('upstream.twins cannot make the schema %I', s)
	      ELSE format('upstream.twins cannot make tables in the schema %I', s) END,
	    CASE WHEN n.oid IS NULL THEN format('GRANT CREATE ON DATABASE %I TO %I;', current_database(), current_user)
	      ELSE format('GRANT CREATE, USAGE ON SCHEMA %I TO %I;', s, current_user) END
	  FROM unnest($1::text[]) AS s LEFT JOIN pg_namespace n ON n.nspname = s
	  WHERE CASE WHEN n.oid IS NULL THEN NOT has_database_privilege(current_database(), 'CREATE')
	    ELSE NOT has_schema_privilege(n.oid, 'CREATE') END`
	return f.lacks(ctx, conn, "twins", lacks, schemas)
}
