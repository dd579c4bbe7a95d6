package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// guild has members, who are old or not, rich or not, and a third thing or not (%s), and their visits. In the
// references 100 members stand twice, and one visit does; mails that are NULL are like no others.
const guild = `CREATE ROLE guild_guest LOGIN; CREATE ROLE guild_reader LOGIN;
CREATE TABLE town (id int PRIMARY KEY, name text); INSERT INTO town SELECT i, 't' || i FROM generate_series(1, 60) i;
CREATE TABLE member (id int PRIMARY KEY, mail text UNIQUE, old bool NOT NULL, rich bool NOT NULL, third bool NOT NULL,
  town int REFERENCES town);
CREATE TABLE visit (nr int, of int, member int REFERENCES member, PRIMARY KEY (nr, of));
CREATE TABLE member_reference (LIKE member); CREATE TABLE visit_reference (LIKE visit);
INSERT INTO member_reference SELECT i, CASE WHEN i %% 10 > 0 THEN i || '@' || n END, i & 1 = 1, i & 2 = 2, %s
  FROM generate_series(1, 1000) i, generate_series(1, 2) n WHERE n = 1 OR i <= 100;
UPDATE member_reference SET town = 1 + id %% 60;
INSERT INTO visit_reference SELECT i, 1, i FROM generate_series(1, 1000) i UNION ALL SELECT 7, 1, 7;
INSERT INTO member SELECT i, 'x' || i, i & 1 = 1, i & 2 = 2, %[1]s FROM generate_series(2001, 3000) i;
GRANT SELECT ON member, visit, member_reference, visit_reference TO guild_reader`

const guildPolicy = `version: 1
dataset: guild
tables:
  public.member: {rows: 1000, reference: public.member_reference}
  public.visit: {reference: public.visit_reference, link: {to: public.member, on: {member: id}}}
secrets:
  age: {table: public.member, proportion: old, values: {from: 0.3, to: 0.7, within: 0.05}}
  wealth: {table: public.member, proportion: rich, values: {from: 0.3, to: 0.7, within: 0.05}}
  third: {table: public.member, proportion: third, values: {from: 0.3, to: 0.7, within: 0.05}}
assume: [translation]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 10, delta: 0.01, per: dataset}}
`

// newGuild makes the guild's database anew, with more SQL behind the load, and returns a configuration over it.
func newGuild(t *testing.T, c *pgcluster.Cluster, third, mended string) (path string) {
	t.Helper()
	const drop = "DROP DATABASE IF EXISTS guild WITH (FORCE); DROP ROLE IF EXISTS guild_guest, guild_reader"
	for _, sql := range append(strings.Split(drop, ";"), "CREATE DATABASE guild") {
		if err := c.Exec(t.Context(), "postgres", sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(
		c.Exec(t.Context(), "guild", fmt.Sprintf(strings.Replace(guild, "(%s)", "()", 1), third)),
		c.Exec(t.Context(), "guild", mended)); err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	path = filepath.Join(dir, "fugu.yaml")
	config := fmt.Sprintf("listen: 127.0.0.1:0\nupstream: {guest: %q, reader: %q}\nauth: {method: trust}\n"+
		"policy: p.policy.yaml\nledger: sqlite:fugu.db\n", c.DSN("guild_guest", "guild"),
		c.DSN("guild_reader", "guild"))
	if err := errors.Join(os.WriteFile(path, []byte(config), 0o600),
		os.WriteFile(filepath.Join(dir, "p.policy.yaml"), []byte(guildPolicy), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// check warns of three secrets of which each follows from the other two, though no two of them are tied, and notes
// where a key stands twice in a reference, and where many values are joined with an ordinary table; of none where there
// is nothing to tell.
func TestCheckTellsOfReferences(t *testing.T) {
	patient.Test(t)
	c := pgcluster.Shared(t)
	for _, s := range []struct {
		third  string // as SQL of the number i
		tied   bool
		mended string // SQL behind the load
	}{
		{third: "(i & 1 = 1) = (i & 2 = 2)", tied: true},
		{third: "i & 4 = 4", mended: "DELETE FROM member_reference WHERE mail LIKE '%@2' OR mail IS NULL; " +
			"DELETE FROM visit_reference WHERE nr = 7; " +
			"UPDATE member_reference SET town = 1 + id % 50"},
	} {
		code, stdout, stderr := invoke(t, "check", "-c", newGuild(t, c, s.third, s.mended))
		if code != 0 {
			t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
		}
		const tie = "dataset guild: the secrets wealth, third and age of public.member are tied: " +
			"the reference has no row in which age does not follow from the others together"
		ties := strings.Count(stdout, "are tied")
		if got := strings.Contains(stdout, tie); got != s.tied || ties != strings.Count(stdout, tie) {
			t.Errorf("third is %s: %s", s.third, stdout)
		}
		for _, note := range []string{
			"note: 200 of the 1100 rows of public.member's reference have a key (\"id\") " +
				"that stands there more than once",
			`note: 2 of the 1001 rows of public.visit's reference have a key ("nr", "of")`,
			`note: joins of public.member with public.town over "town" have noise for whatever that could say ` +
				"of 60 values",
		} {
			if got := strings.Contains(stdout, note); got != (s.mended == "") {
				t.Errorf("third is %s: %q is %v\n%s", s.third, note, got, stdout)
			}
		}
		if n := strings.Count(stdout, "note: joins of"); n > 1 || n == 1 && s.mended != "" {
			t.Errorf("third is %s: %d notes of joins\n%s", s.third, n, stdout)
		}
		if want := strings.Count(stdout, "more than once"); s.mended == "" && want != 2 || s.mended != "" && want != 0 {
			t.Errorf("third is %s: %d notes of keys\n%s", s.third, want, stdout)
		}
	}
}

// Who asks a linked table alone has joined nothing, and is not told to leave joins out.
func TestPreviewRefusesSampledOfLinked(t *testing.T) {
	path := newGuild(t, pgcluster.Shared(t), "i & 4 = 4", "SELECT 1")
	const median = "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY nr) FROM visit"
	expect(t, exitFailure, "of public.visit cannot be answered: several of its rows may belong to one row of "+
		"public.member", "preview", "-c", path, median)
	expect(t, exitFailure, "over joined tables", "preview", "-c", path, median+" JOIN member ON member = id")
}
