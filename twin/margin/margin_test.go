package margin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fugu/policy"
)

const text = `version: 1
dataset: d
tables:
  adult: {rows: 100, answers: twin, twin: {smallest: 0.05}}
  orders: {link: {to: adult, on: {customer: id}}}
  staff: {rows: 100, reference: former_staff}
secrets:
  rich: {table: adult, proportion: income > 10, values: {from: 0.2, to: 0.6, within: 0.05}}
  ill: {table: staff, proportion: ill, pairs: [[0.1, 0.2]]}
assume: [exchangeable, translation, gaussian]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 4, delta: 0.01}}
public:
  staff: {statement: "SELECT count(*) FROM staff WHERE old", values: {count(*): 7}}
%s`

// cells reads the policy with this public statistic, and prints what is public of table adult.
func cells(t *testing.T, statistics ...string) (string, error) {
	t.Helper()
	more := ""
	for i, s := range statistics {
		more += fmt.Sprintf("  p%d: %s\n", i, s)
	}
	path := filepath.Join(t.TempDir(), "p.policy.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, text, more), 0o600); err != nil {
		t.Fatal(err)
	}
	policies, err := policy.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	public, err := Of(policies[0], policy.QualifiedName{Schema: "public", Name: "adult"})
	if err != nil || public == nil {
		return "", err
	}
	out := strings.Join(public.Columns, ",")
	for _, c := range public.Cells {
		out += fmt.Sprintf(" %v=%d", c.Values, c.Rows)
	}
	return out, nil
}

func TestOf(t *testing.T) {
	for statistic, want := range map[string]string{
		`{statement: "SELECT sex, count(*) FROM adult GROUP BY sex", values: {count(*) at sex=F: 40, count(*) at sex=M: 60}}`:                     "sex ['F']=40 ['M']=60",
		`{statement: "select sex , COUNT( * ) from public.adult group by sex;", values: {count(*) at sex=F: 40, count(*) at sex=NULL: 60}}`:       "sex ['F']=40 [null]=60",
		`{statement: 'SELECT "Sex", count(*) FROM adult GROUP BY "Sex"', values: {count(*) at Sex=F: 0, 'count(*) at "Sex"=M': 100}}`:             "Sex ['M']=100",
		`{statement: "SELECT a, b, count(*) FROM adult GROUP BY a, b", values: {"count(*) at a=x, y, b=1": 30, "count(*) at a=x=z, b=2, 3": 70}}`: "a,b ['x, y' '1']=30 ['x=z' '2, 3']=70",
		`{statement: "SELECT count(*) FROM adult", values: {count(*): 100}}`:                                                                      "",
	} {
		if got, err := cells(t, statistic); err != nil || got != want {
			t.Errorf("%s: %q, %v", statistic, got, err)
		}
	}
	if got, err := cells(t); err != nil || got != "" {
		t.Errorf("nothing is public: %q, %v", got, err)
	}
}

// What is not the form that can be counted is an error, and never left out: a statistic of a table with a twin that the
// law did not count would be one that gives its secret away.
func TestRefused(t *testing.T) {
	const sexes, values = `{statement: "SELECT sex, count(*) FROM adult GROUP BY sex", values: {count(*) at sex=F: 40, count(*) at sex=M: 60}}`,
		`values: {count(*) at sex=F: 40, count(*) at sex=M: 60}}`
	for statistic, want := range map[string]string{
		`{statement: "SELECT count(*) FROM adult WHERE sex = 'F'", values: {count(*): 40}}`: "counts by columns of its own",
		`{statement: "SELECT sum(age) FROM adult", values: {sum(age): 4000}}`:               "counts by columns of its own",
		`{statement: "SELECT sex, count(*) FROM adult WHERE age > 0 GROUP BY sex", ` +
			values: "counts by columns of its own",
		`{statement: "SELECT sex, count(*) FROM adult GROUP BY sex HAVING count(*) > 1", ` +
			values: "counts by columns of its own",
		`{statement: "SELECT sex, count(age) FROM adult GROUP BY sex", ` +
			values: "counts by columns of its own",
		`{statement: "SELECT lower(sex), count(*) FROM adult GROUP BY lower(sex)", ` +
			values: "counts by columns of its own",
		`{statement: "SELECT sex, count(*) FROM adult GROUP BY GROUPING SETS (sex, ())", ` +
			values: "counts by columns of its own",
		`{statement: "SELECT sex, count(*) FROM adult, staff GROUP BY sex", ` +
			values: "counts by columns of its own",
		`{statement: "SELECT sex, count(*) FROM (SELECT * FROM adult) x GROUP BY sex", ` +
			values: "counts by columns of its own",
		`{statement: "WITH x AS (SELECT * FROM adult) SELECT sex, count(*) FROM x GROUP BY sex", ` +
			values: "counts by columns of its own",
		`{statement: "SELECT sex, count(*) FROM elsewhere GROUP BY sex", ` +
			values: "is not a table of the policy",
		`{statement: "SELECT sex, count(*) FROM orders GROUP BY sex", ` +
			values: "go with those of public.adult",
		`{statement: "SELECT sex, count(*) FROM adult GROUP BY sex", values: {count(*) at sex=F: 40, count(*) at sex=M: 59}}`: "99 rows in all",
		`{statement: "SELECT sex, count(*) FROM adult GROUP BY sex", values: {count(*) at sex=F: 100.5}}`:                     "whole",
		`{statement: "SELECT sex, count(*) FROM adult GROUP BY sex", values: {sex=F: 100}}`:                                   "write the component as count(*) at sex=...",
		`{statement: "SELECT a, b, count(*) FROM adult GROUP BY a, b", values: {"count(*) at a=x, b=1, b=2": 100}}`:           "where one value ends",
		`{statement: "SELECT count(*) FROM adult", values: {count(*): 99}}`:                                                   "99 rows in all",
		`{statement: "SELECT sex, count(*) FROM adult GROUP BY", ` +
			values: "reading its statement",
		`{statement: "SELECT sex, count(*) FROM adult GROUP BY sex; SELECT 1", values: {count(*) at sex=F: 40, count(*) at sex=M: 60}}`: "counts by columns of its own",
	} {
		if got, err := cells(t, statistic); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", statistic, got, err)
		}
	}
	if got, err := cells(t, sexes, strings.ReplaceAll(sexes, "sex", "race")); err == nil ||
		!strings.Contains(err.Error(), "how they go together") {
		t.Errorf("two margins: %q, %v", got, err)
	}
}
