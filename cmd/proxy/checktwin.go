package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"fugu/dataset"
	"fugu/internal/doubt"
	"fugu/internal/finding"
	"fugu/parser"
	"fugu/policy"
	"fugu/sqlstate"
	"fugu/twin/build"
	"fugu/twin/columns"
	"fugu/twin/told"
)

// checkTwins says of each table with a twin whether it is built, what it costs, and what may break what it rests on.
func (h *house) checkTwins(ctx context.Context, f *findings, p *policy.Policy) error {
	var family, references []string
	for _, t := range p.Tables {
		if t.Answers == policy.FromTwin {
			family = append(family, dataset.Quoted(t.Qualified()))
		}
	}
	if len(family) == 0 {
		return nil
	}

	reader := h.room(p.Database).reader
	for _, t := range p.Tables {
		if t.Answers != policy.FromTwin {
			continue
		}
		built, err := told.Made(ctx, reader, t.Name)
		if err != nil {
			return err
		}
		h.checkTwin(f, p, t, built)
		if err := h.checkLate(ctx, f, p, t); err != nil {
			return err
		}

		// What it rests on is looked for in the catalog, and what the keeper has to read is looked at once for all.
		if len(t.Twin.Columns) > 0 {
			references = append(references, dataset.Quoted(t.Reference))
		}
		if err := f.doubtTwin(ctx, throughReader(reader), p, t, family); err != nil {
			return err
		}
	}
	return h.checkKeeper(ctx, f, append(family, references...), p)
}

// checkTwin says what a table's twin is, and what its columns show.
func (h *house) checkTwin(f *findings, p *policy.Policy, t policy.Table, built bool) {
	state, fix := "is built", "nothing; fugu twin show tells what it holds"
	if !built {
		state, fix = "is not built yet", "run fugu twin build"
	}
	at := f.in(p, t.At)
	f.add(finding.Note, at, fmt.Sprintf("twin of %s: %s; %s", t.Qualified(), state, price(p, t)),
		"statements on the table are answered from its twin alone, and cost nothing", fix)
	if t.Twin.Rows == policy.Aggregate {
		f.add(finding.Note, at, fmt.Sprintf("twin of %s: its rows are not listed, and groups of fewer than %d "+
			"rows of the sample are left out", t.Qualified(), t.Twin.AtLeast), "no value is one row's by itself; "+
			"the secret is hidden either way", "nothing; write twin: {rows: shown} if analysts may see rows, or "+
			"at_least for another number")
	}

	// Columns that are shown through a channel have a law of their own, which rests on the reference.
	shown, hidden := columns.Asked(p, t)
	for _, line := range shown {
		f.add(finding.Note, f.in(p, t.Twin.At), line, "what a row shows there is drawn by chance, once and for "+
			"ever",
			"nothing, if that is meant; drop the column to show nothing of it")
	}
	for _, line := range hidden {
		f.add(finding.Warning, f.in(p, t.Twin.At), line, "who sees these columns reads off them what the other "+
			"one is to hide", "write twin: {drop: [COLUMN]} for one of them")
	}
}

// checkLate warns of columns that came after a twin was built: clients see the table without them.
func (h *house) checkLate(ctx context.Context, f *findings, p *policy.Policy, t policy.Table) error {
	room := h.room(p.Database)
	late := room.snapshot.Find(t.Schema, t.Name).Lacking
	if len(late) == 0 {
		return nil
	}

	// Rows of the table with the secret are known by their key, or else by all of their columns: then they are others.
	const key = "SELECT FROM pg_index WHERE indrelid = $1::regclass AND indisprimary"
	keys, err := room.reader.Query(ctx, key, [][]byte{[]byte(dataset.Quoted(t.Qualified()))}, []uint32{pgtype.TextOID})
	if err != nil {
		return fmt.Errorf("looking for the primary key of %s: %w", t.Qualified(), err)
	}
	fix := "run fugu twin build -again, which is free; or leave the columns out, by twin: {drop: [COLUMN]}"
	if t.Link == nil && len(keys) == 0 {
		fix = "nothing, and keep the twin as it is: without a primary key a row is known by all of its columns, so " +
			"that to fugu twin build the rows are others now, with drop or without; or move the columns to a table " +
			"of their own"
	}

	f.add(finding.Warning, f.in(p, t.At), fmt.Sprintf("twin of %s: it was built before the table had %s", t.Qualified(),
		strings.Join(late, ", ")), "clients see the table without what its twin does not have", fix)
	return nil
}

// price says what a twin costs.
func price(p *policy.Policy, t policy.Table) string {
	if t.Link != nil {
		return "it comes with that of the table that it is linked to"
	}
	return fmt.Sprintf("its price is epsilon %v, delta %v, once, assuming %s", p.Privacy.Epsilon, p.Privacy.Delta,
		policy.Exchangeable)
}

// doubtTwin warns of what the catalog shows that may break the twin of a table.
func (f *findings) doubtTwin(ctx context.Context, ask doubt.Ask, p *policy.Policy, t policy.Table,
	family []string) error {
	if t.Twin.Unit != "" {
		f.add(finding.Warning, f.in(p, t.Twin.At), build.Subjects(p, t), "several rows of one subject are not "+
			"exchangeable: how many of them were drawn tells how many there are", "give subjects a table of their "+
			"own, as it says; or write independent_rows: true, if rows of a subject are drawn one by one")
	}
	accepted := t.Twin.Unit != "" || t.Twin.IndependentRows || t.Link != nil
	found, err := doubt.Twin(ctx, ask, dataset.Quoted(t.Qualified()), t.Twin.Drop, family, accepted)
	if err != nil {
		return err
	}
	for _, d := range found {
		f.doubted(f.in(p, t.At), t, d)
	}
	return nil
}

// keeperSuspicions is about the role that asks it: $1 are the tables that have twins, $2 the guests, $3 the schema of
// twins. Each row is what is wrong, and the SQL that mends it.
const keeperSuspicions = `
SELECT format('the keeper cannot read %s', t), format('GRANT SELECT ON %s TO %I;', t, current_user)
 FROM unnest($1::text[]) AS t WHERE NOT has_table_privilege(t, 'SELECT')
UNION ALL SELECT 'the keeper cannot make the schema of twins', format('GRANT CREATE ON DATABASE %I TO %I;',
   current_database(), current_user)
 WHERE to_regnamespace($3) IS NULL AND NOT has_database_privilege(current_database(), 'CREATE')
UNION ALL SELECT format('the guest %I can act as the keeper', r),
   format('REVOKE %I FROM %I, or give twins a keeper of their own', current_user, r)
 FROM unnest($2::text[]) AS r JOIN pg_roles o ON o.rolname = r WHERE pg_has_role(r, current_user, 'MEMBER')`

// lacking is what a statement finds about the role that asks it: what is wrong, and what mends it.
type lacking struct{ What, Fix string }

// lacks runs a statement about the role of a key of the configuration, and warns of what it finds.
func (f *findings) lacks(ctx context.Context, conn *pgx.Conn, key, sql string, args ...any) error {
	// A query that failed says so when its rows are collected.
	rows, _ := conn.Query(ctx, sql, args...)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[lacking])
	for _, l := range found {
		f.add(finding.Warning, f.setting("upstream", key), l.What, "who builds twins reads what nobody else may, and "+
			"has to make them where no client can", l.Fix)
	}
	return err
}

// checkKeeper says what the role that builds twins lacks, or has too much, and refuses policies with conditions by
// which it cannot build.
func (h *house) checkKeeper(ctx context.Context, f *findings, tables []string, policies ...*policy.Policy) error {
	if h.config.Upstream.Keeper == "" {
		f.add(finding.Warning, f.setting("upstream"), "upstream.keeper is missing: twins cannot be built",
			"no other role may read the protected tables and make the schema of twins", "write keeper: "+
				"postgres://ROLE@HOST:PORT/DATABASE")
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

	// The keeper has to hide the sample from whoever the clients' statements run as.
	roles := []string{}
	for _, g := range guests {
		if h.twinsApart() { // they are in another database, perhaps on a server where these roles are none
			break
		}
		if !slices.Contains(roles, g.User) {
			roles = append(roles, g.User)
		}
	}
	slices.Sort(roles)
	err = f.lacks(ctx, keeper, "keeper", keeperSuspicions, tables, roles, parser.TwinSchema)
	for _, p := range policies {
		if err == nil {
			err = checkConditions(ctx, keeper, p, roles)
		}
		if err == nil {
			err = f.checkChannels(ctx, keeper, p)
		}
	}
	return err
}

// checkChannels says what obfuscated columns tell of their own law, as far as the keeper may read the reference; that
// it may not was warned of.
func (f *findings) checkChannels(ctx context.Context, keeper *pgx.Conn, p *policy.Policy) error {
	for _, t := range p.Tables {
		if t.Answers != policy.FromTwin {
			continue
		}

		laws, err := build.Obfuscated(ctx, keeper, t)
		var refused *pgconn.PgError
		switch {
		case errors.As(err, &refused) && refused.Code == string(sqlstate.InsufficientPrivilege):
			continue
		case errors.As(err, &refused):
			return err
		case err != nil: // of the reference's values, as twin build would say
			f.add(finding.Warning, f.in(p, t.Twin.At), fmt.Sprintf("table %s: %v", t.Qualified(), err),
				"the channel of a column is made for the values that the reference has", "change columns of the "+
					"policy, or the reference, by what it says: fugu twin build ends with the same")
			continue
		}

		// What a channel tells of one row it tells of each, so that it adds up over rows.
		for _, law := range laws {
			d, err := law.Distribution()
			if err != nil {
				return err
			}
			f.add(finding.Note, f.in(p, t.Twin.At), fmt.Sprintf("column %s: %s", law.Column,
				d.Words(law.Obfuscate.Epsilon)), "of k rows k times as much: counts of the column are meant to show "+
				"its law", "nothing, if its law may be known; drop the column if not")
		}
	}
	return nil
}

// checkConditions refuses secrets by whose conditions twins cannot be built.
func checkConditions(ctx context.Context, keeper *pgx.Conn, p *policy.Policy, guests []string) error {
	for _, t := range p.Tables {
		if t.Answers != policy.FromTwin {
			continue
		}

		// A table that the keeper may not read was warned of: nothing can be said about conditions on it.
		err := build.CheckConditions(ctx, keeper, p, t.Qualified(), guests)
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

// unbuilt are the tables whose twins are not there.
func (h *house) unbuilt(ctx context.Context) (tables []string, err error) {
	for _, p := range h.policies {
		for _, t := range p.Tables {
			if t.Answers != policy.FromTwin {
				continue
			}
			built, err := told.Made(ctx, h.room(p.Database).reader, t.Name)
			if err != nil {
				return nil, err
			}
			if !built {
				tables = append(tables, t.Qualified().String())
			}
		}
	}
	return tables, nil
}
