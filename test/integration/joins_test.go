package integration

import (
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
)

// lab gives the guest a schema of its own, as an analyst may have one, and the reader the right to look into it. What
// can be joined with protected rows is what truth makes there, who owns these.
func lab(t *testing.T) *pgx.Conn {
	t.Helper()
	truth := adultDatabase(t).truth(t)
	rows(t, truth, `DROP SCHEMA IF EXISTS lab CASCADE`)
	rows(t, truth, `CREATE SCHEMA lab AUTHORIZATION fugu_guest`)
	rows(t, truth, `GRANT USAGE ON SCHEMA lab TO fugu_reader`)
	for _, owner := range []string{"fugu_guest", "CURRENT_USER"} {
		rows(t, truth, `ALTER DEFAULT PRIVILEGES FOR ROLE `+owner+
			` IN SCHEMA lab GRANT SELECT ON TABLES TO fugu_reader`)
	}
	rows(t, truth,
		`ALTER DEFAULT PRIVILEGES IN SCHEMA lab GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO fugu_guest`)
	t.Cleanup(func() { _, _ = truth.Exec(t.Context(), "DROP SCHEMA IF EXISTS lab CASCADE") })
	return truth
}

// noise is the largest standard deviation of the noise that a statement would get.
func noiseOf(t *testing.T, c *pgx.Conn, sql string) float64 {
	t.Helper()
	text := rows(t, c, "EXPLAIN (PRIVACY) "+sql)
	_, rest, ok := strings.Cut(text, ": sd ")
	if !ok {
		t.Fatalf("no noise in %s", text)
	}
	first, _, _ := strings.Cut(rest, ",")
	if _, last, ok := strings.Cut(first, " to "); ok {
		first = last
	}
	sd, err := strconv.ParseFloat(first, 64)
	if err != nil {
		t.Fatal(err)
	}
	return sd
}

// Analysts may write to ordinary tables. Noise follows what they hold at the moment of the answer: rows that a join
// multiplies count as often as they are joined.
func TestJoinsAreCalibratedToWhatTheyMultiply(t *testing.T) {
	patient.Test(t)
	truth := lab(t)
	f := serve(t, options{})
	c := f.connect(t)
	rows(t, truth, "CREATE TABLE lab.weight (income text, i int)")
	rows(t, c, "INSERT INTO lab.weight SELECT i, 1 FROM unnest('{<=50K,>50K}'::text[]) i")
	const sql = "SELECT count(*) FROM adult a JOIN lab.weight w ON w.income = a.income"
	if alone := noiseOf(t, c, sql); alone > 3 {
		// Every row once: the count is the public number of rows, whatever the incomes are.
		t.Errorf("a join that multiplies nothing has noise of sd %g", alone)
	}
	one := noiseOf(t, c, "SELECT count(*) FROM adult WHERE income = '>50K'")
	rows(t, c, "INSERT INTO lab.weight SELECT '>50K', i FROM generate_series(2, 100) i")
	many := noiseOf(t, c, sql)
	if many < 80*one || many > 120*one {
		t.Errorf("incomes above 50K counted 100 times have noise of sd %g, once of %g", many, one)
	}
}

// A statement that was planned when a table's rows were unique counts what they are when it runs: a row that the
// reference does not show, too, is multiplied then. Taken for unique, they would have less than two thirds of this
// noise.
func TestJoinsCountPartnersWhenTheyRun(t *testing.T) {
	patient.Test(t)
	truth := lab(t)
	f := serve(t, options{})
	c := f.connect(t)
	rows(t, truth, "CREATE TABLE lab.old (age int, i int)")
	rows(t, c, "INSERT INTO lab.old SELECT age, 1 FROM generate_series(85, 90) age")
	const sql = "SELECT count(*) FROM adult a JOIN lab.old o ON o.age = a.age"
	one := noiseOf(t, c, sql)
	rows(t, c, "INSERT INTO lab.old SELECT age, i FROM generate_series(85, 90) age, generate_series(2, 100) i")
	if many := noiseOf(t, c, sql); many < 80*one || many > 125*one {
		t.Errorf("rows counted 100 times have noise of sd %g, once of %g", many, one)
	}
}

// A stored answer stands for what the ordinary tables held: other rows are another question, the old ones the old one.
func TestJoinsKnowTheContents(t *testing.T) {
	patient.Test(t)
	truth := lab(t)
	f := serve(t, options{})
	c := f.connect(t)
	rows(t, truth, "CREATE TABLE lab.region (country text, name text)")
	rows(t, c, "INSERT INTO lab.region VALUES ('United-States', 'here'), ('Mexico', 'there')")
	const sql = "SELECT name, count(*) FROM adult LEFT JOIN lab.region ON country = native_country GROUP BY name " +
		"ORDER BY name"
	first := rows(t, c, sql)
	if strings.Count(first, "\n") != 3 {
		t.Errorf("the groups here, there and none: %q", first)
	}
	if again := rows(t, c, strings.ToLower(sql)); again != first {
		t.Errorf("%q, then %q", first, again)
	}
	cost, n := spent(t, c)
	rows(t, c, "UPDATE lab.region SET name = 'far' WHERE name = 'there'")
	if other := rows(t, c, sql); !strings.Contains(other, "far") || other == first {
		t.Errorf("after an update: %q", other)
	}
	if now, m := spent(t, c); m != n+1 || now <= cost {
		t.Errorf("another content of the table cost %g after %g", now, cost)
	}
	cost, n = spent(t, c)
	rows(t, c, "UPDATE lab.region SET name = 'there' WHERE name = 'far'")
	if back := rows(t, c, sql); back != first {
		t.Errorf("with the old rows again: %q, was %q", back, first)
	}
	if now, m := spent(t, c); m != n || now != cost {
		t.Errorf("an answer that is stored cost %g", now-cost)
	}
}

// What cannot be held still, or is not the session's to read, is refused before anything is read or charged.
func TestJoinsRefuse(t *testing.T) {
	patient.Test(t)
	truth := lab(t)
	f := serve(t, options{})
	c := f.connect(t)
	rows(t, truth, "CREATE TABLE lab.plain (country text)")
	rows(t, truth, "CREATE TABLE lab.secured (country text)")
	rows(t, truth, "ALTER TABLE lab.secured ENABLE ROW LEVEL SECURITY")
	rows(t, c, "CREATE TABLE lab.own (country text)")
	rows(t, c, "CREATE TYPE lab.kind AS ENUM ('a')")
	rows(t, truth, "CREATE TABLE lab.typed (country text, kind lab.kind)")
	rows(t, c, "CREATE FUNCTION lab.spy() RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''the spy ran as "+
		"%'', current_user; END'")
	rows(t, c, "CREATE VIEW lab.planted AS SELECT lab.spy() AS country")
	rows(t, c, "CREATE TEMP TABLE fleeting (country text)")
	rows(t, truth, "CREATE TABLE lab.others (country text)")
	rows(t, truth, "GRANT SELECT ON lab.others TO fugu_reader")
	rows(t, truth, "REVOKE ALL ON lab.others FROM fugu_guest")
	ask := func(table string) error {
		_, err := c.Exec(t.Context(), "SELECT count(*) FROM adult JOIN "+table+" ON country = native_country")
		return err
	}
	if err := ask("lab.plain"); err != nil && code(err) != "PV004" {
		t.Fatal(err)
	}
	_, n := spent(t, c)
	for table, want := range map[string]string{
		"lab.own": "PV001", "lab.typed": "PV001", "lab.secured": "PV001", "lab.planted": "PV001", "fleeting": "PV001",
		"lab.others": "42501", "plain": "PV001", "pg_stat_activity x": "PV001",
		"lab.nothing": "PV001",
	} {
		if err := ask(table); code(err) != want {
			t.Errorf("%s: %v, want %s", table, err, want)
		}
	}
	rows(t, c, "SET search_path = lab, public")
	if err := ask("plain"); err != nil && code(err) != "PV004" {
		t.Errorf("a name that the session's search_path finds: %v", err)
	}
	// A prepared statement's table becomes a view.
	if _, err := c.Prepare(t.Context(), "p",
		"SELECT count(*) FROM adult JOIN lab.plain ON country = native_country"); err != nil {
		t.Fatal(err)
	}
	rows(t, c, "DROP TABLE lab.plain")
	rows(t, c, "CREATE VIEW lab.plain AS SELECT lab.spy() AS country")
	if _, err := c.Exec(t.Context(), "p"); code(err) != "PV001" {
		t.Errorf("a view in the place of a table: %v", err)
	}
	if _, m := spent(t, c); m > n+1 {
		t.Errorf("refused statements were charged: %d releases, then %d", n, m)
	}
}

// Views over a protected table are read as if their query stood in the statement: filters and columns, nothing else.
func TestViewsOverProtectedTables(t *testing.T) {
	patient.Test(t)
	truth := adultDatabase(t).truth(t)
	rows(t, truth, "CREATE OR REPLACE VIEW public.women AS SELECT age AS years, education, hours_per_week FROM adult "+
		"WHERE sex = 'Female'")
	rows(t, truth, "CREATE OR REPLACE VIEW public.old_women AS SELECT w.years + 0 AS age, upper(w.education) AS "+
		"level, w.* FROM women w WHERE years > 60")
	rows(t, truth, "CREATE OR REPLACE VIEW public.oldest AS SELECT max(age) AS m FROM adult")
	t.Cleanup(func() { _, _ = truth.Exec(t.Context(), "DROP VIEW public.oldest, public.old_women, public.women") })
	f := serve(t, options{})
	c := f.connect(t)
	direct := rows(t, c, "SELECT education, count(*) FROM adult WHERE sex = 'Female'::text GROUP BY education "+
		"ORDER BY 1")
	if got := rows(t, c, "SELECT education, count(*) FROM women GROUP BY education ORDER BY 1"); got != direct {
		t.Errorf("through the view %q, without %q", got, direct)
	}
	if got := rows(t, c, "SELECT count(*) FROM old_women WHERE hours_per_week > 20"); got == "" {
		t.Error("a view over a view has no answer")
	}
	for _, sql := range []string{"SELECT count(*) FROM oldest", "SELECT m FROM oldest", "SELECT * FROM women",
		"SELECT max(years) FROM women", "TABLE old_women"} {
		if _, err := c.Exec(t.Context(), sql); code(err) != "PV001" {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// A domain is read as the type below it; a type of one's own is named as what cannot be read.
func TestJoinsReadDomains(t *testing.T) {
	patient.Test(t)
	truth := lab(t)
	f := serve(t, options{})
	c := f.connect(t)
	rows(t, truth, "CREATE DOMAIN lab.word AS text CHECK (VALUE <> '')")
	rows(t, truth, "CREATE DOMAIN lab.sex AS lab.word")
	rows(t, truth, "CREATE TYPE lab.pair AS (a int, b int)")
	rows(t, truth, "CREATE TABLE lab.sexes (sex lab.sex PRIMARY KEY, short lab.word, pair lab.pair)")
	rows(t, truth, "INSERT INTO lab.sexes VALUES ('Male', 'm'), ('Female', 'f')")
	grouped := noiseOf(t, c, "SELECT sex, count(*) FROM adult GROUP BY 1")
	const joined = "SELECT s.sex, count(*) FROM adult a JOIN lab.sexes s ON s.sex = a.sex GROUP BY 1"
	if sd := noiseOf(t, c, joined); sd > 2*grouped {
		t.Errorf("by a domain: sd %g, by the column %g", sd, grouped)
	}
	for _, sql := range []string{"SELECT count(*) FROM adult a JOIN lab.sexes s ON s.pair = a.sex",
		"SELECT count(*) FROM adult a JOIN (SELECT pair AS sex FROM lab.sexes) s USING (sex)"} {
		_, err := c.Exec(t.Context(), sql)
		if code(err) != "PV001" || !strings.Contains(err.Error(), "its type is lab.pair") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
