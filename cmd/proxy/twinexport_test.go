package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fugu/test/pgcluster"
	"fugu/twin/build"
)

const survey = `CREATE TABLE survey (id int PRIMARY KEY, yes bool NOT NULL, note text); INSERT INTO survey SELECT i, i <= 600, 'n' || i % 7 FROM generate_series(1, 2000) i;
CREATE INDEX ON survey (note); GRANT SELECT ON survey TO survey_keeper`

// The command writes a dump that psql takes, and a certificate with the dump's hash; what it cannot write whole it does not
// write, and its exit code says whose mistake it was.
func TestTwinExport(t *testing.T) {
	c := pgcluster.Shared(t)
	for _, step := range [][2]string{{"postgres", "CREATE ROLE survey_keeper LOGIN; CREATE ROLE survey_guest LOGIN"}, {"postgres", "CREATE DATABASE survey"},
		{"postgres", "GRANT CREATE ON DATABASE survey TO survey_keeper"}, {"survey", survey}, {"postgres", "CREATE DATABASE survey_partner"}} {
		if err := c.Exec(t.Context(), step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	path, out := filepath.Join(dir, "fugu.yaml"), filepath.Join(dir, "out")
	config := fmt.Sprintf("listen: 127.0.0.1:0\nupstream: {guest: %q, reader: %q, keeper: %q}\nauth: {method: trust}\npolicy: p.policy.yaml\nledger: sqlite:fugu.db\n",
		c.DSN("survey_guest", "survey"), c.DSN("fugu_reader", "survey"), c.DSN("survey_keeper", "survey"))
	policy := strings.NewReplacer("public.adult", "public.survey", "dataset: adult", "dataset: survey", "[fnlwgt]", "[]", "income = '>50K'", "yes").Replace(fmt.Sprintf(twinPolicy, 2000))
	write := func(policy string) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(config), 0o600), os.WriteFile(filepath.Join(dir, "p.policy.yaml"), []byte(policy), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(policy)
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(out, "survey.sql")
	if code, _, stderr := invoke(t, "twin", "export", file, "-c", path); code != 1 || !strings.Contains(stderr, "is not built: run fugu twin build") {
		t.Errorf("before the build: exit %d, %s", code, stderr)
	}
	if code, _, stderr := invoke(t, "twin", "build", "-c", path); code != 0 {
		t.Fatal(stderr)
	}

	for _, x := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "fugu twin export FILE"},
		{[]string{"survey", file, "more"}, 2, "fugu twin export FILE"},
		{[]string{"nosuch", file}, 1, "no dataset"},
		{[]string{filepath.Join(dir, "nowhere", "x.sql")}, 1, "nowhere"},
	} {
		code, _, stderr := invoke(t, append(append([]string{"twin", "export"}, x.args...), "-c", path)...)
		if code != x.code || !strings.Contains(stderr, x.want) {
			t.Errorf("export %q: exit %d, %s", x.args, code, stderr)
		}
	}
	write(strings.Replace(policy, "rows: shown", "rows: aggregates", 1))
	if code, _, stderr := invoke(t, "twin", "export", file, "-c", path); code != 1 || !strings.Contains(stderr, "PV003") || !strings.Contains(stderr, "{rows: shown}") {
		t.Errorf("with aggregates alone: exit %d, %s", code, stderr)
	}
	if left, _ := os.ReadDir(out); len(left) != 0 {
		t.Errorf("exports that failed have left %v", left)
	}

	write(policy)
	if code, stdout, stderr := invoke(t, "twin", "export", "survey", file, "-c", path); code != 0 || !strings.Contains(stdout, "public.survey: 2000 rows") || !strings.Contains(stderr, "100% done") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	dump, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var certificate build.Certificate
	if err := json.Unmarshal(text, &certificate); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(dump)
	if certificate.Dump != (build.Dump{File: "survey.sql", Bytes: int64(len(dump)), SHA256: hex.EncodeToString(sum[:])}) {
		t.Errorf("%+v, of %d bytes", certificate.Dump, len(dump))
	}
	code, stdout, _ := invoke(t, "twin", "export", file, "-json", "-c", path)
	if code != 0 || stdout != string(text) {
		t.Errorf("again: exit %d, another certificate:\n%s\nbefore\n%s", code, stdout, text)
	}
	if left, _ := os.ReadDir(out); len(left) != 2 {
		t.Errorf("two exports have left %v", left)
	}
	if strings.Contains(string(dump), "OWNER TO") || strings.Contains(string(dump), "GRANT ") || strings.Contains(string(dump), "fugu_twin") {
		t.Error("the dump has owners, grants, or the name of a schema of ours")
	}

	if out, ok := tool(t, c, "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file, c.DSN("postgres", "survey_partner")); !ok {
		t.Fatal(out)
	}
	const rows = "SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE yes), md5(string_agg(t::text, ';' ORDER BY ctid)) FROM "
	got, _ := tool(t, c, "psql", "-X", "-At", "-c", rows+"survey t", c.DSN("postgres", "survey_partner"))
	want, _ := tool(t, c, "psql", "-X", "-At", "-c", rows+"fugu_twin.survey t", c.DSN("postgres", "survey"))
	if got != want || !strings.HasPrefix(got, fmt.Sprintf("2000|2000|%d|", certificate.Twins[0].Classes[0].Told)) {
		t.Errorf("restored %s, want %s, told %+v", got, want, certificate.Twins[0].Classes)
	}
}
