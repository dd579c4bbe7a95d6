package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fugu/test/collector"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// operatorToken is what operators of these tests know.
const operatorToken = "00112233445566778899aabbccddeeff"

// administered is a proxy of the example's with an address for operators.
func administered(t *testing.T, env ...string) (*child, string) {
	t.Helper()
	return administeredOn(t, "sqlite:fugu.db", env...)
}

// administeredOn is such a proxy, on a ledger.
func administeredOn(t *testing.T, ledger string, env ...string) (*child, string) {
	t.Helper()
	path := setting(t, "ledger:", "admin: 127.0.0.1:0\nadmin_token: admin.token\nledger:", "sqlite:fugu.db", ledger)
	token := filepath.Join(filepath.Dir(path), "admin.token")
	if err := os.WriteFile(token, []byte(operatorToken), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := startChild(t, path, env...)
	if err != nil {
		t.Fatal(err)
	}
	return c, path
}

var operators = regexp.MustCompile(`operators are answered" admin=(\S+)`)

// page asks the address for operators for a page, as who has the token.
func (c *child) page(t *testing.T, path string) (status int, text string) {
	t.Helper()
	return c.pageBy(t, http.DefaultClient, "http", path, operatorToken)
}

// pageBy asks the address for operators for a page, in a client's way; without a token: as anybody.
func (c *child) pageBy(t *testing.T, client *http.Client, scheme, path, token string) (status int, text string) {
	t.Helper()
	var address string
	eventually(t, "operators are answered", func() bool {
		if m := operators.FindStringSubmatch(c.log.String()); m != nil {
			address = m[1]
		}
		return address != ""
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return fetch(t, client, r)
}

// busy is what a page says that could not be made in time, as the machine has much else to do.
const busy = "Try again when the server has less to do."

// fetch sends a request, again where a page asks for that, and returns what comes back.
func fetch(t *testing.T, client *http.Client, r *http.Request) (status int, text string) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		status, text = fetchOnce(t, client, r)
		if !strings.Contains(text, busy) || time.Now().After(end) {
			return status, text
		}
		r = r.Clone(t.Context())
		if r.GetBody == nil {
			continue
		}
		var err error
		if r.Body, err = r.GetBody(); err != nil {
			t.Fatal(err)
		}
	}
}

func fetchOnce(t *testing.T, client *http.Client, r *http.Request) (status int, text string) {
	t.Helper()
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// What must never be seen: a word and a number that a client writes, and what is true of the protected rows.
const (
	canaryWord   = "zanzibarquokka"
	canaryNumber = "918273645546372819"
)

// canaryScript is what psql is given: each place in which a literal or a true value could come to the log. Most of it
// fails.
const canaryScript = `
SELECT 'zanzibarquokka', 918273645546372819;
SELECT 'zanzibarquokka'::int;
SELECT zanzibarquokka FROM adult;
SELECT 1 WHERE 'zanzibarquokka' ORDER zanzibarquokka;
SELECT count(*) FROM adult WHERE education = 'zanzibarquokka' OR age > 918273645546372819;
SELECT sum(age), avg(age), sum(hours_per_week) FROM adult;
SELECT sum(age) FROM adult WHERE sex = 'Female';
SELECT sex, sum(age) FROM adult GROUP BY sex;
SELECT count(*) FROM adult WHERE education = 'zanzibarquokka'::int;
SELECT count(*) FROM adult WHERE age = 'zanzibarquokka';
SELECT max(age) FROM adult WHERE education = 'zanzibarquokka';
SELECT * FROM adult WHERE education = 'zanzibarquokka';
SELECT count(*) FROM adult WHERE education = zanzibarquokka(918273645546372819);
SELECT sum(918273645546372819 / (age - 30)) FROM adult WHERE education <> 'zanzibarquokka';
EXPLAIN (PRIVACY) SELECT count(*) FROM adult WHERE education = 'zanzibarquokka';
SET fugu.epsilon = 'zanzibarquokka';
SET fugu.zanzibarquokka = 1;
SET application_name = 'zanzibarquokka';
PREPARE zanzibarquokka AS SELECT sum(age) FROM adult WHERE education = $1;
EXECUTE zanzibarquokka('zanzibarquokka');
EXECUTE zanzibarquokka(zanzibarquokka);
COPY (SELECT sum(age) FROM adult WHERE education <> 'zanzibarquokka') TO STDOUT;
COPY zanzibarquokka FROM STDIN;
DO $$BEGIN RAISE EXCEPTION 'zanzibarquokka' USING ERRCODE = 'ZQ001'; END$$;
SELECT relname, reltuples FROM pg_class WHERE relname = 'zanzibarquokka';
SET statement_timeout = '20ms';
SELECT pg_sleep(1), 'zanzibarquokka';
`

// sing has clients send canaries in every way there is, and returns what they must not be found in: the metrics, both
// pages of health, the console, and the log. unseen are the canaries, with what is true.
func (c *child) sing(t *testing.T) (seen map[string]string, unseen []string) {
	t.Helper()
	for _, database := range []string{"adult", canaryWord} {
		dsn := fmt.Sprintf("postgres://alice@%s/%s?sslmode=disable", c.address, database)
		cmd := exec.CommandContext(t.Context(), "psql", "-X", "-d", dsn)
		cmd.Stdin = strings.NewReader(canaryScript)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		if (err == nil) != (database == "adult") {
			t.Fatalf("psql: %v\n%s", err, out.String())
		}
	}

	// By protocol, with parameters.
	conn := c.connect(t)
	for _, sql := range []string{"SELECT $1::text", "SELECT sum(age) FROM adult WHERE education = $1",
		"SELECT $1::int", "SELECT max(age) FROM adult WHERE education = $1"} {
		_, _ = conn.Exec(t.Context(), sql, canaryWord) // what it comes to does not matter
	}

	// A reload has more to say.
	if !c.reload(t) {
		t.Fatal("the policy was not reloaded")
	}
	_, metrics := c.page(t, "/metrics")
	_, readiness := c.page(t, "/readyz")
	eventually(t, "the console has the refusals", func() bool {
		_, page := c.page(t, "/console/record")
		return strings.Contains(page, "PV001")
	})
	seen = map[string]string{"metrics": metrics, "readiness": readiness}
	for _, path := range consolePages {
		status, page := c.page(t, path)
		if status != 200 {
			t.Errorf("%s: %d: %s", path, status, page)
		}
		seen["console "+path] = page
	}
	_, seen["typed"] = c.send(t, http.DefaultClient, "/console/noise", bearer,
		url.Values{"statement": {"SELECT sum(age), avg(age), sum(hours_per_week) FROM adult"}})
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	seen["log"] = c.log.String()
	return seen, append(trueValues(t), canaryWord, canaryNumber)
}

// trueValues are sums and averages of protected rows. They have so many digits that no clock, port or process id is one
// by chance.
func trueValues(t *testing.T) (truths []string) {
	t.Helper()
	owner, err := pgx.Connect(t.Context(), pgcluster.Shared(t).DSN("postgres", "adult"))
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close(t.Context())
	if err := owner.QueryRow(t.Context(), `SELECT ARRAY[sum(age), sum(hours_per_week),
		sum(age) FILTER (WHERE sex = 'Female'), sum(age) FILTER (WHERE sex <> 'Female')]::text[]
		|| left(avg(age)::text, 10) FROM adult`).Scan(&truths); err != nil {
		t.Fatal(err)
	}

	for _, truth := range truths {
		if len(truth) < 6 {
			t.Fatalf("%s could stand in the log by chance", truth)
		}
	}
	return truths
}

// identifier is what names a statement or an answer: of such words there are hundreds, and in each any digits can stand
// by chance.
var identifier = regexp.MustCompile(`\b[0-9a-f]{16,}\b`)

// found are the canaries in a text. A true value is one where no digit stands beside it.
func found(text string, canaries []string) (out []string) {
	text = identifier.ReplaceAllStringFunc(text, func(word string) string {
		if strings.ContainsAny(word, "abcdef") {
			return ""
		}
		return word
	})
	for _, c := range canaries {
		if regexp.MustCompile(`(?i)(^|[^0-9.])`+regexp.QuoteMeta(c)+`($|[^0-9])`).MatchString(text) ||
			strings.Contains(c, ".") && strings.Contains(text, c) {
			out = append(out, c)
		}
	}
	return out
}

// No literal of a client's and no true value comes to where operators look. That the canaries were understood, answered
// and refused shows in the counts. A false alarm would need a number of six digits and more that is equal by chance:
// what stands there are times with a dot or colon beside, counts below a thousand, and ports of five digits.
func TestCanaries(t *testing.T) {
	patient.Test(t)
	traces := collector.Start(t)
	c, _ := administered(t, "FUGU_TRACING_ENDPOINT="+traces.URL, "FUGU_LIMITS_ANSWER_GRID="+gridOfTraces.String())
	seen, unseen := c.sing(t)
	checkTraces(t, traces, unseen)
	for where, text := range seen {
		if got := found(text, unseen); len(got) > 0 {
			t.Errorf("%q stands in the %s:\n%s", got, where, text)
		}
	}
	for _, line := range []string{`fugu_statements_total\{kind="plain"\} [1-9]`,
		`fugu_statements_total\{kind="protected"\} ([5-9]|[1-9][0-9])`, `fugu_statements_total\{kind="catalog"\} [1-9]`,
		`fugu_errors_total\{code="PV001"\} [1-9]`, `fugu_protected_wait_seconds_count [1-9]`,
		`fugu_budget_releases\{dataset="adult",scope="everybody",secret="high_income"\} [1-9]`,
		`fugu_up\{check="ledger"\} 1`, `fugu_load_success\{what="policies"\} 1`, `fugu_sessions_begun_total [2-9]`} {
		if !regexp.MustCompile(`(?m)^` + line).MatchString(seen["metrics"]) {
			t.Errorf("%s is missing:\n%s", line, seen["metrics"])
		}
	}
}

// With log: json every line of the log is an object; and a token is made where there is none, for its owner alone.
func TestLogAndToken(t *testing.T) {
	path := setting(t, "ledger:", "admin: 127.0.0.1:0\nadmin_token: made.token\nlog: json\nledger:")
	c, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.connect(t).Exec(t.Context(), "SELECT max(age) FROM adult"); sqlstateOf(err) != "PV001" {
		t.Error(err)
	}
	info, err := os.Stat(filepath.Join(filepath.Dir(path), "made.token"))
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() < 64 {
		t.Errorf("the token: %v, %v", info, err)
	}
	c.reload(t)
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	lines := strings.Split(strings.TrimSpace(c.log.String()), "\n")
	for _, line := range lines {
		var event struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &event); err != nil || event.Msg == "" || event.Level == "" {
			t.Errorf("%s: %v", line, err)
		}
	}
	if len(lines) < 3 {
		t.Errorf("%d lines: nothing was tested", len(lines))
	}
}
