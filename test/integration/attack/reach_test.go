//go:build fuguhooks

package attack

import (
	"testing"

	"fugu/internal/hook"
)

// What follows is not answered, or answered from the release. Its defence is twofold: Fugu's parser, and a guest role
// without rights. Each test switches off both: a parser that sees nothing, a guest that may read.

// Plans show estimates, and EXPLAIN ANALYZE the rows themselves.
func TestExplain(t *testing.T) {
	channel{open: true, tell: []string{
		"EXPLAIN SELECT count(*) FROM customer WHERE income = 'high'",
		"EXPLAIN (FORMAT JSON) SELECT * FROM customer WHERE income = 'high'",
		"EXPLAIN (ANALYZE, TIMING off, SUMMARY off) SELECT count(*) FROM customer WHERE income = 'high'",
		"EXPLAIN (ANALYZE, TIMING off, SUMMARY off) DELETE FROM plain WHERE weight = (SELECT count(*) FROM customer " +
			"WHERE income = 'high')",
		"PREPARE x AS SELECT id FROM customer WHERE income = 'high' | EXPLAIN EXECUTE x",
	}, more: []string{
		"EXPLAIN (PRIVACY) SELECT count(*) FROM customer WHERE income = 'high'",
		"EXPLAIN (ANALYZE, TIMING off, SUMMARY off) SELECT 1 FROM plain",
	}}.compare(t)
}

// Rows, and what is attached to them.
func TestRows(t *testing.T) {
	channel{open: true, tell: []string{
		"SELECT * FROM customer WHERE id = 450",
		"TABLE customer",
		"SELECT count(*) FROM (SELECT * FROM customer) AS c WHERE income = 'high'",
		"SELECT c FROM customer AS c WHERE id > 398 ORDER BY id LIMIT 2",
		"SELECT max((ctid::text::point)[0]) FROM customer WHERE income = 'high'",
		"SELECT count(DISTINCT xmin::text) FROM customer",
		"SELECT count(*) FROM customer TABLESAMPLE SYSTEM (50) REPEATABLE (1)",
		"SELECT max(id) FROM customer WHERE income = 'high'",
		"SELECT string_agg(id::text, ',') FROM customer WHERE income = 'high'",
		"SELECT bool_and(income = 'low') FROM customer WHERE id = 450",
		"SELECT weight FROM plain WHERE EXISTS (SELECT FROM customer WHERE id = 450 AND income = 'high')",
		"SELECT count(*) FROM customer c, plain p WHERE c.income = 'high' AND p.weight = 1",
		"SELECT weight, (SELECT income FROM customer WHERE id = weight + 449) FROM plain",
		"WITH RECURSIVE r AS (SELECT 450 AS i UNION SELECT id + 1 FROM customer JOIN r ON id = i " +
			"AND income = 'high') SELECT max(i) FROM r",
		"BEGIN | SELECT lo_from_bytea(4242, (SELECT string_agg('x', '')::bytea FROM customer " +
			"WHERE income = 'high')) | SELECT length(lo_get(4242)) | ROLLBACK",
		"SELECT query_to_xml('SELECT count(*) FROM custo' || 'mer WHERE income = ''high''', true, false, '')",
		"SELECT word FROM ts_stat('SELECT income::tsvector FROM customer WHERE id = 450')",
	}, more: []string{
		"SELECT count(*) FROM customer",
		"SELECT income FROM customer",
		"SELECT id FROM customer WHERE income = 'high' FOR UPDATE SKIP LOCKED",
		"LOCK TABLE customer IN ACCESS EXCLUSIVE MODE",
		"SELECT tableoid FROM customer",
		"SELECT currval('customer_id_seq')",
	}}.compare(t)
}

// Cursors, copies and tables that take an answer along: from the release, or refused.
func TestCursorsAndCopies(t *testing.T) {
	channel{open: true, tell: []string{
		"COPY customer TO STDOUT",
		"COPY customer (income) TO STDOUT (FORMAT csv)",
		"COPY (SELECT count(*) FROM customer WHERE income = 'high') TO STDOUT",
		"BEGIN | DECLARE c CURSOR FOR SELECT count(*) FROM customer WHERE income = 'high' | FETCH ALL c | ROLLBACK",
		"DECLARE c CURSOR WITH HOLD FOR SELECT id FROM customer WHERE income = 'high' | FETCH LAST c | CLOSE c",
		"CREATE TEMP TABLE x AS SELECT count(*) FROM customer WHERE income = 'high' | SELECT * FROM x",
		"SELECT count(*) INTO TEMP x FROM customer WHERE income = 'high' | TABLE x",
		"CREATE TEMP TABLE x (n int) | INSERT INTO x SELECT count(*) FROM customer WHERE income = 'high' | TABLE x",
		"PREPARE x AS SELECT count(*) FROM customer WHERE income = $1 | EXECUTE x('high') | DEALLOCATE x",
		"BEGIN | UPDATE plain SET weight = (SELECT count(*) FROM customer WHERE income = 'high') " +
			"RETURNING weight | ROLLBACK",
		"BEGIN | MERGE INTO plain USING customer ON income = 'high' AND id = 450 " +
			"AND weight = 1 WHEN MATCHED THEN DELETE | ROLLBACK",
	}}.compare(t)
}

// What an analyst makes, so that it reads the table in their stead.
func TestPlantedReaders(t *testing.T) {
	channel{open: true, tell: []string{
		"CREATE TEMP VIEW v AS SELECT * FROM customer | SELECT count(*) FROM v WHERE income = 'high'",
		"CREATE FUNCTION pg_temp.f() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM customer " +
			"WHERE income = 'high' $$ | SELECT pg_temp.f()",
		"CREATE FUNCTION pg_temp.g() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) " +
			"FROM public.\"customer\" WHERE income = 'high'); END $$ | SELECT pg_temp.g()",
		"CREATE FUNCTION pg_temp.h() RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE n bigint; BEGIN EXECUTE 'SELECT " +
			"count(*) FROM custo' || 'mer WHERE income = ''high''' INTO n; RETURN n; END $$ | SELECT pg_temp.h()",
		"DO $$ BEGIN RAISE NOTICE '%', (SELECT count(*) FROM customer WHERE income = 'high'); END $$",
		"DO $$ BEGIN PERFORM pg_notify('here', (SELECT count(*)::text FROM customer " +
			"WHERE income = 'high')); END $$ | LISTEN here | " +
			"DO $$ BEGIN PERFORM pg_notify('here', (SELECT count(*)::text FROM customer " +
			"WHERE income = 'high')); END $$ | SELECT 1",
		"CREATE FUNCTION pg_temp.rich(int) RETURNS boolean STRICT LANGUAGE sql AS $$ SELECT income = 'high' " +
			"FROM customer WHERE id = $1 $$ | " +
			"CREATE DOMAIN pg_temp.checked AS int CHECK (pg_temp.rich(VALUE)) | SELECT 450::pg_temp.checked",
		"CREATE TEMP TABLE x (n int) | CREATE FUNCTION pg_temp.tr() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " +
			"NEW.n := (SELECT count(*) FROM customer WHERE income = 'high'); RETURN NEW; END $$ | " +
			"CREATE TRIGGER tr BEFORE INSERT ON x FOR EACH ROW EXECUTE FUNCTION pg_temp.tr() | INSERT INTO x " +
			"VALUES (0) RETURNING n",
		"CREATE TEMP TABLE x (n int) | CREATE TEMP TABLE y (n bigint) | CREATE RULE r AS " +
			"ON INSERT TO x DO ALSO INSERT INTO y SELECT count(*) FROM customer " +
			"WHERE income = 'high' | INSERT INTO x VALUES (0) | TABLE y",
	}, more: []string{
		"CREATE TEMP TABLE customer (income text) | SELECT count(*) FROM customer",
		"SET search_path = pg_temp | SELECT count(*) FROM customer WHERE income = 'high'",
		"CREATE TEMP TABLE x () INHERITS (customer)",
		"WITH customer AS (SELECT 'high' AS income) SELECT count(*) FROM customer",
		"CREATE TEMP TABLE t AS SELECT 1 AS income | ALTER TABLE t RENAME TO customer | SELECT count(*) " +
			"FROM customer WHERE income = 'high'",
		"CREATE TRIGGER x AFTER INSERT ON customer EXECUTE FUNCTION suppress_redundant_updates_trigger()",
		"CREATE RULE x AS ON SELECT TO customer DO INSTEAD SELECT 1",
		"CREATE STATISTICS x ON income, region FROM customer",
		"CREATE INDEX x ON customer (id) WHERE income = 'high'",
	}}.compare(t)
}

// Roles that may read the table, and settings that pretend to.
func TestRoles(t *testing.T) {
	for _, w := range odd {
		if err := databases(t).Exec(t.Context(), w.database, "GRANT fugu_reader TO fugu_open"); err != nil {
			t.Fatal(err)
		}
	}
	channel{open: true, tell: []string{
		"SET ROLE fugu_reader | SELECT count(*) FROM customer WHERE income = 'high'",
		"SELECT set_config('role', 'fugu_reader', false) | SELECT count(*) FROM customer WHERE income = 'high'",
	}, more: []string{
		"SET SESSION AUTHORIZATION fugu_reader | SELECT count(*) FROM customer WHERE income = 'high'",
		"SET row_security = off | SELECT id FROM customer",
		"SET SESSION AUTHORIZATION DEFAULT | RESET ROLE | SELECT id FROM customer",
		"GRANT fugu_reader TO fugu_guest",
		"ALTER ROLE fugu_guest SET search_path = public",
		"CREATE ROLE evil LOGIN IN ROLE fugu_reader",
	}}.compare(t)
}

// Operators, functions and aggregates of the analyst's own, which would run with the reader's rights if the reader ever
// resolved a name to one of them. This one tells whoever listens of every row that it sees.
func TestPlantedOperators(t *testing.T) {
	const spy = `
	CREATE OR REPLACE FUNCTION public.spy(int, int) RETURNS boolean LANGUAGE plpgsql AS $$
	  BEGIN PERFORM pg_catalog.pg_notify('spy', $1::text); RETURN pg_catalog.int4gt($1, $2); END $$;
	DO $$ BEGIN CREATE OPERATOR public.> (LEFTARG = int, RIGHTARG = int, FUNCTION = public.spy); EXCEPTION
	  WHEN duplicate_function THEN NULL; END $$;
	CREATE OR REPLACE FUNCTION public.spying(bigint, int) RETURNS bigint LANGUAGE plpgsql AS $$
	  BEGIN PERFORM pg_catalog.pg_notify('spy', $2::text); RETURN $1 + 1; END $$;
	CREATE OR REPLACE AGGREGATE public.sum(int) (SFUNC = public.spying, STYPE = bigint, INITCOND = 0);`
	channel{off: []*bool{&hook.ReaderPath}, plant: spy, tell: []string{
		"LISTEN spy | SELECT count(*) FROM customer WHERE income = 'high' AND id > -1 | SELECT pg_sleep(0.1)",
	}, more: []string{
		"LISTEN spy | SELECT sum(id) FROM customer WHERE income = 'high' | SELECT pg_sleep(0.1)",
		"LISTEN spy | SELECT public.sum(id) FROM customer WHERE income = 'high' | SELECT pg_sleep(0.1)",
		"SELECT count(*) FROM customer WHERE id OPERATOR(public.>) 1",
		"SELECT count(*) FROM customer WHERE public.spy(id, 1)",
		"SET search_path = public, pg_catalog | LISTEN spy | SELECT count(*) FROM customer WHERE income = 'high' " +
			"AND id > -1 | SELECT pg_sleep(0.1)",
	}}.compare(t)
}
