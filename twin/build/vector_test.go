package build_test

import (
	"fmt"
	"strings"
	"testing"

	"fugu/test/nightly"
	"fugu/test/patient"
)

// ten is a table of ten rows with names of their own, of four kinds by two secrets, and of three by a category.
const ten = `
CREATE TABLE ten (id int PRIMARY KEY, a bool NOT NULL, b bool NOT NULL, kind text NOT NULL, name text NOT NULL);
INSERT INTO ten SELECT i, i IN (1, 2, 3, 4, 5, 6), i IN (1, 2, 3, 7, 8),
  CASE WHEN i < 5 THEN 'x' WHEN i < 8 THEN 'y' ELSE 'z' END, chr(96 + i)
  FROM generate_series(1, 10) i;
GRANT SELECT ON ten TO shop_keeper`

// tenPolicy has room for the share of the smallest class, what is public, and secrets.
const tenPolicy = `version: 1
dataset: ten
tables:
  public.ten: {rows: 10, answers: twin, twin: {rows: shown, smallest: %g}, group_by: {kind: [x, y, z]}}
%ssecrets:
%s
assume: [exchangeable]
privacy: {epsilon: 2, delta: 0, budget: {epsilon: 100, delta: 0.4, per: dataset}}
`

// What a build on PostgreSQL shows has the law of package twin for vectors of counts, too: of the categories of a
// column, of two secrets of one table, and of a secret in public cells. n builds each with fixed seeds, Pearson's
// chi-squares as distance has them, false alarm 1e-6; as many refute the law of another table.
func TestBuildFollowsTheLawOfVectors(t *testing.T) {
	patient.Test(t)
	n := nightly.Or(400, 100)
	for name, c := range map[string]struct {
		smallest float64
		public   string
		secrets  string

		classes []string // the names of the rows of each, in the order of twin.Design.Classes
		class   string   // SQL: which of them a row is of
		wrong   []string // classes of a table that has one row more of one, and fewer of another
	}{
		"categories": {.2, "", "  kind: {table: public.ten, categories: kind, values: {within: 0.1}}",
			[]string{"abcd", "efg", "hij"}, "CASE kind WHEN 'x' THEN 0 WHEN 'y' THEN 1 ELSE 2 END",
			[]string{"abc", "defg", "hij"}},
		"two secrets": {.2, "", "  a: {table: public.ten, proportion: a, values: {from: 0.4, to: 0.7, within: 0.1}}\n" +
			"  b: {table: public.ten, proportion: b, values: {from: 0.4, to: 0.7, within: 0.1}}",
			[]string{"abc", "def", "gh", "ij"}, "CASE WHEN a THEN 0 ELSE 2 END + CASE WHEN b THEN 0 ELSE 1 END",
			[]string{"ab", "cdef", "gh", "ij"}},
		"public cells": {.3, "public:\n  a: {statement: 'SELECT a, count(*) FROM ten GROUP BY a', " +
			"values: {count(*) at a=true: 6, count(*) at a=false: 4}}\n",
			"  b: {table: public.ten, proportion: b, values: {from: 0.4, to: 0.7, within: 0.1}}",
			[]string{"abc", "def", "gh", "ij"}, "CASE WHEN a THEN 0 ELSE 2 END + CASE WHEN b THEN 0 ELSE 1 END",
			[]string{"ab", "cdef", "gh", "ij"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "ten_"+strings.ReplaceAll(name, " ", "_"), ten,
				fmt.Sprintf(tenPolicy, c.smallest, c.public, c.secrets))
			shows := fmt.Sprintf(
				`SELECT string_agg(n::text, ' ' ORDER BY class), string_agg(names, '' ORDER BY class) FROM (
				SELECT %s AS class, count(*) n, string_agg(DISTINCT name, '' ORDER BY name) names
				FROM fugu_twin.ten GROUP BY 1) x`, c.class)
			seen := showing(t, w, n, func() outcome {
				counts, names, _ := strings.Cut(w.one(shows), "|")
				return outcome{"[" + counts + "]", names}
			})
			p, bins := distance(lawOf(t, w.policy, c.classes...), seen, n)
			t.Logf("%d builds: p = %.3g in %d bins", n, p, bins)
			if p < falseAlarm {
				t.Errorf("the builds do not have the law: p = %g", p)
			}
			p, bins = distance(lawOf(t, w.policy, c.wrong...), seen, n)
			t.Logf("that of another table: p = %.3g in %d bins", p, bins)
			if p > falseAlarm {
				t.Errorf("they could have that of another table, %q: p = %g in %d bins", c.wrong, p, bins)
			}
		})
	}
}
