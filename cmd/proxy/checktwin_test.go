package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fugu/test/adult"
	"fugu/test/pgcluster"
)

const twinPolicy = `version: 1
dataset: adult
tables:
  public.adult:
    rows: %d
    answers: twin                      # noise (default): noise on each answer | twin: any SQL, on a copy whose secret is blurred once
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

// From nothing to an answer, with the commands that a DBA types: check, twin build, check, serve, psql.
func TestTwinIsServed(t *testing.T) {
	c := pgcluster.Shared(t)
	data, err := adult.Load(t.Context(), c, "served", adult.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(t.Context(), "served", "CREATE ROLE served_keeper LOGIN; GRANT SELECT ON adult TO served_keeper"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "fugu.yaml")
	config := fmt.Sprintf("listen: 127.0.0.1:0\nupstream:\n  guest: %q\n  reader: %q\n  keeper: %q\nauth:\n  method: trust\npolicy: adult-twin.policy.yaml\nledger: sqlite:fugu.db\n",
		c.DSN("fugu_guest", "served"), c.DSN("fugu_reader", "served"), c.DSN("served_keeper", "served"))
	if err := errors.Join(os.WriteFile(path, []byte(config), 0o600), os.WriteFile(filepath.Join(dir, "adult-twin.policy.yaml"), fmt.Appendf(nil, twinPolicy, data.Rows), 0o600)); err != nil {
		t.Fatal(err)
	}
	says := func(want []string, args ...string) {
		t.Helper()
		code, stdout, stderr := invoke(t, append(args, "-c", path)...)
		for _, w := range want {
			if code != 0 || !strings.Contains(stdout, w) {
				t.Errorf("fugu %v: exit %d, without %q:\n%s%s", args, code, w, stdout, stderr)
			}
		}
	}
	says([]string{"twin of public.adult: is not built yet", "epsilon 1, delta 0.001, once", "the keeper cannot make the schema of twins"}, "check")
	if err := c.Exec(t.Context(), "served", "GRANT CREATE ON DATABASE served TO served_keeper"); err != nil {
		t.Fatal(err)
	}
	says([]string{"adult"}, "twin", "build")
	says([]string{"twin of public.adult: is built"}, "check")

	proxy, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	psql := func(sql string) string {
		out, _ := exec.CommandContext(t.Context(), c.Tool("psql"), "-X", "-A", "-t", "-c", sql, "postgres://alice@"+proxy.address+"/served?sslmode=disable").CombinedOutput()
		return string(out)
	}
	if got := psql("SELECT count(*), count(DISTINCT sex), max(age) >= 80 FROM adult"); !strings.Contains(got, fmt.Sprintf("%d|2|t", data.Rows)) || !strings.Contains(got, "NOTICE:  public.adult is answered from its twin") {
		t.Errorf("psql shows %s", got)
	}
	if got := psql("SELECT fnlwgt FROM adult"); !strings.Contains(got, `column "fnlwgt" does not exist`) {
		t.Errorf("psql shows %s", got)
	}
}

// What may break the assumption of a twin is found in the catalog.
func TestCheckSuspectsTwins(t *testing.T) {
	c := pgcluster.Shared(t)
	for _, step := range [][2]string{{"postgres", "CREATE DATABASE doubts"}, {"doubts", `CREATE ROLE doubts_guest LOGIN; CREATE ROLE doubts_reader LOGIN; CREATE ROLE doubts_keeper LOGIN;
	  CREATE TABLE customer (id int PRIMARY KEY); CREATE TABLE passport (id int PRIMARY KEY);
	  CREATE TABLE visit (id int PRIMARY KEY, rich bool NOT NULL, customer int REFERENCES customer, passport int UNIQUE REFERENCES passport, before int REFERENCES visit, running_total int, mail text UNIQUE, left_out text UNIQUE, nr serial);
	  CREATE TABLE bill (visit int REFERENCES visit);
	  GRANT SELECT ON visit TO doubts_reader, doubts_keeper; GRANT CREATE ON DATABASE doubts TO doubts_keeper; GRANT doubts_keeper TO doubts_guest`}} {
		if err := c.Exec(t.Context(), step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "fugu.yaml")
	config := fmt.Sprintf("listen: 127.0.0.1:0\nupstream: {guest: %q, reader: %q, keeper: %q}\nauth: {method: trust}\npolicy: p.policy.yaml\nledger: sqlite:fugu.db\n",
		c.DSN("doubts_guest", "doubts"), c.DSN("doubts_reader", "doubts"), c.DSN("doubts_keeper", "doubts"))
	text := strings.NewReplacer("public.adult", "public.visit", "[fnlwgt]", "[left_out]", "income = '>50K'", "rich", "%d", "5000").Replace(twinPolicy)
	write := func(policy string) {
		if err := errors.Join(os.WriteFile(path, []byte(config), 0o600), os.WriteFile(filepath.Join(dir, "p.policy.yaml"), []byte(policy), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	if code, _, stderr := invoke(t, "check", "-c", path); code == 0 || !strings.Contains(stderr, "doubts_guest") {
		t.Errorf("a guest that can act as the keeper reads the table: exit %d, %s", code, stderr)
	}
	if err := c.Exec(t.Context(), "doubts", "REVOKE doubts_keeper FROM doubts_guest; CREATE SCHEMA fugu_twin AUTHORIZATION doubts_keeper; GRANT CREATE ON SCHEMA fugu_twin TO doubts_guest"); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := invoke(t, "check", "-c", path)
	for _, want := range []string{"rows of the same table", "column running_total may", "column nr may", "column mail is unique", "the ordinary table public.bill refer", "the ordinary table public.passport for its own",
		"about one row of public.customer", "can make relations in the schema of twins"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("without %q: exit %d\n%s%s", want, code, stdout, stderr)
		}
	}
	if strings.Contains(stdout, "left_out") {
		t.Errorf("a column that the twin leaves out is suspected:\n%s", stdout)
	}
	write(strings.Replace(text, "known_rows: 0", "independent_rows: true", 1))
	if _, stdout, _ := invoke(t, "check", "-c", path); strings.Contains(stdout, "about one row of public.customer") {
		t.Errorf("rows of one subject are suspected, though the policy accepts them:\n%s", stdout)
	}
	write(strings.Replace(text, "known_rows: 0", "unit: customer", 1))
	for _, want := range []string{`CREATE TABLE "public"."visit_subject" AS SELECT "customer", bool_or(rich) AS "high_income" FROM "public"."visit"`,
		"public.visit: {link: {to: public.visit_subject, on: {customer: customer}}, twin: {rows: shown, drop: [left_out]}}"} {
		if code, stdout, stderr := invoke(t, "check", "-c", path); code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("of a unit check does not say %q: exit %d\n%s%s", want, code, stdout, stderr)
		}
	}
}
