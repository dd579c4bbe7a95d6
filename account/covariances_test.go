package account_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"fugu/account"
	"fugu/ledger"
	"fugu/privacy"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/test/adult/asking"
	"fugu/test/patient"
)

// quantile is a statement of two values that no stack holds, each of which counts by its number; every i is another.
func quantile(i int) string {
	return fmt.Sprintf("SELECT sex, percentile_cont(0.%d) WITHIN GROUP (ORDER BY age) FROM adult GROUP BY sex", 40+i)
}

// priced asks for a price, and has the statement answered.
func priced(t *testing.T, h *asking.House, sql string, epsilon privacy.Epsilon) account.Price {
	t.Helper()
	p := price(t, h, sql, epsilon)
	h.Answered(t, sql, epsilon)
	return p
}

// What is spent is never less than ε of all answers together with the covariances as they are, whoever counts them: the
// engine that gave them, another one, and one that asked for its price before others were charged.
func TestCovariancesAreCharged(t *testing.T) {
	h := asking.New(t)
	const epsilon = .3
	added := 0.0
	for i := range 4 {
		at := h
		if i%2 == 1 {
			at = h.Other(t, "alice")
		}
		for _, sql := range []string{quantile(i), fmt.Sprintf("SELECT education, count(*) FROM adult WHERE age > %d "+
			"GROUP BY education", 30+i)} {
			p := priced(t, at, sql, epsilon)
			together := p.Covariances.Together["high_income"]
			added += p.Covariances.Added["high_income"]
			if spent := spentOn(t, h, "high_income"); spent < together*(1-1e-9) || math.IsInf(together, 0) {
				t.Errorf("statement %d: %g spent, %g together", i, spent, together)
			}
		}
	}
	if !(added > .1) {
		t.Errorf("%g was added to what the noise alone costs: it is no test", added)
	}

	// Two proxies ask for their prices at the same time.
	sql := quantile(10)
	slow := h.Question(t, sql, epsilon, "")
	m, err := slow.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	early, err := slow.Price(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	priced(t, h.Other(t, "alice"), quantile(11), epsilon)
	standing, err := account.Stands(t.Context(), h.Desk.Ledger, h.Policy)
	if err != nil {
		t.Fatal(err)
	}
	c := ledger.Charge{Key: slow.Key, Dataset: h.Policy.Dataset, User: "alice", Requested: slow.Request.Budget,
		Limit: account.Total(h.Policy.Privacy.Budget), Mechanism: "expm-gaussian", Assumption: "gaussian",
		Answer: []byte("x")}
	books := account.Books{Ledger: h.Desk.Ledger, Covariances: &account.Covariances{}}
	a, err := books.Book(t.Context(), c, account.Asked{Request: slow.Request, Quote: m, Standing: standing}, early,
		func(ctx context.Context, c ledger.Charge) (ledger.Answer, error) {
			return books.Charge(ctx, slow.Request, c)
		})
	if err != nil {
		t.Fatal(err)
	}
	late := a.Losses["high_income"]
	if first := early.Losses["high_income"]; !(late.Kappa2+late.Pure > first.Kappa2+first.Pure) {
		t.Errorf("charged %+v, at a price of before the other: %+v", late, first)
	}
}

// spentOn is what fugu.budget says.
func spentOn(t *testing.T, h *asking.House, secret string) float64 {
	t.Helper()
	accounts, err := account.Balances(t.Context(), h.Desk.Ledger, h.Policy, h.User)
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
	patient.Test(t)
	h := asking.New(t, "budget: {epsilon: 20,", "budget: {epsilon: 1.6,")
	var err error
	for i := 0; i < 20 && err == nil; i++ {
		_, err = h.Answer(t, quantile(i), .1)
	}
	if !sqlstate.Is(err, sqlstate.BudgetExhausted) || !strings.Contains(err.Error(), "covariances") {
		t.Fatalf("%v", err)
	}
	x, err := h.Question(t, quantile(30), .1, "").Explain(t.Context())
	if lines := strings.Join(x.Lines(), "\n"); err != nil || !strings.Contains(lines, "Covariances: ") {
		t.Errorf("%v:\n%s", err, lines)
	}
}

// An answer of an older version counts by the number of its values, and so does a value that no stack can hold.
func TestOlderAnswersCountByTheirNumber(t *testing.T) {
	patient.Test(t)
	sum := "SELECT sex, sum(hours_per_week) FROM adult GROUP BY sex"
	together := func(cells int) float64 {
		h := asking.New(t)
		c := ledger.Charge{Key: ledger.Key(strings.Repeat("a", 64)), Dataset: "adult", User: "alice",
			Requested: privacy.Budget{Epsilon: 1, Delta: .001},
			Limit:     privacy.Budget{Epsilon: 20, Delta: .01}, Mechanism: "gaussian", Assumption: "translation",
			Answer: []byte("x"),
			Losses: map[string]privacy.Loss{"high_income": {Kappa2: 1e-6}, "private_sector": {Kappa2: 1e-6}}}
		for range cells {
			c.Cells = append(c.Cells, ledger.Cell{Column: "n", Value: "1"})
		}
		if _, err := h.Desk.Ledger.Charge(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		return priced(t, h, sum, 0).Covariances.Together["high_income"]
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
	h := asking.New(t, "budget: {epsilon: 20,", "budget: {epsilon: 1000000,")
	if m := h.Quote(t, sql, 0); m.Spreads == nil || m.Spreads.Parts[0].Terms != nil || m.Spreads.Parts[0].Beside == 0 {
		t.Errorf("%+v", m.Spreads)
	}
	if p := priced(t, h, sql, 0); p.Covariances == nil || p.Covariances.Added["high_income"] > .1 {
		t.Errorf("%+v", p.Covariances)
	}
	for edit, word := range map[string]string{"": "", "[translation]": "assume does not list gaussian", "[]": ""} {
		var edits []string
		if edit != "" {
			edits = []string{"[translation, gaussian]", edit}
		}
		h := asking.New(t, edits...)
		said := strings.Join(quote.Uncertified(h.Snapshot, h.Policy), "\n")
		if (said != "") != (word != "") || !strings.Contains(said, word) {
			t.Errorf("assume %q: %q", edit, said)
		}
	}
}
