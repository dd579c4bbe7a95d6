package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"

	"fugu/parser"
	"fugu/policy"
	"fugu/sqlstate"
)

// place is a database in which twins are published, within the transaction of a build.
type place struct {
	tx pgx.Tx
	// it is another database than that of the protected tables: twins stand under the tables' own names there
	apart bool
}

// name is what the twin of a table is called there.
func (p place) name(t policy.QualifiedName) string {
	if !p.apart {
		t.Schema = schema
	}
	return parser.QuoteIdent(t.Schema) + "." + parser.QuoteIdent(t.Name)
}

// origins is the table that says, in a database of twins alone, which databases their rows come from. Nothing is ever
// taken out of it, so that what is served there can be told to be far from every protected table, or not.
const origins = schema + `."fugu origins"`

const makeOrigins = `CREATE TABLE IF NOT EXISTS ` + origins + `
	(server text NOT NULL, database text NOT NULL, PRIMARY KEY (server, database))`

// whereabouts are the server of a database, as no two have it, and the database's name.
const whereabouts = `SELECT system_identifier::text, current_database()::text FROM pg_control_system()`

// origin is the database of the protected tables: its server and its name.
type origin struct{ server, database string }

// origin refuses the protected tables' own database as a place apart: their names are taken there. It is asked before
// anything is locked, as the two connections would wait for each other.
func (k *Keeper) origin(ctx context.Context) (o origin, err error) {
	if err := k.Conn.QueryRow(ctx, whereabouts).Scan(&o.server, &o.database); err != nil {
		return o, fmt.Errorf("looking which server the protected tables are on: %w", err)
	}
	var target origin
	if err := k.Target.QueryRow(ctx, whereabouts).Scan(&target.server, &target.database); err != nil {
		return o, fmt.Errorf("looking which server the twins are on: %w", err)
	}
	if o == target {
		return o, fmt.Errorf("upstream.twins leads to %q, the database of the protected tables: name another one, "+
			"or leave the key out, and twins are built in the schema %s", o.database, schema)
	}
	return o, nil
}

// record writes down where the rows of twins come from.
func (p place) record(ctx context.Context, o origin) error {
	_, err := p.tx.Exec(ctx, `INSERT INTO `+origins+` VALUES ($1, $2) ON CONFLICT DO NOTHING`, o.server, o.database)
	if err != nil {
		return fmt.Errorf("recording where the rows of twins come from: %w", err)
	}
	return nil
}

// free refuses a relation that has a twin's name and is no twin: nothing else is ever dropped or written to.
func (p place) free(ctx context.Context, all []Twin, t policy.QualifiedName) error {
	if !p.apart {
		return nil // the schema is the keeper's alone
	}
	const owners = `SELECT c.relowner = (SELECT oid FROM pg_roles WHERE rolname = current_user) AND c.relkind = 'r'
		FROM pg_class c WHERE c.oid = to_regclass($1)`
	var mine bool
	err := p.tx.QueryRow(ctx, owners, p.name(t)).Scan(&mine)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("looking for %s in the twins' database: %w", t, err)
	case !mine || !slices.ContainsFunc(all, func(x Twin) bool { return x.Schema == t.Schema && x.Table == t.Name }):
		return fmt.Errorf("the twins' database has a relation %s that no build of a twin has made: rename or drop "+
			"it", t)
	}
	return nil
}

// makeSchema makes the schema of a table in the twins' database, where it is missing.
func (p place) makeSchema(ctx context.Context, s *source, guests []string) error {
	var there bool
	if err := p.tx.QueryRow(ctx, `SELECT to_regnamespace($1) IS NOT NULL`, parser.QuoteIdent(s.Schema)).Scan(
		&there); err != nil {
		return fmt.Errorf("looking for the schema %s in the twins' database: %w", parser.QuoteIdent(s.Schema), err)
	}
	if there {
		return nil
	}

	// Guests have to find the twin there by its name.
	statements := []string{"CREATE SCHEMA " + parser.QuoteIdent(s.Schema)}
	for _, g := range guests {
		statements = append(statements, fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO "+
			"%s", parser.QuoteIdent(s.Schema), parser.QuoteIdent(g)))
	}

	for _, sql := range statements {
		if _, err := p.tx.Exec(ctx, sql); err != nil {
			return fmt.Errorf("making the schema %s in the twins' database: %w", parser.QuoteIdent(s.Schema), err)
		}
	}
	return nil
}

// guestTypes are the types of a new table's columns that a guest may change: input of theirs would run code of the
// guest's with the rights of whoever builds.
const guestTypes = `SELECT DISTINCT t.oid::regtype::text FROM pg_attribute a JOIN pg_type c ON c.oid = a.atttypid
		JOIN pg_type t ON t.oid IN (c.oid, c.typelem, c.typbasetype), unnest($2::text[]) g
	WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND t.typnamespace <> 'pg_catalog'::regnamespace
	AND pg_has_role(g, t.typowner, 'MEMBER')`

// carry makes the table of a twin in the twins' database, and streams the rows to it that were laid beside the
// protected tables: in their order, without ever holding more than a piece of them.
func (p place) carry(ctx context.Context, from pgx.Tx, s *source, rows int64, guests []string) error {
	if err := s.create(ctx, p.tx); err != nil {
		return err
	}
	if err := s.describeAnew(ctx, p.tx); err != nil {
		return err
	}

	var theirs []string
	err := p.tx.QueryRow(ctx, `SELECT array(`+guestTypes+`)`, newName(s), append([]string{}, guests...)).Scan(&theirs)
	if err != nil {
		return fmt.Errorf("looking at the types of %s in the twins' database: %w", s.qualified(), err)
	}
	if len(theirs) > 0 {
		return fmt.Errorf("the type %s of the twins' database belongs to a role that guests can be: give it another "+
			"owner", theirs[0])
	}

	// The rows come through a pipe: one side copies out while the other copies in.
	names := make([]string, 0, len(s.columns))
	for _, c := range s.kept() {
		names = append(names, c.name)
	}
	table := newName(s) + " (" + list("", names) + ")"
	read, write := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		_, err := from.Conn().PgConn().CopyTo(ctx, write, "COPY "+table+" TO STDOUT")
		_ = write.CloseWithError(err)
		sent <- err
	}()

	tag, err := p.tx.Conn().PgConn().CopyFrom(ctx, read, "COPY "+table+" FROM STDIN")
	_ = read.CloseWithError(errors.New("the twins' database takes no more rows")) // who still sends ends
	switch failed := <-sent; {
	case err != nil:
		return fmt.Errorf("writing the twin of %s to its database: %w", s.qualified(), err)
	case failed != nil:
		return fmt.Errorf("reading the rows of the twin of %s: %w", s.qualified(), failed)
	case tag.RowsAffected() != rows:
		return fmt.Errorf("the twins' database has %d rows of the twin of %s, of "+
			"%d", tag.RowsAffected(), s.qualified(), rows)
	}
	return nil
}

// guestsBeside are the guests that can reach what stands beside the protected tables.
func (k *Keeper) guestsBeside() []string {
	if k.Target != nil {
		return nil
	}
	return k.Guests
}

// shown refuses a family of which rows are not to be listed: in a database of its own, or in a dump, nothing keeps
// those who read a twin to aggregates.
func shown(p *policy.Policy, root policy.Table) error {
	for _, t := range familyOf(p, root) {
		if t.Twin == nil || t.Twin.Rows != policy.ShowRows {
			return sqlstate.New(sqlstate.NotAllowed, "the policy lets no rows of %s's twin be listed, "+
				"and out of Fugu's sight nothing keeps anybody from it", t.Qualified()).
				WithHint("Write twin: {rows: shown} for it in the policy.")
		}
	}
	return nil
}

// familyOf are a table and those that are linked to it, each behind the one that it is linked to.
func familyOf(p *policy.Policy, root policy.Table) []policy.Table {
	family := []policy.Table{root}
	for i := 0; i < len(family); i++ {
		for _, t := range p.Tables {
			if t.Link != nil && t.Link.To == family[i].Qualified() {
				family = append(family, t)
			}
		}
	}
	return family
}
