//go:build fuguhooks

package attack

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/internal/hook"
)

// sizes are ways to ask for the size of a table, and for what else changes with it.
var sizes = []string{
	"SELECT relpages FROM pg_class WHERE relname = 'customer'",
	"SELECT pg_relation_size('customer')",
	"SELECT pg_size_pretty(pg_total_relation_size('public.customer'::regclass))",
	"SELECT relname, pg_table_size(oid) FROM pg_class WHERE relkind = 'r' " +
		"AND relnamespace = 'public'::regnamespace ORDER BY 1",
	"SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relnamespace = 'public'::regnamespace",
	"SELECT n_tup_upd FROM pg_stat_all_tables WHERE relid = 'customer'::regclass",
	"SELECT pg_stat_get_tuples_updated('customer'::regclass)",
	// What all databases share grows by what other tests do.
	"WITH c AS (TABLE pg_class) SELECT relname, relpages FROM c WHERE NOT relisshared ORDER BY oid",
	"SELECT (c).relpages FROM (SELECT c FROM pg_class c WHERE relname = 'customer') AS q",
	// a number of the whole server's
	"SELECT to_jsonb(c) - 'relfrozenxid' FROM pg_catalog.pg_class AS c WHERE relname = 'customer'",
	"SELECT x FROM pg_class AS c(a, b, d, e, f, g, h, i, j, x) WHERE b = 'customer'",
	`SELECT relpages FROM U&"pg\005fclass" WHERE relname = 'customer'`,
	"SELECT pg_catalog.pg_relation_size(16388 + 0 * oid::int) FROM pg_class WHERE relname = 'customer'",
	"SELECT pg_relation_size(('cust' || 'omer')::regclass)",
	"SELECT n FROM pg_relation_size('customer') AS n",
	"SELECT n FROM pg_class, LATERAL ROWS FROM (pg_table_size(oid)) AS n WHERE relname = 'customer'",
	"VALUES (pg_total_relation_size('customer'))",
	"SELECT FROM generate_series(1, 1000) LIMIT pg_relation_size('customer') / 8192",
	"SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relpages > 40 ORDER BY 1",
	"SELECT count(*) FROM pg_class WHERE relname = 'customer' AND pg_relation_size(oid) > 8192 * 40",
	"SELECT query_to_xml('SELECT relpages FROM pg_class WHERE relname = ''customer''', true, false, '')",
	"SELECT table_to_xml('pg_class', true, false, '')",
	"WITH w AS MATERIALIZED (SELECT relpages FROM pg_class WHERE relname = 'customer') TABLE w",
	"COPY pg_class TO STDOUT",
	"COPY (SELECT relpages FROM pg_class WHERE relname = 'customer') TO STDOUT",
	"BEGIN | DECLARE c CURSOR FOR SELECT relpages FROM pg_class WHERE relname = 'customer' | FETCH c | ROLLBACK",
	"PREPARE p AS SELECT relpages FROM pg_class WHERE relname = $1 | EXECUTE p('customer')",
	"PREPARE p AS SELECT $1::bigint | EXECUTE p(pg_relation_size('customer'))",
	"BEGIN | UPDATE plain SET weight = relpages FROM pg_class WHERE relname = 'customer' " +
		"RETURNING weight | ROLLBACK",
	"BEGIN | MERGE INTO plain USING pg_class c ON c.relname = 'customer' WHEN MATCHED THEN UPDATE SET weight = " +
		"c.relpages | SELECT weight FROM plain | ROLLBACK",
	"CREATE TEMP VIEW v AS SELECT relpages FROM pg_class WHERE relname = 'customer' | TABLE v",
	"CREATE TEMP TABLE x AS SELECT relpages FROM pg_class WHERE relname = 'customer' | TABLE x",
	"CREATE TEMP TABLE x (n bigint DEFAULT pg_relation_size('customer')) | INSERT INTO x DEFAULT VALUES " +
		"RETURNING n",
	"CREATE TEMP TABLE x (n int) | INSERT INTO x SELECT relpages FROM pg_class WHERE relname = 'customer' " +
		"RETURNING n",
	"CREATE TEMP TABLE x (m int) | INSERT INTO x VALUES (1) | ALTER TABLE x ALTER m TYPE bigint " +
		"USING pg_relation_size('customer') | TABLE x",
	"DO $$ BEGIN RAISE NOTICE '%', pg_relation_size('customer'); END $$",
	"CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS $$ SELECT relpages FROM pg_class " +
		"WHERE relname = 'customer' $$ | SELECT pg_temp.f()",
	"CREATE FUNCTION pg_temp.g() RETURNS bigint LANGUAGE sql RETURN pg_relation_size('customer') | " +
		"SELECT pg_temp.g()",
	"CREATE FUNCTION pg_temp.h() RETURNS int LANGUAGE plpgsql AS $$ DECLARE n int; BEGIN EXECUTE 'SELECT relpa' " +
		"|| 'ges FROM pg_cl' || 'ass WHERE relname = ''customer''' INTO n; RETURN n; END $$ | SELECT pg_temp.h()",
	`CREATE FUNCTION pg_temp.c() RETURNS int
		  LANGUAGE plpgsql SET standard_conforming_strings = off
		  AS $$ DECLARE s text := '\''; BEGIN
		    RETURN (SELECT sum(relpages) FROM pg_class WHERE relnamespace = 2200); END --'$$
		  | SELECT pg_temp.c()`,
	`CREATE FUNCTION pg_temp.d() RETURNS int
		  LANGUAGE plpgsql SET standard_conforming_strings = off
		  AS $$ DECLARE s text := '\''; n int; BEGIN EXECUTE
		    'SELECT sum(relpa' || 'ges) FROM pg_cl' || 'ass WHERE relnamespace = 2200' INTO n; RETURN n; END --'$$
		  | SELECT pg_temp.d()`,
	"CREATE FUNCTION pg_temp.op(regclass, int) RETURNS bigint LANGUAGE sql AS 'SELECT pg_relation_size($1)' | " +
		"CREATE OPERATOR pg_temp.<-> (LEFTARG = regclass, RIGHTARG = int, FUNCTION = pg_temp.op) | " +
		"SELECT 'customer'::regclass OPERATOR(pg_temp.<->) 1",
	"CREATE FUNCTION pg_temp.k(bigint, regclass) RETURNS bigint LANGUAGE sql AS 'SELECT pg_relation_size($2)' | " +
		"CREATE AGGREGATE pg_temp.size(regclass) (SFUNC = pg_temp.k, STYPE = bigint) | " +
		"SELECT pg_temp.size('customer'::regclass)",
}

// Sizes, planner statistics and activity counters of the table and of what hangs on it, by every way to ask for them.
func TestCatalogs(t *testing.T) {
	channel{off: []*bool{&hook.Blind}, tell: sizes, more: []string{
		"SELECT * FROM pg_stats WHERE tablename = 'customer'",
		"SELECT reltuples FROM pg_class WHERE relname = 'customer'",
		"SELECT pg_database_size(current_database())",
		"SELECT pg_relation_size('customer_income'), pg_indexes_size('customer')",
		"SELECT * FROM pg_locks WHERE relation = 'customer'::regclass",
		"SELECT heap_blks_hit, n_tup_upd FROM pg_stat_user_tables JOIN pg_statio_user_tables USING (relname) " +
			"WHERE relname = 'customer'",
	}}.compare(t)
}

// A setting that says where strings end lasts, in a pipeline, until the server reports it, which it does at the end:
// what Fugu takes for a string is a statement by then. A statement that names the setting is refused; this one hides
// its name.
func TestStringsInAPipeline(t *testing.T) {
	const pages = "(SELECT sum(relpages)::text FROM pg_class WHERE relnamespace = 2200)"
	told := func(t *testing.T, set, sql string) string {
		p := dial(t, serve(t, odd[0], options{}))
		defer p.Conn.Close()
		for _, sql := range []string{set, sql} {
			p.Frontend.Send(&pgproto3.Parse{Query: sql})
			p.Frontend.Send(&pgproto3.Bind{})
			p.Frontend.Send(&pgproto3.Execute{})
		}
		p.Frontend.Send(&pgproto3.Sync{})
		if err := p.Frontend.Flush(); err != nil {
			t.Fatal(err)
		}
		out := ""
		for {
			switch m, err := p.Frontend.Receive(); m := m.(type) {
			case *pgproto3.DataRow:
				out += "row:" + string(bytes.Join(m.Values, []byte(","))) + " "
			case *pgproto3.ErrorResponse:
				out += m.Code + " "
			case *pgproto3.ReadyForQuery:
				return out
			default:
				if err != nil {
					return out
				}
			}
		}
	}
	for set, sql := range map[string]string{
		"DO $$BEGIN EXECUTE 'SET standard_' || 'conforming_strings = off'; END$$": `SELECT '\'', ` + pages + ` --'`,
		"DO $$BEGIN EXECUTE 'SET client_' || 'encoding = GBK'; END$$":             `SELECT E'€\', ` + pages + ` --'`,
	} {
		t.Run(set, func(t *testing.T) {
			t.Run("defence off", func(t *testing.T) {
				off(t, &hook.Unmasked)
				if s := told(t, set, sql); !regexp.MustCompile(`row:.*,[1-9]`).MatchString(s) {
					t.Errorf("it is no test of the defence: %s", s)
				}
			})
			t.Run("defence on", func(t *testing.T) {
				if s := told(t, set, sql); !strings.HasPrefix(s, "PV001 ") {
					t.Errorf("got %s", s)
				}
			})
		})
	}
}
