package answer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"fugu/account"
	"fugu/explain"
	"fugu/ledger"
	"fugu/quote"
	"fugu/sqlstate"
)

// Explain derives the explanation; it reads no protected row and spends nothing.
func (q *Question) Explain(ctx context.Context) (explain.Explanation, error) {
	m, err := q.Measure(ctx)
	if err != nil {
		return explain.Explanation{}, err
	}
	x := explain.Quote(q.Request, m)
	x.Above, x.Leaves = q.asked.Above, q.first()
	if err := q.worthless(ctx, m); err != nil {
		e := sqlstate.As(err)
		x.Refused = e.Message + " (" + e.Hint + ")"
	} else if q.asked.Limit == 0 {
		x.Warning = m.Warning()
	}

	// An answer that is there, or follows from others, costs nothing.
	_, x.Stored, err = q.desk.Ledger.Find(ctx, q.Key, q.Scopes()...)
	if err != nil {
		return x, account.Error(err)
	}
	if !x.Stored {
		if x.Past, err = q.explainPast(ctx, m); err != nil {
			return x, err
		}
	}

	// What has to be charged is, if the policy promises no more than it did.
	if !x.Stored && x.Past == "" && x.Refused == "" && m.Width > 0 {
		if err := q.books().Kept(ctx, q.Request); sqlstate.Is(err, sqlstate.NotAllowed) {
			e := sqlstate.As(err)
			x.Refused = e.Message + " (" + e.Hint + ")"
		} else if err != nil {
			return x, err
		}
	}
	return x, q.explainCost(ctx, m, &x)
}

// explainCost says what the statement takes from the budget and from shares.
func (q *Question) explainCost(ctx context.Context, m *quote.Quote, x *explain.Explanation) error {
	accounts, err := account.Balances(ctx, q.desk.Ledger, q.Request.Policy, q.asked.User)
	if err != nil {
		return err
	}

	// Who has paid for the question in one scope does not pay for it there again.
	paid := map[string]bool{}
	for _, scope := range append([]string{ledger.Everybody}, q.Scopes()...) {
		if _, paid[scope], err = q.desk.Ledger.Find(ctx, q.Key, scope); err != nil {
			return account.Error(err)
		}
	}

	expected, err := q.books().Expect(ctx, q.priced(m), x.Stored || x.Past != "")
	if err != nil {
		return err
	}
	x.Together, x.Covariances = expected.Together, expected.Covariances
	for _, a := range accounts {
		cost := explain.Cost{Secret: a.Secret, Scope: a.Scope, Left: a.Left}
		if loss, ok := expected.Losses[a.Secret]; ok && !paid[a.Scope] && x.Past == "" {
			cost.Cost = math.Max(0, loss.Plus(a.Loss).SpentAt(a.Delta, a.Loss.Releases())-a.Spent)
		}
		x.Cost = append(x.Cost, cost)
	}
	return nil
}

// Notice says in one line what was told, and in another what is left of the budget; that one may be empty.
func (q *Question) Notice(ctx context.Context, a ledger.Answer) (told, left string) {
	if a.Mechanism == "" { // nothing was released
		return "fugu: all values are public: they are exact, and cost nothing", ""
	}

	// The first value stands for its column: a line is to be read at a glance.
	var parts []string
	seen := map[string]bool{}
	for _, c := range a.Cells {
		if !seen[c.Column] {
			seen[c.Column] = true
			parts = append(parts, fmt.Sprintf("%s noise sd %s", c.Column, quote.Short(c.SD)))
		}
	}

	cost := "stored answer, no cost"
	if ids := From(a); ids != "" {
		cost = "from answers " + ids + ", no cost"
	}
	if q.paid {
		var most float64
		for _, l := range a.Losses {
			most = math.Max(most, l.EpsilonAt(float64(q.Request.Budget.Delta)))
		}
		cost = fmt.Sprintf("epsilon %s, delta %s", quote.Short(most), quote.Short(float64(q.Request.Budget.Delta)))
	}

	told = fmt.Sprintf("fugu: %s; %s, %s; %s", strings.Join(parts, ", "), a.Mechanism,
		explain.Rests(a.Assumption), cost)
	if accounts, err := account.Balances(ctx, q.desk.Ledger, q.Request.Policy, q.asked.User); err == nil {
		least := slices.MinFunc(accounts, func(a, b account.Balance) int { return cmp.Compare(a.Left, b.Left) })
		left = fmt.Sprintf("epsilon %s of %s left", quote.Short(least.Left), quote.Short(least.Total))
	}
	return told, left
}
