package upstream

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/parser"
)

// Protected names a table that guests must not reach.
type Protected struct{ Schema, Name string }

// twin reports whether it is a twin, which need not be there yet: it is built while Fugu serves, and who builds it lets
// the reader read it.
func (p Protected) twin() bool { return p.Schema == parser.TwinSchema }

// Finding is a hole in the grants: what is wrong, and what closes it.
type Finding struct{ Message, Hint string }

// String is the finding on two lines: what is wrong, and what closes it.
func (f Finding) String() string { return f.Message + "\n  " + f.Hint }

// checks are statements that return one row, a message and a hint, for each hole. The hint begins with the SQL that
// closes it. In each, tables holds the oids of the protected tables with everything that has their rows too: partitions
// and inheritance children, and the parents that a SELECT on would include them; views the views, materialized views
// and tables with rules that read them; and roles the guest role with every role that it can become.
var checks = []string{
	// The roles' own powers. CREATEROLE can grant itself any role (before PostgreSQL 16); REPLICATION reads every
	// change.
	`SELECT format('the guest can act as role %I, which is %s', rolname, CASE WHEN rolsuper THEN 'a superuser'
	  WHEN rolcreaterole THEN 'allowed to create roles' ELSE 'allowed to replicate' END),
	        format('ALTER ROLE %I NOSUPERUSER NOCREATEROLE NOREPLICATION; or give fugu another guest role.', rolname)
	 FROM roles WHERE rolsuper OR rolcreaterole OR rolreplication`,
	`SELECT format('the guest is a member of %I, which %s', r.rolname, powers.what),
	  format('REVOKE %I FROM %I; the guest may also have it through another role.', r.rolname, session_user)
	 FROM (VALUES
	         ('pg_read_server_files', 'reads files on the server'),
	         ('pg_write_server_files', 'writes files on the server'),
	         ('pg_execute_server_program', 'runs programs on the server'),
	         ('pg_read_all_data', 'reads every table'),
	         ('pg_write_all_data', 'changes every table'),
	         ('pg_monitor', 'sees what other roles do'),
	         ('pg_read_all_stats', 'sees what other roles do'),
	         ('pg_stat_scan_tables', 'scans every table for its statistics'),
	         ('pg_maintain', 'maintains every table')) AS powers(name, what)
	   JOIN roles r ON r.rolname = powers.name
	 WHERE NOT EXISTS (SELECT FROM roles WHERE rolsuper)`,
	`SELECT format('the guest can act as role %I, which owns the protected table %s', r.rolname, c.oid::regclass),
	  format('ALTER TABLE %s OWNER TO CURRENT_USER; or to any role but the guest''s.', c.oid::regclass)
	 FROM tables JOIN pg_class c USING (oid) JOIN roles r ON r.oid = c.relowner WHERE NOT rolsuper`,
	// Which right it is and who has it is said: among many grants, nobody finds the one otherwise.
	`SELECT format('the guest can read or change %s, which holds rows of a protected table%s: role %I has %s%s',
	  t.oid::regclass, CASE WHEN r.rolname <> session_user THEN format(' (as role %I)', r.rolname) END, r.rolname,
	  (SELECT string_agg(w.p || CASE WHEN has_table_privilege(r.oid, t.oid, w.p) THEN '' ELSE ' of columns' END, ', '
	     ORDER BY w.n)
	   FROM unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) WITH ORDINALITY AS w(p, n)
	   WHERE has_table_privilege(r.oid, t.oid, w.p) OR CASE WHEN w.p IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
	     THEN has_any_column_privilege(r.oid, t.oid, w.p) END),
	  CASE WHEN has_table_privilege('public', t.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
	    OR has_any_column_privilege('public', t.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
	    THEN ', for there is a GRANT to PUBLIC' ELSE '' END),
	        format('REVOKE ALL ON %s FROM PUBLIC, %I;', t.oid::regclass, r.rolname)
	 FROM tables t, roles r
	 WHERE NOT r.rolsuper AND (has_table_privilege(r.oid, t.oid,
	   'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
	   OR has_any_column_privilege(r.oid, t.oid, 'SELECT, INSERT, UPDATE, REFERENCES'))`,
	// VACUUM and ANALYZE say how many rows they find, and those who may run them are a table's owner, the database's,
	// and since PostgreSQL 17 roles with the right to maintain it.
	`SELECT format('the guest can act as role %I, which owns the database: ANALYZE VERBOSE tells it how many rows a '
	  'protected table has', r.rolname),
	        format('ALTER DATABASE %I OWNER TO CURRENT_USER; or to any role but the guest''s.', d.datname)
	 FROM pg_database d JOIN roles r ON r.oid = d.datdba WHERE d.datname = current_database() AND NOT r.rolsuper
	   AND EXISTS (SELECT FROM tables)`,
	`SELECT format('the guest can maintain %s: ANALYZE VERBOSE tells it how many rows of a protected table it holds%s',
	  c.oid::regclass, CASE WHEN r.rolname <> session_user THEN format(' (as role %I)', r.rolname) ELSE '' END),
	        format('REVOKE MAINTAIN ON %s FROM PUBLIC, %I;', c.oid::regclass, r.rolname)
	 FROM tables JOIN pg_class c USING (oid), roles r
	 WHERE NOT r.rolsuper AND r.oid <> c.relowner AND CASE WHEN current_setting('server_version_num')::int >= 170000
	   THEN has_table_privilege(r.oid, c.oid, 'MAINTAIN') END`,
	// Since PostgreSQL 18. What a stored one cannot be computed from does not get into the table.
	`SELECT format('the column %I of the protected table %s is computed when it is read: where that fails, the failure '
	  'tells of a row', a.attname, a.attrelid::regclass),
	        format('ALTER TABLE %s DROP COLUMN %I; or add it again as GENERATED ALWAYS AS (...) STORED.',
	          a.attrelid::regclass, a.attname)
	 FROM pg_attribute a JOIN tables t ON t.oid = a.attrelid WHERE a.attgenerated = 'v' AND NOT a.attisdropped`,
	// A view of the guest's own, or one that is set to be read with the reader's rights, gives the guest no more than
	// it has.
	`SELECT DISTINCT format('the guest can use %s, which reads a protected table with its owner''s rights',
	  v.oid::regclass), format('REVOKE ALL ON %s FROM PUBLIC, %I;', v.oid::regclass, r.rolname)
	 FROM views v JOIN pg_class c USING (oid), roles r
	 WHERE NOT r.rolsuper AND (has_table_privilege(r.oid, v.oid, 'SELECT, INSERT, UPDATE, DELETE')
	   OR has_any_column_privilege(r.oid, v.oid, 'SELECT, INSERT, UPDATE'))
	   AND NOT (c.relkind = 'v' AND (c.relowner IN (SELECT oid FROM roles)
	     OR EXISTS (SELECT FROM pg_options_to_table(c.reloptions) WHERE option_name = 'security_invoker'
	       AND option_value::bool)))`,
	`SELECT DISTINCT format('the guest can call %s, which runs with the rights of %I, who can read a protected table',
	  f.oid::regprocedure, f.proowner::regrole),
	  format('REVOKE EXECUTE ON ROUTINE %s FROM PUBLIC, %I;', f.oid::regprocedure, r.rolname)
	 FROM leaky JOIN pg_proc f USING (oid), roles r
	 WHERE NOT r.rolsuper AND has_function_privilege(r.oid, f.oid, 'EXECUTE')`,
	// A trigger needs no right to call its function.
	`SELECT DISTINCT format('the guest can change %s, whose trigger %I runs with the rights of a role that can read a '
	  'protected table', g.tgrelid::regclass, g.tgname), format('DROP TRIGGER %I ON %s;', g.tgname, g.tgrelid::regclass)
	 FROM leaky JOIN pg_trigger g ON g.tgfoid = leaky.oid, roles r
	 WHERE NOT r.rolsuper AND (has_table_privilege(r.oid, g.tgrelid, 'INSERT, UPDATE, DELETE, TRUNCATE')
	   OR has_any_column_privilege(r.oid, g.tgrelid, 'INSERT, UPDATE'))`,
	// The reader reads twins whose rows are not listed, and whoever owns one has code of theirs run by it.
	`SELECT format('the guest %s the schema %I, which is for twins%s',
	  CASE WHEN r.oid = n.nspowner THEN 'owns' ELSE 'can make relations in' END, n.nspname,
	  CASE WHEN r.rolname <> session_user THEN format(' (as role %I)', r.rolname) ELSE '' END),
	  CASE WHEN r.oid = n.nspowner
	    THEN format('ALTER SCHEMA %I OWNER TO CURRENT_USER; or drop it, if the guest made it.', n.nspname)
	    ELSE format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC, %I;', n.nspname, r.rolname) END
	 FROM pg_namespace n, roles r WHERE n.nspname = 'fugu_twin' AND NOT r.rolsuper
	   AND (r.oid = n.nspowner OR has_schema_privilege(r.oid, n.oid, 'CREATE'))`,
	// In an encoding of single bytes PostgreSQL folds names by the locale: Turkish has a letter whose small one is i.
	`SELECT format('the database takes names with the letter %s for names with an i, and the masks of the catalog do '
	  'not', convert_from('\xc4b0', 'UTF8')),
	  'Move the tables to a database of the encoding UTF8, or one whose LC_CTYPE is C.'
	 WHERE CASE WHEN getdatabaseencoding() IN ('LATIN3', 'LATIN5', 'WIN1254')
	   THEN (parse_ident(convert_from('\xc4b0', 'UTF8')))[1] = 'i' END`,
	// Who adds a partition says nothing of rights on it.
	`SELECT DISTINCT format('the guest can read what role %I makes%s: a partition that is added to %s would be so',
	  o.rolname, CASE WHEN d.defaclnamespace = 0 THEN '' ELSE format(' in the schema %I', n.nspname) END,
	  t.oid::regclass),
	  format('ALTER DEFAULT PRIVILEGES FOR ROLE %I%s REVOKE ALL ON TABLES FROM %s;', o.rolname,
	    CASE WHEN d.defaclnamespace = 0 THEN '' ELSE format(' IN SCHEMA %I', n.nspname) END,
	    coalesce(quote_ident(r.rolname), 'PUBLIC'))
	 FROM tables t JOIN pg_class c ON c.oid = t.oid
	   JOIN pg_default_acl d ON d.defaclobjtype = 'r' AND d.defaclrole = c.relowner
	     AND d.defaclnamespace IN (0, c.relnamespace)
	   JOIN pg_roles o ON o.oid = d.defaclrole LEFT JOIN pg_namespace n ON n.oid = d.defaclnamespace,
	   aclexplode(d.defaclacl) a LEFT JOIN roles r ON r.oid = a.grantee AND NOT r.rolsuper
	 WHERE EXISTS (SELECT FROM pg_inherits WHERE t.oid IN (inhparent, inhrelid)
	     UNION ALL SELECT FROM pg_partitioned_table WHERE partrelid = t.oid)
	   AND (a.grantee = 0 OR r.oid IS NOT NULL) AND a.privilege_type <> 'MAINTAIN'`,
	// Who can use the ledger's schema reads the order in which twins draw rows, or changes what was charged.
	`SELECT format('the guest can use the schema %I, in which a ledger is%s', n.nspname,
	  CASE WHEN r.rolname <> session_user THEN format(' (as role %I)', r.rolname) ELSE '' END),
	  CASE WHEN r.oid = n.nspowner
	    THEN format('ALTER SCHEMA %I OWNER TO CURRENT_USER; or drop it, if the guest made it.', n.nspname)
	    ELSE format('REVOKE ALL ON SCHEMA %I FROM PUBLIC, %I;', n.nspname, r.rolname) END
	 FROM pg_namespace n, roles r WHERE n.nspname = 'fugu_ledger' AND NOT r.rolsuper
	   AND has_schema_privilege(r.oid, n.oid, 'USAGE, CREATE')`,
	`SELECT format('%s is a partial index on a protected table: its size tells how many rows its condition holds for',
	  i.indexrelid::regclass), format('DROP INDEX %s; or rebuild it without WHERE.', i.indexrelid::regclass)
	 FROM pg_index i JOIN tables t ON t.oid = i.indrelid WHERE i.indpred IS NOT NULL`,
}

// scope is what every check starts from. A view's rule depends on each relation that it reads. Whatever a SECURITY
// DEFINER function does inside cannot be seen from outside, only what its owner can: read, or call.
const scope = `WITH RECURSIVE
 named AS (SELECT c.oid FROM unnest($1::text[], $2::text[]) AS w(s, n) JOIN pg_namespace ns ON ns.nspname = w.s
   JOIN pg_class c ON c.relnamespace = ns.oid AND c.relname = w.n),
 down AS (SELECT oid FROM named UNION SELECT inhrelid FROM pg_inherits JOIN down ON inhparent = down.oid),
 up AS (SELECT oid FROM named UNION SELECT inhparent FROM pg_inherits JOIN up ON inhrelid = up.oid),
 tables AS (SELECT oid FROM down UNION SELECT oid FROM up),
 rules AS (SELECT r.ev_class AS reader, d.refobjid AS read FROM pg_rewrite r
   JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
     WHERE r.ev_class <> d.refobjid),
 views AS (SELECT reader AS oid FROM rules JOIN tables ON oid = read UNION SELECT reader FROM rules
   JOIN views ON oid = read),
 definers AS (SELECT f.oid, f.proowner, o.rolsuper FROM pg_proc f JOIN pg_roles o ON o.oid = f.proowner
   WHERE f.prosecdef),
 leaky AS (SELECT d.oid FROM definers d WHERE d.rolsuper
   OR EXISTS (SELECT FROM (SELECT oid FROM tables UNION SELECT oid FROM views) t
     WHERE has_any_column_privilege(d.proowner, t.oid, 'SELECT'))
   UNION SELECT d.oid FROM definers d JOIN leaky l ON has_function_privilege(d.proowner, l.oid, 'EXECUTE')),
 roles AS (SELECT oid, rolname, rolsuper, rolcreaterole, rolreplication FROM pg_roles
   WHERE pg_has_role(session_user, oid, 'MEMBER'))
`

// CheckGuest looks, with the guest's own connection, for every way in which it could reach rows of the protected tables
// or change a reference, qualified and quoted: whoever writes the model's rows chooses how much noise there is. A
// protected table that does not exist is a hole too. warnings are what may tell the guest of protected rows and does
// not have to: they are for people to judge, and do not stop the start. databases are those of the same server that
// guests reach through Fugu: nothing may lead from one to another past it.
func CheckGuest(
	ctx context.Context, config *pgconn.Config, protected []Protected, references []string, databases ...string,
) (holes, warnings []Finding, err error) {
	conn, err := connect(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))

	schemas, names := split(protected)
	var needed, neededIn []string
	for _, p := range protected {
		if !p.twin() {
			neededIn, needed = append(neededIn, p.Schema), append(needed, p.Name)
		}
	}

	// What does not exist cannot be checked; a twin's table need not be where the guest is.
	if holes, err = findings(ctx, conn, missing, neededIn, needed); err != nil {
		return nil, nil, err
	}
	open, err := reached(ctx, conn, protected, references, databases)
	if err != nil {
		return nil, nil, err
	}
	holes = append(holes, open...)

	warnings, err = findings(ctx, conn, together(suspicions), schemas, names, append([]string{}, databases...))
	return holes, warnings, err
}

// Reached looks for those ways alone: for no table that is missing, which somebody may be about to make anew.
func Reached(
	ctx context.Context, config *pgconn.Config, protected []Protected, references []string, databases ...string,
) ([]Finding, error) {
	conn, err := connect(ctx, config)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return reached(ctx, conn, protected, references, databases)
}

func reached(
	ctx context.Context, conn *pgx.Conn, protected []Protected, references, databases []string,
) ([]Finding, error) {
	schemas, names := split(protected)
	holes, err := findings(ctx, conn, together(slices.Concat(checks, doorChecks)), schemas, names,
		append([]string{}, databases...))
	if err != nil {
		return nil, err
	}
	open, err := findings(ctx, conn, changesReference, append([]string{}, references...))
	return append(holes, open...), err
}

// split divides the names of tables, as the checks take them.
func split(tables []Protected) (schemas, names []string) {
	for _, t := range tables {
		schemas, names = append(schemas, t.Schema), append(names, t.Name)
	}
	return schemas, names
}

// missing finds protected tables that do not exist. By the catalog, not to_regclass: the guest need not have USAGE on
// the schema.
const missing = `SELECT format('the protected table %I.%I does not exist, or is not a table', w.s, w.n),
  'create it, or mend its name in the policy' FROM unnest($1::text[], $2::text[]) AS w(s, n)
  WHERE NOT EXISTS (SELECT FROM pg_class c JOIN pg_namespace ns ON ns.oid = c.relnamespace WHERE ns.nspname = w.s
    AND c.relname = w.n AND c.relkind IN ('r', 'p'))`

// changesReference finds references, with their partitions and inheritance children, that the guest can write, or whose
// code it can change: it runs with the reader's rights when they are read.
const changesReference = `WITH RECURSIVE roles AS (SELECT oid, rolname, rolsuper FROM pg_roles
  WHERE pg_has_role(session_user, oid, 'MEMBER')),
  named AS (SELECT c.oid FROM unnest($1::text[]) AS w(t)
    JOIN pg_namespace ns ON ns.nspname = (parse_ident(w.t))[1] JOIN pg_class c ON c.relnamespace = ns.oid
      AND c.relname = (parse_ident(w.t))[2]),
  down AS (SELECT oid FROM named UNION SELECT inhrelid FROM pg_inherits JOIN down ON inhparent = down.oid),
  wanted AS (SELECT format('"%s"."%s"', replace(ns.nspname, '"', '""'), replace(c.relname, '"', '""')) AS t, c.oid,
    c.relowner FROM down JOIN pg_class c USING (oid) JOIN pg_namespace ns ON ns.oid = c.relnamespace)
  SELECT format('the guest can change the reference %s%s', t, CASE WHEN r.rolname <> session_user
    THEN format(' (as role %I)', r.rolname) ELSE '' END),
    CASE WHEN r.oid = w.relowner
      THEN format('ALTER TABLE %s OWNER TO CURRENT_USER; or to any role but the guest''s.', t)
      ELSE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER ON %s FROM PUBLIC, %I;', t, r.rolname) END
  FROM wanted w, roles r
  WHERE NOT r.rolsuper AND (r.oid = w.relowner
    OR has_table_privilege(r.oid, w.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
    OR has_any_column_privilege(r.oid, w.oid, 'INSERT, UPDATE'))
  UNION ALL SELECT DISTINCT format('the guest can act as role %I, which owns %s, and the reference %s uses that: what '
    'reads it would run the guest''s code', r.rolname, x.what, w.t),
    format('ALTER %s %s OWNER TO CURRENT_USER; or to any role but the guest''s.', x.kind, x.what)
  FROM wanted w JOIN ` + codeOwners + ` AS x ON x.of = w.oid JOIN roles r ON r.oid = x.owner WHERE NOT r.rolsuper`

// together is one statement for all the checks, so that the server plans and works out only once what they start from.
func together(checks []string) string {
	numbered := make([]string, len(checks))
	for i, check := range checks {
		numbered[i] = fmt.Sprintf("SELECT %d, x.* FROM (%s) AS x", i, check)
	}
	return scope + mappings + "SELECT message, hint FROM (" + strings.Join(numbered, "\nUNION ALL ") +
		") AS found(check_number, message, hint) ORDER BY check_number, message, hint"
}

// CheckReader looks, with the reader's own connection, whether it can do its work and no more.
func CheckReader(
	ctx context.Context, config *pgconn.Config, protected []Protected, references []string,
) ([]Finding, error) {
	conn, err := connect(ctx, config)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))

	// A table that is answered from its twin is not for the reader.
	var tables []string
	for _, p := range protected {
		if p.twin() {
			continue
		}
		tables = append(tables, pgx.Identifier{p.Schema, p.Name}.Sanitize())
	}
	tables = append(tables, references...)

	const sql = `WITH wanted AS (SELECT w.t, c.oid, ns.oid AS schema FROM unnest($1::text[]) AS w(t)
	    LEFT JOIN pg_namespace ns ON ns.nspname = (parse_ident(w.t))[1] LEFT JOIN pg_class c ON c.relnamespace = ns.oid
	      AND c.relname = (parse_ident(w.t))[2])
	SELECT format('the reader cannot read %s', t),
	  CASE WHEN oid IS NULL THEN 'create it, or mend its name in the policy' ELSE
	    format('GRANT USAGE ON SCHEMA %1$s TO %2$I; GRANT SELECT ON %3$s TO %2$I;', schema::regnamespace, session_user,
	      t) END FROM wanted
	  WHERE oid IS NULL OR NOT has_schema_privilege(schema, 'USAGE') OR NOT has_table_privilege(oid, 'SELECT')
	UNION ALL SELECT format('the reader can change %s', t),
	  format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON %s FROM PUBLIC, %I; and the reader should own nothing and be '
	  'no superuser.', t, session_user) FROM wanted
	  WHERE has_table_privilege(oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
	    OR has_any_column_privilege(oid, 'INSERT, UPDATE')`
	return findings(ctx, conn, sql, tables)
}

// CheckPlainRows looks, with the guest's own connection, whether it can read the references whose rows a policy offers
// in the place of protected ones. They are ordinary tables to it, so that nothing is shown where it cannot.
func CheckPlainRows(ctx context.Context, config *pgconn.Config, references []string) ([]Finding, error) {
	if len(references) == 0 {
		return nil, nil
	}
	conn, err := connect(ctx, config)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	const sql = `SELECT format('plain_rows: reference, and the guest cannot read %s', w.t),
	    format('GRANT USAGE ON SCHEMA %1$I TO %2$I; GRANT SELECT ON %3$s TO %2$I; or leave plain_rows out.', ns.nspname,
	      current_user, w.t)
	  FROM unnest($1::text[]) AS w(t) JOIN pg_namespace ns ON ns.nspname = (parse_ident(w.t))[1]
	    JOIN pg_class c ON c.relnamespace = ns.oid AND c.relname = (parse_ident(w.t))[2]
	  WHERE NOT has_schema_privilege(ns.oid, 'USAGE') OR NOT has_table_privilege(c.oid, 'SELECT')`
	return findings(ctx, conn, sql, references)
}

// Superuser reports whether the guest's sessions begin with a superuser's powers. It is for where nothing is protected.
func Superuser(ctx context.Context, config *pgconn.Config) (super bool, err error) {
	conn, err := connect(ctx, config)
	if err != nil {
		return false, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	const powers = "SELECT bool_or(rolsuper) FROM pg_roles WHERE rolname IN (session_user, current_user)"
	err = conn.QueryRow(ctx, powers).Scan(&super)
	return super, err
}

func connect(ctx context.Context, config *pgconn.Config) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig("")
	if err != nil {
		return nil, fmt.Errorf("checking grants: %w", err)
	}
	cfg.Config = *config.Copy()
	cfg.RuntimeParams["search_path"], cfg.RuntimeParams["client_encoding"] = "pg_catalog, pg_temp", "UTF8"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, unavailable(err)
	}
	return conn, nil
}

func findings(ctx context.Context, conn *pgx.Conn, sql string, args ...any) ([]Finding, error) {
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("checking grants: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Finding])
	if err != nil {
		return nil, fmt.Errorf("checking grants: %w", err)
	}
	return found, nil
}

// Hole is the error for findings that forbid serving.
func Hole(found []Finding) error {
	if len(found) == 0 {
		return nil
	}
	return Holes(found)
}

// Holes is an error that holds everything that forbids serving.
type Holes []Finding

// Error is all of them, each on two lines.
func (h Holes) Error() string {
	lines := make([]string, len(h))
	for i, f := range h {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}
