package dataset

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"fugu/test/adult/edited"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

// private is the second secret of the example, in whose place the tests put others.
const private = "proportion: workclass = 'Private'\n    pairs: [[0.68, 0.72]]"

// loadAdult loads the Adult example's policy, with edits.
func loadAdult(t testing.TB, edits ...string) (*Snapshot, error) {
	t.Helper()
	example := edited.Load(t, edits...)
	return Load(t.Context(), example.Policies, example.Reader)
}

// A declared model that does not fit its statement stops everything.
func TestDeclaredMistakes(t *testing.T) {
	patient.Test(t)
	const asked = "SELECT sex, avg(age) AS a, count(*) FROM adult GROUP BY sex"
	for _, c := range []struct{ old, new, want string }{
		{"avg(age) at sex=Male, ", "avg(age) at sex=Males, ", "which are: "},
		{"avg(age) at sex=Male, ", "avg(age), ", "avg(age) at sex=Female"},
		{asked, "SELECT sex, avg(age), count(*) FROM adult WHERE age > $1 GROUP BY sex",
			"so there is no one model of it"},
		{asked, "SELECT 1", "aggregates a protected table"},
		{asked, "SELECT (SELECT count(*) FROM adult), (SELECT avg(age) FROM adult)", "2 SELECTs"},
	} {
		_, err := loadAdult(t, "analysts:", strings.Replace(edited.DeclaredAges, c.old, c.new, 1))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in place of %s: %v", c.new, c.old, err)
		}
	}
	short := edited.DeclaredAges[:strings.Index(edited.DeclaredAges, "      private_sector")] + "analysts:"
	if _, err := loadAdult(t, "analysts:", short); err == nil || !strings.Contains(err.Error(), "private_sector") {
		t.Errorf("a secret without a law: %v", err)
	}
}

// A public statistic that is nonsense, or tells a secret, stops everything.
func TestPublicMistakes(t *testing.T) {
	rows := edited.Load(t).Rows
	for _, c := range []struct{ statement, values, want string }{
		{"SELECT count(*) FROM adult", fmt.Sprintf("count(*): %d", rows+1), "contradict"},
		{"SELECT count(*) FROM adult", fmt.Sprintf("count(*): %d.5", rows), "whole number"},
		{"SELECT count(*) FROM adult WHERE income = '>50K'", "count(*): 8000", "tell the value of secret high_income"},
		{"SELECT income, count(*) FROM adult GROUP BY income", "x: 1", "income"},
		{"SELECT sex, count(*) FROM adult GROUP BY sex", "count(*) at sex=Male: 1",
			"which are: count(*) at sex=Female; count(*) at sex=Male"},
		{"SELECT avg(age) FROM adult", "avg(age): 39", "avg(age) cannot be public: the digits of an average tell"},
		{"SELECT sex, count(*), avg(age) FROM adult GROUP BY sex", "x: 1", "declare its sum and its count"},
		{"SELECT regr_sxx(age, age) FROM adult", "'regr_sxx(age, age)': 39", "only counts and sums"},
		{"SELECT 1", "x: 1", "aggregates a protected table"},
	} {
		section := fmt.Sprintf("public:\n  p:\n    statement: %s\n    values: {%s}\nanalysts:", c.statement, c.values)
		if _, err := loadAdult(t, "analysts:", section); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %s: %v", c.statement, c.values, err)
		}
	}
}

// A mistake in a public statistic is said where it stands; its sum and its count are public in place of an average; and
// beside secrets of other forms nothing is, by name.
func TestPublicIsOfProportions(t *testing.T) {
	const average = "public:\n  p:\n    statement: SELECT avg(age) FROM adult\n    values: {avg(age): 39}\nanalysts:"
	if _, err := loadAdult(t, "analysts:", average); err == nil || !regexp.MustCompile(`policy.yaml:\d+:\d+: `).
		MatchString(err.Error()) {
		t.Errorf("a public average: %v", err)
	}
	const both = "public:\n  p:\n    statement: SELECT sex, sum(age), count(*) FROM adult GROUP BY sex\n    values: {" +
		"sum(age) at sex=Female: 420000, count(*) at sex=Female: 11486, sum(age) at sex=Male: 930000, " +
		"count(*) at sex=Male: 23736}\nanalysts:"
	if _, err := loadAdult(t, "analysts:", both); err != nil {
		t.Errorf("sums and counts: %v", err)
	}

	const counts = "public:\n  p:\n    statement: SELECT sex, count(*) FROM adult GROUP BY sex\n    values: {" +
		"count(*) at sex=Female: 11486, count(*) at sex=Male: 23736}\nanalysts:"
	for _, c := range [][2]string{
		{"mean: age\n    pairs: [[38, 39]]", "private_sector is a mean"},
		{"categories: sex\n    pairs: [[{Female: 1}, {Male: 1}]]", "private_sector is a vector"},
		{private + "\n    about: distribution", "private_sector is about a distribution"},
	} {
		if _, err := loadAdult(t, "analysts:", counts, private, c[0]); err == nil ||
			!strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v", c[0], err)
		}
	}
}

// What the reference or the table cannot speak of is found when the policy is loaded.
func TestSecretsWithoutAModel(t *testing.T) {
	for _, c := range [][2]string{
		{"mean: workclass\n    pairs: [[1, 2]]", "mean: "},
		{"mean: nothing\n    pairs: [[1, 2]]", "nothing"},
		{"mean: nullif(age, 40)\n    pairs: [[1, 2]]", "is NULL in rows of the reference"},
		{"mean: age + 1000000000000\n    pairs: [[1, 2]]", "hardly varies"},
		{"mean: 1 + 0 * age\n    pairs: [[1, 2]]", "hardly varies"},
		{"categories: age\n    values: {within: 0.1}", "at most 32"},
		{"categories: education\n    values: {from: 0.5, within: 0.1}", "add up to 1"},
		{"categories: education\n    pairs: [[{Bachelors: 1}, {Nonsense: 1}]]", "no value of column"},
		{"categories: education\n    pairs: [[{Bachelors: 1}, {Preschool: 1}]]", "where education is Preschool"},
		{"proportion: age > 89\n    pairs: [[0.1, 0.2]]", "6 rows inside the predicate"},
		{"categories: sex\n    pairs: [[{Female: 1}, {Male: 1}]]\n    about: distribution", ""},
		{"categories: age\n    pairs: [[{'17': 0.5, '90': 0.5}, {'90': 1}]]\n    about: distribution",
			"each class of secret private_sector needs at least"},
	} {
		secret, want := c[0], c[1]
		_, err := loadAdult(t, private, secret)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", secret, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %q", secret, err, want)
		}
	}
	_, err := loadAdult(t, private, "categories: education\n    values: {within: 0.1}",
		"education: reference", "education: [Bachelors, HS-grad, Masters]")
	if err == nil || !strings.Contains(err.Error(), "declared values") {
		t.Errorf("a domain that leaves rows out: %v", err)
	}
	_, err = loadAdult(t, "plain_rows: reference", "drawn: from-reference")
	if err == nil || !strings.Contains(err.Error(), "drawn from the reference") {
		t.Errorf("more rows than the reference has: %v", err)
	}
	if _, err = loadAdult(t, "plain_rows: reference", "drawn: from-reference", "rows: ", "rows: 200 # "); err != nil {
		t.Errorf("few rows of the reference: %v", err)
	}
}

// A reference whose columns have other types or collations would be asked something else than the table.
func TestReferenceOfOtherTypes(t *testing.T) {
	if _, err := loadAdult(t); err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string]string{
		"": "",
		"ALTER age TYPE numeric": "column age of the reference public.typed is numeric, and of the table " +
			"integer: ALTER TABLE \"public\".\"typed\" ALTER \"age\" TYPE integer",
		"ALTER sex TYPE char(9)":                    "column sex of the reference public.typed is character",
		`ALTER sex TYPE text COLLATE "C"`:           "column sex of the reference public.typed has another collation",
		"ALTER age TYPE years":                      "",
		"ALTER age TYPE years, ADD further text":    "",
		"ALTER age TYPE years, ALTER sex TYPE name": "column sex of the reference public.typed is name",
		"DROP income, DROP race": "a secret speaks of a column that the reference public.typed does not have, which " +
			"is one of \"income\", \"race\": add it there",
		"DROP race": "",
	} {
		sql := `DROP TABLE IF EXISTS typed; DROP DOMAIN IF EXISTS years; CREATE DOMAIN years AS int;
			CREATE TABLE typed AS TABLE adult_reference; GRANT SELECT ON typed TO fugu_reader;`
		if change != "" {
			sql += "ALTER TABLE typed " + change
		}
		if err := pgcluster.Shared(t).Exec(t.Context(), "adult", sql); err != nil {
			t.Fatal(err)
		}
		_, err := loadAdult(t, "reference: public.adult_reference", "reference: public.typed")
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", change, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %q", change, err, want)
		}
	}
}
