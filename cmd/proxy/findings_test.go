package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fugu/internal/finding"
	"fugu/test/golden"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// harbour has ships with dates and numbers of their own, and a reference of years before in which one of them stands.
const harbour = `
CREATE ROLE harbour_guest LOGIN; CREATE ROLE harbour_reader LOGIN;
CREATE SCHEMA old;
CREATE TABLE ship (code text PRIMARY KEY, nr serial, came date NOT NULL, seen date NOT NULL, big bool NOT NULL,
  kind text NOT NULL);
CREATE TABLE old.ship (LIKE ship);
INSERT INTO ship SELECT 's' || i, i, date '2024-01-01' + i % 300, date '2024-01-01' + i % 300, i % 3 = 0,
  CASE i % 2 WHEN 0 THEN 'sail' ELSE 'steam' END FROM generate_series(1, 2000) i;
INSERT INTO old.ship SELECT 'o' || i, 5000 + i, date '2020-01-01' + i % 300, date '2024-01-01' + i % 300, i % 3 = 0,
  CASE i % 2 WHEN 0 THEN 'sail' ELSE 'steam' END FROM generate_series(1, 2000) i;
INSERT INTO old.ship SELECT * FROM ship WHERE code = 's7';
GRANT USAGE ON SCHEMA old TO harbour_reader;
GRANT SELECT ON ship, old.ship TO harbour_reader;
ANALYZE`

const harbourPolicy = `version: 1
dataset: harbour
tables:
  public.ship:
    rows: 2000
    reference: old.ship
    plain_rows: reference
    group_by: {kind: [sail, steam]}
secrets:
  big: {table: public.ship, proportion: big, values: {from: 0.2, to: 0.5, within: 0.05}}
assume: [translation, gaussian]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 10, delta: 0.01, per: dataset}}
fit: ["SELECT kind, count(*) FROM ship GROUP BY kind", "SELECT median(nr) FROM ship"]
`

// harbouring makes the database, and returns the configuration.
func harbouring(t *testing.T) (c *pgcluster.Cluster, path string) {
	t.Helper()
	c = pgcluster.Shared(t)
	for _, sql := range []string{"DROP DATABASE IF EXISTS harbour WITH (FORCE)",
		"DROP ROLE IF EXISTS harbour_guest, harbour_reader", "CREATE DATABASE harbour"} {
		if err := c.Exec(t.Context(), "postgres", sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Exec(t.Context(), "harbour", harbour); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path = filepath.Join(dir, "fugu.yaml")
	writeFile(t, path, fmt.Sprintf("listen: 127.0.0.1:0\nupstream:\n  guest: %q\n  reader: %q\nauth: {method: trust}\n"+
		"policy: p.policy.yaml\nledger: sqlite:fugu.db\n", c.DSN("harbour_guest", "harbour"),
		c.DSN("harbour_reader", "harbour")))
	writeFile(t, filepath.Join(dir, "p.policy.yaml"), harbourPolicy)
	return c, path
}

// masked is output without what differs from run to run.
func masked(path, text string) string {
	text = strings.ReplaceAll(text, filepath.Dir(path)+"/", "")
	return regexp.MustCompile(`\d+\.\d+`).ReplaceAllString(text, "N.N")
}

// Each finding has a place, a reason and what to do, in text and in JSON; what is mended is not found any more.
func TestCheckFinds(t *testing.T) {
	patient.Test(t)
	c, path := harbouring(t)
	code, stdout, stderr := invoke(t, "check", "-c", path)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	golden.Check(t, "testdata/check.txt", masked(path, stdout))
	_, stdout, _ = invoke(t, "check", "-json", "-c", path)
	golden.Check(t, "testdata/check.json", masked(path, stdout))
	complete(t, stdout)

	found := func(words string) bool {
		t.Helper()
		code, stdout, stderr := invoke(t, "check", "-c", path)
		if code != exitOK {
			t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
		}
		return strings.Contains(stdout, words)
	}
	for _, x := range []struct{ words, mend string }{
		{`column "came" says when`, "UPDATE old.ship SET came = seen; ANALYZE"},
		{"rows of the table stand in its reference", "DELETE FROM old.ship WHERE code = 's7'"},
		{"the guest cannot read", "GRANT USAGE ON SCHEMA old TO harbour_guest; GRANT SELECT " +
			"ON old.ship TO harbour_guest"},
		{`column "nr" numbers rows`, "UPDATE old.ship SET nr = nr - 5000; ANALYZE"},
	} {
		if !found(x.words) {
			t.Errorf("%q is not found", x.words)
		}
		if err := c.Exec(t.Context(), "harbour", x.mend); err != nil {
			t.Fatal(err)
		}
		if found(x.words) {
			t.Errorf("%q is found behind %s", x.words, x.mend)
		}
	}
}

// complete checks that each finding of a check's JSON has a reason and what to do, but for those of what is as it
// should be.
func complete(t *testing.T, text string) {
	t.Helper()
	var told struct{ Findings finding.List }
	if err := json.Unmarshal([]byte(text), &told); err != nil || len(told.Findings) == 0 {
		t.Fatalf("%v: %s", err, text)
	}
	for _, f := range told.Findings {
		if f.Level != finding.OK && (f.Why == "" || f.Fix == "") {
			t.Errorf("%s: why %q, fix %q", f.What, f.Why, f.Fix)
		}
	}
}

// No finding of these commands is written without a reason and what to do, whether a test meets it or not.
func TestFindingsAreWhole(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(x ast.Node) bool {
			call, ok := x.(*ast.CallExpr)
			if !ok || len(call.Args) != 5 {
				return true
			}
			level, ok := call.Args[0].(*ast.SelectorExpr)
			called, is := call.Fun.(*ast.SelectorExpr)
			if !ok || !is || called.Sel.Name != "add" || level.Sel.Name == "OK" {
				return true
			}
			n++
			for _, part := range call.Args[3:] {
				if text, ok := part.(*ast.BasicLit); ok && text.Value == `""` {
					t.Errorf("%s: a finding without a reason, or without what to do", file)
				}
			}
			return true
		})
	}
	if n < 30 {
		t.Errorf("%d findings are written", n)
	}
}

// A reference that is a copy of rows of the table is found also where the only key comes from a sequence, whose numbers
// another table has by itself; equal numbers of rows that are others are no finding, nor single ones that are equal.
func TestCheckFindsCopies(t *testing.T) {
	c, path := harbouring(t)
	const words = "most of those with the same number"
	for _, x := range []struct {
		sql  string
		want bool
	}{
		{"ALTER TABLE ship DROP CONSTRAINT ship_pkey, ADD PRIMARY KEY (nr); DELETE FROM old.ship; " +
			"INSERT INTO old.ship SELECT * FROM ship WHERE nr <= 900", true},
		{"UPDATE old.ship SET code = 'o' || nr WHERE nr > 300", false},
		{"UPDATE old.ship SET nr = nr + 10000 WHERE nr > 300", true}, // numbers that the table has not say nothing
		{"UPDATE old.ship SET code = 'o' || nr", false},
	} {
		if err := c.Exec(t.Context(), "harbour", x.sql); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := invoke(t, "check", "-c", path)
		if code != exitOK || strings.Contains(stdout, words) != x.want {
			t.Errorf("behind %s: exit %d, want the finding %v\n%s%s", x.sql, code, x.want, stdout, stderr)
		}
	}
}

// What check fails by has its place in JSON as well, one finding each.
func TestCheckFailsInJSON(t *testing.T) {
	patient.Test(t)
	_, path := harbouring(t)
	file := filepath.Join(filepath.Dir(path), "p.policy.yaml")
	for _, x := range []struct {
		name, from, to string
		line           int
		words          string
	}{
		{"an unknown key", "plain_rows", "plain_rowz", 7, "unknown key"},
		{"a value out of range", "within: 0.05", "within: 5", 10, "within"},
		{"no such column", "{kind:", "{nosuch:", 4, "nosuch"},
		{"no such predicate", "proportion: big", "proportion: bigg", 4, "(line 10): proportion: column \"bigg\""},
	} {
		writeFile(t, file, strings.Replace(harbourPolicy, x.from, x.to, 1))
		code, stdout, stderr := invoke(t, "check", "-json", "-c", path)
		var got struct {
			OK       bool
			Findings finding.List
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || stderr != "" {
			t.Fatalf("%s: %v\n%s%s", x.name, err, stdout, stderr)
		}
		last := got.Findings[len(got.Findings)-1]
		if code != exitFailure || got.OK || last.Level != finding.Error || last.File != file || last.Line != x.line ||
			last.Column == 0 || !strings.Contains(last.What, x.words) {
			t.Errorf("%s: exit %d, %+v", x.name, code, got)
		}
	}
}

// An edit that ends stored answers is told by the policy that the last answer was given under.
func TestCheckTellsOfEndedAnswers(t *testing.T) {
	patient.Test(t)
	_, path := harbouring(t)
	const words = "the stored answers end with this policy"
	expectNot := func() {
		t.Helper()
		if _, stdout, _ := invoke(t, "check", "-c", path); strings.Contains(stdout, words) {
			t.Errorf("nothing ends, and it is told:\n%s", stdout)
		}
	}
	expectNot()
	_, alice := through(t, path, "harbour")
	ask(t, alice, "SELECT count(*)::text FROM ship WHERE big")
	expectNot()
	file := filepath.Join(filepath.Dir(path), "p.policy.yaml")
	writeFile(t, file, "# a comment\n"+harbourPolicy)
	expectNot()
	writeFile(t, file, strings.Replace(harbourPolicy, "rows: 2000", "rows: 2001", 1))
	expect(t, exitOK, words, "check", "-c", path)
}
