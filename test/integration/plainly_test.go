package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
)

// A statement that would change how texts are read is an error, in either protocol, and the session goes on as it was.
func TestPinnedSettings(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	for _, set := range []string{"SET client_encoding = 'LATIN1'", "SET NAMES 'LATIN1'",
		"SET standard_conforming_strings = off",
		"SET LOCAL client_encoding TO latin1", "SELECT set_config('standard_conforming_strings', 'off', false)",
		"SELECT 1; SET client_encoding = 'LATIN1'; SELECT 2", "SET SESSION \"client_encoding\" = WIN1252",
		"PREPARE p AS SELECT set_config(setting_name => 'client_encoding', new_value => 'LATIN1', is_local => true)",
	} {
		p := dial(t, f.dsn("alice"))
		p.Send(t, query(set), query("SHOW client_encoding"), query("SHOW standard_conforming_strings"))
		simple := p.until(t, ready(3))
		p.Send(t, query("BEGIN"), query(set), query("SELECT 'lost'"), query("ROLLBACK"), query("SHOW client_encoding"))
		failed := p.until(t, ready(5))
		p.Send(t, parse("", "SELECT 'before'"), bind("", ""), execute("", 0), parse("", set), bind("", ""),
			execute("", 0), sync, query("SHOW client_encoding"))
		extended := p.until(t, ready(2))
		for name, got := range map[string]string{"simple": simple, "in a transaction": failed, "extended": extended} {
			if strings.Count(got, `"0A000"`) != 1 || strings.Contains(got, "FATAL") || !strings.Contains(got, "UTF8") ||
				strings.Contains(got, "lost") {
				t.Errorf("%s, %s:\n%s", set, name, got)
			}
		}
		if !strings.Contains(simple, `"on"`) || !strings.Contains(failed, "25P02") ||
			!strings.Contains(extended, "before") {
			t.Errorf("%s:\n%s\n%s\n%s", set, simple, failed, extended)
		}
		_ = p.Conn.Close()
	}
	c := f.connect(t)
	for _, set := range []string{"SET client_encoding = 'UTF8'", "SET NAMES 'utf-8'",
		"SET standard_conforming_strings = on", "RESET client_encoding", "SELECT set_config('client_encoding', " +
			"'UTF8', true)", "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE"} {
		if _, err := c.Exec(t.Context(), set, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Errorf("%s: %v", set, err)
		}
	}
}

// What a role has by default is not what a session through Fugu has, and nothing takes a session back to it.
func TestPinnedSettingsOfRoles(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	c := f.connect(t)
	for _, sql := range []string{"ALTER ROLE CURRENT_USER SET client_encoding = 'LATIN1'",
		"ALTER ROLE CURRENT_USER SET standard_conforming_strings = off"} {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, of := range []string{"client_encoding", "standard_conforming_strings"} {
			if _, err := c.Exec(context.Background(), "ALTER ROLE CURRENT_USER RESET "+of); err != nil {
				t.Error(err)
			}
		}
	})
	direct, again := connect(t, adultDatabase(t).cluster.DSN("fugu_guest", "adult")), f.connect(t)
	const show = "SELECT current_setting('client_encoding'), current_setting('standard_conforming_strings')"
	if got := rows(t, direct, show, pgx.QueryExecModeExec); !strings.Contains(got, `"off"`) {
		t.Fatalf("without Fugu the role has %s: it is no test", got)
	}
	for _, sql := range []string{"SELECT", "RESET ALL", "RESET client_encoding", "DISCARD ALL",
		"SET standard_conforming_strings TO DEFAULT", "SET SESSION AUTHORIZATION DEFAULT",
		"BEGIN; SET LOCAL client_encoding TO DEFAULT; COMMIT"} {
		if _, err := again.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		if got := rows(t, again, show, pgx.QueryExecModeSimpleProtocol); got != "[\"UTF8\" \"on\"]\n" {
			t.Errorf("after %s: %s", sql, got)
		}
	}
}

// Expressions that the database keeps, and those that take no subquery, cannot have a mask put into them: what needs
// none works, and what needs one is refused, whatever kind of statement it stands in.
func TestMaskedFunctionsInDefinitions(t *testing.T) {
	patient.Test(t)
	c := serve(t, options{}).connect(t)
	exec := func(sql string) error {
		_, err := c.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	for _, sql := range []string{
		"CREATE TEMP SEQUENCE own", "CREATE TEMP TABLE kept (id bigint DEFAULT nextval('own'), again bigint DEFAULT " +
			"currval('own'), CHECK (again <= currval('own')))",
		"INSERT INTO kept DEFAULT VALUES", "ALTER TABLE kept ALTER again SET DEFAULT pg_catalog.currval('own')",
		"CREATE TEMP TABLE lsn (at text DEFAULT pg_current_wal_lsn()::text)",
		"INSERT INTO lsn DEFAULT VALUES", "ALTER TABLE kept ALTER again TYPE numeric USING again + 0 * currval('own')",
	} {
		if err := exec(sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if got := rows(t, c, "SELECT id, again, at IS NULL FROM kept, lsn",
		pgx.QueryExecModeSimpleProtocol); got != "[\"1\" \"1\" \"t\"]\n" {
		t.Errorf("what was kept is %s", got)
	}
	const call = "pg_relation_size('adult')"
	for _, sql := range []string{
		"CREATE TEMP TABLE x (a bigint DEFAULT %s)", "CREATE TEMP TABLE x (a bigint CHECK (a < %s))",
		"CREATE TEMP TABLE x (a bigint, b bigint GENERATED ALWAYS AS (%s) STORED)",
		"ALTER TABLE kept ADD y bigint DEFAULT %s", "ALTER TABLE kept ALTER id SET DEFAULT %s",
		"ALTER TABLE kept ADD CHECK (id < %s)", "ALTER TABLE kept ALTER id TYPE numeric USING %s",
		"CREATE INDEX ON kept ((id + %s))", "CREATE INDEX ON kept (id) WHERE id < %s", "CREATE TEMP TABLE x (a " +
			"bigint) PARTITION BY RANGE ((a + %s))",
		"CREATE TEMP TABLE x (a bigint, EXCLUDE USING btree ((a + %s) WITH =))", "CREATE STATISTICS st " +
			"ON (id + %s), again FROM kept",
		"CREATE TEMP TABLE x PARTITION OF kept FOR VALUES IN (%s)", "CREATE DOMAIN d AS bigint DEFAULT %s",
		"CREATE DOMAIN d AS bigint CHECK (value < %s)", "ALTER DOMAIN d SET DEFAULT %s",
		"CREATE TRIGGER tr BEFORE INSERT ON kept FOR EACH ROW WHEN (NEW.id < %s) EXECUTE FUNCTION " +
			"suppress_redundant_updates_trigger()", "CALL p(%s)",
		"CREATE FUNCTION pg_temp.f(a bigint DEFAULT %s) RETURNS bigint LANGUAGE sql RETURN a",
		"COPY kept FROM STDIN WHERE id < %s", "INSERT INTO kept VALUES (1) ON CONFLICT ((id + %s)) DO NOTHING",
		"INSERT INTO kept VALUES (1) ON CONFLICT (id) WHERE id < %s DO NOTHING", "EXECUTE none(%s)",
		"CREATE PUBLICATION p FOR TABLE kept WHERE (id < %s)",
	} {
		sql = fmt.Sprintf(sql, call)
		err := exec(sql)
		if code(err) != "PV001" || pgError(err).Position == 0 || pgError(err).Hint == "" {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// Errors about ordinary statements, masked or not, alone or beside others, have the position that they have without
// Fugu.
func TestErrorsKeepTheirPosition(t *testing.T) {
	patient.Test(t)
	db := adultDatabase(t)
	c, direct := serve(t, options{}).connect(t), db.truth(t)
	for _, sql := range []string{
		"SELECT nothing", "SELECT relname,\n\t nothing, reltuples FROM pg_class", "SELECT 'ü', reltuples " +
			"FROM pg_class WHERE relpages = 'x'",
		"SELECT reltuples FROM pg_class WHERE (( nothing(reltuples) ))", "SELECT n_live_tup FROM pg_stat_user_tables " +
			"JOIN missing USING (relid)",
		"SELECT pg_relation_size('kept') + 1 AS s, missing.x FROM pg_class", "SELECT 1; SELECT 'ü';\n " +
			"SELECT nothing, reltuples FROM pg_class; SELECT 2",
		"SELECT reltuples FROM pg_class LIMIT 1; SELECT 'ü';\n\n  SELECT  nothing", "INSERT INTO missing " +
			"SELECT reltuples FROM pg_class", "SELECT CAST(reltuples AS missing) FROM pg_class",
		"SELECT reltuples FROM pg_class ORDER BY nothing", "SELECT c.reltuples FROM pg_class AS c " +
			"WHERE d.relname = 'x'", "SELECT reltuples OPERATOR(public.+) 1 FROM pg_class",
		"SELECT pg_catalog.overlay(null::text, null::text, 1, 2), nothing, reltuples FROM pg_class",
		"SELECT 1 / 0, reltuples FROM pg_class", "SHOW client_encoding; SELECT nothing FROM pg_stat_user_tables",
		"CREATE TEMP TABLE u AS SELECT nothing, reltuples FROM pg_class", "SELECT sum(reltuples) " +
			"FILTER (WHERE sum(1) > 1) FROM pg_class", "SELECT reltuples = ANY (nothing) FROM pg_class",
	} {
		for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec} {
			if mode == pgx.QueryExecModeExec && strings.Contains(sql, ";") {
				continue
			}
			_, err := c.Exec(t.Context(), sql, mode)
			_, want := direct.Exec(t.Context(), sql, mode)
			if err == nil || want == nil {
				t.Errorf("%s: %v, and %v without Fugu", sql, err, want)
				continue
			}
			got, expected := pgError(err), pgError(want)
			if got.Code != expected.Code || got.Position != expected.Position || got.Message != expected.Message ||
				got.Hint != expected.Hint {
				t.Errorf("%s:\n%+v, and without Fugu\n%+v", sql, got, expected)
			}
		}
	}
	for sql, want := range map[string]string{
		"SELECT 1;\n SELECT count(*) FROM adult WHERE nothing = 1": "nothing", "SELECT 'ü';\n  DO $$ BEGIN EXECUTE " +
			"'pg_class'; END $$": "DO",
		"SELECT 1; SET standard_conforming_strings = off": "standard",
	} {
		_, err := c.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		if e := pgError(err); e == nil || int(e.Position) != len([]rune(sql[:strings.Index(sql, want)]))+1 {
			t.Errorf("%s: %+v", sql, e)
		}
	}
	long := "SELECT reltuples FROM pg_class WHERE " + strings.Repeat("relname = 'x' OR ", 1000) + "false"
	_, err := c.Exec(t.Context(), long)
	if code(err) != "54001" || strings.Contains(pgError(err).Message, "protected") {
		t.Errorf("a long statement over the catalog: %v", err)
	}
}
