package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

const secondSampled = `  second:
    statement: SELECT avg(large) FROM payments
    secrets: {fraud: {values: [1, 2], samples: [[1], [2]]}}
`

// A table whose statement is declared by samples answers that one, says check, even of a secret mean and at delta 0;
// two such statements about one table are refused, and so is a mechanism that samples say nothing for.
func TestCheckTellsOfSamples(t *testing.T) {
	c := pgcluster.Shared(t)
	for _, step := range [][2]string{{"postgres", "CREATE DATABASE sampled"}, {"sampled", `
		CREATE ROLE sampled_guest LOGIN; CREATE ROLE sampled_reader LOGIN;
		CREATE TABLE payments (id int PRIMARY KEY, large int NOT NULL);
		INSERT INTO payments SELECT i, (i % 2) FROM generate_series(1, 1000) AS i;
		GRANT SELECT ON payments TO sampled_reader`}} {
		if err := c.Exec(t.Context(), step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}

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
		config := fmt.Sprintf("listen: 127.0.0.1:0\nupstream: {guest: %q, reader: %q}\nauth: {method: trust}\n"+
			"policy: p.policy.yaml\nledger: sqlite:fugu.db\n", c.DSN("sampled_guest", "sampled"),
			c.DSN("sampled_reader", "sampled"))
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
