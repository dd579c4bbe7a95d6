package integration

import (
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// psqlDoors runs a command of psql's in the database doors, with the queries that it sends.
func psqlDoors(t testing.TB, dsn, command string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), pgcluster.Shared(t).Tool("psql"), "-X", "-A", "-E", "-P", "pager=off", "-c",
		command)
	cmd.Env = []string{"PGHOST=" + u.Hostname(), "PGPORT=" + u.Port(), "PGUSER=" + u.User.Username(),
		"PGDATABASE=doors", "PGSSLMODE=disable", "LC_ALL=C"}
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// psqlCommands are psql's backslash commands that ask the catalog.
var psqlCommands = strings.Split(`\d
\d adult
\d+ adult
\d adult_age
\d+ adult_mat
\d+ adult_view
\d adult_seq
\d country
\d *.*
\da
\dA+
\dAc
\dAf
\dAo
\dAp
\dc
\dC
\dconfig+ work_mem
\dd
\ddp
\dD
\des
\det
\deu
\dew
\df planted.*
\df+ count*
\df pg_catalog.pg_*size*
\dF
\dFd
\dFp
\dFt
\di
\dl
\dL
\dn
\dn+
\do =
\dO
\dp
\dp adult
\dP
\drds
\dRp
\dRs
\ds
\dS adult*
\dt
\dtvmsS
\dT
\dT+
\du
\du+
\dv
\dv+
\dx
\dX
\dy
\encoding
\l
\sf counted
\sv adult_view
\z`, "\n")

// Commands that show sizes, which are not shown of anything that hangs on the protected table.
var psqlSizes = strings.Split(`\dt+
\di+
\dm+
\ds+
\dtvmisS+
\dtS+ pg_*
\dP+
\l+`, "\n")

// psql's commands show through Fugu what they show at PostgreSQL, but for masked sizes.
func TestPsqlCatalog(t *testing.T) {
	patient.Test(t)
	direct, through := serveDoors(t)
	through = strings.Replace(through, "alice", "fugu_guest", 1)
	if got := psqlDoors(t, through, `\d`); !contains(got, "adult") {
		t.Fatalf("\\d shows no table: %s", got)
	}
	for _, command := range psqlCommands {
		if got, want := psqlDoors(t, through, command), psqlDoors(t, direct, command); got != want ||
			contains(got, "ERROR") && !contains(command, "sv") {
			t.Errorf("%s:\n%s", command, firstDifference(want, got))
		}
	}
	for _, command := range psqlSizes {
		got, want := strings.Split(psqlDoors(t, through, command), "\n"), strings.Split(psqlDoors(t, direct, command),
			"\n")
		if len(got) != len(want) {
			t.Errorf("%s: %d lines instead of %d:\n%s", command, len(got), len(want), strings.Join(got, "\n"))
			continue
		}
		for i := range got { // psql shows NULL as nothing here
			if got[i] != want[i] && !maskedSize(got[i], want[i]) {
				t.Errorf("%s:\n%s\ninstead of\n%s", command, got[i], want[i])
			}
			if got[i] == want[i] && contains(got[i], "kB|") && (contains(got[i], "|adult|table") ||
				contains(got[i], "|adult_age|") || contains(got[i], "|adult_mat|")) {
				t.Errorf("%s: shows %s", command, got[i])
			}
		}
	}
}

// The sizes of tablespaces are shown to nobody, and the guest's missing right on one does not stop the others.
func TestPsqlTablespaces(t *testing.T) {
	patient.Test(t)
	_, through := serveDoors(t)
	if got := psqlDoors(t, through, `\db+`); contains(got, "ERROR") || !contains(got, "pg_default|postgres|||||") {
		t.Error(got)
	}
}

// maskedSize reports whether a row differs in one cell, which is a size that is not shown, of something protected.
func maskedSize(got, want string) bool {
	g, w := strings.Split(got, "|"), strings.Split(want, "|")
	different := 0
	for i := range g {
		if len(g) != len(w) {
			return false
		}
		if g[i] != w[i] {
			different++
			if g[i] != "" || !strings.HasSuffix(w[i], "B") && !strings.HasSuffix(w[i], "bytes") {
				return false
			}
		}
	}
	named := false
	for _, what := range []string{"adult", "pg_statistic", "pg_largeobject", "doors", "pg_default", "pg_global"} {
		named = named || contains(got, what)
	}
	return different == 1 && named && !contains(got, "adult_reference")
}

// introspection is what tools ask the catalog, in their ways. Those that begin with ~ show masked values.
var introspection = []string{
	// JDBC: getTables, getColumns, getPrimaryKeys, getIndexInfo (which reads reltuples and relpages).
	`SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM, c.relname AS TABLE_NAME, CASE n.nspname ~ '^pg_'
	  OR n.nspname = 'information_schema' WHEN true THEN 'SYSTEM' ELSE CASE c.relkind WHEN 'r' THEN 'TABLE'
	  WHEN 'v' THEN 'VIEW' ELSE NULL END END AS TABLE_TYPE, d.description AS REMARKS, '' as TYPE_CAT
	  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid
	  AND d.objsubid = 0 and d.classoid = 'pg_class'::regclass) WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'v',
	  'm') ORDER BY TABLE_TYPE,TABLE_SCHEM,TABLE_NAME`,
	`SELECT * FROM (SELECT n.nspname,c.relname,a.attname,a.atttypid,a.attnotnull OR (t.typtype = 'd'
	  AND t.typnotnull) AS attnotnull,a.atttypmod,a.attlen,t.typtypmod,row_number() OVER (PARTITION BY a.attrelid
	  ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') as attidentity,pg_catalog.pg_get_expr(def.adbin,
	  def.adrelid) AS adsrc,dsc.description,t.typbasetype,t.typtype FROM pg_catalog.pg_namespace n
	  JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (a.attrelid=c.oid)
	  JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid=def.adrelid
	  AND a.attnum = def.adnum) LEFT JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid
	  AND a.attnum = dsc.objsubid) LEFT JOIN pg_catalog.pg_class dc ON (dc.oid=dsc.classoid AND dc.relname='pg_class')
	  WHERE c.relkind in ('r','p','v','f','m') and a.attnum > 0 AND NOT a.attisdropped AND c.relname LIKE 'adult') c
	  WHERE true ORDER BY nspname,c.relname,attnum`,
	`~SELECT tmp.TABLE_CAT, tmp.INDEX_NAME, tmp.TYPE, tmp.CARDINALITY, tmp.PAGES FROM (SELECT NULL AS TABLE_CAT,
	  ci.relname AS INDEX_NAME, CASE i.indisclustered WHEN true THEN 1 ELSE 3 END AS TYPE,
	  (information_schema._pg_expandarray(i.indkey)).n AS ORDINAL_POSITION, ci.reltuples AS CARDINALITY,
	  ci.relpages AS PAGES, pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS FILTER_CONDITION, ci.oid AS CI_OID
	  FROM pg_catalog.pg_class ct JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)
	  JOIN pg_catalog.pg_index i ON (ct.oid = i.indrelid) JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid)
	  WHERE true AND ct.relname = 'adult') AS tmp ORDER BY INDEX_NAME`,
	// DBeaver.
	`~SELECT c.oid,c.*,d.description,pg_catalog.pg_get_expr(c.relpartbound, c.oid) as partition_expr,
	  pg_catalog.pg_get_partkeydef(c.oid) as partition_key FROM pg_catalog.pg_class c LEFT OUTER
	  JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_class'::regclass
	  WHERE c.relnamespace = 2200 AND c.relkind not in ('i','I','c')` + ownSequences,
	`~select c.oid,pg_catalog.pg_total_relation_size(c.oid) as total_rel_size,
	  pg_catalog.pg_relation_size(c.oid) as rel_size FROM pg_class c WHERE c.relnamespace=2200`,
	`SELECT i.*,i.indkey as keys,c.relname,c.relnamespace,c.relam,c.reltablespace,tc.relname as tabrelname,
	  dsc.description,pg_catalog.pg_get_expr(i.indpred, i.indrelid) as pred_expr
	  FROM pg_catalog.pg_index i INNER JOIN pg_catalog.pg_class c ON c.oid=i.indexrelid
	  INNER JOIN pg_catalog.pg_class tc ON tc.oid=i.indrelid
	  LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid=dsc.objoid
	  WHERE i.indrelid='adult'::regclass ORDER BY tabrelname, c.relname`,
	`SELECT DISTINCT dep.deptype, dep.classid, dep.objid, cl.relkind, attr.attname FROM pg_depend dep LEFT
	  JOIN pg_class cl ON dep.objid=cl.oid LEFT JOIN pg_attribute attr ON dep.objid=attr.attrelid
	  AND dep.objsubid=attr.attnum WHERE dep.refobjid='adult'::regclass ORDER BY 1, 2, 3`,
	// pgAdmin: dashboard and statistics.
	`~SELECT 'session_stats' AS chart_name, pg_catalog.row_to_json(t) AS chart_data FROM (SELECT (SELECT count(*)
	  FROM pg_catalog.pg_stat_activity WHERE datname = 'nowhere') AS "Total") t UNION ALL SELECT 'tps_stats',
	  pg_catalog.row_to_json(t) FROM (SELECT (SELECT sum(xact_commit) + sum(xact_rollback)
	  FROM pg_catalog.pg_stat_database WHERE datname = 'doors') AS "Transactions") t`,
	`~SELECT seq_scan AS "Sequential scans", n_live_tup AS "Live tuples", heap_blks_read,
	  pg_catalog.pg_size_pretty(pg_catalog.pg_relation_size(stat.relid) + CASE WHEN cl.reltoastrelid = 0 THEN 0
	  ELSE pg_catalog.pg_relation_size(cl.reltoastrelid) + COALESCE((SELECT SUM(pg_catalog.pg_relation_size(indexrelid))
	  FROM pg_catalog.pg_index WHERE indrelid=cl.reltoastrelid)::int8, 0) END) AS "Table size"
	  FROM pg_catalog.pg_stat_all_tables stat JOIN pg_catalog.pg_statio_all_tables statio ON stat.relid = statio.relid
	  JOIN pg_catalog.pg_class cl ON cl.oid=stat.relid WHERE stat.relid = 'adult'::regclass::oid`,
	`SELECT db.oid AS did, db.datname AS name, ta.spcname AS spcname, db.datallowconn, db.datistemplate AS is_template,
	  pg_catalog.has_database_privilege(db.oid, 'CREATE') AS cancreate, datdba AS owner FROM pg_catalog.pg_database db
	  LEFT OUTER JOIN pg_catalog.pg_tablespace ta ON db.dattablespace = ta.oid ORDER BY datname`,
	// psqlODBC, SQLAlchemy, Metabase, Superset, Rails, Django.
	`select relname, nspname, relkind from pg_catalog.pg_class c, pg_catalog.pg_namespace n where relkind in ('r', 'v',
	  'm', 'f', 'p') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'pg_temp_1')
	  and n.oid = relnamespace order by nspname, relname`,
	`select n.nspname, c.relname, a.attname, a.atttypid, t.typname, a.attnum, a.attlen, a.atttypmod, a.attnotnull,
	  c.relhasrules, c.relkind, c.oid, pg_get_expr(d.adbin, d.adrelid),
	  case t.typtype when 'd' then t.typbasetype else 0 end, t.typtypmod, 0, attidentity, c.relhassubclass
	  from (((pg_catalog.pg_class c inner join pg_catalog.pg_namespace n on n.oid = c.relnamespace
	  and c.relname like 'adult' and n.nspname like 'public') inner join pg_catalog.pg_attribute a
	  on (not a.attisdropped) and a.attnum > 0 and a.attrelid = c.oid)
	  inner join pg_catalog.pg_type t on t.oid = a.atttypid) left outer join pg_attrdef d on a.atthasdef
	  and d.adrelid = a.attrelid and d.adnum = a.attnum order by n.nspname, c.relname, attnum`,
	`SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class
	  JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
	  WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p']) AND pg_catalog.pg_class.relpersistence != 't'
	  AND pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname != 'pg_catalog'
	  ORDER BY 1`,
	`~SELECT n.nspname AS schema, c.relname AS name, CASE c.relkind WHEN 'r' THEN 'TABLE'
	  WHEN 'v' THEN 'VIEW' END AS type, d.description, NULLIF(c.reltuples, -1) AS estimated_row_count
	  FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid LEFT
	  JOIN pg_catalog.pg_description AS d ON c.oid = d.objoid AND d.objsubid = 0
	  WHERE n.nspname !~ '^information_schema|catalog_history|pg_' AND c.relkind IN ('r', 'p', 'v', 'f', 'm')
	  ORDER BY type, schema, name`,
	`SELECT c.relname FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
	  WHERE n.nspname = ANY (current_schemas(false)) AND c.relkind IN ('r','v','m','p','f')`,
	`SELECT c.relname, CASE WHEN c.relispartition THEN 'p' WHEN c.relkind IN ('m', 'v') THEN 'v' ELSE 't' END,
	  obj_description(c.oid, 'pg_class') FROM pg_catalog.pg_class c LEFT
	  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('f', 'm', 'p', 'r', 'v')
	  AND n.nspname NOT IN ('pg_catalog', 'pg_toast') AND pg_catalog.pg_table_is_visible(c.oid)`,
	`SELECT a.attname, format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid), a.attnotnull, a.atttypid,
	  a.atttypmod, c.collname, col_description(a.attrelid, a.attnum) AS comment FROM pg_attribute a LEFT
	  JOIN pg_attrdef d ON a.attrelid = d.adrelid AND a.attnum = d.adnum LEFT JOIN pg_type t ON a.atttypid = t.oid LEFT
	  JOIN pg_collation c ON a.attcollation = c.oid AND a.attcollation <> t.typcollation
	  WHERE a.attrelid = '"adult"'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
	// information_schema, but for what PostgreSQL hides: introspection_test.go has that.
	`SELECT * FROM information_schema.tables WHERE table_schema = 'public' AND table_name NOT IN ('adult',
	  'adult_view')`,
	`SELECT table_name, column_name, data_type, is_nullable, ordinal_position FROM information_schema.columns
	  WHERE table_schema IN ('public', 'planted') AND table_name NOT IN ('adult', 'adult_view') ORDER BY 1, 5`,
	`SELECT * FROM information_schema.table_constraints`,
	`SELECT * FROM information_schema.views WHERE table_schema = 'public' AND table_name <> 'adult_view'`,
	`SELECT * FROM information_schema.sequences`,
	`SELECT schemaname, tablename, indexname, indexdef FROM pg_indexes WHERE tablename = 'adult'`,
	`SELECT * FROM pg_catalog.pg_tables WHERE schemaname = 'public'`,
	`SELECT * FROM pg_matviews`,
	`SELECT * FROM pg_sequences`,
	`SELECT count(*) FROM pg_stats_ext`,
}

// ownSequences leaves those out that number protected rows, and that pg_class does not show to who asks for sizes.
const ownSequences = " AND c.oid <> ALL (ARRAY(SELECT d.objid FROM pg_depend d WHERE d.refobjid = 'adult'::regclass))"

// What tools ask the catalog has through Fugu the same columns, types and rows as at PostgreSQL, but for masked values.
func TestIntrospection(t *testing.T) {
	patient.Test(t)
	direct, through := serveDoors(t)
	d, f := connect(t, direct), connect(t, through)
	for _, sql := range introspection {
		sql, masked := strings.CutPrefix(sql, "~")
		got, want := look(t, f, sql), look(t, d, sql)
		if masked { // the columns, and how many rows
			got = fmt.Sprintln(strings.SplitN(got, "\n", 2)[0], strings.Count(got, "\n"))
			want = fmt.Sprintln(strings.SplitN(want, "\n", 2)[0], strings.Count(want, "\n"))
		}
		if got != want {
			t.Errorf("%s:\n%s", sql, firstDifference(want, got))
		}
		if !masked {
			continue
		}
		if _, err := f.Exec(t.Context(), sql); err != nil { // prepared
			t.Errorf("%s, prepared: %v", sql, err)
		}
	}
	var relpages int
	var size *int64
	if err := f.QueryRow(t.Context(), "SELECT relpages, pg_relation_size($1::regclass) FROM pg_class "+
		"WHERE relname = $2", "adult", "adult").Scan(&relpages, &size); err != nil || relpages != 0 || size != nil {
		t.Errorf("with parameters: %d, %v, %v", relpages, size, err)
	}
	if err := f.QueryRow(t.Context(), "SELECT relpages, pg_relation_size($1::regclass) FROM pg_class "+
		"WHERE relname = $2", "adult_reference", "adult_reference").Scan(&relpages, &size); err != nil ||
		relpages == 0 || size == nil {
		t.Errorf("of an ordinary table: %d, %v, %v", relpages, size, err)
	}
}

// A setting neither changes a stored answer nor buys a fresh one.
func TestSettingsAndAnswers(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	const sql = "SELECT sex, count(*), avg(age), sum(capital_gain) FROM adult WHERE age > 30 " +
		"AND hours_per_week > 20.5 GROUP BY sex ORDER BY sex"
	ask := func(set string) string {
		c := f.connect(t)
		defer func() { _ = c.Close(t.Context()) }()
		if _, err := c.Exec(t.Context(), set, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", set, err)
		}
		return rows(t, c, sql)
	}
	want := ask("SELECT 1")
	epsilon, releases := spent(t, f.connect(t))
	if releases == 0 {
		t.Fatal("the answer cost nothing")
	}
	for _, set := range []string{"SET TimeZone = 'Asia/Kathmandu'", "SET DateStyle = 'German, DMY'",
		"SET IntervalStyle = 'sql_standard'", "SET extra_float_digits = -15",
		"SET search_path = pg_catalog, public", "SET search_path = ''", "SET bytea_output = 'escape'",
		"SET enable_hashagg = off; SET enable_sort = off", "SET enable_seqscan = off",
		"SET jit = on; SET jit_above_cost = 0", "SET work_mem = '64kB'", "SET max_parallel_workers_per_gather = 0",
		"SET plan_cache_mode = force_generic_plan", "SET default_transaction_isolation = serializable",
		"SET transform_null_equals = on", "SET quote_all_identifiers = on", "SET lc_numeric = 'C'",
		"SET xmloption = document", "SET geqo = off; SET from_collapse_limit = 1", "SET row_security = off",
		"SET array_nulls = off", "SET statement_timeout = '10min'", "SET default_statistics_target = 1",
		"SET client_encoding = 'UTF8'", "SET synchronize_seqscans = off"} {
		if got := ask(set); got != want {
			t.Errorf("%s: the answer is\n%s\nand was\n%s", set, got, want)
		}
	}
	if e, n := spent(t, f.connect(t)); e != epsilon || n != releases {
		t.Errorf("settings cost: epsilon %g after %g, %d releases after %d", e, epsilon, n, releases)
	}
}
