package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"fugu/test/patient"
	"fugu/test/pgcluster"
)

const polled = `CREATE TABLE poll (id int PRIMARY KEY, yes bool NOT NULL, sex text NOT NULL, hours int NOT NULL);
INSERT INTO poll SELECT i, i <= 600, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END, 30 + i % 20
  FROM generate_series(1, 2000) i;
CREATE TABLE poll_before AS SELECT id + 9000 AS id, yes, sex, hours FROM poll WHERE id % 2 = 0;
GRANT SELECT ON poll TO poll_keeper; GRANT SELECT ON poll, poll_before TO poll_reader`

// What a DBA is told of columns that are shown row by row: by check, twin build, twin show and the certificate.
func TestTwinColumnsInWords(t *testing.T) {
	patient.Test(t)
	c := pgcluster.Shared(t)
	for _, step := range [][2]string{
		{"postgres", "CREATE ROLE poll_keeper LOGIN; CREATE ROLE poll_guest LOGIN; CREATE ROLE poll_reader LOGIN"},
		{"postgres", "CREATE DATABASE poll"},
		{"postgres", "GRANT CREATE ON DATABASE poll TO poll_keeper"},
		{"poll", polled},
	} {
		if err := c.Exec(t.Context(), step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
	path, write := keeping(t, c, "poll", "poll_guest", "poll_reader", "poll_keeper")
	policy := strings.NewReplacer("public.adult", "public.poll", "dataset: adult", "dataset: poll", "[fnlwgt]",
		"[]\n      columns:\n        sex: {obfuscate: {epsilon: 0.3, delta: 1e-9}}\n"+
			"        hours: {transport: {hide: high_income, target: pooled, cost: absolute}}",
		"income = '>50K'", "yes").Replace(fmt.Sprintf(twinPolicy, 2000))
	write(policy)
	expect(t, exitFailure, "shows columns row by row and has no reference", "check", "-c", path)
	policy = strings.Replace(policy, "    answers: twin", "    reference: public.poll_before\n    answers: twin", 1)
	write(policy)
	for _, want := range []string{
		"column sex of it is shown row by row: a value tells at most epsilon 0.3 of its own row",
		"warning: table public.poll: column hours is to hide high_income of a row, and the twin shows the columns",
		`the keeper cannot read "public"."poll_before"`,
	} {
		expect(t, exitOK, want, "check", "-c", path)
	}
	expect(t, exitFailure, "the keeper may not read it", "twin", "build", "-c", path)
	if err := c.Exec(t.Context(), "poll", "GRANT SELECT ON poll_before TO poll_keeper"); err != nil {
		t.Fatal(err)
	}

	// By 333 and 667 rows; it is the channel of channel.Binary, whose rows are (.454, .546) and (.181, .819), say.
	expect(t, exitOK, "column sex: of any two laws of the column one shown value tells epsilon 0.3 but for delta "+
		"0.208 "+
		"(epsilon 0.901 without); laws that differ in a share of the rows show 0.273 of that", "check", "-c", path)
	expect(t, exitOK, "names the right one in at most 73.2% of all cases; odds change by a factor of 2.72 at most",
		"check", "-c", path)
	expect(t, exitOK, "within 0.463 of what is seen under the other in total variation", "check", "-c", path)
	const promise = "a shown value of column sex tells at most epsilon 0.3 of its row, by the 1000 rows of the " +
		"reference"
	expect(t, exitOK, promise, "twin", "build", "-c", path)
	expect(t, exitOK, promise, "twin", "show", "-c", path)
	expect(t, exitOK, `"column": "hours"`, "twin", "show", "-json", "-c", path)
	file := filepath.Join(t.TempDir(), "poll.sql")
	expect(t, exitOK, "public.poll: 2000 rows", "twin", "export", file, "-c", path)
	certificate, _ := certified(t, file)
	if shown := certificate.Twins[0].Columns; len(shown) != 2 || shown[1].Obfuscate == nil ||
		shown[1].Leakage > .3 || shown[1].Distribution == nil || shown[1].Distribution.TotalVariation > .5 ||
		!strings.HasPrefix(shown[1].Promise, promise) {
		t.Errorf("the certificate says of columns %+v", shown)
	}
	write(strings.Replace(policy, "drop: []", "drop: [yes]", 1))
	if _, stdout, _ := invoke(t, "check", "-c", path); strings.Contains(stdout, "column hours is to hide") {
		t.Errorf("check warns of a column that is dropped:\n%s", stdout)
	}
}
