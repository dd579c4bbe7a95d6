package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
	"fugu/test/pgcluster"
)

const sampledPolicy = `version: 1
dataset: sampled
tables:
  payments: {rows: 1000}
secrets:
  fraud: {table: payments, mean: large, pairs: [[1, 2]]}
privacy: {epsilon: 1, delta: %s, mechanism: %s, budget: {epsilon: 20, delta: 0.5}}
declared:
  largest:
    statement: SELECT sum(large) FROM payments
    secrets:
      fraud: {values: [1, 2], samples: [[1, 2, 3, 100], [1, 3, 100]]}
`

// concentratedModel stands in place of the samples.
const concentratedModel = "{values: [1, 2], means: [[1], [2]], concentrated: {within: 5, but_for: 0.05}}\n"

const secondSampled = `  second:
    statement: SELECT avg(large) FROM payments
    secrets: {fraud: {values: [1, 2], samples: [[1], [2]]}}
`

// sampledDatabase is a database for sampledPolicy, and who serves it.
func sampledDatabase(t *testing.T) (config string) {
	t.Helper()
	c := pgcluster.Shared(t)
	var there int
	conn, err := pgx.Connect(t.Context(), c.DSN("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	const known = "SELECT count(*) FROM pg_database WHERE datname = 'sampled'"
	if err := conn.QueryRow(t.Context(), known).Scan(&there); err != nil {
		t.Fatal(err)
	}
	for _, step := range [][2]string{{"postgres", "CREATE DATABASE sampled"}, {"sampled", `
		CREATE ROLE sampled_guest LOGIN; CREATE ROLE sampled_reader LOGIN;
		CREATE TABLE payments (id int PRIMARY KEY, large int NOT NULL);
		INSERT INTO payments SELECT i, (i % 2) FROM generate_series(1, 1000) AS i;
		GRANT SELECT ON payments TO sampled_reader`}} {
		if err := c.Exec(t.Context(), step[0], step[1]); there == 0 && err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("listen: 127.0.0.1:0\nupstream: {guest: %q, reader: %q}\nauth: {method: trust}\n"+
		"policy: p.policy.yaml\nledger: sqlite:fugu.db\n", c.DSN("sampled_guest", "sampled"),
		c.DSN("sampled_reader", "sampled"))
}

// What is concentrated needs room for twice the chance that it is not.
func TestCheckOfConcentration(t *testing.T) {
	patient.Test(t)
	config := sampledDatabase(t)
	for _, s := range []struct {
		delta, mechanism string
		code             int
		says             string
	}{
		{"0.1", "auto", 0, "public.payments answers one statement, and no other: that of the model largest"},
		{"0.1", "approximate-wasserstein", 0, "fraud at [1 2] within [5] of its means but for 0.05"},
		{"0.09", "auto", 1, "declared model largest: secret fraud: two distributions that are each " +
			"near their means but for 0.05 are near each other but for 0.1, and of privacy.delta the mechanism auto " +
			"leaves 0.09 for that: write a larger within and a smaller but_for, or a larger delta"},
		{"0.1", "wasserstein", 1, "the mechanism wasserstein leaves 0 for that"},
		{"0.19", "directional", 1, "the mechanism directional leaves 0.095 for that"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "fugu.yaml")
		text := fmt.Sprintf(sampledPolicy, s.delta, s.mechanism)
		text = text[:strings.Index(text, "{values: [1, 2]")] + concentratedModel
		if err := errors.Join(os.WriteFile(path, []byte(config), 0o600),
			os.WriteFile(filepath.Join(dir, "p.policy.yaml"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := invoke(t, "check", "-c", path)
		if all := stdout + stderr; code != s.code || !strings.Contains(strings.Join(strings.Fields(all), " "), s.says) {
			t.Errorf("delta %s, %s: exit %d\n%s", s.delta, s.mechanism, code, all)
		}
	}
}

// What was told by samples does not add up with what other samples, or none, tell: such a change is not served, neither
// at a start nor by a reload, unless the data are drawn anew.
func TestSamplesStay(t *testing.T) {
	patient.Test(t)
	dir := t.TempDir()
	path, policy := filepath.Join(dir, "fugu.yaml"), filepath.Join(dir, "p.policy.yaml")
	text := fmt.Sprintf(sampledPolicy, "0.1", "auto")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, []byte(sampledDatabase(t)), 0o600); err != nil {
		t.Fatal(err)
	}

	write(text)
	c, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := c.to(t, "sampled")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "SELECT sum(large) FROM payments"); err != nil {
		t.Fatal(err)
	}
	others := strings.Replace(text, "[1, 2, 3, 100], [1, 3, 100]", "[1, 2, 100], [1, 100]", 1)
	write(others)
	if c.reload(t) {
		t.Error("a reload took other samples over")
	}
	_ = c.Process.Kill()
	_ = c.Wait()

	moments := strings.Replace(text, "samples: [[1, 2, 3, 100], [1, 3, 100]]",
		"means: [[1], [2]], covariances: [[[1]], [[1]]]", 1)
	for _, s := range []struct{ name, text, refusal string }{
		{"other samples", others, "does not add up"},
		{"another delta", fmt.Sprintf(sampledPolicy, "0.05", "auto"), "does not add up"},
		{"no samples", strings.Replace(moments, "privacy:", "assume: [translation]\nprivacy:", 1), "does not add up"},
		{"concentration", strings.Replace(text, "samples: [[1, 2, 3, 100], [1, 3, 100]]",
			"means: [[1], [2]], concentrated: {within: 5, but_for: 0.05}", 1), "does not add up"},
		{"a comment", text + "# the same\n", ""},
		{"other data", "epoch: {label: '2027', draw: independent}\n" + others, ""},
	} {
		write(s.text)
		c, err := startChild(t, path)
		if (err == nil) != (s.refusal == "") || err != nil && !strings.Contains(err.Error(), s.refusal) {
			t.Errorf("%s: %v", s.name, err)
		}
		_ = c.Process.Kill()
		_ = c.Wait()
	}
}

// A table whose statement is declared by samples answers that one, says check, even of a secret mean and at delta 0;
// two such statements about one table are refused, and so is a mechanism that samples say nothing for.
func TestCheckTellsOfSamples(t *testing.T) {
	patient.Test(t)
	config := sampledDatabase(t)

	const answers = "public.payments answers one statement, and no other: that of the model largest"
	for _, s := range []struct {
		delta, mechanism, more string
		code                   int
		says, not              string
	}{
		{"0.1", "auto", "", 0, answers, "is refused"},
		{"0", "wasserstein", "", 0, answers, "is refused"},
		{"0.1", "approximate-wasserstein", "", 0, answers, "is refused"},
		{"0.1", "markov-quilt", "", 1, "hides parameters, and no secret of public.payments is one", "ok"},
		{"0.1", "auto", secondSampled, 1, "the model largest declares another statement about public.payments", "ok"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "fugu.yaml")
		text := fmt.Sprintf(sampledPolicy, s.delta, s.mechanism) + s.more
		if err := errors.Join(os.WriteFile(path, []byte(config), 0o600),
			os.WriteFile(filepath.Join(dir, "p.policy.yaml"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}

		code, stdout, stderr := invoke(t, "check", "-c", path)
		if all := stdout + stderr; code != s.code || !strings.Contains(all, s.says) ||
			s.not != "" && strings.Contains(all, s.not) {
			t.Errorf("delta %s, %s: exit %d\n%s", s.delta, s.mechanism, code, all)
		}
		if s.code == 0 {
			if code, stdout, stderr = invoke(t, "fit", "-c", path); code != 0 {
				t.Errorf("fit: exit %d\n%s%s", code, stdout, stderr)
			}
			code, stdout, stderr = invoke(t, "preview", "-c", path, "SELECT sum(large) FROM payments")
			if code != 0 || !strings.Contains(stdout, "secret fraud moves F by at most") {
				t.Errorf("preview: exit %d\n%s%s", code, stdout, stderr)
			}
		}
	}
}
