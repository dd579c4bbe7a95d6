package pipeline

import (
	"slices"
	"testing"

	"fugu/account"
	"fugu/test/patient"
)

// Where a group's own key makes a condition false, the answer is that of no rows, whatever the data are, and the noise
// of all other groups is what it is where WHERE leaves that one out.
func TestWhatKeysDecide(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	noise := func(sql string) []float64 {
		q, err := h.question(t, sql, nil, settings{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := q.Measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m.Calibration.SD
	}
	for _, sql := range [][2]string{
		{"SELECT age, count(*) FROM adult WHERE age BETWEEN 30 AND 50 GROUP BY age",
			"SELECT age, count(*) FILTER (WHERE age BETWEEN 30 AND 50) FROM adult GROUP BY age"},
		{"SELECT sex, count(*), avg(age) FROM adult WHERE sex = 'Male' GROUP BY sex",
			`SELECT sex, sum(CASE WHEN sex = 'Male' THEN 1 ELSE 0 END), avg(age) FILTER (WHERE sex = 'Male')
			 FROM adult GROUP BY sex`},
	} {
		if a, b := noise(sql[0]), noise(sql[1]); len(a) == 0 || len(a) != len(b) || slices.Max(b) > 1.5*slices.Max(a) {
			t.Errorf("%s:\nnoise %v\nof WHERE %v", sql[1], b, a)
		}
	}

	columns, q := answered(t, h, `SELECT sex, count(*) FILTER (WHERE sex = 'Male'), sum(age) FILTER (WHERE sex = 'Male')
		FROM adult GROUP BY sex`)
	female := slices.Index(columns[0], "Female")
	male := 1 - female
	decided := columns[1][female] == "0" && columns[2][female] == "NULL"
	if !decided || columns[1][male] == "0" || columns[2][male] == "NULL" {
		t.Errorf("%v", columns)
	}
	if x, err := q.Explain(t.Context()); err != nil || x.Components != 2 || x.Cuts[0].Public != 1 {
		t.Errorf("%+v, %v", x, err)
	}
}

// What all keys decide is nobody's secret, and free.
func TestWhatKeysDecideIsFree(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	columns, _ := answered(t, h, "SELECT sex, count(*) FILTER (WHERE sex = 'Other') FROM adult GROUP BY sex")
	if !slices.Equal(columns[1], []string{"0", "0"}) {
		t.Errorf("%v", columns)
	}
	accounts, err := account.Balances(t.Context(), h.engine.desk.Ledger, h.engine.snapshot.Load().Policies[0], "")
	if err != nil || accounts[0].Spent != 0 || accounts[0].Releases != 0 {
		t.Errorf("%+v, %v", accounts, err)
	}
}
