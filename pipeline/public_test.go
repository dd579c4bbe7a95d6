package pipeline

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"fugu/account"
	"fugu/answer"
	"fugu/mechanism"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/test/patient"
)

// publicSexes is a public statistic whose values no data has: a third and two thirds of the rows.
func publicSexes() (section string, female, male int64) {
	female = rows / 3
	male = rows - female
	return fmt.Sprintf("public:\n  sexes:\n    statement: SELECT sex, count(*) FROM adult GROUP BY sex\n    values: "+
		"{count(*) at sex=Female: %d, count(*) at sex=Male: %d}\nanalysts:", female, male), female, male
}

func publicHouse(t *testing.T) (h *house, female, male int64) {
	t.Helper()
	newHouse(t) // counts the rows
	section, female, male := publicSexes()
	return newHouse(t, "analysts:", section), female, male
}

// answered is a question's answer: the columns of its one cut.
func answered(t *testing.T, h *house, sql string) (columns [][]string, q *answer.Question) {
	t.Helper()
	q, err := h.question(t, sql, nil, settings{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := q.Answer(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	arrays, err := q.Arrays(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range arrays {
		columns = append(columns, strings.Split(strings.NewReplacer("{", "", "}", "", `"`, "").Replace(string(x)), ","))
	}
	return columns, q
}

// What is public is answered as the policy has it, whatever the data say, and for nothing.
func TestPublicIsExact(t *testing.T) {
	patient.Test(t)
	h, female, male := publicHouse(t)
	want := map[string]int64{"Female": female, "Male": male}
	for _, sql := range []string{"SELECT sex, count(*) FROM adult GROUP BY sex", "select sex, count(*) + 1 from " +
		"public.adult group by 1 having count(*) > 5"} {
		columns, q := answered(t, h, sql)
		for i, sex := range columns[0] {
			if columns[1][i] != fmt.Sprint(want[sex]) {
				t.Errorf("%s: %s has %s, not %d", sql, sex, columns[1][i], want[sex])
			}
		}
		x, err := q.Explain(t.Context())
		if err != nil || x.Components != 0 || x.Cuts[0].Public != 2 {
			t.Errorf("%s: %v, %+v", sql, err, x)
		}
		// Beside it is said that there is no noise, in place of what the noise is.
		const exact = "fugu: all values are public: they are exact, and cost nothing"
		if a, err := q.Answer(t.Context()); err != nil {
			t.Error(err)
		} else if told, left := q.Notice(t.Context(), a); told != exact || left != "" {
			t.Errorf("%s: told %q, %q", sql, told, left)
		}
	}
	accounts, err := account.Balances(t.Context(), h.engine.desk.Ledger, h.engine.snapshot.Load().Policies[0], "")
	if err != nil || accounts[0].Spent != 0 || accounts[0].Releases != 0 {
		t.Errorf("%+v, %v", accounts, err)
	}
	// Beside what is not public, too; and that is charged.
	columns, q := answered(t, h, "SELECT sex, count(*), avg(age) FROM adult GROUP BY sex")
	for i, sex := range columns[0] {
		if columns[1][i] != fmt.Sprint(want[sex]) && columns[2][i] != fmt.Sprint(want[sex]) {
			t.Errorf("%v", columns)
		}
	}
	if m, err := q.Measure(t.Context()); err != nil || m.Width != 2 || len(m.Calibration.SD) != 2 {
		t.Errorf("%v, %d components", err, m.Width)
	}
	accounts, err = account.Balances(t.Context(), h.engine.desk.Ledger, h.engine.snapshot.Load().Policies[0], "")
	if err != nil || accounts[0].Spent <= 0 {
		t.Errorf("%+v, %v", accounts, err)
	}
	// Other rows are not public.
	if _, q := answered(t, h, "SELECT sex, count(*) FROM adult WHERE age > 17 GROUP BY sex"); q == nil {
		t.Fatal()
	} else if m, _ := q.Measure(t.Context()); m.Width != 2 {
		t.Errorf("%d components", m.Width)
	}
}

// Noisy parts of a public total add up to it, cell by cell, and stay so when the answer comes from the ledger.
func TestPublicTotals(t *testing.T) {
	patient.Test(t)
	h, female, male := publicHouse(t)
	const sql = "SELECT education, sex, count(*), sum(age) FROM adult GROUP BY education, sex"
	first, q := answered(t, h, sql)
	again, _ := answered(t, h, sql)
	if fmt.Sprint(first) != fmt.Sprint(again) {
		t.Error("another answer the second time")
	}
	m, err := q.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Sums) != 2 || m.Width != 64 || !strings.Contains(m.Sources[0], "given what is public") {
		t.Fatalf("%d sums of %d components, %v", len(m.Sums), m.Width, m.Sources)
	}
	count := 2
	if q.Request.Cuts[0].Aggregates[q.Request.Cuts[0].Columns[0]].Name != "count" {
		count = 3
	}
	totals := map[string]*big.Int{"Female": new(big.Int), "Male": new(big.Int)}
	sexes := first[1]
	if totals[sexes[0]] == nil {
		sexes = first[0]
	}
	for i, sex := range sexes {
		n, ok := new(big.Int).SetString(first[count][i], 10)
		if !ok {
			t.Fatalf("%s is no whole number", first[count][i])
		}
		totals[sex].Add(totals[sex], n)
	}
	if totals["Female"].Int64() != female || totals["Male"].Int64() != male {
		t.Errorf("the parts add up to %v, not %d and %d", totals, female, male)
	}
}

// The noise of a statement changes with what is public, and what has no model given it is refused.
func TestGivenPublic(t *testing.T) {
	patient.Test(t)
	plain := newHouse(t)
	h, _, _ := publicHouse(t)
	sd := func(h *house, sql string) []float64 {
		t.Helper()
		q, err := h.question(t, sql, nil, settings{mechanism: mechanism.ExpmLaplace})
		if err != nil {
			t.Fatal(err)
		}
		m, err := q.Measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m.Calibration.SD
	}
	// Everybody knows how many men there are, so how many men there are among the married, or that they are men, says
	// less of incomes.
	const men = "SELECT count(*) FROM adult WHERE sex = 'Male' AND marital_status = 'Married-civ-spouse'"
	if a, b := sd(plain, men), sd(h, men); a[0] == b[0] {
		t.Errorf("noise %v with and without", a)
	}
	for _, sql := range []string{
		"SELECT sex, education, count(*) FROM adult GROUP BY CUBE (sex, education)", "SELECT stddev(age) FROM adult",
		"SELECT sex, count(*), corr(age, hours_per_week) FROM adult GROUP BY sex",
		"SELECT regr_avgx(age, hours_per_week) FROM adult",
	} {
		q, err := h.question(t, sql, nil, settings{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Measure(t.Context()); !sqlstate.Is(err, sqlstate.ModelUnfit) ||
			!strings.Contains(err.Error(), "public") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// A stored answer that points beside its public values is refused.
func TestStoredPublic(t *testing.T) {
	patient.Test(t)
	h, _, _ := publicHouse(t)
	q, err := h.question(t, "SELECT sex, count(*) FROM adult GROUP BY sex", nil, settings{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := q.Answer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var s quote.Stored
	if err := json.Unmarshal(a.Bytes, &s); err != nil || len(s.Public) != 2 || len(s.Release) != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	s.Index[0] = -4
	if a.Bytes, err = json.Marshal(s); err != nil {
		t.Fatal(err)
	}
	if arrays, err := q.Arrays(t.Context(), a); err == nil {
		t.Errorf("%s", arrays)
	}
}
