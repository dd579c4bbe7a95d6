package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/adult"
	"fugu/test/nightly"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// hangings are what hangs on the protected table in the database doors.
const hangings = `
	ALTER TABLE adult ALTER COLUMN workclass SET STORAGE EXTERNAL;
	CREATE INDEX adult_age ON adult (age);
	CREATE SEQUENCE adult_seq OWNED BY adult.fnlwgt; SELECT nextval('adult_seq');
	CREATE STATISTICS adult_stat ON sex, income FROM adult;
	CREATE VIEW adult_view AS SELECT * FROM adult;
	CREATE MATERIALIZED VIEW adult_mat AS SELECT * FROM adult_view WHERE income = '>50K';
	CREATE INDEX adult_mat_age ON adult_mat (age);
	CREATE TABLE adult_child () INHERITS (adult);
	CREATE INDEX country_continent ON country (continent);
	CREATE FUNCTION counted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
	CREATE TRIGGER counts BEFORE UPDATE ON adult FOR EACH ROW EXECUTE FUNCTION counted();
	CREATE SCHEMA planted AUTHORIZATION fugu_guest;
	ALTER DATABASE doors SET track_functions = 'all';`

// disturbance changes protected rows, and nothing else that the guest may know: how many are rich, how long they are,
// and how often they were read.
var disturbance = []string{
	`UPDATE adult SET income = '>50K', workclass = repeat(md5(age::text || random()), 100) WHERE age BETWEEN 30 AND 33`,
	// What an update needs it finds free the second time: only more rows make a table larger each time.
	`INSERT INTO adult SELECT * FROM adult WHERE age BETWEEN 40 AND 47`,
	`INSERT INTO adult_child SELECT * FROM adult LIMIT 100`,
	`SELECT nextval('adult_seq')`,
	`SET enable_seqscan = off`, `SELECT count(*), sum(age) FROM adult WHERE age < 40`,
	`SET enable_seqscan = on`, `SELECT count(*), sum(age) FROM adult WHERE income = '>50K'`,
	`VACUUM ANALYZE adult, adult_child, adult_mat`, `ANALYZE pg_class`, `CHECKPOINT`,
	`SELECT pg_stat_force_next_flush()`, `SELECT 1`,
}

var doors *database

// doorsDatabase is a database in which much hangs on the protected table; loaded once.
func doorsDatabase(t testing.TB) *database {
	t.Helper()
	if doors == nil {
		adultDatabase(t)
		c := pgcluster.Shared(t)
		loaded, err := adult.Load(t.Context(), c, "doors", adult.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Exec(t.Context(), "doors", hangings+"ANALYZE;"); err != nil {
			t.Fatal(err)
		}
		doors = &database{c, loaded.Rows}
	}
	return doors
}

func serveDoors(t testing.TB) (direct, through string) {
	db := doorsDatabase(t)
	direct = db.cluster.DSN("fugu_guest", "doors")
	f := serve(t, options{guest: direct, reader: db.cluster.DSN("fugu_reader", "doors")})
	return direct, strings.Replace(f.dsn("alice"), "/adult", "/doors", 1)
}

func disturb(t testing.TB) {
	t.Helper()
	c := connect(t, doors.cluster.DSN("postgres", "doors"))
	for _, sql := range disturbance {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	_ = c.Close(t.Context())
}

// look runs a statement on a connection of its own kind of transaction, and returns the columns and rows, or the error.
func look(t testing.TB, c *pgx.Conn, sql string) string {
	t.Helper()
	if _, err := c.Exec(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = c.Exec(context.WithoutCancel(t.Context()), "ROLLBACK") }()
	results, err := c.PgConn().Exec(t.Context(), sql).ReadAll()
	var b strings.Builder
	for _, r := range results {
		for _, f := range r.FieldDescriptions {
			fmt.Fprintf(&b, "%s:%d ", f.Name, f.DataTypeOID)
		}
		var lines []string
		for _, row := range r.Rows {
			lines = append(lines, fmt.Sprintf("%q", row))
		}
		slices.Sort(lines)
		b.WriteString("\n" + strings.Join(lines, "\n"))
	}
	if err != nil {
		b.WriteString(code(err) + " " + pgError(err).Message)
	}
	return b.String()
}

// doorways are statements that tell something of protected rows when PostgreSQL answers them itself.
var doorways = []string{
	"SELECT relname, reltuples, relpages, relallvisible FROM pg_class WHERE relname LIKE 'adult%' " +
		"OR relname IN ('pg_statistic', (SELECT 'pg_toast_' || oid FROM pg_class WHERE relname = 'adult'))",
	"SELECT c FROM pg_class c WHERE relname = 'adult_age'",
	"SELECT to_jsonb(c) - 'relfrozenxid' - 'relminmxid' FROM pg_class c WHERE relname = 'adult'",
	"SELECT (y.x).relpages FROM (SELECT c AS x FROM pg_class c WHERE relname = 'adult') y",
	"SELECT p FROM pg_class c(a, b, c, d, e, f, g, h, i, p, q, r) WHERE b = 'adult'",
	"SELECT relpages FROM pg_class JOIN (VALUES ('adult'::name)) v(relname) USING (relname)",
	`SELECT relpages FROM U&"pg\005fclass" WHERE relname = 'adult'`,
	"WITH c AS MATERIALIZED (TABLE pg_class) SELECT relpages FROM c WHERE relname = 'adult_mat'",
	"SELECT pg_relation_size('adult'), pg_table_size('adult'::regclass), pg_indexes_size('adult'), " +
		"pg_total_relation_size('public.adult')",
	"SELECT pg_relation_size('adult_age'), pg_relation_size('adult_mat'), pg_relation_size('adult_mat_age'), " +
		"pg_relation_size('adult_child')",
	"SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE relname = 'adult'",
	"SELECT pg_relation_size('adult', 'main'), pg_relation_size('adult', 'vm')",
	"SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relname LIKE 'adult%'",
	"SELECT sum(pg_relation_size(format('%I.%I', schemaname, tablename)::regclass)) FROM pg_tables " +
		"WHERE tablename = 'adult'",
	"SELECT greatest(8192, max(pg_relation_size((CASE WHEN random() < 0.5 THEN 'adult' ELSE 'country' END || " +
		"repeat('', g))::regclass))) FROM generate_series(1, 200) g",
	"SELECT * FROM pg_relation_size('adult') s",
	"SELECT pg_database_size('doors'), pg_database_size(current_database()), (SELECT pg_database_size(oid) " +
		"FROM pg_database WHERE datname = 'doors')",
	"SELECT pg_tablespace_size('pg_default')",
	"SELECT pg_current_wal_lsn() - '0/0'",
	"SELECT pg_stat_get_tuples_updated('pg_catalog.pg_statistic'::regclass)",
	"SELECT * FROM pg_stat_all_tables WHERE relname = 'adult'",
	"SELECT * FROM pg_stat_user_indexes WHERE relname = 'adult'",
	"SELECT * FROM pg_statio_user_tables WHERE relname = 'adult'",
	"SELECT * FROM pg_statio_user_indexes WHERE relname = 'adult'",
	"SELECT * FROM pg_statio_user_sequences WHERE relname = 'adult_seq'",
	"SELECT to_jsonb(d) - 'numbackends' FROM pg_stat_database d WHERE datname = 'doors'",
	"SELECT * FROM pg_stat_bgwriter",
	"SELECT * FROM pg_stat_wal",
	"SELECT * FROM pg_stat_slru",
	"SELECT * FROM pg_stat_user_functions",
	"SELECT pg_stat_get_numscans('adult'::regclass), pg_stat_get_live_tuples('adult'::regclass), " +
		"pg_stat_get_blocks_hit('adult_age'::regclass)",
	"SELECT pg_stat_get_db_tuples_returned(oid) FROM pg_database WHERE datname = 'doors'",
	"SELECT pg_stat_get_function_calls('counted'::regproc), pg_stat_get_buf_alloc()",
	"SELECT most_common_vals, histogram_bounds FROM pg_stats WHERE tablename = 'pg_class' " +
		"AND attname IN ('reltuples', 'relpages')",
	"SELECT * FROM pg_control_checkpoint()",
	"SELECT wal_bytes FROM pg_stat_get_wal()",
	"SELECT table_to_xml('pg_stat_user_tables', true, false, '')",
	"SELECT query_to_xml('SELECT relpages FROM pg_class', true, false, '')",
	"CREATE TEMP VIEW v AS SELECT relname, relpages FROM pg_class; SELECT * FROM v WHERE relname = 'adult'",
	"CREATE TEMP TABLE x AS SELECT relname, relpages FROM pg_class; SELECT * FROM x WHERE relname = 'adult'",
	"PREPARE doors AS SELECT relpages FROM pg_class WHERE relname = $1; EXECUTE doors('adult_mat'); DEALLOCATE doors",
	"DECLARE c CURSOR FOR SELECT relpages FROM pg_class WHERE relname = 'adult_mat'; FETCH ALL FROM c",
	"CREATE FUNCTION planted.s(regclass) RETURNS int8 LANGUAGE sql AS 'SELECT pg_relation_size($1)'; " +
		"SELECT planted.s('adult')",
	"CREATE FUNCTION planted.s() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT relpages FROM pg_class " +
		"WHERE relname = 'adult_mat'; END; SELECT planted.s()",
	"CREATE FUNCTION planted.s() RETURNS int LANGUAGE plpgsql AS $$ DECLARE n int; BEGIN EXECUTE 'SELECT rel' || " +
		"'pages FROM pg_cl' || 'ass WHERE relname = ''adult''' INTO n; RETURN n; END $$; SELECT planted.s()",
	"CREATE OPERATOR planted.@@@ (FUNCTION = pg_relation_size, RIGHTARG = regclass); " +
		"SELECT OPERATOR(planted.@@@) 'adult'::regclass",
	"CREATE FUNCTION planted.eq(oid, oid) RETURNS bool LANGUAGE sql AS 'SELECT false'; CREATE OPERATOR planted.= " +
		"(FUNCTION = planted.eq, LEFTARG = oid, RIGHTARG = oid); SET LOCAL search_path = planted, public, " +
		"pg_catalog; SELECT relpages, pg_relation_size(oid) FROM pg_class WHERE relname = 'adult'",

	// Relations that have the names of the masks' own lists, and are empty.
	`CREATE TEMP TABLE "fugu masked oids" (oid oid); CREATE TEMP TABLE "fugu database oids" (oid oid); ` +
		"CREATE TEMP TABLE x (m int DEFAULT 0, n bigint); INSERT INTO x VALUES (DEFAULT, pg_relation_size('adult')); " +
		"VALUES (pg_relation_size('adult')); UPDATE x SET m = relpages FROM pg_class WHERE relname = 'adult' " +
		"RETURNING x.*, pg_database_size('doors')",
	`SELECT (WITH "fugu masked oids" AS (SELECT 0::oid AS oid) SELECT pg_relation_size('adult'))`,
	`WITH "fugu database oids" AS (SELECT 0::oid AS oid) SELECT pg_database_size('doors')`,
	`CREATE TEMP TABLE x (m int, n bigint); WITH "fugu masked oids" AS (SELECT 0::oid AS oid) INSERT INTO x ` +
		"SELECT relpages, pg_relation_size(oid) FROM pg_class WHERE relname = 'adult' RETURNING *",
}

// What every statement on the catalog says stays the same when only protected rows change; said by PostgreSQL itself,
// it does not, so that each of these is a door.
func TestSideDoors(t *testing.T) {
	patient.Test(t)
	direct, through := serveDoors(t)
	before := map[string][2]string{}
	d, f := connect(t, direct), connect(t, through)
	for _, sql := range doorways {
		before[sql] = [2]string{look(t, d, sql), look(t, f, sql)}
	}
	disturb(t)
	if err := doors.cluster.Exec(t.Context(), "doors",
		"REFRESH MATERIALIZED VIEW adult_mat; ANALYZE adult_mat"); err != nil {
		t.Fatal(err)
	}
	var silent []string // a number of pages may happen to be what it was
	for _, sql := range doorways {
		if got := look(t, d, sql); got == before[sql][0] {
			silent = append(silent, sql)
		}
		if got, want := look(t, f, sql), before[sql][1]; got != want {
			t.Errorf("%s: tells of protected rows\nbefore: %s\nafter:  %s", sql, want, got)
		} else if contains(got, "42601") || contains(got, "42883") || contains(got, "XX000") {
			t.Errorf("%s: %s", sql, got)
		}
	}
	if len(silent) > len(doorways)/5 {
		t.Errorf("PostgreSQL itself says the same as before to %d of %d statements, which so test nothing: %q",
			len(silent), len(doorways), silent)
	}
}

// What is created after the policies were loaded is masked like the rest.
func TestLateObjects(t *testing.T) {
	patient.Test(t)
	direct, through := serveDoors(t)
	for _, sql := range []string{"CREATE INDEX adult_late ON adult (sex)", "VACUUM FULL adult",
		"CREATE MATERIALIZED VIEW adult_late_mat AS SELECT * FROM adult_mat"} {
		if err := doors.cluster.Exec(t.Context(), "doors", sql); err != nil {
			t.Fatal(err)
		}
	}
	const sql = "SELECT pg_relation_size('adult_late'), pg_relation_size('adult_late_mat'), pg_relation_size((SELECT " +
		"reltoastrelid FROM pg_class WHERE relname = 'adult')), (SELECT sum(relpages) FROM pg_class " +
		"WHERE relname LIKE 'adult_late%')"
	if got := look(t, connect(t, through), sql); !strings.HasSuffix(got, `["" "" "" "0"]`) {
		t.Errorf("got %s", got)
	}
	if got := look(t, connect(t, direct), sql); contains(got, `""`) {
		t.Errorf("PostgreSQL itself shows nothing: %s", got)
	}
}

// Advisory locks of other roles are not shown, as the claims of a ledger in this database are such locks: who saw the
// number of one could wait for it, and keep a question from being answered when its proxy dies. A client's own are.
func TestAdvisoryLocksOfOthers(t *testing.T) {
	direct, through := serveDoors(t)
	truth, d, f := connect(t, doors.cluster.DSN("postgres", "doors")), connect(t, direct), connect(t, through)
	for c, lock := range map[*pgx.Conn]int{truth: 71, f: 72} {
		if _, err := c.Exec(t.Context(), fmt.Sprintf("SELECT pg_advisory_lock(%d)", lock)); err != nil {
			t.Fatal(err)
		}
	}
	const sql = "SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database " +
		"WHERE datname = current_database())"
	if got := look(t, d, sql); !strings.HasSuffix(got, "[\"71\"]\n[\"72\"]") {
		t.Errorf("PostgreSQL itself shows %s", got)
	}
	for _, form := range []string{sql, strings.Replace(sql, "FROM pg_locks", "FROM ONLY pg_catalog.pg_locks", 1)} {
		if got := look(t, f, form); !strings.HasSuffix(got, "\n[\"72\"]") || contains(got, `"71"`) {
			t.Errorf("%s shows %s", form, got)
		}
	}
}

// wandering are relations of the catalog that speak of the session itself, or of the clock.
var wandering = []string{"pg_stat_activity", "pg_locks", "pg_stat_ssl", "pg_stat_gssapi", "pg_prepared_statements",
	"pg_cursors", "pg_timezone_names", "pg_stat_statements", "pg_stat_xact_user_functions"}

// sweep asks for everything in the catalog that the guest may read, and calls every function of no argument, of an oid
// or of a regclass that it may call.
func sweep(t testing.TB, dsn string) map[string]string {
	t.Helper()
	truth := connect(t, doors.cluster.DSN("postgres", "doors"))
	c := connect(t, dsn)
	statements := strings.Fields(strings.NewReplacer(`["`, "", `"]`, "").Replace(rows(t, truth,
		`SELECT n.nspname || '.' || quote_ident(c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
	  WHERE relkind IN ('r', 'v') AND (nspname = 'pg_catalog' OR nspname = 'information_schema')
	    AND has_table_privilege('fugu_guest', c.oid, 'SELECT') ORDER BY 1`)))
	for i, name := range statements {
		name = strings.TrimPrefix(name, "pg_catalog.")
		if slices.Contains(wandering, name) {
			statements[i] = ""
			continue
		}
		statements[i] = everythingIn(name)
	}
	for _, arg := range []string{"", "oid", "regclass"} {
		for _, f := range strings.Fields(strings.NewReplacer(`["`, "", `"]`, "").Replace(rows(t, truth,
			`SELECT proname FROM pg_proc p JOIN pg_type t ON t.oid = prorettype
		  WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND typtype <> 'p'
		    AND has_function_privilege('fugu_guest', p.oid, 'EXECUTE')
		    AND pg_get_function_identity_arguments(p.oid) = $1 ORDER BY 1`, arg))) {
			if slices.Contains(clocks, f) {
				continue
			}
			if arg == "" {
				statements = append(statements, "SELECT "+f+"()")
				continue
			}
			for _, object := range []string{"adult", "adult_age", "adult_mat", "adult_seq", "pg_statistic"} {
				if f == "pg_database_size" && object == "adult" {
					continue // there is a database of that name, of other tests
				}
				statements = append(statements, fmt.Sprintf("SELECT %s('%s'::regclass)", f, object))
			}
		}
	}
	out := map[string]string{}
	for _, sql := range statements {
		if sql != "" {
			out[sql] = look(t, c, sql)
		}
	}
	return out
}

// everythingIn asks for all that a relation of the catalog shows, but for what changes by itself.
func everythingIn(name string) string {
	perTable := strings.HasSuffix(name, "_tables") || strings.HasSuffix(name, "_indexes")
	switch {
	case name == "pg_class":
		// When rows were frozen is not masked. Of the catalog's own tables, only those matter that hold rows' values.
		return "SELECT to_jsonb(x) - 'relfrozenxid' - 'relminmxid' - 'relfilenode' FROM pg_class x " +
			"WHERE (oid >= 16384 OR oid IN (2619, 2696, 3429)) AND relname <> 'adult_reference'"
	case strings.HasPrefix(name, "pg_statio_"), strings.HasPrefix(name, "pg_stat_") && perTable:
		// The reference is public, and the reader's scans of it come late into the statistics.
		return "SELECT to_jsonb(x) FROM " + name + " x " +
			"WHERE (relid >= 16384 OR relid IN (2619, 3429)) AND relname <> 'adult_reference'"
	case name == "pg_stat_database":
		return "SELECT to_jsonb(x) - 'numbackends' FROM pg_stat_database x WHERE datname = 'doors'"
	case name == "information_schema.element_types" && !nightly.Is():
		// PostgreSQL takes a third of all the time here to find the catalog's own arrays, which are always the same.
		return "SELECT to_jsonb(x) FROM information_schema.element_types x " +
			"WHERE object_schema NOT IN ('pg_catalog', 'information_schema')"
	case name == "pg_database":
		return "SELECT to_jsonb(x) - 'datfrozenxid' - 'datminmxid' FROM pg_database x"
	}
	return "SELECT to_jsonb(x) FROM " + name + " x"
}

// clocks are functions whose value is the time, the session's own state, or the number of transactions so far.
var clocks = strings.Fields("now clock_timestamp statement_timestamp transaction_timestamp timeofday random " +
	"gen_random_uuid uuidv4 uuidv7 pg_backend_pid txid_current txid_current_if_assigned txid_current_snapshot " +
	"pg_current_xact_id pg_current_xact_id_if_assigned pg_current_snapshot pg_export_snapshot " +
	"pg_stat_get_snapshot_timestamp pg_stat_get_backend_idset inet_client_port lo_create lo_creat lo_unlink " +
	"pg_relation_filenode pg_relation_filepath pg_my_temp_schema current_timestamp")

// Nothing in the catalog tells of protected rows: all of it is asked for, in the way of a program that looks for doors.
func TestSideDoorsSweep(t *testing.T) {
	patient.Test(t)
	direct, through := serveDoors(t)
	disturb(t)
	open, masked := sweep(t, direct), sweep(t, through)
	disturb(t)
	openAfter, maskedAfter := sweep(t, direct), sweep(t, through)
	moved := 0
	for _, sql := range slices.Sorted(maps.Keys(masked)) {
		if masked[sql] != maskedAfter[sql] {
			t.Errorf("%s: tells of protected rows\n%s", sql, firstDifference(masked[sql], maskedAfter[sql]))
		}
		if open[sql] != openAfter[sql] {
			moved++
			t.Logf("PostgreSQL itself tells by %s", sql)
		}
	}
	if moved < 40 {
		t.Errorf("PostgreSQL itself tells of protected rows by %d statements only: the sweep misses some", moved)
	}
	t.Logf("%d statements, of which %d tell when PostgreSQL answers them", len(masked), moved)
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return "before: " + x[i] + "\nafter:  " + y[i]
		}
	}
	return fmt.Sprintf("%d lines, %d lines", len(x), len(y))
}
