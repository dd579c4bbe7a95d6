package lex

import "testing"

// What may outlive its transaction is known by its words, wherever they stand; what only looks like it is not.
func TestLasting(t *testing.T) {
	for _, sql := range []string{
		"SET search_path = x", "set SESSION work_mem = 1", "RESET ALL", "DISCARD ALL", "PREPARE p AS SELECT 1",
		"EXECUTE p", "DEALLOCATE p", "LISTEN x", "UNLISTEN *", "LOAD 'x'",
		"DO 'BEGIN END'", "CALL p()", "SET fugu.epsilon = 1", "SET ROLE x", "SET SESSION AUTHORIZATION x",
		"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
		"BEGIN; SET x = 1", "SELECT ';'; SET x = 1", "SELECT 1 /* ; */; /* /* */ SELECT */ LISTEN x",
		"SELECT $$;$$; LISTEN x", "-- \nLISTEN x", "SELECT E'\\'; '; LISTEN x",
		"SELECT set_config('a', 'b', false)", `SELECT pg_catalog."set_config"('a', 'b', false)`,
		"SELECT SET_CONFIG('a', 'b', true)", `SELECT U&"set\005fconfig"('a', 'b', false)`,
		"CREATE TEMP TABLE t (x int)", "create local temporary table t ()", "CREATE OR REPLACE TEMP VIEW v AS SELECT 1",
		"SELECT 1 INTO TEMP t", "CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
		"DECLARE c CURSOR WITH HOLD FOR SELECT 1", "CREATE TABLE t AS EXECUTE p", "EXPLAIN ANALYZE EXECUTE p",
		"SELECT pg_advisory_lock(1)", "SELECT pg_try_advisory_lock_shared(1)",
		"SELECT currval('s')", "SELECT lastval()", "SELECT setseed(0)", "SELECT pg_backend_pid()",
		"SELECT dblink_connect('x')",
		"SELECT 'not ended", "SELECT $a$ not ended", "/* not ended", `SELECT "not ended`, "nonsense", `"select" 1`,
		"SET \"local\" = 1",
	} {
		if !Lasting(sql) {
			t.Errorf("not found to last: %s", sql)
		}
	}
	for _, sql := range []string{
		"", ";;", "SELECT 1", "select 'SET x = 1; LISTEN y'", "SELECT E'\\'; LISTEN x'", "SELECT $a$; LISTEN x; $$ $a$",
		"SELECT 1 -- ; LISTEN x", "/* LISTEN /* x */ ; LISTEN */ SELECT 1", "(SELECT 1) UNION (SELECT 2)",
		"UPDATE t SET x = 1", "INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET x = 1",
		"WITH x AS (SELECT 1) SELECT * FROM x", "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT 1; COMMIT",
		"SET LOCAL work_mem = '1MB'",
		"SET TRANSACTION READ ONLY", "SET CONSTRAINTS ALL DEFERRED", "SAVEPOINT a", "ROLLBACK TO a", "RELEASE a",
		"COPY t FROM STDIN", "DECLARE c CURSOR FOR SELECT 1", "FETCH ALL FROM c", "SHOW search_path",
		"SELECT temp, hold, $1::int, 1.5e3, a$b FROM weather",
		"SELECT pg_advisory_xact_lock(1), pg_try_advisory_xact_lock(2)", "CREATE TABLE t (x int)",
		"ALTER TABLE t SET (fillfactor = 50)", "NOTIFY x", "EXPLAIN SELECT 1",
		"TABLE t", "VALUES (1)", "ABORT", "END", "START TRANSACTION", "VACUUM t", "ANALYZE",
	} {
		if Lasting(sql) {
			t.Errorf("found to last: %s", sql)
		}
	}
	const sql = "SELECT abalance FROM pgbench_accounts WHERE aid = 4711 AND name <> 'SET x' -- no more"
	if n := testing.AllocsPerRun(100, func() { Lasting(sql) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
