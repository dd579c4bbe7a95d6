package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	fitting "fugu/fit"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// model is where fit puts what it has prepared for the example.
func modelOf(path string) string { return filepath.Join(filepath.Dir(path), "adult.model") }

// fit prepares the standard statements and those of policy, flags and files, and says how well they fit.
func TestFit(t *testing.T) {
	patient.Test(t)
	path := setting(t, "analysts:", "fit: [\"SELECT sex, sum(capital_gain) FROM adult GROUP BY sex\"]\nanalysts:")
	more := filepath.Join(t.TempDir(), "more.sql")
	if err := os.WriteFile(more, []byte("SELECT count(*) FROM adult WHERE age > 80;\nSELECT avg(age) FROM adult "+
		"WHERE sex = 'Male';\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := invoke(t, "fit", "-c", path, "-f", more, "-statement", "SELECT avg(age) FROM adult "+
		"WHERE education = 'Masters'")
	if code != 0 {
		t.Fatal(stderr)
	}
	t.Log(stdout)
	for _, word := range []string{"ok dataset adult", "reference public.adult_reference", "secret high_income",
		"inside the predicate", "SELECT count(*) FROM",
		"education", "sum(capital_gain)", "age > 80", "'Masters'", "plausible", "secret private_sector: that " +
			"statistics are normal is"} {
		if !strings.Contains(stdout, word) {
			t.Errorf("%q is missing", word)
		}
	}
	if strings.Contains(stderr, "\x1b") || !strings.Contains(stderr, "fugu fit: adult 1/") {
		t.Errorf("progress where there is no terminal: %q", stderr)
	}
}

// What cannot be prepared is a finding with its code, and exit code 1; the rest is prepared all the same.
func TestFitFindings(t *testing.T) {
	patient.Test(t)
	path := setting(t)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-statement", "SELECT sum(capital_gain) FROM adult WHERE age > 1000"}, 1, "PV004"},
		{[]string{"-statement", "SELECT max(age) FROM adult"}, 1, "PV001"},
		{[]string{"-statement", "SELECT 1"}, 1, "PV001"},
		{[]string{"-statement", "SELECT count(*) FROM adult WHERE age > $1"}, 1, "parameters"},
		{[]string{"-f", "nowhere.sql"}, 2, "nowhere.sql"},
		{[]string{"SELECT 1"}, 2, "-statement"},
		{[]string{"-nonsense"}, 2, "nonsense"},
		{nil, 0, "ok dataset adult"},
	} {
		code, stdout, stderr := invoke(t, append([]string{"fit", "-c", path}, c.args...)...)
		if code != c.code || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("fugu fit %q: exit %d, want %d with %q\n%s%s", c.args, code, c.code, c.want, stdout, stderr)
		}
	}
	if code, _, stderr := invoke(t, "fit", "-c", setting(t, "income = '>50K'", "income = 'nobody'")); code != 1 ||
		!strings.Contains(stderr, "PV004") || !strings.Contains(stderr, "high_income") {
		t.Errorf("a class without rows: exit %d: %s", code, stderr)
	}
}

// A fit is repeated without asking the references again, and -json says so.
func TestFitJSON(t *testing.T) {
	patient.Test(t)
	path := setting(t)
	run := func() fitting.Report {
		t.Helper()
		code, stdout, stderr := invoke(t, "fit", "-json", "-c", path)
		var reports []fitting.Report
		if err := json.Unmarshal([]byte(stdout), &reports); err != nil || code != 0 || len(reports) != 1 {
			t.Fatalf("exit %d, %v: %s%s", code, err, stdout, stderr)
		}
		return reports[0]
	}
	first, second := run(), run()
	if first.Asked == 0 || first.Asked != first.Parts || second.Asked != 0 || second.Parts != first.Parts ||
		first.Hash == "" {
		t.Errorf("first %d of %d, then %d of %d", first.Asked, first.Parts, second.Asked, second.Parts)
	}
	for _, s := range first.Statements {
		for _, q := range s.Qualities {
			if q.Assessed != s.Components || q.CovarianceRatio == nil || strings.Contains(s.Statement,
				`GROUP BY "education"`) && q.Missed <= 0 {
				t.Errorf("%s: %+v", s.Statement, q)
			}
		}
	}
}

// An artifact that is altered or of other references is named by check and by serve, and not used.
func TestFitStale(t *testing.T) {
	patient.Test(t)
	path := setting(t)
	check := func(want string) {
		t.Helper()
		code, stdout, stderr := invoke(t, "check", "-c", path)
		if code != 0 || strings.Contains(stdout, "fugu fit") != (want != "") || !strings.Contains(stdout, want) {
			t.Errorf("check: exit %d, want %q: %s%s", code, want, stdout, stderr)
		}
	}
	check("")
	if code, _, stderr := invoke(t, "fit", "-c", path); code != 0 {
		t.Fatal(stderr)
	}
	check("")
	good, err := os.ReadFile(modelOf(path))
	if err != nil {
		t.Fatal(err)
	}
	write := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(modelOf(path), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(bytes.Replace(good, []byte(`"rows":[["t"`), []byte(`"rows":[["f"`), 1))
	check("altered")
	write(good[:len(good)-1])
	check("not complete")
	write(good)
	policy := filepath.Join(filepath.Dir(path), "adult.policy.yaml")
	text, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(policy, bytes.Replace(text, []byte("within: 0.05"), []byte("within: 0.06"), 1),
		0o600); err != nil {
		t.Fatal(err)
	}
	check("the policy has changed")
}

// A fit that is killed leaves what it had for the next, and serve answers from it without the reference.
func TestFitKilledAndServed(t *testing.T) {
	patient.Test(t)
	path := setting(t)
	cmd := exec.Command(os.Args[0], "fit", "-c", path)
	cmd.Env = append(os.Environ(), asFugu+"=1")
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewScanner(errs); in.Scan(); {
		if strings.Contains(in.Text(), "fugu fit: adult 5/") {
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	left, err := os.ReadFile(modelOf(path) + ".part")
	if err != nil {
		t.Fatal(err)
	}
	parts := bytes.Count(left, []byte("\n")) - 1 // without the header, and without a line that is not whole
	if _, err := os.Stat(modelOf(path)); err == nil || parts < 4 {
		t.Fatalf("killed: %d parts, and a whole file: %v", parts, err)
	}
	code, stdout, stderr := invoke(t, "fit", "-json", "-c", path)
	var reports []fitting.Report
	if err := json.Unmarshal([]byte(stdout), &reports); err != nil || code != 0 ||
		reports[0].Asked != reports[0].Parts-parts {
		t.Fatalf("exit %d, %v: asked %d of %d after %d were there: %s", code, err, reports[0].Asked, reports[0].Parts,
			parts, stderr)
	}

	c, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	conn := c.connect(t)
	cluster := pgcluster.Shared(t)
	if err := cluster.Exec(t.Context(), "adult", "REVOKE SELECT ON adult_reference FROM fugu_reader"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cluster.Exec(context.Background(), "adult", "GRANT SELECT ON adult_reference TO fugu_reader")
	}()
	var n int64
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM adult WHERE age > 0").Scan(&n); err == nil {
		t.Error("a statement that nobody prepared was answered without a reference")
	}
	var x float64
	if err := conn.QueryRow(t.Context(), "SELECT avg(age) FROM adult").Scan(&x); err != nil || x < 20 || x > 60 {
		t.Errorf("a statement that is prepared: %v, %v", x, err)
	}
}
