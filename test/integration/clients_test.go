package integration

import (
	"context"
	"database/sql"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/lib/pq"

	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// environment gives a client program its connection.
func (f *fugu) environment(user string) []string {
	host, port, _ := net.SplitHostPort(f.address)
	return append(os.Environ(), "PGHOST="+host, "PGPORT="+port, "PGUSER="+user, "PGDATABASE=adult", "PGSSLMODE=disable",
		"PGPASSWORD=", "PGCONNECT_TIMEOUT=180", "PSQLRC=/dev/null", "PAGER=")
}

// psql runs a script as alice, and returns what psql writes to either stream.
func (f *fugu) psql(t testing.TB, script string, environment ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), pgcluster.Shared(t).Tool("psql"), "-X", "-q", "-A", "-t")
	cmd.Env = append(f.environment("alice"), environment...)
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestPsql(t *testing.T) {
	f := serve(t, options{})
	out, err := f.psql(t, `
BEGIN;
INSERT INTO country VALUES ('Psqlia', 'Nowhere');
UPDATE country SET continent = 'Elsewhere' WHERE name = 'Psqlia' RETURNING continent;
DELETE FROM country WHERE name = 'Psqlia' RETURNING 'gone';
ROLLBACK;
SELECT 'n=' || (count(*) BETWEEN 30000 AND 40000) FROM adult;
SELECT 'sex=' || sex, 'age=' || (avg(age) BETWEEN 20 AND 60) FROM adult GROUP BY sex ORDER BY sex;
SELECT 'capital=' || (sum(capital_gain) IS NOT NULL) FROM adult WHERE education = 'Bachelors' \g
\d country
SELECT
  max(age) FROM adult;
SELECT 'still here';
`)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	at := 0
	for _, want := range []string{"Elsewhere\n", "gone\n", "n=true\n", "sex=Female|age=true\nsex=Male|age=true\n",
		"capital=true\n",
		"name|text||not null|", "ERROR:  ", "LINE 2:   max(age) FROM adult;\n          ^\n", "HINT:  ",
		"still here\n"} {
		i := strings.Index(out[at:], want)
		if i < 0 {
			t.Fatalf("no %q in order in\n%s", want, out)
		}
		at += i + len(want)
	}
}

// Every way in which pgx runs a statement gives the same answer, also the simple protocol's, which has the parameter's
// value in its text. Of what it may be the ends are 13 standard deviations of the noise away at least: a false alarm of
// e^(-13·√2), 1e-8.
func TestPgxModes(t *testing.T) {
	f := serve(t, options{})
	const query = "SELECT count(*), sum(hours_per_week), avg(age), avg(age)::float8 FROM adult WHERE sex = $1"
	type answer struct {
		count, sum int64
		avg        string
		float      float64
	}
	var first answer
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheStatement,
		pgx.QueryExecModeCacheDescribe,
		pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		c := f.connect(t)
		for range 2 { // the second finds what the first prepared
			var got answer
			var avg pgtype.Numeric
			if err := c.QueryRow(t.Context(), query, mode, "Female").Scan(&got.count, &got.sum, &avg,
				&got.float); err != nil {
				t.Fatalf("%v: %v", mode, err)
			}
			v, err := avg.Value()
			if err != nil {
				t.Fatal(err)
			}
			got.avg, _ = v.(string)
			if first == (answer{}) {
				first = got
			}
			if got != first || got.count < 1000 || got.sum < 10*got.count || got.float < 20 || got.float > 60 {
				t.Errorf("%v: %+v, the first was %+v", mode, got, first)
			}
		}
	}
	if _, n := spent(t, f.connect(t)); n != 1 {
		t.Errorf("%d releases for one question", n)
	}
}

func TestPgxPreparedAndTransaction(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	c := f.connect(t)
	d, err := c.Prepare(t.Context(), "avg-age", "SELECT education, avg(age) FROM adult WHERE sex = $1 "+
		"GROUP BY education HAVING count(*) > $2 ORDER BY education")
	if err != nil {
		t.Fatal(err)
	}
	if len(d.ParamOIDs) != 2 || d.ParamOIDs[0] != pgtype.TextOID || len(d.Fields) != 2 ||
		d.Fields[1].DataTypeOID != pgtype.NumericOID {
		t.Errorf("described as %v, %v", d.ParamOIDs, d.Fields)
	}
	male := rows(t, c, "avg-age", "Male", 100)
	if rows(t, c, "avg-age", "Female", 100) == male || rows(t, c, "avg-age", "Male", 100) != male {
		t.Error("answers do not belong to their parameters")
	}
	tx, err := c.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var n, again int64
	if _, err := tx.Exec(t.Context(), "CREATE TEMP TABLE kept (n int8) ON COMMIT DROP"); err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRow(t.Context(), "INSERT INTO kept SELECT count(*) FROM adult RETURNING n").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRow(t.Context(), "SELECT n FROM kept").Scan(&again); err != nil || again != n || n == 0 {
		t.Errorf("kept %d of %d, %v", again, n, err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Deallocate(t.Context(), "avg-age"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Error(err)
	}
}

// A pipeline in which ordinary and protected statements follow each other: results in order; an error skips the rest up
// to the Sync, and the statements that it skips cost nothing.
func TestPgxBatch(t *testing.T) {
	f := serve(t, options{})
	c := f.connect(t)
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec,
		pgx.QueryExecModeSimpleProtocol} {
		b := &pgx.Batch{}
		b.Queue("SELECT 1::int8")
		b.Queue("SELECT count(*) FROM adult WHERE sex = 'Male'")
		b.Queue("SELECT 3::int8")
		b.Queue("SELECT count(*) FROM adult WHERE sex = 'Female'")
		b.Queue("SELECT 5::int8")
		c := connect(t, f.dsn("alice")+"&default_query_exec_mode="+modeName(mode))
		r := c.SendBatch(t.Context(), b)
		var got [5]int64
		for i := range got {
			if err := r.QueryRow().Scan(&got[i]); err != nil {
				t.Fatalf("%v: result %d: %v", mode, i, err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if got[0] != 1 || got[2] != 3 || got[4] != 5 || got[1] < got[3] || got[3] < 1000 {
			t.Errorf("%v: %v", mode, got)
		}
	}
	_, before := spent(t, c)
	b := &pgx.Batch{}
	b.Queue("SELECT count(*) FROM adult WHERE age > 50")
	b.Queue("SELECT 1/0")
	b.Queue("SELECT count(*) FROM adult WHERE age > 51")
	b.Queue("SELECT 4")
	r := connect(t, f.dsn("alice")+"&default_query_exec_mode=exec").SendBatch(t.Context(), b)
	if _, err := r.Exec(); err != nil {
		t.Error(err)
	}
	if _, err := r.Exec(); code(err) != "22012" {
		t.Errorf("got %v", err)
	}
	if _, err := r.Exec(); err == nil {
		t.Error("a statement behind an error was run")
	}
	_ = r.Close()
	if _, after := spent(t, c); after != before+1 {
		t.Errorf("%d releases, not 1", after-before)
	}
}

func modeName(m pgx.QueryExecMode) string {
	return map[pgx.QueryExecMode]string{pgx.QueryExecModeCacheStatement: "cache_statement",
		pgx.QueryExecModeExec:           "exec",
		pgx.QueryExecModeSimpleProtocol: "simple_protocol"}[m]
}

func TestLibPQ(t *testing.T) {
	f := serve(t, options{})
	db, err := sql.Open("postgres", f.dsn("alice"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := t.Context()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO country VALUES ($1, $2)", "Libpqia", "Nowhere"); err != nil {
		t.Fatal(err)
	}
	var n int64
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM country WHERE name = $1", "Libpqia").Scan(&n); err != nil ||
		n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	stmt, err := tx.PrepareContext(ctx, "SELECT count(*), avg(age) FROM adult WHERE education = $1 AND age > $2")
	if err != nil {
		t.Fatal(err)
	}
	// The noise on the average has a standard deviation of 2.2 years: of the answers, around 44, none is beyond 11 of
	// them but with a probability of 2e-7.
	type answer struct {
		count int64
		age   float64
	}
	var got [3]answer
	for i, education := range []string{"Bachelors", "HS-grad", "Bachelors"} {
		a := &got[i]
		if err := stmt.QueryRowContext(ctx, education, 30).Scan(&a.count, &a.age); err != nil || a.age < 20 ||
			a.age > 70 {
			t.Fatalf("%s: %+v, %v", education, a, err)
		}
	}
	if got[0] != got[2] || got[0] == got[1] {
		t.Errorf("told %+v", got)
	}
	if _, err := tx.ExecContext(ctx, "SELECT max(age) FROM adult"); !isPQ(err, "PV001") {
		t.Errorf("got %v", err)
	}
	if _, err := tx.ExecContext(ctx, "SELECT 1"); !isPQ(err, "25P02") {
		t.Errorf("after a refusal the transaction goes on: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM country WHERE name = $1", "Libpqia").Scan(&n); err != nil ||
		n != 0 {
		t.Errorf("%d after ROLLBACK, %v", n, err)
	}
	if err := db.QueryRowContext(ctx, "SELECT sum(capital_gain) FROM adult").Scan(&n); err != nil || n == 0 {
		t.Errorf("%d, %v", n, err)
	}
}

func isPQ(err error, code string) bool {
	pe, ok := err.(*pq.Error)
	return ok && string(pe.Code) == code
}

func TestNodePostgres(t *testing.T) {
	runClient(t, "node", "clients/node_postgres.js")
}

func TestPsycopg(t *testing.T) {
	patient.Test(t)
	runClient(t, "/usr/bin/python3", "clients/psycopg_client.py")
}

// runClient runs a client program, which says ok at its end. One that is not installed fails the test: so that nobody
// believes to have tested with it.
func runClient(t *testing.T, program, script string) {
	t.Helper()
	if os.Getenv("NODE_PATH") == "" { // as in the Makefile
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("NODE_PATH", "/usr/share/nodejs:"+filepath.Join(cache, "fugu/node/node_modules"))
	}
	check := []string{"-c", "import psycopg, psycopg2"}
	if program == "node" {
		check = []string{"-e", "require('pg')"}
	}
	if out, err := exec.CommandContext(t.Context(), program, check...).CombinedOutput(); err != nil {
		t.Fatalf("%s or its PostgreSQL package is not here; `make test` installs what the tests need (%v)\n%s", program,
			err, out)
	}
	f := serve(t, options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, program, script)
	cmd.Env = f.environment("alice")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "ok\n") {
		t.Errorf("%s: %v\n%s", script, err, out)
	}
}
