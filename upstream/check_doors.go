package upstream

// doorChecks are checks, in the form of checks, for rows that can be counted or tested for without being read.
var doorChecks = []string{
	`SELECT DISTINCT format('the guest can use the sequence %s of a protected table: it tells how many rows there were',
	  c.oid::regclass), format('REVOKE ALL ON SEQUENCE %s FROM PUBLIC, %I;', c.oid::regclass, r.rolname)
	 FROM tables t JOIN pg_depend d ON d.refobjid = t.oid AND d.classid = 'pg_class'::regclass
	   AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
	   JOIN pg_class c ON c.oid = d.objid AND c.relkind = 'S', roles r
	 WHERE NOT r.rolsuper AND CASE WHEN c.relkind = 'S'
	   THEN has_sequence_privilege(r.oid, c.oid, 'USAGE, SELECT, UPDATE') END`,
	// A foreign key is checked with the rights of the table's owner, and its error says whether a row is there.
	`SELECT DISTINCT format('the guest can change %s, and the foreign key %I then tells whether a protected row is '
	  'there', k.own::regclass, k.conname),
	  format('REVOKE %s ON %s FROM PUBLIC, %I;', k.acts, k.own::regclass, r.rolname)
	 FROM (SELECT conrelid AS own, confrelid AS other, conname, 'INSERT, UPDATE' AS acts FROM pg_constraint
	   WHERE contype = 'f'
	       UNION ALL SELECT confrelid, conrelid, conname, 'UPDATE, DELETE' FROM pg_constraint WHERE contype = 'f') k
	   JOIN tables t ON t.oid = k.other, roles r
	 WHERE NOT r.rolsuper AND NOT EXISTS (SELECT FROM tables x WHERE x.oid = k.own)
	   AND (has_table_privilege(r.oid, k.own, k.acts)
	     OR has_any_column_privilege(r.oid, k.own, replace(k.acts, ', DELETE', '')))`,
	// Code of a table runs with the rights of whoever reads, plans, fills or copies it: the planner evaluates what is
	// constant in an expression of an index, a build of a twin makes checks and indexes anew, and a trigger is given
	// each row. Who owns a function can have it do anything else, and who owns a type can rename or check its values.
	`SELECT DISTINCT format('the guest can act as role %I, which owns %s, and the protected table %s uses that: what '
	  'reads or fills the table would run the guest''s code', r.rolname, x.what, t.oid::regclass),
	  format('ALTER %s %s OWNER TO CURRENT_USER; or to any role but the guest''s.', x.kind, x.what)
	 FROM tables t JOIN ` + codeOwners + ` AS x ON x.of = t.oid
	   JOIN roles r ON r.oid = x.owner WHERE NOT r.rolsuper`,
	// Who copies a database owns the copy: VACUUM VERBOSE tells an owner how many rows tables have, and
	// pg_database_size everybody who may connect how large it is. An owner of this one is found by the other checks.
	`SELECT format('the guest can copy this database, which is a template: it would own the copy, and see how many '
	  'rows the tables have%s',
	  CASE WHEN r.rolname <> session_user THEN format(' (as role %I, which may create databases)', r.rolname)
	    ELSE '' END),
	  format('ALTER DATABASE %I IS_TEMPLATE false; or ALTER ROLE %I NOCREATEDB.', d.datname, r.rolname)
	 FROM pg_database d, roles r JOIN pg_roles p USING (oid) WHERE d.datname = current_database() AND d.datistemplate
	   AND p.rolcreatedb AND NOT r.rolsuper AND EXISTS (SELECT FROM tables)`,
	// A server that leads back to this database gives its mapping's rights to whoever may use it, and one that leads to
	// another database of Fugu's shows sizes and counters of all of them without the masks.
	`SELECT DISTINCT format('the guest can use the foreign server %I with a user mapping, and it leads to %s',
	  m.srvname,
	  CASE WHEN m.leads = current_database() THEN 'this database' ELSE format('the database %I', m.leads) END),
	  format('DROP USER MAPPING FOR %s SERVER %I;',
	    CASE WHEN m.umuser = 0 THEN 'PUBLIC' ELSE quote_ident(m.usename) END, m.srvname)
	 FROM mappings m WHERE m.leads = current_database() OR m.leads = ANY ($3::text[])`,
}

// codeOwners are the functions and types whose code a table runs, with their owners: see codeOf. An operator is known
// by its function, and of a type those that it is made of count as well.
const codeOwners = `(SELECT code.of, x.* FROM ` + codeOf + ` JOIN LATERAL (
     SELECT CASE WHEN f.prokind = 'a' THEN 'AGGREGATE' ELSE 'FUNCTION' END, f.oid::regprocedure::text, f.proowner
       FROM pg_proc f WHERE code.class = 'pg_proc'::regclass AND f.oid = code.id
     UNION ALL SELECT 'FUNCTION', f.oid::regprocedure::text, f.proowner FROM pg_operator o
       JOIN pg_proc f ON f.oid = o.oprcode WHERE code.class = 'pg_operator'::regclass AND o.oid = code.id
     UNION ALL SELECT 'TYPE', y.oid::regtype::text, y.typowner FROM pg_type c
       JOIN pg_type y ON y.oid IN (c.oid, c.typelem, c.typbasetype)
       WHERE code.class = 'pg_type'::regclass AND c.oid = code.id AND y.typcategory <> 'A')
   AS x(kind, what, owner) ON true)`

// codeOf are the functions, operators and types that a table's triggers, checks, indexes, defaults, statistics,
// policies and columns depend on, and the checks of domains that columns have. What PostgreSQL has of its own nothing
// is said to depend on.
const codeOf = `(SELECT p.of, d.refclassid, d.refobjid FROM (
     SELECT conrelid AS of, 'pg_constraint'::regclass AS class, oid AS id FROM pg_constraint
     UNION ALL SELECT indrelid, 'pg_class'::regclass, indexrelid FROM pg_index
     UNION ALL SELECT adrelid, 'pg_attrdef'::regclass, oid FROM pg_attrdef
     UNION ALL SELECT tgrelid, 'pg_trigger'::regclass, oid FROM pg_trigger
     UNION ALL SELECT stxrelid, 'pg_statistic_ext'::regclass, oid FROM pg_statistic_ext
     UNION ALL SELECT polrelid, 'pg_policy'::regclass, oid FROM pg_policy
     UNION ALL SELECT oid, 'pg_class'::regclass, oid FROM pg_class
     UNION ALL SELECT a.attrelid, 'pg_constraint'::regclass, k.oid FROM pg_attribute a
       JOIN LATERAL (WITH RECURSIVE below AS (SELECT a.atttypid AS oid UNION SELECT y.typbasetype FROM below
         JOIN pg_type y ON y.oid = below.oid WHERE y.typtype = 'd') SELECT oid FROM below) AS y ON true
       JOIN pg_constraint k ON k.contypid = y.oid WHERE a.attnum > 0 AND a.atttypid >= 16384) AS p
     JOIN pg_depend d ON d.classid = p.class AND d.objid = p.id
   WHERE d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass)) AS code(of, class, id)`

// suspicions are checks for what may be a hole; only somebody who knows the database can tell. CASE keeps the server
// from writing out the views and functions of its own catalog, which it would do before it looks at the schema.
var suspicions = []string{
	`SELECT format('the guest can use the foreign server %I with a user mapping', m.srvname),
	  'Make sure that it does not lead to protected rows.' FROM mappings m
	  WHERE m.leads <> ALL ($3::text[] || current_database()::text)`,
	// What Fugu masks or refuses in a statement it cannot see in a function, and not in one that puts its SQL together.
	`SELECT CASE WHEN x.extname IS NULL THEN format('the guest can call %s, in which there is SQL that Fugu cannot see',
	  min(f.oid)::regprocedure)
	     ELSE format('the guest can call %s functions of the extension %I, in which there may be SQL that Fugu cannot '
	       'see', count(*), x.extname) END,
	   'Make sure that it runs no SQL which a caller gives it and shows no sizes or statistics, or revoke EXECUTE.'
	 FROM pg_proc f JOIN pg_language l ON l.oid = f.prolang JOIN pg_namespace n ON n.oid = f.pronamespace
	   LEFT JOIN (pg_depend d JOIN pg_extension x ON x.oid = d.refobjid) ON d.classid = 'pg_proc'::regclass
	     AND d.objid = f.oid AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
	 WHERE CASE WHEN n.nspname IN ('pg_catalog', 'information_schema') OR f.prorettype = 'trigger'::regtype
	   OR NOT has_function_privilege(session_user, f.oid, 'EXECUTE') THEN false
	     WHEN l.lanname = 'sql' THEN coalesce(pg_get_function_sqlbody(f.oid), f.prosrc) ~* $W$` + catalogWords + `$W$
	     WHEN l.lanname = 'plpgsql' THEN f.prosrc ~* $W$\mexecute\M|` + catalogWords + `$W$
	       ELSE l.lanname <> 'internal' END
	 GROUP BY x.extname, CASE WHEN x.extname IS NULL THEN f.oid END`,
	`SELECT format('the guest can read %s, which reads sizes or statistics in the catalog', c.oid::regclass),
	  'Make sure that it shows nothing of protected tables, or revoke SELECT.'
	 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	 WHERE c.relkind IN ('v', 'm') AND c.relname NOT IN ('pg_stat_statements', 'pg_stat_statements_info')
	   AND CASE WHEN n.nspname NOT IN ('pg_catalog', 'information_schema')
	     AND has_any_column_privilege(session_user, c.oid, 'SELECT')
	     THEN pg_get_viewdef(c.oid) ~* $W$` + catalogWords + `$W$
	       AND NOT (c.relowner IN (SELECT oid FROM roles) AND pg_get_viewdef(c.oid) LIKE '%{2619,3429,2613%') END`,
	`SELECT format('the trigger %I on %s calls %s', g.tgname, g.tgrelid::regclass, g.tgfoid::regprocedure),
	  'Make sure that it tells nothing of rows: by NOTIFY, by raising errors, by writing to tables that the guest can '
	  'read.'
	 FROM pg_trigger g JOIN tables t ON t.oid = g.tgrelid WHERE NOT g.tgisinternal`,
	// Who has a large object, and how many there are, everybody can see.
	`SELECT format('the column %I of the protected table %s may refer to large objects, which everybody can count',
	   a.attname, a.attrelid::regclass),
	   'Make sure that there are as many whatever the rows say, or keep what they hold in columns.'
	 FROM pg_attribute a JOIN tables t ON t.oid = a.attrelid JOIN pg_type y ON y.oid = a.atttypid
	 WHERE a.attnum > 0 AND NOT a.attisdropped AND 'oid'::regtype IN (y.oid, y.typbasetype)`,
	`SELECT format('the event trigger %I calls %s', evtname, evtfoid::regprocedure),
	  'Make sure that it tells nothing of protected tables.' FROM pg_event_trigger WHERE evtenabled <> 'D'`,
}

// catalogWords finds the names of what Fugu masks, as a regular expression.
const catalogWords = `\m(pg_class|pg_stat_\w+|pg_statio_\w+|pg_stats|pg_locks|pg_\w+_size|pg_current_wal\w*` +
	`|pg_control_\w+|\w+_to_xml\w*|ts_stat|dblink\w*|crosstab\w*)\M`

// mappings are the foreign servers that the guest can use, behind scope: with USAGE, or through a foreign table.
const mappings = `, mappings AS (SELECT DISTINCT m.srvname, m.umuser, m.usename,
   coalesce((SELECT option_value FROM pg_options_to_table(s.srvoptions) WHERE option_name = 'dbname'),
     current_database()) AS leads
   FROM pg_user_mappings m JOIN pg_foreign_server s ON s.oid = m.srvid, roles r
   WHERE NOT r.rolsuper AND (m.umuser = 0 OR m.umuser = r.oid) AND (has_server_privilege(r.oid, s.oid, 'USAGE')
     OR EXISTS (SELECT FROM pg_foreign_table ft WHERE ft.ftserver = s.oid
       AND has_any_column_privilege(r.oid, ft.ftrelid, 'SELECT, INSERT, UPDATE'))))
`
