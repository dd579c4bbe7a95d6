package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"fugu/account"
	"fugu/privacy"
	"fugu/sqlstate"
	"fugu/test/patient"
	"fugu/virtual"
)

// What has more noise than the session or the policy allows is refused, at no charge, with an ε at which it passes; at
// that ε it does. What is stored already is given.
func TestMaxError(t *testing.T) {
	patient.Test(t)
	h := newHouse(t, "mechanism: auto", "mechanism: auto\n  max_error: 400%")
	const sql = "SELECT count(*) FROM adult WHERE income = '>50K'" // of some 8,500, ±2,500 at ε = 1
	ask := func(set settings) error {
		q, err := h.question(t, sql, nil, set)
		if err != nil {
			return err
		}
		_, err = q.Answer(t.Context())
		return err
	}
	spent := func() float64 {
		policy := h.engine.snapshot.Load().Policies[0]
		accounts, err := account.Balances(t.Context(), h.engine.desk.Ledger, policy, "alice")
		if err != nil {
			t.Fatal(err)
		}
		return accounts[0].Spent
	}
	err := ask(settings{epsilon: .05, maxError: .5})
	if !sqlstate.Is(err, sqlstate.NotAllowed) || spent() != 0 {
		t.Fatalf("%v, %v spent", err, spent())
	}
	var epsilon float64
	if _, e := fmt.Sscanf(sqlstate.As(err).Hint, "SET fugu.epsilon = %g is enough.", &epsilon); e != nil ||
		!(epsilon > .4 && epsilon < .8) {
		t.Fatalf("hint %q", sqlstate.As(err).Hint)
	}
	if err := ask(settings{epsilon: privacy.Epsilon(epsilon), maxError: .5}); err != nil || spent() == 0 {
		t.Errorf("at %v: %v", epsilon, err)
	}
	if err := ask(settings{epsilon: privacy.Epsilon(epsilon), maxError: .01}); err != nil {
		t.Errorf("stored: %v", err)
	}

	// The policy's own limit holds where a session has none, and a session's is at most that.
	if err := ask(settings{epsilon: .01}); !sqlstate.Is(err, sqlstate.NotAllowed) ||
		!strings.Contains(err.Error(), "fugu.max_error is 400%") {
		t.Errorf("the policy's limit: %v", err)
	}
	if err := ask(settings{maxError: 5}); !sqlstate.Is(err, sqlstate.NotAllowed) ||
		!strings.Contains(sqlstate.As(err).Hint, "'400%'") {
		t.Errorf("beyond the policy's limit: %v", err)
	}
	q, err := h.question(t, sql, nil, settings{epsilon: .05, maxError: .001})
	if err != nil {
		t.Fatal(err)
	}
	x, err := q.Explain(t.Context())
	if err != nil || !strings.Contains(strings.Join(x.Lines(), "\n"), "Refused: the noise of count(*) would be") ||
		!strings.Contains(x.Refused, "No epsilon up to 100") {
		t.Errorf("%v: %q", err, x.Refused)
	}
}

// Without a limit, whoever is charged for an answer is told where its noise is larger than itself; for a stored one
// not.
func TestWarning(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	for _, c := range [][2]string{
		{"SELECT sum(capital_gain) FROM adult WHERE age < 19", "sum(capital_gain), "},
		{"SELECT education, count(*) FILTER (WHERE age < 25 AND income = '>50K') FROM adult GROUP BY 1", " groups"},
		{"SELECT count(*) FROM adult WHERE age > 40", ""},
		{"SELECT count(*) FROM adult", ""},
	} {
		sql, want := c[0], c[1]
		for _, charged := range []bool{true, false} {
			q, err := h.question(t, sql, nil, settings{epsilon: .2})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := q.Answer(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := q.Warning(t.Context())
			if told := got != "" && strings.Contains(got, want); told != (want != "" && charged) || !told && got != "" {
				t.Errorf("%s, charged %v: %q, want %q", sql, charged, got, want)
			}
		}
	}
}

// fugu.last_release has the values in the order of the answer, those that are public among them.
func TestLastReleaseInOrder(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	for sql, want := range map[string]string{
		"SELECT sex, count(*), avg(age) FROM adult GROUP BY sex": "Female count(*), " +
			"Female avg(age), Male count(*), Male avg(age)",
		"SELECT avg(age), sum(age), count(*), avg(age) FROM adult": " avg(age), " +
			"sum(age), count(*)",
		"SELECT count(*) FROM adult": " count(*)",
		"SELECT (SELECT avg(age) FROM adult WHERE sex = 'Male'), (SELECT count(*) FROM adult)": " avg(age), count(*)",
	} {
		q, err := h.question(t, sql, nil, settings{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := q.Answer(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		told, err := q.Told(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range virtual.LastRelease(told) {
			_, group, _ := strings.Cut(r[2].Text, "=")
			got = append(got, group+" "+r[1].Text)
			if public := r[1].Text == "count(*)" && group == ""; public != (r[3].Text == "public") ||
				public != (r[5].Text == "0") || public && r[6] != r[7] {
				t.Errorf("%s: %v", sql, r)
			}
		}
		if s := strings.Join(got, ", "); strings.TrimSpace(strings.ReplaceAll(s, ",  ",
			", ")) != strings.TrimSpace(want) {
			t.Errorf("%s: %q, want %q", sql, s, want)
		}
	}
}

// The number of all rows is what the policy says, exactly, at no cost and however many there are; the noise of what
// stands beside it is what it would be without it.
func TestWholeTable(t *testing.T) {
	patient.Test(t)
	h := newHouse(t, fmt.Sprintf("rows: %d", rowsOf(t)), "rows: 30000") // there are more
	noise := func(sql string) []float64 {
		q, err := h.question(t, sql, nil, settings{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := q.Measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(sql, "count") && (len(m.Public) != 1 || m.Public[0] != "30000") {
			t.Errorf("%s: public %v", sql, m.Public)
		}
		return m.Calibration.SD
	}
	alone := noise("SELECT avg(age) FROM adult")
	for _, sql := range []string{"SELECT avg(age), count(*) FROM adult", "SELECT count(1), avg(age) FROM (SELECT * " +
		"FROM adult) q WHERE true"} {
		if sd := noise(sql); len(sd) != 1 || sd[0] != alone[0] {
			t.Errorf("%s: noise %v, without the count %v", sql, sd, alone)
		}
	}
	if sd := noise("SELECT count(*) FROM adult"); len(sd) != 0 {
		t.Errorf("noise %v", sd)
	}
}
