package pipeline

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"fugu/answer"
	"fugu/ledger"
	"fugu/mechanism"
	"fugu/privacy"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/test/patient"
)

// Whether an answer comes from the past is up to the error that was asked for.
func TestErrorThatIsAskedFor(t *testing.T) {
	h := newPast(t, "100%")
	const cells, margin = "SELECT sex, education, count(*) FROM adult GROUP BY sex, education", "SELECT education, count(*) FROM adult WHERE sex = 'Male' GROUP BY education"
	h.told(t, cells, settings{})
	ask := func(text string) settings {
		tolerance, err := privacy.ParseTolerance(text)
		if err != nil {
			t.Fatal(err)
		}
		return settings{error: tolerance, errorSet: true}
	}
	q, err := h.question(t, margin, nil, ask("10000"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := q.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := q.Estimate(t.Context(), m)
	if err != nil || p == nil {
		t.Fatal(p, err)
	}
	worst, most := 0.0, 0.0
	for k, d := range p.Of {
		worst, most = math.Max(worst, d.SD()/m.Calibration.SD[k]), math.Max(most, d.SD())
	}
	if worst < 1.01 || worst > 2 {
		t.Fatalf("%v of a fresh answer's error: the test shows nothing", worst)
	}
	for text, within := range map[string]bool{
		fmt.Sprintf("%g%%", 100*worst*1.01): true, fmt.Sprintf("%g%%", 100*worst*.99): false,
		fmt.Sprint(most * 1.001): true, fmt.Sprint(most * .999): false, "0": false, "0%": false, "1e300": true,
	} {
		q, err := h.question(t, margin, nil, ask(text))
		if err != nil {
			t.Fatal(err)
		}
		if p, err := q.Estimate(t.Context(), m); err != nil || (p != nil) != within {
			t.Errorf("%s: %v, %v", text, p != nil, err)
		}
	}
	// The policy's error is where a session asks for none; its tolerance is part of what the answer is known again by.
	a, cost := h.told(t, margin, ask("10000"))
	if a.Mechanism != ledger.Derived || cost != 0 {
		t.Errorf("%s, %v", a.Mechanism, cost)
	}
	if b, cost := h.told(t, margin, settings{}); b.Mechanism == ledger.Derived || cost == 0 {
		t.Errorf("by the policy's error: %s, %v", b.Mechanism, cost)
	}
	// A smaller ε asks for less than there is.
	if b, cost := h.told(t, cells, settings{epsilon: .5}); b.Mechanism != ledger.Derived || cost != 0 {
		t.Errorf("at a smaller epsilon: %s, %v", b.Mechanism, cost)
	}
	never := newHouse(t)
	if _, err := never.question(t, margin, nil, ask("5")); !sqlstate.Is(err, sqlstate.NotAllowed) {
		t.Errorf("where the policy has none: %v", err)
	}
	if _, err := never.question(t, margin, nil, ask("0")); err != nil {
		t.Error(err)
	}
}

// What is no sum over rows that were asked for is drawn.
func TestWhatThePastDoesNotDetermine(t *testing.T) {
	patient.Test(t)
	h := newPast(t, "100000%")
	h.told(t, "SELECT sex, education, count(*), sum(age), sum(hours_per_week) FROM adult WHERE workclass = 'Private' GROUP BY sex, education", settings{epsilon: .3})
	for sql, want := range map[string]bool{
		"SELECT sex, count(*) FROM adult WHERE workclass = 'Private' GROUP BY sex":                                          true,
		"SELECT sex, sum(age) FROM adult WHERE workclass = 'Private' AND education <> 'Masters' GROUP BY sex":               true,
		"SELECT sex, sum(hours_per_week) FROM adult WHERE workclass = 'Private' AND education = '1st-4th' GROUP BY sex":     false, // within limits of other rows
		"SELECT sex, sum(hours_per_week) FROM adult WHERE workclass = 'Private' GROUP BY sex":                               true,
		"SELECT sex, sum(age) FROM adult WHERE workclass = 'Private' GROUP BY sex":                                          true,
		"SELECT sex, count(*) FROM adult GROUP BY sex":                                                                      false,
		"SELECT sex, avg(age) FROM adult WHERE workclass = 'Private' GROUP BY sex":                                          false,
		"SELECT sex, count(*), avg(age) FROM adult WHERE workclass = 'Private' GROUP BY sex":                                false,
		"SELECT sex, sum(fnlwgt) FROM adult WHERE workclass = 'Private' GROUP BY sex":                                       false,
		"SELECT sex, count(*) FROM adult WHERE workclass = 'Private' AND age > 40 GROUP BY sex":                             false,
		"SELECT count(*) FROM adult WHERE workclass = 'Private' AND education = 'none such'":                                false,
		"SELECT sex, count(*) FROM adult WHERE workclass = 'Private' GROUP BY ROLLUP (sex)":                                 true,
		"SELECT left(education, 3) AS e, count(*) FROM adult WHERE workclass = 'Private' AND sex = 'Female' GROUP BY 1":     true,
		"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM adult WHERE workclass = 'Private' AND sex = 'Female'": false,
	} {
		q, err := h.question(t, sql, nil, settings{epsilon: .1})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		m, err := q.Measure(t.Context())
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		p, err := q.Estimate(t.Context(), m)
		if err != nil || (p != nil) != want {
			t.Errorf("%s: %v, want %v; %v", sql, p != nil, want, err)
		}
	}
}

// A share's user is told nothing from answers that the share has not paid for, nor an answer that others were told from
// theirs; what is made of the share's own is free.
func TestSharesAndThePast(t *testing.T) {
	h := newPast(t, "300%", "per: dataset}", "per: dataset, shares: {users: {bob: {epsilon: 5, delta: 0.005}}}}")
	const cells, margin, other = "SELECT sex, education, count(*) FROM adult GROUP BY sex, education", "SELECT sex, count(*) FROM adult GROUP BY sex",
		"SELECT education, count(*) FROM adult GROUP BY education"
	h.told(t, cells, settings{})
	h.told(t, other, settings{})
	hers, cost := h.told(t, margin, settings{})
	if hers.Mechanism != ledger.Derived || cost != 0 {
		t.Fatalf("alice: %s, %v", hers.Mechanism, cost)
	}
	h.user = "bob"
	bob := ledger.UserScope("bob")
	his, cost := h.told(t, margin, settings{})
	if his.Mechanism == ledger.Derived || his.ID == hers.ID || cost == 0 || h.spent(t, bob) == 0 {
		t.Errorf("bob is told what alice paid for: %s, %v, spent %v", his.Mechanism, cost, h.spent(t, bob))
	}
	before := h.spent(t, bob)
	paid, cost := h.told(t, cells, settings{})
	if cost != 0 || h.spent(t, bob) == before {
		t.Errorf("bob joins the cells: %v, spent %v", cost, h.spent(t, bob))
	}
	before = h.spent(t, bob)
	if a, cost := h.told(t, other, settings{}); a.Mechanism != ledger.Derived || cost != 0 || h.spent(t, bob) != before || answer.From(a) == "" {
		t.Errorf("bob, from his own: %s, %v, spent %v", a.Mechanism, cost, h.spent(t, bob))
	} else if !strings.Contains(answer.From(a), fmt.Sprint(paid.ID)) {
		t.Errorf("from %s, not from %d", answer.From(a), paid.ID)
	}
}

// Answers of another epoch, or of another policy, are about something else.
func TestPastOfAnotherEpochOrPolicy(t *testing.T) {
	h := newPast(t, "300%")
	const cells, margin = "SELECT sex, education, count(*) FROM adult GROUP BY sex, education", "SELECT sex, count(*) FROM adult GROUP BY sex"
	h.told(t, cells, settings{})
	if _, err := h.engine.desk.Ledger.Advance(t.Context(), ledger.Epoch{Dataset: "adult", User: "dba", Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	if a, cost := h.told(t, margin, settings{}); a.Mechanism == ledger.Derived || cost == 0 {
		t.Errorf("from another epoch: %s, %v", a.Mechanism, cost)
	}
	h.told(t, cells, settings{})
	s := h.engine.snapshot.Load()
	s.Policies[0].Fingerprint += "0"
	if a, cost := h.told(t, margin, settings{epsilon: .5}); a.Mechanism == ledger.Derived || cost == 0 {
		t.Errorf("from another policy: %s, %v", a.Mechanism, cost)
	}
}

// When nothing is left, the past still answers; in a joint account as elsewhere, and the account takes no notice.
func TestPastWhenTheBudgetIsSpent(t *testing.T) {
	patient.Test(t)
	for _, composition := range []string{"noise", "joint"} {
		h := newPast(t, "300%", "budget: {epsilon: 20", "composition: "+composition+"\n  budget: {epsilon: 1.4", "epsilon: 1 ", "epsilon: 1 ")
		const cells = "SELECT sex, education, count(*) FROM adult GROUP BY sex, education"
		h.told(t, cells, settings{})
		exhausted := func() bool {
			_, err := h.asked(t, "SELECT age, count(*) FROM adult GROUP BY age", 1).Answer(t.Context())
			return sqlstate.Is(err, sqlstate.BudgetExhausted)
		}
		if !exhausted() {
			t.Fatalf("%s: something is left: the test shows nothing", composition)
		}
		a, cost := h.told(t, "SELECT sex, count(*) FROM adult GROUP BY sex", settings{})
		if a.Mechanism != ledger.Derived || cost != 0 {
			t.Errorf("%s: %s, %v", composition, a.Mechanism, cost)
		}
		q := h.asked(t, "SELECT education, count(*) FROM adult GROUP BY education", 1)
		x, err := q.Explain(t.Context())
		if err != nil || !strings.Contains(strings.Join(x.Lines(), "\n"), "Past: from answers 1, error (sd) ") || x.Cost[0].Cost != 0 {
			t.Errorf("%s: %v, %q", composition, err, x.Lines())
		}
		if !exhausted() {
			t.Errorf("%s: something is left now", composition)
		}
		if composition == "joint" {
			past, err := h.engine.desk.Ledger.History(t.Context(), "adult", 0)
			if err != nil || len(past) != 1 || past[0].ID != 1 {
				t.Errorf("the account has to count %+v, %v", past, err)
			}
		}
	}
}

// Rows whose value is not public are part of the error where the past has left them out: here every tenth of the reference.
func TestRowsOutsideThePublicValues(t *testing.T) {
	h := newPast(t, "100000%", "education: reference", "education: [HS-grad, Some-college, Bachelors, Masters, Doctorate]")
	h.told(t, "SELECT sex, education, count(*) FROM adult GROUP BY sex, education", settings{})
	sd := func(sql string) (sd, outside float64) {
		q := h.asked(t, sql, 1)
		m, err := q.Measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p, err := q.Estimate(t.Context(), m)
		if err != nil || p == nil {
			t.Fatalf("%s: %v %v", sql, p, err)
		}
		return p.Of[0].Error.SD(), p.Of[0].Outside
	}
	rows, err := h.engine.desk.Reader.Query(t.Context(), `SELECT count(*) FILTER (WHERE education NOT IN ('HS-grad', 'Some-college', 'Bachelors', 'Masters', 'Doctorate')), count(*) FROM public.adult`, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var missing, all float64
	_, _ = fmt.Sscan(rows[0][0].Text+" "+rows[0][1].Text, &missing, &all)
	if missing < 1000 {
		t.Fatal("no rows are missing: the test shows nothing")
	}
	if _, outside := sd("SELECT sex, count(*) FROM adult GROUP BY sex"); outside < missing*.9 || outside > missing*1.1 {
		t.Errorf("%v rows are missing at most, and %v are allowed for", missing, outside)
	}
	if _, outside := sd("SELECT education, count(*) FROM adult WHERE sex = 'Male' GROUP BY education"); outside > 60 {
		t.Errorf("sex has no other values, and %v rows are allowed for", outside)
	}
	if _, outside := sd("SELECT sex, education, count(*) FROM adult GROUP BY sex, education"); outside != 0 {
		t.Errorf("the same question, and %v rows are allowed for", outside)
	}
	if e := (quote.PastError{Noise: mechanism.Mixture{Sigma: 10}, Outside: 5}); math.Abs(e.SD()-math.Sqrt(125)) > 1e-9 || e.HalfWidth(.95) < e.Noise.HalfWidth(.975)+5 {
		t.Errorf("%v, %v", e.SD(), e.HalfWidth(.95))
	}
}
