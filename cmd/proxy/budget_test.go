package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"fugu/ledger"
	"fugu/ledger/audit"
	"fugu/privacy"
	"fugu/test/patient"
)

// chargeOf is ε 5 of the dataset's 20.
func chargeOf(digit string) ledger.Charge {
	return ledger.Charge{Key: ledger.Key(strings.Repeat(digit, 64)), Dataset: "adult", User: "alice", Statement: "00ff",
		Losses: map[string]privacy.Loss{"high_income": {Pure: 5}}, Limit: privacy.Budget{Epsilon: 20, Delta: .01},
		Requested: privacy.Budget{Epsilon: .25}, Mechanism: "directional", Assumption: "translation",
		Answer: []byte("38.6"),
		Cells:  []ledger.Cell{{Column: "avg", Value: "38.6", Lower: 38, Upper: 39}}}
}

// books4 makes a ledger whose budget is spent, and something of a dataset that no policy has.
func books4(t *testing.T, path string) string {
	t.Helper()
	file := filepath.Join(filepath.Dir(path), "fugu.db")
	l, err := ledger.Open(t.Context(), "sqlite:"+file, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, digit := range []string{"1", "2", "3", "4", "5"} {
		c := chargeOf(digit)
		if digit == "5" {
			c.Dataset = "former"
		}
		if _, err := l.Charge(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	refusal := ledger.Refusal{At: time.Now(), User: "bob", Dataset: "adult", Code: "PV001", Statement: "00ff", Times: 3,
		Until: time.Now()}
	if err := l.Refuse(t.Context(), []ledger.Refusal{refusal}, 2); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// A budget that is spent, looked at, begun anew, and looked at again.
func TestBudgetCommands(t *testing.T) {
	patient.Test(t)
	path := setting(t)
	expect(t, exitOK, "everyone", "budget", "show", "adult", "-c", path)
	expect(t, exitFailure, "opening the ledger", "budget", "reset", "adult", "-reason", "x", "-c", path)
	books4(t, path)
	var accounts []balance
	code, out, errs := invoke(t, "budget", "list", "-json", "-c", path)
	if err := json.Unmarshal([]byte(out), &accounts); err != nil || code != exitOK || len(accounts) != 3 {
		t.Fatalf("%d %v %s%s", code, err, out, errs)
	}
	if a := accounts[0]; a.Secret != "high_income" || *a.Total != 20 || *a.Spent != 20 || *a.Left != 0 ||
		a.Releases != 4 || *a.Delta != .01 {
		t.Errorf("%s", out)
	}
	if a := accounts[2]; a.Dataset != "former" || !a.NoPolicy || a.Total != nil || a.Releases != 1 {
		t.Errorf("%s", out)
	}
	_, out, _ = invoke(t, "budget", "-c", path)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[0], "dataset") ||
		utf8.RuneCountInString(lines[0]) != utf8.RuneCountInString(lines[1]) ||
		!strings.Contains(lines[4], "no policy") {
		t.Errorf("not aligned:\n%s", out)
	}
	for args, code := range map[string]int{
		"reset adult": exitUsage, "reset": exitUsage, "show": exitUsage, "nonsense": exitUsage, "-nonsense": exitUsage,
		"show adult -n 0": exitUsage, "reset adult more -reason x": exitUsage,
		"show nobody": exitFailure, "reset nobody -reason x": exitFailure,
	} {
		expect(t, code, "", append([]string{"budget", "-c", path}, strings.Fields(args)...)...)
	}
	expect(t, exitUsage, "-reason", "budget", "-c", path, "reset", "adult", "-reason", " ")
	code, out, errs = invoke(t, "budget", "reset", "adult", "--reason", "the survey of the year is closed",
		"-operator", "carol", "-c", path)
	if code != exitOK || !strings.Contains(out, "entry 9:") || !strings.Contains(out, "adds to everything") {
		t.Fatalf("%d %s%s", code, out, errs)
	}
	code, out, _ = invoke(t, "budget", "show", "-c", path, "adult", "-n", "2")
	for _, word := range []string{"high_income", "by carol: the survey of the year is closed",
		"before it everyone had spent 20 of secret high_income in 4 releases", "alice", "directional",
		"answered, in an earlier period", "refused: PV001 3 times, 2 more"} {
		if code != exitOK || !strings.Contains(out, word) {
			t.Errorf("%q is missing: %d\n%s", word, code, out)
		}
	}
	if strings.Contains(out, "38.6") || strings.Contains(out, "\x1b") {
		t.Errorf("%s", out)
	}
	var d details
	code, out, _ = invoke(t, "budget", "show", "adult", "-json", "-c", path, "-user", "bob")
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != exitOK || *d.Accounts[0].Left != 20 ||
		len(d.Charges) != 0 || len(d.Resets) != 1 || d.Refused["PV001"] != 3 || *d.Ended[0].Spent != 20 {
		t.Errorf("%d %v %s", code, err, out)
	}
	if code, out, errs := invoke(t, "audit", "verify", "-c", path); code != exitOK {
		t.Errorf("%s%s", out, errs)
	}
}

// A ledger that is copied, put elsewhere and compacted is whole each time; one that is put back is found out.
func TestLedgerCommands(t *testing.T) {
	patient.Test(t)
	path, other := setting(t), setting(t)
	dir := t.TempDir()
	export, backup := filepath.Join(dir, "export"), filepath.Join(dir, "backup.db")
	if code, _, _ := invoke(t, "ledger", "export", export, "-c", path); code != exitFailure {
		t.Errorf("without a ledger: exit code %d", code)
	}
	file := books4(t, path)
	head := func(path string) string {
		code, out, errs := invoke(t, "audit", "verify", "-c", path)
		if code != exitOK {
			t.Errorf("verify: %s%s", out, errs)
		}
		_, head, _ := strings.Cut(strings.TrimSpace(out), "the last is ")
		return head
	}
	first := head(path)
	for _, args := range [][]string{{"backup", backup}, {"export", export}} {
		args = append([]string{"ledger", "-c", path}, args...)
		expect(t, exitOK, first, args...)
		expect(t, exitFailure, "exists", args...)
		if info, err := os.Stat(args[4]); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
	}
	written, err := os.ReadFile(export)
	if code, out, errs := invoke(t, "ledger", "export", "-", "-c", path); err != nil || code != exitOK ||
		out != string(written) || !strings.Contains(errs, first) {
		t.Errorf("%d %v %s", code, err, errs)
	}
	code, out, errs := invoke(t, "ledger", "import", export, "-c", other, "-json")
	var at struct {
		Number int64
		Hash   string
	}
	if err := json.Unmarshal([]byte(out), &at); err != nil || code != exitOK ||
		fmt.Sprintf("%d:%s", at.Number, at.Hash) != first || head(other) != first {
		t.Errorf("%d %v %s%s", code, err, out, errs)
	}
	expect(t, exitFailure, "already", "ledger", "import", export, "-c", path)
	compactLedger(t, path)
	last := head(path)
	if !strings.HasPrefix(last, "8:") {
		t.Errorf("the chain ends with %s", last)
	}

	// Put back, which only who knows how the chain ended finds out.
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(file + end)
	}
	kept, err := os.ReadFile(backup)
	if err == nil {
		err = os.WriteFile(file, kept, 0o600)
	}
	if err != nil || head(path) != first {
		t.Errorf("the backup is not the ledger of before: %v", err)
	}
	expect(t, exitFailure, "earlier state", "audit", "verify", "-head", last, "-c", path)
}

// compactLedger drops the content of all five answers of a ledger, after mistakes that drop none.
func compactLedger(t *testing.T, path string) {
	t.Helper()
	tomorrow := time.Now().Add(time.Hour * 24).UTC().Format(time.DateOnly)
	for _, args := range [][]string{{}, {"nonsense"}, {"compact"}, {"compact", "-before", "2006-01-02"},
		{"compact", "-reason", "x"}, {"compact", "-before", "soon", "-reason", "x"},
		{"compact", "-before", tomorrow, "-reason", "x"}, {"export"}, {"export", "a", "b"}, {"backup", "-"}} {
		expect(t, exitUsage, "", append([]string{"ledger", "-c", path}, args...)...)
	}
	expect(t, exitOK, "ok 0 answers", "ledger", "compact", "-before", "2006-01-02", "-reason", "storage", "-c", path)
	now := time.Now().UTC().Format(time.RFC3339Nano)
	expect(t, exitOK, "ok 5 answers", "ledger", "compact", "-before", now, "-reason", "storage", "-c", path)
}

// What a proxy refuses is in the audit when it has ended, as fingerprints of statements and never as their text; and
// what it answered has the fingerprint too.
func TestRefusalsAreAudited(t *testing.T) {
	path := setting(t, "analysts: [alice, bob]", "analysts: [alice]")
	c, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	conn := c.connect(t)
	for _, statement := range []string{
		"SELECT max(age) FROM adult WHERE sex = 'topsecret1'", // two of the same shape
		"SELECT max(age) FROM adult WHERE sex = 'topsecret2'",
		"SELECT string_agg(sex, 'topsecret6') FROM adult", "SELECT count(*) FROM adult WHERE 'topsecret3",
		"SELECT count(nothing) FROM adult", "SELECT query_to_xml('topsecret4', true, true, '')",
		"SET fugu.epsilon = 99; SELECT count(*) FROM adult WHERE sex = 'topsecret5'",
	} {
		if _, err := conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err == nil {
			t.Errorf("answered: %s", statement)
		}
	}
	var n int64
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM adult WHERE sex = 'Male'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	// Errors that are no business of ours.
	if _, err := conn.Exec(t.Context(), "SELECT 1/0"); err == nil {
		t.Error("divided")
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close(t.Context())
	if err := c.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, c.log)
	}
	code, out, errs := invoke(t, "audit", "export", "-c", path)
	if code != exitOK {
		t.Fatal(errs)
	}
	if strings.Contains(out, "topsecret") || strings.Contains(c.log.String(), "topsecret") {
		t.Errorf("a literal is in the audit or in the log:\n%s%s", out, c.log)
	}
	a := audited(t, out)
	if len(a.released) != 16 || a.released != a.above {
		t.Errorf("answered %q, and refused at a greater epsilon %q", a.released, a.above)
	}
	want := map[string]int64{"PV001 adult alice": 3, "PV001  alice": 1, "42601 adult alice": 1, "42703 adult alice": 1,
		"PV003 adult alice": 1}
	if fmt.Sprint(a.times) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", a.times, want)
	}
	twice := 0
	for statement, n := range a.shapes {
		if n == 2 && len(statement) == 16 {
			twice++
		}
	}
	if twice != 1 {
		t.Errorf("%v", a.shapes)
	}
}

// auditedStatements are what an audit says of statements.
type auditedStatements struct {
	times           map[string]int64 // refusals by code, dataset and user
	shapes          map[string]int64 // and by fingerprint
	released, above string           // fingerprints of what was answered, and of what had a budget that nobody has
}

// audited reads an exported audit chain.
func audited(t *testing.T, export string) auditedStatements {
	t.Helper()
	a := auditedStatements{times: map[string]int64{}, shapes: map[string]int64{}}
	for line := range bytes.Lines([]byte(export)) {
		var l struct{ Entry audit.Entry }
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		e := l.Entry
		switch e.Event {
		case audit.Refused:
			a.times[e.Code+" "+e.Dataset+" "+e.User] += max(1, e.Times)
			a.shapes[e.Statement] += max(1, e.Times)
			if e.Code == "PV003" {
				a.above = e.Statement
			}
		case audit.Release:
			a.released = e.Statement
		}
	}
	return a
}
