package upstream

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Apart is what a guest finds of a database in which twins stand under the names of protected tables.
type Apart struct {
	Server  string   // of the guest's database, as no other has it
	Beside  []string // databases of that server
	Origins []Origin // the databases of protected tables whose twins were ever built there
	Twins   []Protected
	Missing []Protected // tables that have none
}

// Origin is a database that the rows of twins come from.
type Origin struct{ Server, Database string }

// apartScope is what the checks of a database of twins start from: the relations with the names of protected tables,
// the roles that the guest can be, the role that twins belong to, and the tables in which builds write what they did.
const apartScope = `WITH
 named AS (SELECT w.s, w.n, c.oid, c.relowner, c.relkind FROM unnest($1::text[], $2::text[]) AS w(s, n)
   LEFT JOIN pg_namespace ns ON ns.nspname = w.s LEFT JOIN pg_class c ON c.relnamespace = ns.oid AND c.relname = w.n),
 roles AS (SELECT oid, rolname, rolsuper, rolsuper OR rolcreaterole OR rolreplication AS powers
   FROM pg_roles WHERE pg_has_role(session_user, oid, 'MEMBER')),
 keeper AS (SELECT oid, rolname FROM pg_roles WHERE rolname = $3),
 own AS (SELECT c.oid, c.relowner FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = 'fugu_twin' AND c.relname IN ('fugu twins', 'fugu columns', 'fugu origins'))
`

// apartHoles look whether a guest could change what Fugu goes by: twins, the list of them, and where their rows come
// from.
const apartHoles = apartScope + `
 SELECT format('the guest can act as role %I, which is a superuser, or may create roles or replicate', rolname),
   format('ALTER ROLE %I NOSUPERUSER NOCREATEROLE NOREPLICATION; or give fugu another guest role.', rolname)
   FROM roles WHERE powers
 UNION ALL SELECT format('the guest can act as role %I, which upstream.twins is: it could change twins', k.rolname),
   format('REVOKE %I FROM %I;', k.rolname, session_user)
   FROM keeper k JOIN roles r USING (oid) WHERE NOT EXISTS (SELECT FROM roles WHERE rolsuper)
 UNION ALL SELECT format('the schema fugu_twin of the guest''s database does not belong to %I, which upstream.twins is',
   $3),
   'DROP SCHEMA fugu_twin CASCADE; and run fugu twin build.'
   FROM pg_namespace n WHERE n.nspname = 'fugu_twin' AND n.nspowner NOT IN (SELECT oid FROM keeper)
 UNION ALL SELECT format('%s does not belong to %I, which upstream.twins is', own.oid::regclass, $3),
   'DROP SCHEMA fugu_twin CASCADE; and run fugu twin build.' FROM own WHERE own.relowner NOT IN (SELECT oid FROM keeper)
 UNION ALL SELECT format('the guest can change %s', t.oid::regclass),
   format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER ON %s FROM PUBLIC, %I;', t.oid::regclass, r.rolname)
   FROM (SELECT oid FROM own UNION SELECT oid FROM named WHERE oid IS NOT NULL) t, roles r
   WHERE NOT r.rolsuper AND NOT EXISTS (SELECT FROM keeper JOIN roles USING (oid))
     AND (has_table_privilege(r.oid, t.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
       OR has_any_column_privilege(r.oid, t.oid, 'INSERT, UPDATE'))`

// apartStrangers are relations with the name of a protected table that no build of a twin has made. $4 and $5 are the
// schemas and names of the twins that the list has.
const apartStrangers = apartScope + `
 SELECT format('the guest''s database has a relation %I.%I that is no twin of fugu twin build: '
     'it may be the protected table', s, n),
   'Let upstream.guest and upstream.twins lead to a database without protected tables, or rename the relation.'
   FROM named WHERE oid IS NOT NULL AND (relkind <> 'r' OR relowner NOT IN (SELECT oid FROM keeper)
     OR NOT EXISTS (SELECT FROM unnest($4::text[], $5::text[]) AS t(s, n) WHERE t.s = named.s AND t.n = named.n))`

// apartWarnings are what is for people to judge.
const apartWarnings = apartScope + `
 SELECT format('the guest cannot read the twin %s', t.oid::regclass),
   'Run fugu twin build -again, which lets all guests of the configuration read it.'
   FROM named t JOIN pg_class c ON c.oid = t.oid WHERE NOT has_schema_privilege(session_user, c.relnamespace, 'USAGE')
     OR NOT has_table_privilege(session_user, t.oid, 'SELECT')
 UNION ALL SELECT format('the guest can use the foreign server %I with a user mapping', s.srvname),
   'Make sure that it does not lead to protected rows.'
   FROM pg_user_mappings m JOIN pg_foreign_server s ON s.oid = m.srvid, roles r
   WHERE (m.umuser = 0 OR m.umuser = r.oid) AND has_server_privilege(r.oid, s.oid, 'USAGE')`

// CheckApart looks, with a guest's own connection, whether a database holds no protected table but twins alone, which
// the role keeper has built, and how far from the protected tables it is.
func CheckApart(ctx context.Context, config *pgconn.Config, tables []Protected, keeper string) (
	a Apart, holes, warnings []Finding, err error) {
	conn, err := connect(ctx, config)
	if err != nil {
		return a, nil, nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var schemas, names []string
	for _, t := range tables {
		schemas, names = append(schemas, t.Schema), append(names, t.Name)
	}
	if holes, err = findings(ctx, conn, apartHoles, schemas, names, keeper); err != nil {
		return a, nil, nil, err
	}

	// What the list says counts for nothing if a guest could have written it; then there is a hole already.
	if err := a.read(ctx, conn, len(holes) == 0); err != nil {
		return a, nil, nil, fmt.Errorf("as the guest %q: %w", config.User, err)
	}
	var twinSchemas, twinNames []string
	for _, t := range a.Twins {
		twinSchemas, twinNames = append(twinSchemas, t.Schema), append(twinNames, t.Name)
	}
	strangers, err := findings(ctx, conn, apartStrangers, schemas, names, keeper, twinSchemas, twinNames)
	if err != nil {
		return a, nil, nil, err
	}
	for _, t := range tables {
		if !slices.Contains(a.Twins, t) {
			a.Missing = append(a.Missing, t)
		}
	}
	warnings, err = findings(ctx, conn, apartWarnings, schemas, names, keeper)
	return a, append(holes, strangers...), warnings, err
}

// read reads where the guest is, and what builds have written there if that can be believed.
func (a *Apart) read(ctx context.Context, conn *pgx.Conn, believed bool) error {
	const facts = `SELECT (SELECT system_identifier::text FROM pg_control_system()),
		array(SELECT datname::text FROM pg_database), to_regclass('fugu_twin."fugu origins"') IS NOT NULL`
	var built bool
	if err := conn.QueryRow(ctx, facts).Scan(&a.Server, &a.Beside, &built); err != nil {
		return fmt.Errorf("looking at the server of the twins: %w", err)
	}
	if !built || !believed {
		return nil
	}

	// What a build has written there the guest reads like anybody else.
	rows, _ := conn.Query(ctx, `SELECT table_schema, table_name FROM fugu_twin."fugu twins"`)
	twins, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Protected])
	if err != nil {
		return fmt.Errorf("reading the list of twins, which fugu twin build lets guests read: %w", err)
	}
	rows, _ = conn.Query(ctx, `SELECT server, database FROM fugu_twin."fugu origins"`)
	origins, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Origin])
	if err != nil {
		return fmt.Errorf("reading where twins come from, which fugu twin build lets guests read: %w", err)
	}

	a.Twins, a.Origins = twins, origins
	return nil
}

// Server is the reader's server, as no other has it.
func (r *Reader) Server(ctx context.Context) (string, error) {
	rows, err := r.Query(ctx, "SELECT system_identifier::text FROM pg_control_system()", nil, nil)
	if err != nil {
		return "", err
	}
	return rows[0][0].Text, nil
}
