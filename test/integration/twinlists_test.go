package integration

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
)

// empty: an answer without a value. clinicAttacks are statements that would list a row, and what they get.
const empty = "nothing"

var clinicAttacks = map[string][]string{
	"PV001": {"SELECT * FROM patients", "TABLE patients", "SELECT name FROM fugu_twin.patients",
		"SELECT p FROM patients p", "SELECT row_to_json(p) FROM patients p",
		"SELECT name FROM patients ORDER BY id LIMIT 1",
		"SELECT array_agg(name) FROM patients", "SELECT string_agg(name, ',') FROM patients",
		"SELECT json_agg(p) FROM patients p", "SELECT any_value(name) FROM patients",
		"SELECT bool_or(name = 'patient 7' AND smoker) FROM patients",
		"SELECT bit_or(id) FROM patients", "SELECT DISTINCT ON (ward) name FROM patients",
		"SELECT p.*, row_number() OVER () FROM patients p", "SELECT max(p) FROM patients p",
		"SELECT name, row_number() OVER (ORDER BY id) FROM patients",
		"SELECT first_value(name) OVER (ORDER BY id) FROM patients", "SELECT rank() OVER (ORDER BY cost) FROM patients",
		"SELECT name FROM (SELECT name, rank() OVER (PARTITION BY ward ORDER BY cost) AS nth FROM patients) x " +
			"WHERE nth = 1",
		"SELECT count(p) FROM patients p",
		"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY name) FROM patients",
		"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY age * 1000000 + cost) FROM patients",
		"SELECT sum(CASE WHEN id = 5 THEN cost ELSE 1 END) FROM patients",
		"SELECT sum(cost * (id = 5)::int) FROM patients", "SELECT avg(NULLIF(cost, 3)) FROM patients",
		"SELECT sum(GREATEST(cost, 900)) FROM patients",
		"SELECT sum(cost * (1 - sign(abs(id - 5)))) FROM patients",
		"SELECT avg(cost / (1 + 1e30 * (id - 5) * (id - 5))) FROM patients",
		"SELECT sum(strpos(name, 'patient 7')) FROM patients",
		"SELECT sum(cost * (id - 1) * (id - 2) * (id - 3)) FROM patients", "SELECT sum(age / 79) FROM patients",
		"SELECT sum(round(cost, -3)) FROM patients", "SELECT sum(age % 7) FROM patients",
		"SELECT count(DISTINCT strpos(name, 'patient 7')) FROM patients",
		"SELECT regr_intercept(cost, sign(abs(id - 5))) FROM patients",
		"SELECT sum(w) FROM (SELECT cost * (1 - sign(abs(id - 5))) AS w FROM patients) x",
		"SELECT count(*) FROM patients a JOIN patients b ON a.id = b.id",
		"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY a.cost) FROM patients a JOIN patients b ON a.id = 5 " +
			"OR a.id = b.id",
		"SELECT avg(p.cost) FROM patients p JOIN visits v ON p.id = 5 OR p.id = v.patient_id",
		"SELECT avg(p.cost) FROM visits v LEFT JOIN patients p ON p.id = v.patient_id + 1",
		"SELECT count(*) FROM patients, visits",
		"SELECT avg(p.cost) FROM patients p JOIN visits v ON p.id = v.patient_id JOIN visits w ON p.id = w.patient_id",
		"SELECT sum(own.tell(cost)) FROM patients", "SELECT count(*) FROM patients WHERE own.tell(cost) > 0",
		"SELECT count(*) FROM patients WHERE cost OPERATOR(own.<<<) 3",
		"SELECT count(*) FROM patients p, LATERAL (SELECT p.name) x",
		"SELECT x.name FROM wards w, LATERAL (SELECT name FROM patients WHERE ward = w.name LIMIT 1) x",
		"SELECT (SELECT name FROM patients WHERE ward = w.name LIMIT 1) FROM wards w",
		"SELECT name FROM wards WHERE EXISTS (SELECT FROM patients WHERE ward = wards.name)",
		"SELECT count(*) FROM patients TABLESAMPLE BERNOULLI (0.1)",
		"SELECT ctid, count(*) FROM patients GROUP BY ctid", "SELECT count(*) FROM patients WHERE ctid = '(0,1)'",
		"SELECT xmin FROM patients",
		"COPY patients TO STDOUT", "COPY (SELECT name FROM patients) TO STDOUT", "COPY fugu_twin.patients TO STDOUT",
		"DECLARE c CURSOR FOR SELECT * FROM patients", "CREATE TABLE own.t AS TABLE patients",
		"CREATE VIEW own.v AS SELECT * FROM patients",
		"CREATE VIEW own.v AS SELECT count(*) FROM patients", "PREPARE x AS SELECT name FROM fugu_twin.patients",
		"SELECT query_to_xml('SELECT * FROM fugu_' || 'twin.patients', true, true, '')",
		"SELECT name FROM patients UNION SELECT name FROM wards",
		"WITH x AS (SELECT * FROM patients) SELECT * FROM x", "INSERT INTO own.h SELECT name FROM patients",
		"EXPLAIN ANALYZE SELECT name FROM fugu_twin.patients", "LOCK TABLE patients",
		"SELECT count(*) FROM patients FOR UPDATE",
		"SELECT p.name, count(*) FROM patients p, wards w GROUP BY p.name",
		"SELECT name, count(*) FROM patients, generate_series(1, 1000) GROUP BY name",
		"SELECT count(*) FROM patients WHERE name IN (SELECT name FROM wards)",
		"DO $$ BEGIN EXECUTE 'SELECT name FROM fugu_' || 'twin.patients'; END $$", "UPDATE patients SET name = ''",
		"TRUNCATE patients", "MERGE INTO own.h USING patients ON true WHEN NOT MATCHED THEN INSERT VALUES (name)"},
	"42501": {"DO $$ BEGIN PERFORM name FROM fugu_twin.patients; END $$", "SELECT * FROM own.listed()",
		"DROP TABLE patients", "SELECT own.dynamic()"},
	"42703": {"SELECT secret_note, count(*) FROM patients GROUP BY 1",
		"SELECT count(*) FROM patients WHERE secret_note = 'note 7'"},
	empty: {"SELECT min(name), max(name), max(id), max(cost), mode() WITHIN GROUP (ORDER BY name) FROM patients",
		"SELECT max(name || cost || weight) FROM patients WHERE ward = 'north'",
		"SELECT min(cost) FROM patients WHERE id > 100",
		"SELECT id, name, count(*) FROM patients GROUP BY id, name", "SELECT DISTINCT name FROM patients",
		"SELECT name FROM patients GROUP BY name ORDER BY 1 LIMIT 1",
		"SELECT a.name, count(*) FROM patients a JOIN visits b ON a.id = b.patient_id GROUP BY a.name",
		// A flag in a product is a condition, whatever is added to it, and so is what stands in the place of NULL.
		"SELECT sum(cost * smoker::int) FROM patients WHERE NOT smoker OR id = 5",
		"SELECT sum(cost * (smoker::int + 1e-9)) FROM patients WHERE NOT smoker OR id = 5",
		"SELECT sum(smoker::int), avg(smoker::int), corr(cost, smoker::int), regr_slope(cost, 1 - smoker::int) " +
			"FROM patients WHERE NOT smoker OR id = 5",
		"SELECT sum(coalesce(weight, 0)) FROM patients WHERE weight IS NULL OR id = 5",
		"SELECT percentile_cont(0) WITHIN GROUP (ORDER BY cost), percentile_disc(1) " +
			"WITHIN GROUP (ORDER BY cost), percentile_disc(0.0001) WITHIN GROUP (ORDER BY cost) FROM patients",
		"SELECT count(*), avg(cost) FROM patients WHERE id = 7",
		"SELECT sum(CASE WHEN id = 5 THEN cost ELSE 0 END) FROM patients",
		"SELECT most_common_vals, histogram_bounds FROM pg_stats WHERE tablename = 'patients'",
		// On PostgreSQL an error, which would tell of one row; here no row can make one.
		"SELECT count(*) FROM patients WHERE name = 'patient 7' AND 1 / (age - 69) > 0",
		"SELECT count(*) FROM patients WHERE name::int > 0",
		"SELECT stddev(weight * 1e200) FROM patients WHERE id < 9",
		"SELECT sum(weight * 1e308) FROM patients WHERE id < 9",
		"SELECT sum(cost * 1e130000) FROM patients WHERE id < 9",
		"SELECT stddev(cost * 1e70000) FROM patients WHERE id < 9",
		"SELECT sum(age::int8 * 100000000000000000) FROM patients WHERE id < 9",
		"SELECT sum(CAST(name AS int)) FROM patients"},
}

// values are the answer's values that are there, and the code of an error.
func values(t testing.TB, c *pgx.Conn, sql string) (list []string, err error) {
	if _, err := c.Exec(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = c.Exec(context.WithoutCancel(t.Context()), "ROLLBACK") }()
	results, err := c.PgConn().Exec(t.Context(), sql).ReadAll()
	for _, r := range results {
		for _, row := range r.Rows {
			for _, v := range row {
				if v != nil {
					list = append(list, string(v))
				}
			}
		}
	}
	return list, err
}

func TestTwinListsNoRows(t *testing.T) {
	patient.Test(t)
	through, direct := serveClinic(t)
	c := connect(t, through)
	if err := clinic.Exec(t.Context(), "clinic",
		`CREATE TABLE IF NOT EXISTS own.h (name text); ALTER TABLE own.h OWNER TO clinic_guest;
	  CREATE OR REPLACE FUNCTION own.tell(numeric) RETURNS numeric LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'row %',
	    $1; RETURN $1; END $$;
	  CREATE OR REPLACE FUNCTION own.listed() RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT name
	    FROM fugu_twin.patients; END $$;
	  CREATE OR REPLACE FUNCTION own.dynamic() RETURNS text LANGUAGE plpgsql AS $$ DECLARE x text; BEGIN
	    EXECUTE 'SELECT max(name) FROM fugu_twin.patients' INTO x; RETURN x; END $$`); err != nil {
		t.Fatal(err)
	}
	for want, statements := range clinicAttacks {
		for _, sql := range statements {
			list, err := values(t, c, sql)
			switch {
			case want == empty && (err != nil || len(list) > 0):
				t.Errorf("%s: %q, %v; want nothing", sql, list, err)
			case want != empty && code(err) != want:
				t.Errorf("%s: %q, %v; want %s", sql, list, err, want)
			case want == "PV001" && pgError(err).Hint == "":
				t.Errorf("%s: %v has no hint", sql, err)
			}
		}
	}
	// PostgreSQL itself would list rows, so that what is refused is there.
	d := overTwins(t, direct)
	if list, err := values(t, d, "SELECT max(name), max(cost) FROM patients"); err != nil || len(list) != 2 {
		t.Errorf("PostgreSQL: %q, %v", list, err)
	}
}
