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

// What the tests ask about: cells, and sums over them.
const (
	byBoth      = "SELECT sex, education, count(*) FROM adult GROUP BY sex, education"
	bySex       = "SELECT sex, count(*) FROM adult GROUP BY sex"
	ofEducation = "SELECT education, count(*) FROM adult GROUP BY education"
	ofMen       = "SELECT education, count(*) FROM adult WHERE sex = 'Male' GROUP BY education"
)

// upTo are the settings of a session that asks for an error.
func upTo(t *testing.T, text string) settings {
	t.Helper()
	tolerance, err := privacy.ParseTolerance(text)
	if err != nil {
		t.Fatal(err)
	}
	return settings{error: tolerance, errorSet: true}
}

// Whether an answer comes from the past is up to the error that was asked for.
func TestErrorThatIsAskedFor(t *testing.T) {
	patient.Test(t)
	h := newPast(t, "100%")
	h.told(t, byBoth, settings{})
	q, m := h.measured(t, ofMen, upTo(t, "10000"))
	p, err := q.FromPast(t.Context(), m)
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

	// The error that there is and a little more is enough, and a little less is not, relative or absolute.
	for text, within := range map[string]bool{
		fmt.Sprintf("%g%%", 100*worst*1.01): true, fmt.Sprintf("%g%%", 100*worst*.99): false,
		fmt.Sprint(most * 1.001): true, fmt.Sprint(most * .999): false, "0": false, "0%": false, "1e300": true,
	} {
		q, err := h.question(t, ofMen, nil, upTo(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if p, err := q.FromPast(t.Context(), m); err != nil || (p != nil) != within {
			t.Errorf("%s: %v, %v", text, p != nil, err)
		}
	}
}

// The policy's error is where a session asks for none; its tolerance is part of what the answer is known again by.
func TestErrorOfThePolicy(t *testing.T) {
	patient.Test(t)
	h := newPast(t, "100%")
	h.told(t, byBoth, settings{})
	a, cost := h.told(t, ofMen, upTo(t, "10000"))
	if a.Mechanism != ledger.Derived || cost != 0 {
		t.Errorf("%s, %v", a.Mechanism, cost)
	}
	if b, cost := h.told(t, ofMen, settings{}); b.Mechanism == ledger.Derived || cost == 0 {
		t.Errorf("by the policy's error: %s, %v", b.Mechanism, cost)
	}

	// A smaller ε asks for less than there is.
	if b, cost := h.told(t, byBoth, settings{epsilon: .5}); b.Mechanism != ledger.Derived || cost != 0 {
		t.Errorf("at a smaller epsilon: %s, %v", b.Mechanism, cost)
	}

	// A policy that has none lets no session ask for one.
	never := newHouse(t)
	if _, err := never.question(t, ofMen, nil, upTo(t, "5")); !sqlstate.Is(err, sqlstate.NotAllowed) {
		t.Errorf("where the policy has none: %v", err)
	}
	if _, err := never.question(t, ofMen, nil, upTo(t, "0")); err != nil {
		t.Error(err)
	}
}

// What is no sum over rows that were asked for is drawn.
func TestWhatThePastDoesNotDetermine(t *testing.T) {
	patient.Test(t)
	h := newPast(t, "100000%")
	h.told(t, "SELECT sex, education, count(*), sum(age), sum(hours_per_week) FROM adult "+
		"WHERE workclass = 'Private' GROUP BY sex, education", settings{epsilon: .3})
	for want, list := range map[bool][]string{
		true: {
			"SELECT sex, count(*) FROM adult WHERE workclass = 'Private' GROUP BY sex",
			"SELECT sex, sum(age) FROM adult WHERE workclass = 'Private' AND education <> 'Masters' GROUP BY sex",
			"SELECT sex, sum(hours_per_week) FROM adult WHERE workclass = 'Private' GROUP BY sex",
			"SELECT sex, sum(age) FROM adult WHERE workclass = 'Private' GROUP BY sex",
			"SELECT sex, count(*) FROM adult WHERE workclass = 'Private' GROUP BY ROLLUP (sex)",
			"SELECT left(education, 3) AS e, count(*) FROM adult " +
				"WHERE workclass = 'Private' AND sex = 'Female' GROUP BY 1",
		},
		false: {
			// Its limits are those of other rows.
			"SELECT sex, sum(hours_per_week) FROM adult " +
				"WHERE workclass = 'Private' AND education = '1st-4th' GROUP BY sex",
			"SELECT sex, count(*) FROM adult GROUP BY sex",
			"SELECT sex, avg(age) FROM adult WHERE workclass = 'Private' GROUP BY sex",
			"SELECT sex, count(*), avg(age) FROM adult WHERE workclass = 'Private' GROUP BY sex",
			"SELECT sex, sum(fnlwgt) FROM adult WHERE workclass = 'Private' GROUP BY sex",
			"SELECT sex, count(*) FROM adult WHERE workclass = 'Private' AND age > 40 GROUP BY sex",
			"SELECT count(*) FROM adult WHERE workclass = 'Private' AND education = 'none such'",
			"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM adult " +
				"WHERE workclass = 'Private' AND sex = 'Female'",
		},
	} {
		for _, sql := range list {
			q, m := h.measured(t, sql, settings{epsilon: .1})
			p, err := q.FromPast(t.Context(), m)
			if err != nil || (p != nil) != want {
				t.Errorf("%s: %v, want %v; %v", sql, p != nil, want, err)
			}
		}
	}
}

// A share's user is told nothing from answers that the share has not paid for, nor an answer that others were told from
// theirs; what is made of the share's own is free.
func TestSharesAndThePast(t *testing.T) {
	patient.Test(t)
	h := newPast(t, "300%", "per: dataset}", "per: dataset, shares: {users: {bob: {epsilon: 5, delta: 0.005}}}}")
	h.told(t, byBoth, settings{})
	h.told(t, ofEducation, settings{})
	hers, cost := h.told(t, bySex, settings{})
	if hers.Mechanism != ledger.Derived || cost != 0 {
		t.Fatalf("alice: %s, %v", hers.Mechanism, cost)
	}

	// The same is drawn afresh for bob, from whose share it is paid.
	h.user = "bob"
	bob := ledger.UserScope("bob")
	his, cost := h.told(t, bySex, settings{})
	if his.Mechanism == ledger.Derived || his.ID == hers.ID || cost == 0 || h.spent(t, bob) == 0 {
		t.Errorf("bob is told what alice paid for: %s, %v, spent %v", his.Mechanism, cost, h.spent(t, bob))
	}

	// Once his share has paid for the cells, what is made of them is free for him too.
	before := h.spent(t, bob)
	paid, cost := h.told(t, byBoth, settings{})
	if cost != 0 || h.spent(t, bob) == before {
		t.Errorf("bob joins the cells: %v, spent %v", cost, h.spent(t, bob))
	}
	before = h.spent(t, bob)
	a, cost := h.told(t, ofEducation, settings{})
	if a.Mechanism != ledger.Derived || cost != 0 || h.spent(t, bob) != before || answer.From(a) == "" {
		t.Errorf("bob, from his own: %s, %v, spent %v", a.Mechanism, cost, h.spent(t, bob))
	} else if !strings.Contains(answer.From(a), fmt.Sprint(paid.ID)) {
		t.Errorf("from %s, not from %d", answer.From(a), paid.ID)
	}
}

// Answers of another epoch, or of another policy, are about something else.
func TestPastOfAnotherEpochOrPolicy(t *testing.T) {
	patient.Test(t)
	h := newPast(t, "300%")
	h.told(t, byBoth, settings{})
	advance(t, h.engine.desk.Ledger)
	if a, cost := h.told(t, bySex, settings{}); a.Mechanism == ledger.Derived || cost == 0 {
		t.Errorf("from another epoch: %s, %v", a.Mechanism, cost)
	}

	h.told(t, byBoth, settings{})
	s := h.engine.snapshot.Load()
	s.Policies[0].Fingerprint += "0"
	if a, cost := h.told(t, bySex, settings{epsilon: .5}); a.Mechanism == ledger.Derived || cost == 0 {
		t.Errorf("from another policy: %s, %v", a.Mechanism, cost)
	}
}

// When nothing is left, the past still answers; in a joint account as elsewhere, and the account takes no notice.
func TestPastWhenTheBudgetIsSpent(t *testing.T) {
	patient.Test(t)
	for _, composition := range []string{"noise", "joint"} {
		h := newPast(t, "300%", "budget: {epsilon: 20", "composition: "+composition+"\n  budget: {epsilon: 1.4",
			"epsilon: 1 ", "epsilon: 1 ")
		h.told(t, byBoth, settings{})
		exhausted := func() bool {
			_, err := h.asked(t, "SELECT age, count(*) FROM adult GROUP BY age", 1).Answer(t.Context())
			return sqlstate.Is(err, sqlstate.BudgetExhausted)
		}
		if !exhausted() {
			t.Fatalf("%s: something is left: the test shows nothing", composition)
		}

		a, cost := h.told(t, bySex, settings{})
		if a.Mechanism != ledger.Derived || cost != 0 {
			t.Errorf("%s: %s, %v", composition, a.Mechanism, cost)
		}
		x, err := h.asked(t, ofEducation, 1).Explain(t.Context())
		if err != nil || x.Cost[0].Cost != 0 ||
			!strings.Contains(strings.Join(x.Lines(), "\n"), "Past: from answers 1, error (sd) ") {
			t.Errorf("%s: %v, %q", composition, err, x.Lines())
		}
		if !exhausted() {
			t.Errorf("%s: something is left now", composition)
		}

		// What was computed is nothing that a joint account has to count.
		if composition == "joint" {
			past, err := h.engine.desk.Ledger.History(t.Context(), "adult", 0)
			if err != nil || len(past) != 1 || past[0].ID != 1 {
				t.Errorf("the account has to count %+v, %v", past, err)
			}
		}
	}
}

// Rows whose value is not public are part of the error where the past has left them out: here every tenth of the
// reference.
func TestRowsOutsideThePublicValues(t *testing.T) {
	patient.Test(t)
	h := newPast(t, "100000%", "education: reference",
		"education: [HS-grad, Some-college, Bachelors, Masters, Doctorate]")
	h.told(t, byBoth, settings{})
	allowed := func(sql string) (rows float64) {
		q, m := h.measured(t, sql, settings{epsilon: 1})
		p, err := q.FromPast(t.Context(), m)
		if err != nil || p == nil {
			t.Fatalf("%s: %v %v", sql, p, err)
		}
		return p.Of[0].Outside
	}

	// The truth: how many rows have none of the public values.
	rows, err := h.engine.desk.Reader.Query(t.Context(), `SELECT count(*) FROM public.adult
		WHERE education NOT IN ('HS-grad', 'Some-college', 'Bachelors', 'Masters', 'Doctorate')`, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var missing float64
	_, _ = fmt.Sscan(rows[0][0].Text, &missing)
	if missing < 1000 {
		t.Fatal("no rows are missing: the test shows nothing")
	}

	if n := allowed(bySex); n < missing*.9 || n > missing*1.1 {
		t.Errorf("%v rows are missing at most, and %v are allowed for", missing, n)
	}
	if n := allowed(ofMen); n > 60 {
		t.Errorf("sex has no other values, and %v rows are allowed for", n)
	}
	if n := allowed(byBoth); n != 0 {
		t.Errorf("the same question, and %v rows are allowed for", n)
	}
	e := quote.PastError{Noise: mechanism.Mixture{Sigma: 10}, Outside: 5}
	if math.Abs(e.SD()-math.Sqrt(125)) > 1e-9 || e.HalfWidth(.95) < e.Noise.HalfWidth(.975)+5 {
		t.Errorf("%v, %v", e.SD(), e.HalfWidth(.95))
	}
}
