package integration

import (
	"context"
	"strings"
	"testing"

	"fugu/test/patient"
	"fugu/wire"
)

// blind is an engine whose parser sees nothing: every statement is ordinary to it.
type blind struct{ wire.Engine }

type blindSession struct{ wire.Session }

func (e blind) Open(ctx context.Context, startup wire.Startup) (wire.Session, error) {
	s, err := e.Engine.Open(ctx, startup)
	if err != nil {
		return nil, err
	}
	return blindSession{s}, nil
}

func (blindSession) Ordinary([]byte) bool { return true }

func (blindSession) Interpret(context.Context, string, []uint32) ([]wire.Statement, error) {
	return nil, nil
}

// reaching are ways to protected rows. All but the last statement of each, divided by |, prepare it.
var reaching = []string{
	"SELECT * FROM adult",
	"TABLE adult",
	"SELECT FROM adult",
	"SELECT 1 FROM public.adult WHERE false",
	"SELECT a FROM adult a LIMIT 1",
	"SELECT ctid, xmin FROM ONLY adult TABLESAMPLE SYSTEM (1)",
	"SELECT max(age) FROM adult",
	"SELECT string_agg(sex, '') FROM adult",
	"SELECT (SELECT min(age) FROM adult)",
	"SELECT 1 WHERE EXISTS (SELECT FROM adult WHERE age > 80)",
	"SELECT name FROM country WHERE name IN (SELECT native_country FROM adult)",
	"SELECT name, a.age FROM country JOIN adult a ON a.native_country = name",
	"SELECT name, l.* FROM country, LATERAL (SELECT * FROM adult WHERE native_country = name) l",
	"WITH a AS MATERIALIZED (SELECT * FROM adult) SELECT * FROM a",
	"WITH RECURSIVE a AS (SELECT age FROM adult UNION SELECT age + 1 FROM a WHERE age < 3) SELECT * FROM a",
	"SELECT age FROM adult_reference UNION ALL SELECT age FROM adult",
	"SELECT age FROM adult FOR UPDATE",
	"SELECT * INTO TEMP x FROM adult",
	"CREATE TEMP TABLE x AS SELECT * FROM adult",
	"CREATE TEMP TABLE x AS TABLE adult WITH NO DATA | INSERT INTO x SELECT * FROM adult",
	"CREATE TEMP TABLE x () INHERITS (adult)",
	"CREATE TABLE x (LIKE adult)",
	"CREATE TEMP VIEW x AS SELECT * FROM adult | SELECT * FROM x",
	"CREATE VIEW x AS SELECT * FROM adult",
	"CREATE MATERIALIZED VIEW x AS SELECT * FROM adult",
	"EXPLAIN SELECT * FROM adult",
	"EXPLAIN ANALYZE SELECT * FROM adult",
	"EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) SELECT count(*) FROM adult WHERE income = '>50K'",
	"PREPARE x AS SELECT * FROM adult | EXECUTE x",
	"PREPARE x AS SELECT * FROM adult | EXPLAIN ANALYZE EXECUTE x",
	"BEGIN | DECLARE x CURSOR FOR SELECT * FROM adult",
	"COPY adult TO STDOUT",
	"COPY (SELECT * FROM adult) TO STDOUT (FORMAT csv)",
	"COPY adult (age) TO '/tmp/x'",
	"COPY adult FROM STDIN",
	"INSERT INTO adult (age) VALUES (1)",
	"INSERT INTO country SELECT sex, education FROM adult",
	"UPDATE adult SET age = 1",
	"UPDATE country SET continent = adult.sex FROM adult RETURNING *",
	"DELETE FROM adult RETURNING *",
	"DELETE FROM country USING adult WHERE adult.native_country = name RETURNING *",
	"MERGE INTO country USING adult ON native_country = name WHEN MATCHED THEN DO NOTHING",
	"TRUNCATE adult",
	"BEGIN | LOCK TABLE adult IN ACCESS SHARE MODE",
	"ALTER TABLE adult ADD x int",
	"ALTER TABLE adult OWNER TO fugu_guest",
	"CREATE INDEX x ON adult (age) WHERE income = '>50K'",
	"CREATE STATISTICS x ON age, sex FROM adult",
	"CREATE RULE x AS ON SELECT TO adult DO INSTEAD SELECT 1",
	"CREATE POLICY x ON adult",
	"GRANT SELECT ON adult TO fugu_guest",
	"DROP TABLE adult",
	"DO $$ BEGIN PERFORM count(*) FROM adult; END $$",
	"DO $$ BEGIN EXECUTE 'SELECT 1 FROM ad' || 'ult'; END $$",
	"CREATE FUNCTION pg_temp.x() RETURNS SETOF int LANGUAGE sql AS 'SELECT age FROM adult' | SELECT pg_temp.x()",
	"CREATE FUNCTION pg_temp.x() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT min(age) " +
		"FROM adult); END $$ | SELECT pg_temp.x()",
	"SELECT query_to_xml('SELECT * FROM adult', true, false, '')",
	"SELECT table_to_xml('adult', true, false, '')",
	"SELECT cursor_to_xml('x', 1, true, false, '') FROM adult",
	"SELECT ts_stat('SELECT sex::tsvector FROM adult')",
	"SELECT most_common_vals FROM pg_statistic_ext_data, pg_stats WHERE tablename = 'adult'",
	"SELECT stavalues1 FROM pg_statistic WHERE starelid = 'adult'::regclass",
	"SELECT pg_read_file('PG_VERSION'), 'adult'",
	"SET ROLE fugu_reader | SELECT * FROM adult",
	"SET SESSION AUTHORIZATION fugu_reader | SELECT * FROM adult",
	"/* */ SELECT * FROM \"adult\"",
	`SELECT * FROM U&"\0061dult"`,
	"SET search_path = pg_catalog, public | SELECT * FROM adult",
}

// With a parser that sees nothing, the database itself refuses every way to protected rows; and with the real one, none
// leads to a row either. Both hold in the simple and in the extended protocol.
func TestDatabaseRefusesTheGuest(t *testing.T) {
	patient.Test(t)
	db := adultDatabase(t)
	rowsBefore := rows(t, db.truth(t), "SELECT count(*), sum(age) FROM adult")
	countries := rows(t, db.truth(t), "SELECT count(*), min(continent), max(continent) FROM country")
	blinded := serve(t, options{wrapEngine: func(e wire.Engine) wire.Engine { return blind{e} }})
	seeing := serve(t, options{policy: []string{"plain_rows: reference", "plain_rows: deny"}})
	for _, way := range reaching {
		steps := strings.Split(way, " | ")
		last := steps[len(steps)-1]
		for name, messages := range map[string][]message{"simple": {query(last)}, "extended": append(run(last), sync)} {
			p := dial(t, blinded.dsn("alice"))
			if got := attempt(t, p, steps, messages); !contains(got, `"Code":"42501"`) || fruitful(got) {
				t.Errorf("%s (%s): with a blind parser PostgreSQL says\n%s", way, name, got)
			}
			p = dial(t, seeing.dsn("alice"))
			if got := attempt(t, p, steps, messages); !contains(got, `"Severity":"ERROR"`) || fruitful(got) {
				t.Errorf("%s (%s): Fugu says\n%s", way, name, got)
			}
		}
	}
	if got := rows(t, db.truth(t), "SELECT count(*), sum(age) FROM adult"); got != rowsBefore {
		t.Errorf("the protected table changed: %s, was %s", got, rowsBefore)
	}
	if got := rows(t, db.truth(t), "SELECT count(*), min(continent), max(continent) FROM country"); got != countries {
		t.Errorf("country changed: %s, was %s", got, countries)
	}
	if e, n := spent(t, seeing.connect(t)); e != 0 || n != 0 {
		t.Errorf("refused statements cost epsilon %g, %d releases", e, n)
	}
}

// An aggregate that the real parser answers with noise is refused as well when it reaches the guest as it is.
func TestDatabaseRefusesAggregates(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{wrapEngine: func(e wire.Engine) wire.Engine { return blind{e} }})
	for _, sql := range []string{"SELECT count(*) FROM adult", "SELECT sex, avg(age) FROM adult GROUP BY sex",
		"SELECT sum(capital_gain) FROM (SELECT * FROM adult) a"} {
		for _, messages := range [][]message{{query(sql)}, append(run(sql), sync)} {
			if got := attempt(t, dial(t, f.dsn("alice")), []string{sql}, messages); !contains(got, `"Code":"42501"`) ||
				fruitful(got) {
				t.Errorf("%s: %s", sql, got)
			}
		}
	}
}

// attempt goes all steps but the last, then sends messages in the last one's place, and returns all replies.
func attempt(t testing.TB, p *peer, steps []string, messages []message) string {
	t.Helper()
	defer p.Conn.Close()
	out := ""
	for _, s := range steps[:len(steps)-1] {
		p.Send(t, query(s))
		out += p.until(t, ready(1))
	}
	p.Send(t, messages...)
	return out + p.until(t, ready(1))
}

// fruitful reports whether any row came.
func fruitful(replies string) bool {
	return contains(replies, `"DataRow"`) || contains(replies, `"CopyData"`) || contains(replies, `"Type":"Copy`)
}
