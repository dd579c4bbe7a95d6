package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/account"
	"fugu/explain"
	"fugu/test/adult"
	"fugu/test/nightly"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// asFugu makes the test binary the command itself.
const asFugu = "RUN_AS_FUGU"

func TestMain(m *testing.M) {
	if os.Getenv(asFugu) != "" {
		main()
	}
	byNight()
	pgcluster.Main(m)
}

// night says that it is night, and browserRequired that there has to be a browser.
var night, browserRequired bool

// byNight takes what tests are asked for by night out of the environment: to the command each variable of FUGU_ is a
// key of its configuration, and these are none.
func byNight() {
	night, browserRequired = nightly.Is(), os.Getenv(browserWanted) != ""
	for _, asked := range []string{nightly.Asked, browserWanted, patient.Asked} {
		_ = os.Unsetenv(asked)
	}
}

// browserWanted is browser.Required. Package browser is not under the race detector: it brings a client that is larger
// than Fugu, for one test that runs by night.
const browserWanted = "FUGU_BROWSER"

var loaded bool

// setting writes a configuration over the Adult database into a directory of its own; edits are old and new in turn.
func setting(t *testing.T, edits ...string) (path string) {
	t.Helper()
	c := pgcluster.Shared(t)
	if !loaded {
		if _, err := adult.Load(t.Context(), c, "adult", adult.Options{}); err != nil {
			t.Fatal(err)
		}
		loaded = true
	}
	dir := t.TempDir()
	text := fmt.Sprintf("listen: 127.0.0.1:0\nupstream:\n  guest: %q\n  reader: %q\nauth:\n  method: trust\n"+
		"policy: adult.policy.yaml\nledger: sqlite:fugu.db\n",
		c.DSN("fugu_guest", "adult"), c.DSN("fugu_reader", "adult"))
	policy, err := os.ReadFile("../../examples/adult/adult.policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r := strings.NewReplacer(edits...)
	path = filepath.Join(dir, "fugu.yaml")
	if err := errors.Join(os.WriteFile(path, []byte(r.Replace(text)), 0o600),
		os.WriteFile(filepath.Join(dir, "adult.policy.yaml"), []byte(r.Replace(string(policy))), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func invoke(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// expect carries out a command line, which has to end with this code and say want: where it prints what it has done, or
// where it prints errors.
func expect(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	got, stdout, stderr := invoke(t, args...)
	said := stdout
	if code != exitOK {
		said = stderr
	}
	if got != code || !strings.Contains(said, want) {
		t.Errorf("fugu %q: exit %d, want %d with %q\n%s%s", args, got, code, want, stdout, stderr)
	}
}

func TestExitCodes(t *testing.T) {
	patient.Test(t)
	good := setting(t)
	for _, c := range []struct {
		args []string
		code int
		want string // in stdout or stderr
	}{
		{nil, 2, "fugu serve"},
		{[]string{"help"}, 0, "fugu serve"},
		{[]string{"nonsense"}, 2, "unknown command"},
		{[]string{"check", "-nonsense"}, 2, "nonsense"},
		{[]string{"check", "-h"}, 0, "-c"},
		{[]string{"check", "-c", "nowhere.yaml"}, 1, "nowhere.yaml"},
		{[]string{"check", "-c", good}, 0, "ok dataset adult"},
		{[]string{"check", "-c", setting(t, "listen:", "lissten:", "within: 0.05", "within: 5")}, 1, "lissten"},
		{[]string{"check", "-c", setting(t, "within: 0.05", "within: 5", "epsilon: 1 ", "epsilon: .nan ")}, 1,
			"within"},
		{[]string{"check", "-c", setting(t, "income = '>50K'", "random() < 0.5")}, 1, "random"},
		{[]string{"check", "-c", setting(t, "[Female, Male]", "[Female, Male]\n      nosuch: [1]")}, 1, "nosuch"},
		{[]string{"check", "-c", setting(t, "age: {from: 17, to: 90}", "age: {from: 17, to: 18}")}, 0,
			"rows of public.adult's reference have a value of age outside of its group_by"},
		{[]string{"check", "-c", setting(t, "age: {from: 17, to: 90}", "age: {from: 0, to: 90}")}, 0,
			"warning: 17 of the 91 values of age in group_by stand in no row of public.adult's reference"},
		{[]string{"check", "-c", setting(t, "age: {from: 17, to: 90}",
			"age: {from: 2023-01-01, to: 2024-12-31, by: month}")}, 1, "is for dates and timestamps"},
		{[]string{"check", "-c", setting(t, "income = '>50K'", "income = 'nobody'")}, 1, "PV004"},
		{[]string{"check", "-c", setting(t, "fugu_guest", "postgres")}, 1, "superuser"},
		{[]string{"preview", "-c", good}, 2, "one statement"},
		{[]string{"preview", "-c", good, "-epsilon", "-1", "SELECT count(*) FROM adult"}, 2, "epsilon"},
		{[]string{"preview", "-c", good, "SELECT max(age) FROM adult"}, 1, "PV001"},
		{[]string{"preview", "-c", good, "SELECT 1"}, 1, "no protected table"},
		{[]string{"serve", "-c", setting(t, "fugu_guest", "postgres")}, 1, "superuser"},
		{[]string{"budget", "-c", good}, 0, "everyone"},
	} {
		code, stdout, stderr := invoke(t, c.args...)
		if code != c.code || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("fugu %v: exit %d, want %d with %q\n%s%s", c.args, code, c.code, c.want, stdout, stderr)
		}
	}
}

// All findings of a policy come at once.
func TestCheckReportsEverything(t *testing.T) {
	patient.Test(t)
	_, _, stderr := invoke(t, "check", "-c", setting(t, "within: 0.05", "within: 5", "version: 1", "version: 9",
		"per: dataset", "per: nobody"))
	for _, word := range []string{"within", "version", "per", "adult.policy.yaml:"} {
		if !strings.Contains(stderr, word) {
			t.Errorf("%q is missing:\n%s", word, stderr)
		}
	}
}

// A preview shows noise for each epsilon, takes parameters, writes JSON, and leaves no ledger behind.
func TestPreview(t *testing.T) {
	patient.Test(t)
	path := setting(t)
	code, stdout, stderr := invoke(t, "preview", "-c", path, "-epsilon", "0.5,2", "-p", "Male",
		"SELECT education, avg(age) FROM adult WHERE sex = $1 GROUP BY education")
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, word := range []string{"F: avg(age) of public.adult by education", "high_income", "directional", "0.5",
		"95% within", "±"} {
		if !strings.Contains(stdout, word) {
			t.Errorf("%q is missing:\n%s", word, stdout)
		}
	}
	code, stdout, _ = invoke(t, "preview", "-json", "-c", path, "-epsilon", "0.5,2", "SELECT avg(age) FROM adult")
	var xs []explain.Explanation
	if err := json.Unmarshal([]byte(stdout), &xs); err != nil || code != 0 || len(xs) != 2 ||
		xs[0].Noise[0].SDMax <= xs[1].Noise[0].SDMax {
		t.Errorf("exit %d, %v:\n%s", code, err, stdout)
	}
	if files, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "fugu.db*")); len(files) > 0 {
		t.Errorf("a preview made %v", files)
	}
}

// child is a fugu serve of its own.
type child struct {
	*exec.Cmd
	address string
	log     *logged
}

// logged is what a process says while it runs.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// reload has a process read its policy again, and returns whether that is in force, once the log says so.
func (c *child) reload(t *testing.T) bool {
	t.Helper()
	said := func() (taken, left int) {
		log := c.log.String()
		return strings.Count(log, "policy reloaded"), strings.Count(log, "the old one stands")
	}
	taken, left := said()
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for {
		switch now, old := said(); {
		case now > taken:
			return true
		case old > left:
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func startChild(t *testing.T, path string, env ...string) (*child, error) {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0], "serve", "-c", path), log: new(logged)}
	c.Env = append(append(os.Environ(), asFugu+"=1"), env...)
	c.Stderr = c.log
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// It is ended as operators end it: what it ran is covered, and what keeps it from ending is seen.
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(patience, func() {
			t.Errorf("fugu serve has not ended: %s", c.log)
			_ = c.Process.Kill()
		})
		_ = c.Wait()
		late.Stop()
	})
	line, _ := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "fugu: ready on ")
	if !ok {
		_ = c.Wait()
		return c, fmt.Errorf("%q: %s", line, c.log)
	}
	c.address = address
	return c, nil
}

func (c *child) connect(t *testing.T) *pgx.Conn {
	t.Helper()
	u := url.URL{Scheme: "postgres", User: url.User("alice"), Host: c.address, Path: "adult"}
	conn, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// ask has a new session ask what is protected, and be answered.
func (c *child) ask(t *testing.T) {
	t.Helper()
	var n int64
	row := c.connect(t).QueryRow(t.Context(), "SELECT count(*) FROM adult WHERE income = '>50K'")
	if err := row.Scan(&n); err != nil {
		t.Fatal(err)
	}
}

// serve says when it is ready, keeps its ledger to itself, lets the environment override a key, and exits with 0 on
// SIGTERM; the budget command reads its ledger meanwhile.
func TestServe(t *testing.T) {
	path := setting(t, "127.0.0.1:0", "127.0.0.1:1")
	c, err := startChild(t, path, "FUGU_LISTEN=127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.ask(t)
	code, stdout, stderr := invoke(t, "budget", "-json", "-c", path)
	var accounts []account.Balance
	if err := json.Unmarshal([]byte(stdout), &accounts); err != nil || code != 0 || accounts[0].Releases != 1 ||
		accounts[0].Spent <= 0 {
		t.Errorf("budget: exit %d, %v: %s%s", code, err, stdout, stderr)
	}
	if _, err := startChild(t, path, "FUGU_LISTEN=127.0.0.1:0"); err == nil {
		t.Error("a second proxy serves from the same ledger")
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, c.log)
	}

	// Its log says which proxy it was, and that it was told to stop; and no word of where its passwords would be.
	for _, words := range []string{`msg="fugu begins" version=`, "listen=" + c.address, "databases=adult",
		"datasets=adult", "auth=trust", "ledger=sqlite:", `msg="told to stop: no more clients are taken`,
		"at_most=20s", "msg=stopped"} {
		if !strings.Contains(c.log.String(), words) {
			t.Errorf("the log has no %s:\n%s", words, c.log)
		}
	}
	if strings.Contains(c.log.String(), "postgres://") {
		t.Errorf("the log has addresses of databases:\n%s", c.log)
	}
}

// SIGHUP takes over a good policy, and leaves the old one in force where the new one is broken.
func TestReload(t *testing.T) {
	path := setting(t)
	c, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	conn := c.connect(t)
	file := filepath.Join(filepath.Dir(path), "adult.policy.yaml")
	policy, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	reload := func(old, new string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(strings.Replace(string(policy), old, new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	allowed := func() bool {
		_, err := conn.Exec(t.Context(), "SELECT count(*) FROM adult", pgx.QueryExecModeSimpleProtocol)
		var pe *pgconn.PgError
		// 0A000: the reload came between reading and answering
		if err != nil && (!errors.As(err, &pe) || pe.Code != "PV003" && pe.Code != "0A000") {
			t.Fatal(err)
		}
		return err == nil
	}
	if !allowed() {
		t.Fatal("alice may not ask")
	}
	reload("analysts: [alice, bob]", "analysts: [bob]")
	for allowed() {
	}
	reload("version: 1", "version: one")
	reload("version: 1", "version: 2")
	if allowed() {
		t.Error("a broken policy took the place of a good one")
	}
	reload("analysts: [alice, bob]", "analysts: [alice]")
	for !allowed() {
	}

	// The log says where a broken one is broken, and of a good one what becomes of answers. Each is waited for: signals
	// that come too fast are one, and the next policy would be compared with the one before the last.
	for _, x := range [][3]string{
		{"version: 1", "version: one", "adult.policy.yaml:2:"},
		{"within: 0.05", "within: 0.06", `msg="policy reloaded" datasets=adult stored_answers_end=adult`},
		{"version: 1", "version: 1", `msg="policy reloaded" datasets=adult stored_answers_end=adult`},
		{"analysts: [alice, bob]", "analysts: [bob]", `msg="policy reloaded" datasets=adult` + "\n"},
	} {
		before := len(c.log.String())
		reload(x[0], x[1])
		eventually(t, x[2], func() bool { return strings.Contains(c.log.String()[before:], x[2]) })
	}
}

// A guest with rights is as good as a broken file.
func TestCheckFindsRights(t *testing.T) {
	path := setting(t)
	if err := pgcluster.Shared(t).Exec(t.Context(), "adult", "GRANT SELECT (age) ON adult TO fugu_guest"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = pgcluster.Shared(t).Exec(context.Background(), "adult", "REVOKE SELECT (age) ON adult FROM fugu_guest")
	}()
	expect(t, exitFailure, "REVOKE", "check", "-c", path)
}
