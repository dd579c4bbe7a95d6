package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/adult"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

const twinPolicy = `version: 1
dataset: adult
tables:
  public.adult:
    rows: %d
    answers: twin                      # any SQL, on a copy whose secret is blurred once
    twin:
      rows: shown                      # shown: any SQL, rows too | aggregates: no rows are listed
      drop: [fnlwgt]                   # columns that the twin leaves out
      known_rows: 0                    # rows of the table that analysts are taken to know
secrets:
  high_income: {table: public.adult, proportion: income = '>50K', values: {from: 0.10, to: 0.60, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 1, delta: 0.001, per: dataset}}
analysts: [alice, bob]
`

// keeping writes a configuration with a keeper over a database of the cluster's; write gives it a policy.
func keeping(
	t *testing.T, c *pgcluster.Cluster, database, guest, reader, keeper string,
) (path string, write func(policy string)) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "fugu.yaml")
	writeFile(t, path, fmt.Sprintf("listen: 127.0.0.1:0\nupstream: {guest: %q, reader: %q, keeper: %q}\n"+
		"auth: {method: trust}\npolicy: p.policy.yaml\nledger: sqlite:fugu.db\n",
		c.DSN(guest, database), c.DSN(reader, database), c.DSN(keeper, database)))
	return path, func(policy string) {
		t.Helper()
		writeFile(t, filepath.Join(dir, "p.policy.yaml"), policy)
	}
}

// From nothing to an answer, with the commands that a DBA types: check, twin build, check, serve, psql.
func TestTwinIsServed(t *testing.T) {
	patient.Test(t)
	c := pgcluster.Shared(t)
	data, err := adult.Load(t.Context(), c, "served", adult.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(t.Context(), "served",
		"CREATE ROLE served_keeper LOGIN; GRANT SELECT ON adult TO served_keeper"); err != nil {
		t.Fatal(err)
	}
	path, write := keeping(t, c, "served", "fugu_guest", "fugu_reader", "served_keeper")
	write(fmt.Sprintf(twinPolicy, data.Rows))
	for _, want := range []string{"twin of public.adult: is not built yet", "epsilon 1, delta 0.001, once",
		"the keeper cannot make the schema of twins"} {
		expect(t, exitOK, want, "check", "-c", path)
	}
	write(strings.Replace(fmt.Sprintf(twinPolicy, data.Rows), "income = '>50K'", "random() < 0.2", 1))
	expect(t, exitFailure, "secret high_income: its condition calls a volatile function", "check", "-c", path)
	write(fmt.Sprintf(twinPolicy, data.Rows))
	if err := c.Exec(t.Context(), "served", "GRANT CREATE ON DATABASE served TO served_keeper"); err != nil {
		t.Fatal(err)
	}

	// Who serves before that is told in the log, and not any more behind it.
	const early = "twins are not built yet, and statements on their tables are refused"
	proxy, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	said := func(n int) {
		t.Helper()
		times := func() int { return strings.Count(proxy.log.String(), early) }
		eventually(t, "the log says that twins are not built", func() bool { return times() >= n })
		if got := proxy.log.String(); times() != n || !strings.Contains(got, "tables=public.adult") {
			t.Errorf("%d times %q: %s", n, early, got)
		}
	}
	said(1)
	proxy.reload(t)
	said(2)
	expect(t, exitOK, "adult", "twin", "build", "-c", path)
	proxy.reload(t)
	said(2)
	_ = proxy.Process.Kill()
	_ = proxy.Wait()
	expect(t, exitOK, "twin of public.adult: is built", "check", "-c", path)
	servesTwin(t, c, path, data.Rows)
}

// freeOnConsole types a statement that the twin answers: it is free, and the page says how far counts are off.
func freeOnConsole(t *testing.T, proxy *child) {
	t.Helper()
	for _, statement := range []string{"SELECT count(*) FROM adult", "SELECT * FROM public.adult LIMIT 1"} {
		typed := url.Values{"statement": {statement}}
		status, page := proxy.send(t, http.DefaultClient, "/console/noise", bearer, typed)
		if status != 200 || !strings.Contains(page, "public.adult: free") || strings.Contains(page, "PV001") ||
			!strings.Contains(page, "a count of 1000 is off by") {
			t.Errorf("%s: %d: %s", statement, status, page)
		}
	}
	status, page := proxy.send(t, http.DefaultClient, "/console/noise", bearer, url.Values{"statement": {"SELECT 1"}})
	if status < 400 || !strings.Contains(page, "aggregates no protected table") {
		t.Errorf("an ordinary statement: %d: %s", status, page)
	}
}

// twinOnConsole looks at the page of twins: what the build told of each class, how far counts of groups are off, what
// who knows rows can tell, and what the policy alone foretells.
func twinOnConsole(t *testing.T, proxy *child) {
	t.Helper()
	status, page := proxy.page(t, "/console/twins")
	for _, words := range []string{"<h2>public.adult</h2>", "UTC. Rows are listed.", "Sizes told",
		">high_income=true</th>", "Errors of groups as a table", "Known rows", "no ε bounds it",
		"What to expect, from the policy alone", "exchangeable"} {
		if status != http.StatusOK || !strings.Contains(page, words) {
			t.Errorf("the page of twins: %d, without %q:\n%s", status, words, page)
		}
	}
	if strings.Contains(page, "Not built.") {
		t.Errorf("the twin that is served is told as not built:\n%s", page)
	}
}

// servesTwin checks what analysts see of the twin of a table with so many rows, in the database served.
func servesTwin(t *testing.T, c *pgcluster.Cluster, path string, rows int64) {
	t.Helper()
	token := filepath.Join(filepath.Dir(path), "admin.token")
	if err := os.WriteFile(token, []byte(operatorToken), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy, err := startChild(t, path, "FUGU_ADMIN=127.0.0.1:0", "FUGU_ADMIN_TOKEN="+token)
	if err != nil {
		t.Fatal(err)
	}
	alice := "postgres://alice@" + proxy.address + "/served?sslmode=disable"
	shows := func(sql string, words ...string) {
		t.Helper()
		got, _ := tool(t, c, "psql", "-XAtc", sql, alice)
		for _, word := range words {
			if !strings.Contains(got, word) {
				t.Errorf("psql shows %s, without %q", got, word)
			}
		}
	}
	shows("SELECT count(*), count(DISTINCT sex), max(age) >= 80 FROM adult",
		fmt.Sprintf("%d|2|t", rows), "NOTICE:  public.adult is answered from its twin")
	shows("SELECT fnlwgt FROM adult", `column "fnlwgt" does not exist`)
	freeOnConsole(t, proxy)
	twinOnConsole(t, proxy)
	if _, metrics := proxy.page(t, "/metrics"); strings.Contains(metrics, `{kind="twin"} 0`) ||
		!strings.Contains(metrics, `{kind="protected"} 0`) {
		t.Errorf("statements on the twin are not counted as such:\n%s", metrics)
	}

	// What was prepared before a reload of the same policy goes on.
	conn, err := pgx.Connect(t.Context(), alice)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for range 2 {
		var counted int64
		err := conn.QueryRow(t.Context(), "SELECT count(*) FROM adult").Scan(&counted)
		if err != nil || counted != rows {
			t.Errorf("%d rows, %v", counted, err)
		}
		proxy.reload(t)
	}
}

// doubtful is a table with everything that may break the assumption of its twin.
const doubtful = `
CREATE ROLE doubts_guest LOGIN; CREATE ROLE doubts_reader LOGIN; CREATE ROLE doubts_keeper LOGIN;
CREATE TABLE customer (id int PRIMARY KEY);
CREATE TABLE passport (id int PRIMARY KEY);
CREATE TABLE visit (id int PRIMARY KEY, rich bool NOT NULL, customer int REFERENCES customer,
  passport int UNIQUE REFERENCES passport, before int REFERENCES visit, running_total int, mail text UNIQUE,
  left_out text UNIQUE, nr serial);
CREATE TABLE bill (visit int REFERENCES visit);
GRANT SELECT ON visit TO doubts_reader, doubts_keeper;
GRANT CREATE ON DATABASE doubts TO doubts_keeper; GRANT doubts_keeper TO doubts_guest`

// addressed gives the suspected table rows: sixty with fifty addresses, of three customers.
const addressed = `
CREATE TABLE address (id int PRIMARY KEY); ALTER TABLE visit ADD address int REFERENCES address;
ALTER TABLE address ADD visits int, ADD lifetime_value numeric, ADD amount_county text;
INSERT INTO address SELECT generate_series(0, 49); INSERT INTO customer SELECT generate_series(0, 2);
INSERT INTO visit (id, rich, customer, address) SELECT i, i % 4 = 0, i % 3, i % 50 FROM generate_series(1, 60) i;
ANALYZE visit`

// What may break the assumption of a twin is found in the catalog.
func TestCheckSuspectsTwins(t *testing.T) {
	patient.Test(t)
	c := pgcluster.Shared(t)
	for _, step := range [][2]string{
		{"postgres", "CREATE DATABASE doubts"}, {"doubts", doubtful}, {"doubts", addressed},
	} {
		if err := c.Exec(t.Context(), step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
	path, write := keeping(t, c, "doubts", "doubts_guest", "doubts_reader", "doubts_keeper")
	text := strings.NewReplacer("public.adult", "public.visit", "[fnlwgt]", "[left_out]", "income = '>50K'", "rich",
		"%d", "5000").Replace(twinPolicy)
	write(text)
	// A guest that can act as the keeper reads the table.
	expect(t, exitFailure, "doubts_guest", "check", "-c", path)
	grant := func(sql string) {
		t.Helper()
		if err := c.Exec(t.Context(), "doubts", sql); err != nil {
			t.Fatal(err)
		}
	}
	grant("REVOKE doubts_keeper FROM doubts_guest; CREATE SCHEMA fugu_twin AUTHORIZATION doubts_keeper; " +
		"GRANT CREATE ON SCHEMA fugu_twin TO doubts_guest")
	expect(t, exitFailure, "the guest can make relations in the schema fugu_twin", "check", "-c", path)
	grant("REVOKE CREATE ON SCHEMA fugu_twin FROM doubts_guest")
	code, stdout, stderr := invoke(t, "check", "-c", path)
	for _, want := range []string{"rows of the same table", "column running_total may", "column nr may",
		"column mail is unique", "the ordinary table public.bill refer",
		"the ordinary table public.passport for its own",
		"most of its rows have a row of the ordinary table public.address for their own",
		"column visits of the ordinary table public.address may", "column lifetime_value of the ordinary table",
		"about one row of public.customer"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("without %q: exit %d\n%s%s", want, code, stdout, stderr)
		}
	}
	if strings.Contains(stdout, "most of its rows have a row of the ordinary table public.customer") {
		t.Errorf("three customers are taken for as many as there are rows:\n%s", stdout)
	}
	if strings.Contains(stdout, "amount_county") {
		t.Errorf("a county is taken for a count:\n%s", stdout)
	}
	if strings.Contains(stdout, "left_out") {
		t.Errorf("a column that the twin leaves out is suspected:\n%s", stdout)
	}
	write(strings.Replace(text, "known_rows: 0", "independent_rows: true", 1))
	if _, stdout, _ := invoke(t, "check", "-c", path); strings.Contains(stdout, "about one row of public.customer") {
		t.Errorf("rows of one subject are suspected, though the policy accepts them:\n%s", stdout)
	}
	write(strings.Replace(text, "known_rows: 0", "unit: customer", 1))
	for _, want := range []string{
		`CREATE TABLE "public"."visit_subject" AS SELECT "customer", bool_or(rich) AS "high_income" ` +
			`FROM "public"."visit"`,
		"public.visit: {link: {to: public.visit_subject, on: {customer: customer}}, " +
			"twin: {rows: shown, drop: [left_out]}}",
	} {
		expect(t, exitOK, want, "check", "-c", path)
	}
}
