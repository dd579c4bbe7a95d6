package pipeline

import (
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"fugu/ledger"
	"fugu/privacy"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/test/patient"
)

// quantile is a statement of two values that no stack holds, each of which counts by its number; every i is another.
func quantile(i int) string {
	return fmt.Sprintf("SELECT sex, percentile_cont(0.%d) WITHIN GROUP (ORDER BY age) FROM adult GROUP BY sex", 40+i)
}

// priced asks for a price, and has the statement answered.
func (h *house) priced(t *testing.T, sql string, set settings) price {
	t.Helper()
	q, err := h.question(t, sql, nil, set)
	if err != nil {
		t.Fatal(err)
	}
	m, err := q.measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := q.price(t.Context(), m)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if _, err := q.answer(t.Context()); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return p
}

// again is another engine over the same ledger: another proxy, or this one after a restart.
func (h *house) again() *house {
	e := h.engine
	return &house{New(e.guest, e.reader, e.ledger, e.snapshot.Load(), slog.New(slog.DiscardHandler)), h.user}
}

// What is spent is never less than ε of all answers together with the covariances as they are, whoever counts them: the
// engine that gave them, another one, and one that asked for its price before others were charged.
func TestCovariancesAreCharged(t *testing.T) {
	h := newHouse(t)
	set := settings{epsilon: .3}
	added := 0.0
	for i := range 4 {
		at := h
		if i%2 == 1 {
			at = h.again()
		}
		for _, sql := range []string{quantile(i), fmt.Sprintf("SELECT education, count(*) FROM adult WHERE age > %d GROUP BY education", 30+i)} {
			p := at.priced(t, sql, set)
			together := p.spread.together["high_income"]
			added += p.spread.added["high_income"]
			if spent := h.spentOn(t, "high_income"); spent < together*(1-1e-9) || math.IsInf(together, 0) {
				t.Errorf("statement %d: %g spent, %g together", i, spent, together)
			}
		}
	}
	if !(added > .1) {
		t.Errorf("%g was added to what the noise alone costs: it is no test", added)
	}

	// Two proxies ask for their prices at the same time.
	sql := quantile(10)
	slow, err := h.question(t, sql, nil, set)
	if err != nil {
		t.Fatal(err)
	}
	m, err := slow.measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	early, err := slow.price(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	h.again().priced(t, quantile(11), set)
	a, err := slow.book(t.Context(), ledger.Charge{Key: slow.key, Dataset: slow.request.Policy.Dataset, User: "alice", Requested: slow.request.Budget, Limit: total(slow.request.Policy.Privacy.Budget),
		Mechanism: "expm-gaussian", Assumption: "gaussian", Answer: []byte("x")}, m, early)
	if err != nil {
		t.Fatal(err)
	}
	late := a.Losses["high_income"]
	if first := early.losses["high_income"]; !(late.Kappa2+late.Pure > first.Kappa2+first.Pure) {
		t.Errorf("charged %+v, at a price of before the other: %+v", late, first)
	}
}

// spentOn is what fugu.budget says.
func (h *house) spentOn(t *testing.T, secret string) float64 {
	t.Helper()
	accounts, err := Accounts(t.Context(), h.engine.ledger, h.engine.snapshot.Load().Policies[0], h.user)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range accounts {
		if a.Secret == secret {
			return a.Spent
		}
	}
	t.Fatalf("no account of %s", secret)
	return 0
}

// Where the budget does not cover them a statement is refused before any row is read, in words that name covariances;
// EXPLAIN (PRIVACY) says so too.
func TestCovariancesUseTheBudgetUp(t *testing.T) {
	h := newHouse(t, "budget: {epsilon: 20,", "budget: {epsilon: 1.6,")
	set := settings{epsilon: .1}
	var err error
	for i := 0; i < 20 && err == nil; i++ {
		var q *question
		if q, err = h.question(t, quantile(i), nil, set); err == nil {
			_, err = q.answer(t.Context())
		}
	}
	if !sqlstate.Is(err, sqlstate.BudgetExhausted) || !strings.Contains(err.Error(), "covariances") {
		t.Fatalf("%v", err)
	}
	q, err := h.question(t, quantile(30), nil, set)
	if err != nil {
		t.Fatal(err)
	}
	x, err := q.Explain(t.Context())
	if lines := strings.Join(x.Lines(), "\n"); err != nil || !strings.Contains(lines, "Covariances: ") {
		t.Errorf("%v:\n%s", err, lines)
	}
}

// An answer of an older version counts by the number of its values, and so does a value that no stack can hold.
func TestOlderAnswersCountByTheirNumber(t *testing.T) {
	sum := "SELECT sex, sum(hours_per_week) FROM adult GROUP BY sex"
	together := func(cells int) float64 {
		h := newHouse(t)
		c := ledger.Charge{Key: ledger.Key(strings.Repeat("a", 64)), Dataset: "adult", User: "alice", Requested: privacy.Budget{Epsilon: 1, Delta: .001},
			Limit: privacy.Budget{Epsilon: 20, Delta: .01}, Mechanism: "gaussian", Assumption: "translation", Answer: []byte("x"),
			Losses: map[string]privacy.Loss{"high_income": {Kappa2: 1e-6}, "private_sector": {Kappa2: 1e-6}}}
		for range cells {
			c.Cells = append(c.Cells, ledger.Cell{Column: "n", Value: "1"})
		}
		if _, err := h.engine.ledger.Charge(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		return h.priced(t, sum, settings{}).spread.together["high_income"]
	}
	few, many := together(1), together(12)
	if !(many > few+1) {
		t.Errorf("ε = %g after an answer of one value, %g after one of twelve", few, many)
	}
}

// A budget that has room for thousands of values, whatever they are, needs no terms; a policy whose promises say
// nothing of covariances says so.
func TestWhereCovariancesAreNotWorkedOut(t *testing.T) {
	patient.Test(t)
	const sql = "SELECT sex, count(*) FROM adult GROUP BY sex"
	h := newHouse(t, "budget: {epsilon: 20,", "budget: {epsilon: 1000000,")
	q, err := h.question(t, sql, nil, settings{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := q.measure(t.Context())
	if err != nil || m.Spreads == nil || m.Spreads.Parts[0].Terms != nil || m.Spreads.Parts[0].Beside == 0 {
		t.Errorf("%+v, %v", m.Spreads, err)
	}
	if p := h.priced(t, sql, settings{}); p.spread == nil || p.spread.added["high_income"] > .1 {
		t.Errorf("%+v", p.spread)
	}
	for edit, word := range map[string]string{"": "", "[translation]": "assume does not list gaussian", "[]": ""} {
		var edits []string
		if edit != "" {
			edits = []string{"[translation, gaussian]", edit}
		}
		h := newHouse(t, edits...)
		s := h.engine.snapshot.Load()
		said := strings.Join(quote.Uncertified(s.Snapshot, s.Policies[0]), "\n")
		if (said != "") != (word != "") || !strings.Contains(said, word) {
			t.Errorf("assume %q: %q", edit, said)
		}
	}
}
