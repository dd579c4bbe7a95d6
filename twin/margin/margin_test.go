package margin

import (
	"fmt"
	"strings"
	"testing"

	"fugu/policy"
	"fugu/test/policies"
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
	public, err := Of(policies.Load(t, fmt.Sprintf(text, more)), policy.QualifiedName{Schema: "public", Name: "adult"})
	if err != nil || public == nil {
		return "", err
	}
	out := strings.Join(public.Columns, ",")
	for _, c := range public.Cells {
		out += fmt.Sprintf(" %v=%d", c.Values, c.Rows)
	}
	return out, nil
}

// public writes a statistic as a policy has it: a statement and its values.
func public(statement, values string) string {
	return "{statement: " + statement + ", values: {" + values + "}}"
}

// sexes is an honest statistic of 100 rows, and bySex its values.
const bySex = "count(*) at sex=F: 40, count(*) at sex=M: 60"

var sexes = public(`"SELECT sex, count(*) FROM adult GROUP BY sex"`, bySex)

func TestOf(t *testing.T) {
	for _, test := range []struct{ statement, values, want string }{
		{`"SELECT sex, count(*) FROM adult GROUP BY sex"`, bySex, "sex ['F']=40 ['M']=60"},
		{`"select sex , COUNT( * ) from public.adult group by sex;"`,
			"count(*) at sex=F: 40, count(*) at sex=NULL: 60", "sex ['F']=40 [null]=60"},
		{`'SELECT "Sex", count(*) FROM adult GROUP BY "Sex"'`,
			`count(*) at Sex=F: 0, 'count(*) at "Sex"=M': 100`, "Sex ['M']=100"},
		{`"SELECT a, b, count(*) FROM adult GROUP BY a, b"`,
			`"count(*) at a=x, y, b=1": 30, "count(*) at a=x=z, b=2, 3": 70`, "a,b ['x, y' '1']=30 ['x=z' '2, 3']=70"},
		{`"SELECT count(*) FROM adult"`, "count(*): 100", ""},
	} {
		if got, err := cells(t, public(test.statement, test.values)); err != nil || got != test.want {
			t.Errorf("%s: %q, %v", test.statement, got, err)
		}
	}
	if got, err := cells(t); err != nil || got != "" {
		t.Errorf("nothing is public: %q, %v", got, err)
	}
}

// What is not the form that can be counted is an error, and never left out: a statistic of a table with a twin that the
// law did not count would be one that gives its secret away.
func TestRefused(t *testing.T) {
	const own = "counts by columns of its own"
	for _, test := range []struct{ statement, values, want string }{
		{`SELECT count(*) FROM adult WHERE sex = 'F'`, "count(*): 40", own},
		{`SELECT sum(age) FROM adult`, "sum(age): 4000", own},
		{`SELECT sex, count(*) FROM adult WHERE age > 0 GROUP BY sex`, bySex, own},
		{`SELECT sex, count(*) FROM adult GROUP BY sex HAVING count(*) > 1`, bySex, own},
		{`SELECT sex, count(age) FROM adult GROUP BY sex`, bySex, own},
		{`SELECT lower(sex), count(*) FROM adult GROUP BY lower(sex)`, bySex, own},
		{`SELECT sex, count(*) FROM adult GROUP BY GROUPING SETS (sex, ())`, bySex, own},
		{`SELECT sex, count(*) FROM adult, staff GROUP BY sex`, bySex, own},
		{`SELECT sex, count(*) FROM (SELECT * FROM adult) x GROUP BY sex`, bySex, own},
		{`WITH x AS (SELECT * FROM adult) SELECT sex, count(*) FROM x GROUP BY sex`, bySex, own},
		{`SELECT sex, count(*) FROM elsewhere GROUP BY sex`, bySex, "is not a table of the policy"},
		{`SELECT sex, count(*) FROM orders GROUP BY sex`, bySex, "go with those of public.adult"},
		{`SELECT sex, count(*) FROM adult GROUP BY sex`, "count(*) at sex=F: 40, count(*) at sex=M: 59",
			"99 rows in all"},
		{`SELECT sex, count(*) FROM adult GROUP BY sex`, "count(*) at sex=F: 100.5", "whole"},
		{`SELECT sex, count(*) FROM adult GROUP BY sex`, "sex=F: 100", "write the component as count(*) at sex=..."},
		{`SELECT a, b, count(*) FROM adult GROUP BY a, b`, `"count(*) at a=x, b=1, b=2": 100`,
			"where one value ends"},
		{`SELECT count(*) FROM adult`, "count(*): 99", "99 rows in all"},
		{`SELECT sex, count(*) FROM adult GROUP BY`, bySex, "reading its statement"},
		{`SELECT sex, count(*) FROM adult GROUP BY sex; SELECT 1`, bySex, own},
	} {
		got, err := cells(t, public(`"`+test.statement+`"`, test.values))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %q, %v", test.statement, got, err)
		}
	}

	other := strings.ReplaceAll(sexes, "sex", "race")
	if got, err := cells(t, sexes, other); err == nil || !strings.Contains(err.Error(), "how they go together") {
		t.Errorf("two margins: %q, %v", got, err)
	}
}
