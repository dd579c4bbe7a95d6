package integration

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/ledger"
	"fugu/test/patient"
	"fugu/test/pgcluster"
	"fugu/twin/build"
	"fugu/upstream"
)

const clinicPolicy = `version: 1
dataset: clinic
tables:
  public.patients: {rows: 6000, answers: twin, twin: {at_least: 10, drop: [secret_note]}}
  public.visits: {link: {to: public.patients, on: {patient_id: id}}, twin: {at_least: 10}}
secrets:
  smokers: {table: public.patients, proportion: smoker, values: {from: 0.20, to: 0.50, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 1, delta: 0.001, per: dataset}}
analysts: [alice]
`

// clinic is the cluster, once its twins are built.
var clinic *pgcluster.Cluster

// clinicLedger keeps the counts and the key of the clinic's twins.
var clinicLedger string

// buildClinic builds the clinic's twins by a policy.
func buildClinic(t testing.TB, text string) build.Report {
	t.Helper()
	if clinicLedger == "" {
		dir, err := os.MkdirTemp("", "clinic")
		if err != nil {
			t.Fatal(err)
		}
		clinicLedger = "sqlite:" + filepath.Join(dir, "fugu.db")
	}
	l, err := ledger.Open(t.Context(), clinicLedger, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return buildTwins(t, clinic.DSN("clinic_keeper", "clinic"), text, build.Keeper{Ledger: l,
		Guests: []string{"clinic_guest"}, Reader: "clinic_reader"}, build.Options{})[0]
}

// serveClinic starts a Fugu over the clinic; edits are of the policy, old and new in turn. direct leads to PostgreSQL
// as a superuser.
func serveClinic(t testing.TB, edits ...string) (through, direct string) {
	t.Helper()
	adultDatabase(t)
	if clinic == nil {
		clinic = pgcluster.Shared(t)
		if err := clinic.CreateDatabase(t.Context(), "clinic", ""); err != nil {
			t.Fatal(err)
		}
		if err := clinic.Exec(t.Context(), "clinic", clinicSQL); err != nil {
			t.Fatal(err)
		}
		buildClinic(t, clinicPolicy)
	}
	f := serve(t, options{guest: clinic.DSN("clinic_guest", "clinic"), reader: clinic.DSN("clinic_reader", "clinic"),
		policyText: strings.NewReplacer(edits...).Replace(clinicPolicy)})
	return strings.Replace(f.dsn("alice"), "/adult", "/clinic", 1), clinic.DSN("postgres", "clinic")
}

// clinicStatements are answered as PostgreSQL answers them on the twin: every group has enough rows.
var clinicStatements = []string{
	"SELECT count(*), count(weight), sum(cost), avg(age), stddev(age), var_pop(cost), count(DISTINCT age), " +
		"sum(DISTINCT age) FROM patients",
	"SELECT ward, insured, count(*), avg(cost), round(corr(age, cost)::numeric, 9), round(regr_slope(weight, " +
		"age)::numeric, 9) FROM patients WHERE ward <> 'rare' GROUP BY ward, insured ORDER BY 1, 2",
	"SELECT ward, count(*) FILTER (WHERE age > 50), sum(CASE WHEN insured THEN cost ELSE 0 END), " +
		"sum(coalesce(weight, 0)::int) FROM patients WHERE ward <> 'rare' GROUP BY ward",
	"SELECT date_trunc('quarter', admitted) AS q, count(*), sum(cost * age), avg(age + 1) FROM patients GROUP BY q " +
		"ORDER BY q",
	"SELECT ward, percentile_cont(0.5) WITHIN GROUP (ORDER BY cost), percentile_disc(0.25) WITHIN GROUP (ORDER BY " +
		"age) FROM patients WHERE ward <> 'rare' GROUP BY ward",
	"SELECT max(age), min(age), max(insured::text), mode() WITHIN GROUP (ORDER BY insured) FROM patients",
	"SELECT ward, max(age) - min(age) AS span FROM patients WHERE ward <> 'rare' GROUP BY ward HAVING count(*) > 100 " +
		"ORDER BY span, ward",
	"SELECT p.ward, v.kind, count(*), sum(v.fee) FROM visits v JOIN patients p ON p.id = v.patient_id WHERE v.kind " +
		"<> 'trial' AND ward <> 'rare' GROUP BY 1, 2 ORDER BY 1, 2",
	"SELECT kind, avg(fee) FROM public.visits WHERE kind <> 'trial' GROUP BY kind",
	"SELECT CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS a, count(*) FROM patients GROUP BY 1",
	"SELECT ward, insured, GROUPING(ward, insured), count(*) FROM patients WHERE ward <> 'rare' GROUP BY ROLLUP " +
		"(ward, insured)",
	"SELECT ward, count(*), rank() OVER (ORDER BY count(*)), sum(count(*)) OVER () FROM patients WHERE ward <> " +
		"'rare' GROUP BY ward",
	"WITH w AS (SELECT ward, avg(cost) AS c FROM patients WHERE ward <> 'rare' GROUP BY ward) SELECT w.ward, " +
		"round(w.c / b.beds, 6) FROM w JOIN wards b ON b.name = w.ward",
	"SELECT DISTINCT insured FROM patients", "SELECT insured FROM patients GROUP BY 1 UNION SELECT true",
	"SELECT (SELECT count(*) FROM patients WHERE age > 30) - (SELECT count(*) FROM patients WHERE age > 40)",
	"SELECT count(*) FROM (SELECT age AS a FROM patients WHERE age BETWEEN 30 AND 40) x WHERE a <> 35",
	"SELECT one, count(*) FROM (SELECT 3 AS one FROM patients) x GROUP BY one",
	"SELECT sum(cost * smoker::int), avg(smoker::int), sum(cost / weight), stddev(cost * (age - 3) / 7.0), " +
		"avg(DATE '2026-01-01' - admitted), avg(extract(year FROM admitted)), sum(abs(age - id)), " +
		"count(DISTINCT date_trunc('month', admitted)), corr(cost, smoker::int) FROM patients",
	"SELECT count(*), avg(v.fee * p.age) FROM visits v LEFT JOIN patients p ON p.id = v.patient_id AND p.age > 30",
	"SELECT name, beds FROM wards ORDER BY 1",
}

// overTwins is a connection to PostgreSQL on which the names of the tables are those of the twins.
func overTwins(t testing.TB, direct string) *pgx.Conn {
	d := connect(t, direct)
	if _, err := d.Exec(t.Context(), "SET search_path = fugu_twin, public"); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTwinAggregatesAsOnPostgreSQL(t *testing.T) {
	patient.Test(t)
	through, direct := serveClinic(t)
	c, d := connect(t, through), overTwins(t, direct)
	for _, sql := range clinicStatements {
		if got, want := look(t, c, sql), look(t, d, strings.ReplaceAll(sql, "public.", "")); got != want {
			t.Errorf("%s:\n%s\nPostgreSQL:\n%s", sql, got, want)
		}
	}
	// The same statement in other forms.
	var want, got int64
	if err := d.QueryRow(t.Context(), "SELECT count(*) FROM patients WHERE age > 50").Scan(&want); err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func() error{
		"parameter": func() error {
			return c.QueryRow(t.Context(), "SELECT count(*) FROM patients WHERE age > $1", 50).Scan(&got)
		},
		"EXECUTE": func() error {
			if _, err := c.Exec(t.Context(),
				"PREPARE q (int) AS SELECT count(*) FROM patients WHERE age > $1"); err != nil {
				return err
			}
			return c.QueryRow(t.Context(), "EXECUTE q(50)", pgx.QueryExecModeSimpleProtocol).Scan(&got)
		},
		"cursor": func() error {
			if _, err := c.Exec(t.Context(),
				"DECLARE h CURSOR WITH HOLD FOR SELECT count(*) FROM patients WHERE age > 50"); err != nil {
				return err
			}
			return c.QueryRow(t.Context(), "FETCH h", pgx.QueryExecModeSimpleProtocol).Scan(&got)
		},
		"table of its own": func() error {
			if _, err := c.Exec(t.Context(),
				"CREATE TEMP TABLE kept AS SELECT count(*) AS n FROM patients WHERE age > 50"); err != nil {
				return err
			}
			return c.QueryRow(t.Context(), "SELECT n FROM kept").Scan(&got)
		},
		"COPY": func() error {
			var text strings.Builder
			if _, err := c.PgConn().CopyTo(t.Context(), &text, "COPY (SELECT count(*) FROM patients WHERE age > 50) "+
				"TO STDOUT"); err != nil {
				return err
			}
			_, err := fmt.Sscan(text.String(), &got)
			return err
		},
	} {
		got = 0
		if err := ask(); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", name, got, err, want)
		}
	}
}

// What is shown is of at_least different rows of the sample, and what is left out would be of few. Each patient's
// name is their own, so that names count the rows that were drawn.
func TestTwinSmallGroupsAreLeftOut(t *testing.T) {
	patient.Test(t)
	through, direct := serveClinic(t)
	c, d := connect(t, through), overTwins(t, direct)
	var most int64 // copies of a row
	if err := d.QueryRow(t.Context(), "SELECT max(n) FROM (SELECT count(*) AS n FROM patients GROUP BY name) x").Scan(
		&most); err != nil {
		t.Fatal(err)
	}
	for _, g := range []struct{ keys, from string }{
		{"ward", "patients p"}, {"age, ward, insured", "patients p"}, {"age, insured, smoker", "patients p"},
		{"admitted", "patients p"}, {"name", "patients p"}, {"id", "patients p"}, {"cost", "patients p"},
		{"kind", "visits v"}, {"patient_id", "visits v"}, {"kind, fee", "visits v"},
		{"v.kind, p.age", "visits v JOIN patients p ON p.id = v.patient_id"},
	} {
		joined := strings.Replace(g.from, "visits v", "visits v JOIN patients s ON s.id = v.patient_id", 1)
		drawn, copies := "count(DISTINCT s.name)", "count(DISTINCT s.id)"
		if joined == g.from {
			drawn, copies = "count(DISTINCT name)", "count(*)"
		}
		shown := look(t, c, "SELECT "+g.keys+" FROM "+g.from+" GROUP BY "+g.keys)
		enough := fmt.Sprintf("%s >= %d", copies, 10*most)
		want := look(t, d, "SELECT "+g.keys+" FROM "+joined+" GROUP BY "+g.keys+" HAVING "+enough)
		if shown != want {
			t.Errorf("%s by %s: %d bytes shown, want %d", g.from, g.keys, len(shown), len(want))
		}
		var groups, small, wrong int
		err := d.QueryRow(t.Context(), "SELECT count(*), count(*) FILTER (WHERE drawn < 10), count(*) FILTER (WHERE "+
			"drawn < 10 AND enough) FROM (SELECT "+
			drawn+" AS drawn, "+enough+" AS enough FROM "+joined+" GROUP BY "+g.keys+") x").Scan(&groups, &small,
			&wrong)
		if err != nil || wrong > 0 {
			t.Errorf("%s by %s: %d groups of fewer than ten are shown, %v", g.from, g.keys, wrong, err)
		}
		t.Logf("%s by %s: %d groups, %d of fewer than ten rows of the sample, %d shown", g.from, g.keys, groups, small,
			strings.Count(shown, "\n["))
	}

	var all, filtered, sum, few, rare *string
	err := c.QueryRow(t.Context(),
		`SELECT count(*)::text, (count(*) FILTER (WHERE id < 5))::text,
		  (sum(cost) FILTER (WHERE name = 'patient 7'))::text,
	  avg(CASE WHEN id = 5 THEN cost END)::text, max(id)::text FROM patients`).Scan(&all, &filtered, &sum, &few, &rare)
	if err != nil || all == nil || filtered != nil || sum != nil || few != nil || rare != nil {
		t.Errorf("parts of a group: %v %v %v %v %v, %v", all, filtered, sum, few, rare, err)
	}
}

// What docs/twin.md says is not stopped: two groups that are large enough, and differ by one row.
func TestTwinSubtraction(t *testing.T) {
	patient.Test(t)
	through, direct := serveClinic(t)
	var name string
	var got, want float64
	if err := overTwins(t, direct).QueryRow(t.Context(), "SELECT name, sum(cost)::float8 FROM patients GROUP BY name "+
		"ORDER BY name LIMIT 1").Scan(&name, &want); err != nil {
		t.Fatal(err)
	}
	if err := connect(t, through).QueryRow(t.Context(), "SELECT (sum(cost) - sum(cost) FILTER (WHERE name <> "+
		"$1))::float8 FROM patients", name).Scan(&got); err != nil || math.Abs(got-want) > 1e-6 {
		t.Errorf("%v, %v; want %v: docs/twin.md says that subtraction is not stopped", got, err, want)
	}
}

// clinicHoles are what Fugu finds of a guest that may read the twin.
func clinicHoles(t *testing.T) []upstream.Finding {
	t.Helper()
	config, err := pgconn.ParseConfig(clinic.DSN("clinic_guest", "clinic"))
	if err != nil {
		t.Fatal(err)
	}
	twins := []upstream.Protected{{Schema: "fugu_twin", Name: "patients"}, {Schema: "fugu_twin", Name: "not_there_yet"}}
	holes, _, err := upstream.CheckGuest(t.Context(), config, twins, nil)
	if err != nil {
		t.Fatal(err)
	}
	return holes
}

// Who may read a twin follows the policy: the reader those whose rows are not listed, and guests the others.
func TestTwinGrants(t *testing.T) {
	patient.Test(t)
	through, direct := serveClinic(t)
	d, guest := connect(t, direct), connect(t, clinic.DSN("clinic_guest", "clinic"))
	may := func(role string) (ok bool) {
		t.Helper()
		if err := d.QueryRow(t.Context(), "SELECT has_any_column_privilege($1, 'fugu_twin.patients', 'SELECT')",
			role).Scan(&ok); err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if may("clinic_guest") || !may("clinic_reader") || len(clinicHoles(t)) > 0 {
		t.Errorf("at first: guest %v, reader %v, %v", may("clinic_guest"), may("clinic_reader"), clinicHoles(t))
	}

	shown := strings.ReplaceAll(clinicPolicy, "at_least: 10", "rows: shown")
	if r := buildClinic(t, shown); r.Made || r.Charged {
		t.Errorf("another policy for who may read it: made %v, charged %v", r.Made, r.Charged)
	}
	if !may("clinic_guest") || may("clinic_reader") || len(clinicHoles(t)) == 0 {
		t.Errorf("shown: guest %v, reader %v, %v", may("clinic_guest"), may("clinic_reader"), clinicHoles(t))
	}
	for _, sql := range []string{"CREATE VIEW own.mine AS SELECT name FROM fugu_twin.patients",
		"SELECT name FROM own.mine LIMIT 1"} {
		if _, err := guest.Exec(t.Context(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	c := connect(t, through)
	if _, err := c.Exec(t.Context(), "SELECT avg(age + 7) FROM patients"); code(err) != "PV004" && code(err) != "" {
		t.Errorf("a twin that the reader may not read: %v", err)
	}

	if err := clinic.Exec(t.Context(), "clinic", "GRANT SELECT ON fugu_twin.patients TO PUBLIC; GRANT SELECT (name) "+
		"ON fugu_twin.patients TO clinic_guest"); err != nil {
		t.Fatal(err)
	}
	if r := buildClinic(t, clinicPolicy); r.Made || r.Charged {
		t.Errorf("the first policy again: made %v, charged %v", r.Made, r.Charged)
	}
	if may("clinic_guest") || !may("clinic_reader") || len(clinicHoles(t)) > 0 {
		t.Errorf("at last: guest %v, reader %v, %v", may("clinic_guest"), may("clinic_reader"), clinicHoles(t))
	}
	if _, err := c.Exec(t.Context(), "SELECT name FROM own.mine"); code(err) != "42501" {
		t.Errorf("a view of before: %v", err)
	}
	if _, err := guest.Exec(t.Context(), "DROP VIEW own.mine"); err != nil {
		t.Error(err)
	}
}

// One statement reads rows with noise, a twin whose rows are not listed, and a table of Fugu's own; each column is
// its own.
func TestTwinAggregatesBesideNoise(t *testing.T) {
	patient.Test(t)
	serveClinic(t)
	if err := clinic.Exec(t.Context(), "clinic",
		`CREATE TABLE IF NOT EXISTS bills AS SELECT i AS id, i % 10 < 3 AS open FROM generate_series(1, 4000) AS i;
	  CREATE TABLE IF NOT EXISTS bills_reference AS SELECT * FROM bills WHERE id <= 2000; ANALYZE bills;
	    ANALYZE bills_reference;
	  GRANT SELECT ON bills, bills_reference TO clinic_reader;
	  GRANT SELECT ON bills_reference TO clinic_guest`); err != nil {
		t.Fatal(err)
	}
	through, direct := serveClinic(t, "tables:\n", "tables:\n  public.bills: {rows: 4000, reference: "+
		"public.bills_reference}\n",
		"secrets:\n", "secrets:\n  open: {table: public.bills, proportion: open, values: {from: 0.10, to: 0.60, "+
			"within: 0.05}}\n",
		"[exchangeable]", "[exchangeable, translation, gaussian]", "budget: {epsilon: 1,", "budget: {epsilon: 9,")
	c := connect(t, through)
	var noisy, twin, want int64
	var total float64
	var dataset string
	if err := overTwins(t, direct).QueryRow(t.Context(), "SELECT count(*) FROM patients WHERE age > 50").Scan(
		&want); err != nil {
		t.Fatal(err)
	}
	const sql = `SELECT (SELECT count(*) FROM patients WHERE age > $1), b.n, dataset, epsilon_total
	  FROM fugu.budget, (SELECT count(*) AS n FROM bills WHERE open) b WHERE secret = 'open'`
	err := c.QueryRow(t.Context(), sql, 50).Scan(&twin, &noisy, &dataset, &total)
	if err != nil || twin != want || dataset != "clinic" || total != 9 {
		t.Errorf("%d (want %d), %s, %v; %v", twin, want, dataset, total, err)
	}
	// Of 1,200 open bills; the tails of Laplace noise beyond 11 standard deviations have a probability of 2e-7.
	var sd float64
	if err := c.QueryRow(t.Context(), "SELECT max(noise_sd) FROM fugu.last_release").Scan(&sd); err != nil ||
		!(sd > 0 && math.Abs(float64(noisy)-1200) < 11*sd) {
		t.Errorf("%d bills are open, with noise of %v; %v", noisy, sd, err)
	}
	for _, sql := range []string{"SELECT count(*) FROM bills b JOIN patients p ON p.id = b.id",
		"SELECT count(*) FROM bills b WHERE id IN (SELECT id FROM patients)"} {
		if _, err := c.Exec(t.Context(), sql); code(err) != "PV001" {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// psql shows the table with the twin's columns, and a session is told what it asks.
func TestTwinAggregatesAreShown(t *testing.T) {
	patient.Test(t)
	through, _ := serveClinic(t)
	out, err := exec.CommandContext(t.Context(), clinic.Tool("psql"), "-X", "-A", "-c", `\d patients`, "-c",
		"SELECT ward, count(*) FROM patients GROUP BY 1", through).CombinedOutput()
	for _, part := range []string{`Table "public.patients"`, "weight|double precision", "north|",
		"Its rows are not listed", "fewer than 10"} {
		if !contains(string(out), part) {
			t.Errorf("psql does not show %q: %v\n%s", part, err, out)
		}
	}
	if contains(string(out), "secret_note") || contains(string(out), "rare|") {
		t.Errorf("psql shows what is left out:\n%s", out)
	}
	c := connect(t, through)
	if got := look(t, c, "SELECT DISTINCT at_least FROM fugu.twin"); !contains(got, `["10"]`) {
		t.Errorf("fugu.twin: %s", got)
	}
	if got := look(t, c, "EXPLAIN (PRIVACY) SELECT ward, count(*) FROM patients GROUP BY 1"); !contains(got,
		"Price of the statement: 0") || !contains(got, "fewer than 10 rows") {
		t.Errorf("EXPLAIN (PRIVACY): %s", got)
	}
}
