package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fugu/test/patient"
	"fugu/test/pgcluster"
	"fugu/twin/build"
)

const survey = `CREATE TABLE survey (id int PRIMARY KEY, yes bool NOT NULL, note text);
INSERT INTO survey SELECT i, i <= 600, 'n' || i % 7 FROM generate_series(1, 2000) i;
CREATE INDEX ON survey (note); GRANT SELECT ON survey TO survey_keeper`

// The command writes a dump that psql takes, and a certificate with the dump's hash; what it cannot write whole it does
// not write, and its exit code says whose mistake it was.
func TestTwinExport(t *testing.T) {
	patient.Test(t)
	c := pgcluster.Shared(t)
	for _, step := range [][2]string{
		{"postgres", "CREATE ROLE survey_keeper LOGIN; CREATE ROLE survey_guest LOGIN"},
		{"postgres", "CREATE DATABASE survey"},
		{"postgres", "GRANT CREATE ON DATABASE survey TO survey_keeper"},
		{"survey", survey},
		{"postgres", "CREATE DATABASE survey_partner"},
	} {
		if err := c.Exec(t.Context(), step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
	path, write := keeping(t, c, "survey", "survey_guest", "fugu_reader", "survey_keeper")
	policy := strings.NewReplacer("public.adult", "public.survey", "dataset: adult", "dataset: survey",
		"[fnlwgt]", "[]", "income = '>50K'", "yes").Replace(fmt.Sprintf(twinPolicy, 2000))
	write(policy)
	out := t.TempDir()
	file := filepath.Join(out, "survey.sql")
	expect(t, exitFailure, "is not built: run fugu twin build", "twin", "export", file, "-c", path)
	expect(t, exitOK, "public.survey", "twin", "build", "-c", path)

	expect(t, exitUsage, "fugu twin export FILE", "twin", "export", "-c", path)
	expect(t, exitUsage, "fugu twin export FILE", "twin", "export", "survey", file, "more", "-c", path)
	expect(t, exitFailure, "no dataset", "twin", "export", "nosuch", file, "-c", path)
	expect(t, exitFailure, "nowhere", "twin", "export", filepath.Join(out, "nowhere", "x.sql"), "-c", path)
	write(strings.Replace(policy, "rows: shown", "rows: aggregates", 1))
	expect(t, exitFailure, "PV003", "twin", "export", file, "-c", path)
	expect(t, exitFailure, "{rows: shown}", "twin", "export", file, "-c", path)
	if left, _ := os.ReadDir(out); len(left) != 0 {
		t.Errorf("exports that failed have left %v", left)
	}

	write(policy)
	if code, stdout, stderr := invoke(t, "twin", "export", "survey", file, "-c", path); code != 0 ||
		!strings.Contains(stdout, "public.survey: 2000 rows") || !strings.Contains(stderr, "100% done") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	certificate, text := certified(t, file)
	code, stdout, _ := invoke(t, "twin", "export", file, "-json", "-c", path)
	if code != 0 || stdout != text {
		t.Errorf("again: exit %d, another certificate:\n%s\nbefore\n%s", code, stdout, text)
	}
	if left, _ := os.ReadDir(out); len(left) != 2 {
		t.Errorf("two exports have left %v", left)
	}

	partner, owner := c.DSN("postgres", "survey_partner"), c.DSN("postgres", "survey")
	if out, ok := tool(t, c, "psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-f", file, partner); !ok {
		t.Fatal(out)
	}
	const rows = "SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE yes), " +
		"md5(string_agg(t::text, ';' ORDER BY ctid)) FROM "
	got, _ := tool(t, c, "psql", "-XAtc", rows+"survey t", partner)
	want, _ := tool(t, c, "psql", "-XAtc", rows+"fugu_twin.survey t", owner)
	if got != want || !strings.HasPrefix(got, fmt.Sprintf("2000|2000|%d|", certificate.Twins[0].Classes[0].Told)) {
		t.Errorf("restored %s, want %s, told %+v", got, want, certificate.Twins[0].Classes)
	}
}

// certified reads the certificate of a dump, which has to be about that dump, and looks for what no dump should hold.
func certified(t *testing.T, file string) (certificate build.Certificate, text string) {
	t.Helper()
	dump, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(file + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(written, &certificate); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(dump)
	want := build.Dump{File: filepath.Base(file), Bytes: int64(len(dump)), SHA256: hex.EncodeToString(sum[:])}
	if certificate.Dump != want {
		t.Errorf("the certificate is about %+v, the dump is %+v", certificate.Dump, want)
	}
	for _, word := range []string{"OWNER TO", "GRANT ", "fugu_twin"} {
		if strings.Contains(string(dump), word) {
			t.Errorf("the dump has %q, an owner, a grant, or the name of a schema of ours", word)
		}
	}
	return certificate, string(written)
}
