package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"fugu/test/golden"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// marketOrders is how many orders the shop of the tests has.
const marketOrders = 20000

// shop loads examples/marketplace without its policy, roles and grants, and returns the address of its owner.
func shop(t *testing.T, database string) (c *pgcluster.Cluster, owner string) {
	t.Helper()
	c = pgcluster.Shared(t)
	schema, err := os.ReadFile("../../examples/marketplace/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CreateDatabase(t.Context(), database, ""); err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(t.Context(), database, string(schema)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), c.Tool("psql"), "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", "-f",
		"../../examples/marketplace/generate.sql", c.DSN("postgres", database))
	cmd.Env = append(os.Environ(), fmt.Sprintf("PGOPTIONS=-c marketplace.orders=%d", marketOrders))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return c, c.DSN("postgres", database)
}

// forget has the roles of a set-up be gone before the next test, and their database first.
func forget(t *testing.T, c *pgcluster.Cluster, database, roles string) {
	t.Cleanup(func() {
		for _, sql := range []string{"DROP DATABASE " + database + " WITH (FORCE)",
			fmt.Sprintf("DROP ROLE IF EXISTS %[1]s_guest, %[1]s_reader, %[1]s_keeper", roles)} {
			if err := c.Exec(context.Background(), "postgres", sql); err != nil { // the test's own is over
				t.Log(err)
			}
		}
	})
}

// secretWords are what differs from one set-up to the next: passwords and verifiers, places and ports.
var secretWords = regexp.MustCompile(
	`SCRAM-SHA-256\$4096:[^"']+|password of \w+: \S+|(_(?:guest|reader|keeper)):[^@]+@`)

// checkFiles compares what init has written with golden files.
func checkFiles(t *testing.T, dir, goldenDir string, owner string) {
	t.Helper()
	u, err := url.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("%v in %s (%v)", files, dir, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.NewReplacer(dir, "DIR", binary, "BINARY", u.Host, "HOST").Replace(string(text))
		golden.Check(t, filepath.Join("testdata", goldenDir, f.Name()),
			secretWords.ReplaceAllString(got, "${1}SECRET"))
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if secret := secretWords.Match(text); secret != (info.Mode().Perm() == 0o600) {
			t.Errorf("%s has the mode %o, and secrets: %v", f.Name(), info.Mode().Perm(), secret)
		}
	}
}

// readmeSteps are the commands of README's section on one's own table.
func readmeSteps(t *testing.T) (steps []string) {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Your own table\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, line := range strings.Split(strings.ReplaceAll(section, "\\\n", ""), "\n") {
		if step, ok := strings.CutPrefix(line, "    $ "); ok {
			steps = append(steps, step)
		}
	}
	return steps
}

// The steps of README protect a table of one's own and answer a question about it, typed as they stand there. What they
// do to the machine, and its PostgreSQL, stand for are those of the tests.
func TestReadmeSession(t *testing.T) {
	patient.Test(t)
	c := pgcluster.Shared(t)
	forget(t, c, "marketplace", "fugu_shop")
	t.Cleanup(func() { _ = c.Exec(context.Background(), "postgres", "DROP ROLE IF EXISTS me") })
	steps := readmeSteps(t)

	// Fugu has a port and roles of its own here, and there are fewer orders.
	s := newSession(t, c)
	examples, err := filepath.Abs("../../examples")
	if err == nil {
		err = os.Symlink(examples, filepath.Join(s.dir, "examples"))
	}
	if err != nil {
		t.Fatal(err)
	}
	admin, owner := c.DSN("postgres", "postgres"), c.DSN("me", "marketplace")
	s.typed = append(s.typed, "make build", "test -x bin/fugu", "sudo apt-get install postgresql", "true",
		"sudo -u postgres psql", "psql '"+admin+"'", "LOGIN PASSWORD", "LOGIN PASSWORD",
		"postgres://me:change-me@127.0.0.1/marketplace", "'"+owner+"'",
		`psql "$DATABASE_URL" -q1`, fmt.Sprintf(`PGOPTIONS="-c marketplace.orders=%d" psql "$DATABASE_URL" -q1`,
			marketOrders),
		"-analyst alice", "-analyst alice -listen 127.0.0.1:0 -roles fugu_shop",
		"-rows 270000", fmt.Sprintf("-rows %d", marketOrders))
	last := ""
	for _, step := range steps {
		known := s.password != ""
		last = s.run(t, step)
		if s.password != "" && !known {
			checkFiles(t, filepath.Join(s.dir, "shop"), "init", owner)
		}
	}
	for _, word := range []string{"web", "app", "phone", "(3 rows)"} {
		if !strings.Contains(last, word) {
			t.Errorf("the last step shows no %q:\n%s", word, last)
		}
	}
	if s.password == "" || s.address == "" || len(steps) != 11 {
		t.Errorf("README has %d steps, a password %v and an address %q", len(steps), s.password != "", s.address)
	}

	// Only who has the password comes in, and the rows behind the twin are out of reach.
	alice := s.alice("marketplace")
	if out, ok := tool(t, c, "psql", "-XAtc", "SELECT order_number FROM orders", alice); ok {
		t.Errorf("a column that identifies orders is answered: %s", out)
	}
	if out, ok := tool(t, c, "psql", "-XAtc", "SELECT 1", strings.Replace(alice, s.password, "guess", 1)); ok {
		t.Errorf("any password is good: %s", out)
	}
}

// At a terminal the same is asked for that flags say, and the same files come of it.
func TestInitAsks(t *testing.T) {
	patient.Test(t)
	c, owner := shop(t, "asked")
	forget(t, c, "asked", "fugu_asked")
	if err := c.Exec(t.Context(), "asked", "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	tty, screen := terminal(t)
	dir := filepath.Join(t.TempDir(), "shop")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "init", owner, "-dir", dir, "-roles", "fugu_asked",
		"-independent-rows")
	cmd.Env = append(os.Environ(), asFugu+"=1")
	cmd.Stdin, cmd.Stderr = tty, tty
	var out bytes.Buffer
	cmd.Stdout = &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// What is wrong is said at once, and asked again; an empty line takes what is proposed.
	for _, line := range []string{"nosuch", "orders", "nosuch = 1", "rating", "supplier = 'NORT01'", "0,05", "5%",
		"0.05", "0.01", "0.40", "0.9", "", "both", "", "many", "20000", ",", "alice, bob", "yes"} {
		if _, err := io.WriteString(screen, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	said := new(logged)
	go func() { _, _ = io.Copy(said, screen) }() // until the terminal is closed
	select {
	case err := <-done:
		if err != nil {
			t.Fatalf("%v: %s%s", err, out.String(), said)
		}
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		t.Fatalf("it still asks: %s", said)
	}
	checkFiles(t, dir, "init_asked", owner)
	if strings.Count(out.String(), "password of") != 2 {
		t.Errorf("it says\n%s", out.String())
	}
	for _, word := range []string{"there is no table public.nosuch", `column "nosuch" does not exist`,
		"is not true or false of a row", "write a number above 0 and at most 1", "above 0.05 and at most 1",
		"5% is no share of the rows: write 0.05 for 5%",
		"above 0 and at most 0.35", "write twin or noise", "a whole number above 0", "at least one name"} {
		eventually(t, "a wrong answer is told "+word, func() bool {
			return strings.Contains(strings.Join(strings.Fields(said.String()), " "), word)
		})
	}
}

// With noise the domains are what the schema says, tables without a reference are closed, and check passes.
func TestInitWithNoise(t *testing.T) {
	patient.Test(t)
	c, owner := shop(t, "noisy")
	forget(t, c, "noisy", "fugu_noisy")
	if err := c.Exec(t.Context(), "noisy", "CREATE TABLE before (LIKE orders); INSERT INTO before "+
		"SELECT * FROM orders WHERE id::text < '2'"); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "shop")
	args := []string{"init", owner, "-dir", dir, "-roles", "fugu_noisy", "-table", "orders", "-secret",
		"rating >= 4", "-from", "0.1", "-to", "0.5", "-within", "0.02", "-rows", "20000", "-analyst", "alice",
		"-answers",
		"noise"}
	expect(t, exitUsage, "needs a -reference", args...)
	expect(t, exitUsage, "there is no table public.nosuch", append(args, "-reference", "nosuch")...)
	args = append(args, "-reference", "before")
	expect(t, exitOK, "public.payment is closed", args...)
	checkFiles(t, dir, "init_noise", owner)
	if out, ok := tool(t, c, "psql", "-v", "ON_ERROR_STOP=1", "-f", filepath.Join(dir, "grants.sql"), owner); !ok {
		t.Fatal(out)
	}
	expect(t, exitOK, "ok dataset noisy", "check", "-c", filepath.Join(dir, "fugu.yaml"))

	// Nothing is written over, and no role is taken from who has it.
	expect(t, exitFailure, "there are roles of the names", args...)
	expect(t, exitFailure, "there is noisy.policy.yaml", append(args, "-roles", "others")...)
	expect(t, exitOK, "ok", append(args, "-force")...)
	// What init wrote may be run again.
	if out, ok := tool(t, c, "psql", "-v", "ON_ERROR_STOP=1", "-f", filepath.Join(dir, "grants.sql"), owner); !ok {
		t.Fatal(out)
	}
	expect(t, exitOK, "ok dataset noisy", "check", "-c", filepath.Join(dir, "fugu.yaml"))
}

// Without a terminal everything that is missing is told at once; what is no condition, table or policy is refused
// before anything is written.
func TestInitRefuses(t *testing.T) {
	patient.Test(t)
	c, owner := shop(t, "refusing")
	forget(t, c, "refusing", "fugu_refusing")
	dir := filepath.Join(t.TempDir(), "shop")
	for _, word := range []string{"-table", "-secret", "-from", "-to", "-within", "-rows", "-analyst"} {
		expect(t, exitUsage, "\n  "+word, "init", owner, "-dir", dir)
	}
	good := map[string]string{"table": "orders", "secret": "supplier = 'NORT01'", "from": "0.05", "to": "0.4",
		"within": "0.02", "rows": "20000", "analyst": "alice", "roles": "fugu_refusing"}
	for _, x := range []struct {
		code            int
		flag, say, want string
	}{
		{exitUsage, "table", "nosuch", "there is no table public.nosuch"},
		{exitFailure, "secret", "nosuch = 1", "is no condition on"},
		{exitFailure, "secret", "rating", "is not true or false"},
		{exitFailure, "secret", "true) FROM orders; DROP TABLE payment; SELECT (true", "is no condition on"},
		{exitUsage, "within", "0.9", "wider than the whole range"},
		{exitFailure, "delta", "1.5", "makes no policy"},
		{exitFailure, "drop", "nosuch", "has no column nosuch"},
		{exitUsage, "answers", "both", "twin or noise"},
		{exitFailure, "open", "payment", "cannot be open"},
		{exitFailure, "listen", "nowhere", "makes no configuration"},
	} {
		args := []string{"init", owner, "-dir", dir}
		for flag, value := range good {
			args = append(args, "-"+flag, value)
		}
		expect(t, x.code, x.want, append(args, "-"+x.flag, x.say)...)
		if _, err := os.Stat(dir); err == nil {
			t.Fatalf("-%s %s: files were written", x.flag, x.say)
		}
	}
	if err := c.Exec(t.Context(), "refusing", "SELECT FROM payment"); err != nil {
		t.Error(err)
	}
}
