package pipeline

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/privacy"
	"fugu/quote"
	"fugu/sqlstate"
)

// spreadPrice is the part of a price that counts covariances.
type spreadPrice struct {
	account  *covarianceAccount
	delta    float64            // the total's, of all periods so far
	together map[string]float64 // by secret: ε of all answers with this one at delta; at most, where less is charged for
	added    map[string]float64 // likewise: what that adds to what the noise alone costs, in ε
	beside   int                // values that are counted by their number
}

// spreadPrice is what an answer costs where charges count covariances: what its noise alone hides, and what is lacking
// to ε of all answers together with the covariances as they are (docs/accounting.md, Theorem 4).
func (q *question) spreadPrice(ctx context.Context, m *quote.Quote) (price, error) {
	p := price{losses: m.Calibration.Losses}
	if m.Spreads == nil || hook.NoCovariances {
		return p, nil
	}
	a := q.engine.covariances.account(q.statement.snapshot, q.request.Policy)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.catchUp(ctx, q.engine.ledger, q.standing.Epoch); err != nil {
		return p, err
	}
	after := a.last
	p.after, p.losses = &after, map[string]privacy.Loss{}
	accounts, err := spent(ctx, q.engine.ledger, q.request.Policy.Dataset, ledger.Everybody, q.standing)
	if err != nil {
		return p, err
	}
	limit, former := total(q.request.Policy.Privacy.Budget), 0.0
	if a.any {
		former = float64(q.standing.Period - a.first)
	}
	p.spread = &spreadPrice{account: a, delta: float64(limit.Delta) * (former + 1), together: map[string]float64{}, added: map[string]float64{}}
	for name, l := range m.Calibration.Losses {
		p.losses[name] = l
	}
	for i := range m.Spreads.Parts {
		part := &m.Spreads.Parts[i]
		p.spread.beside += part.Others
		if err := q.spreadPart(ctx, m, &p, part, accounts, former); err != nil {
			return p, err
		}
	}
	return p, nil
}

// spreadPart adds what is lacking for the secrets of one table.
func (q *question) spreadPart(ctx context.Context, m *quote.Quote, p *price, part *quote.CovariancePart, accounts []ledger.Account, former float64) error {
	limit := total(q.request.Policy.Privacy.Budget)
	t := p.spread.account.tables[part.Table]
	var x *stackedCost
	stacked := func() (_ *stackedCost, err error) {
		if x == nil {
			x, err = t.with(ctx, q.request.Database, part)
		}
		return x, err
	}
	for _, s := range t.secrets {
		before := privacy.Loss{}
		if i := slices.IndexFunc(accounts, func(a ledger.Account) bool { return a.Secret == s.Name }); i >= 0 {
			before = accounts[i].Loss
		}
		loss := p.losses[s.Name]
		alone := before.Plus(loss).SpentAt(float64(limit.Delta), before.Releases())
		paid := former*float64(limit.Epsilon) + alone
		together, err := t.together(part, stacked, s, p.spread.delta, paid)
		if err != nil {
			return err
		}
		if !p.spread.account.any { // then it is the only one, and its own certificate may say more
			together = math.Min(together, m.Certified(s.Name, float64(limit.Delta)))
		}
		p.spread.together[s.Name] = together
		if together <= paid {
			continue
		}
		loss = lacking(before, loss, limit, together-former*float64(limit.Epsilon))
		p.losses[s.Name] = loss
		p.spread.added[s.Name] = before.Plus(loss).SpentAt(float64(limit.Delta), before.Releases()) - alone
		if !before.Plus(loss).Allowed(limit, before.Releases()) && !hook.Overdraft {
			return q.overspread(s.Name, together, former)
		}
	}
	return nil
}

// lacking returns the loss with so much more that all losses together are worth epsilon at the limit's δ. Where there
// is normal noise alone more of it is cheapest.
func lacking(before, loss privacy.Loss, limit privacy.Budget, epsilon float64) privacy.Loss {
	spent := func(l privacy.Loss) float64 { return before.Plus(l).SpentAt(float64(limit.Delta), before.Releases()) }
	if math.IsInf(epsilon, 1) {
		loss.Pure = 2 * float64(limit.Epsilon)
		return loss
	}
	pure, normal := loss, loss
	pure.Pure += math.Max(0, epsilon-spent(loss)) * (1 + 1e-9)
	low, high := loss.Kappa2, math.Max(1e-6, 2*loss.Kappa2)
	for normal.Kappa2 = high; spent(normal) < epsilon && high < 1e6; normal.Kappa2 = high {
		low, high = high, 2*high
	}
	for range 40 {
		mid := (low + high) / 2
		if normal.Kappa2 = mid; spent(normal) < epsilon {
			low = mid
		} else {
			high = mid
		}
	}
	normal.Kappa2 = high
	if spent(normal) >= epsilon && spent(normal) < spent(pure) {
		return normal
	}
	return pure
}

// overspread says that the budget does not cover what answers tell by their covariances.
func (q *question) overspread(secret string, together, former float64) error {
	b := q.request.Policy.Privacy.Budget
	needs := "more than any epsilon"
	if !math.IsInf(together, 1) {
		needs = "epsilon " + quote.Short(together)
	}
	return sqlstate.New(sqlstate.BudgetExhausted, "the privacy budget of dataset %q is exhausted for secret %q: with this statement, the covariances of all answers would need %s at delta %s, of %s",
		q.request.Policy.Dataset, secret, needs, quote.Short(float64(b.Delta)*(former+1)), quote.Short(float64(b.Epsilon)*(former+1))).
		WithHint("Answers already given stay free. Values that hardly move with a secret, but vary more under one of its values, add up; a smaller fugu.epsilon or fewer values tell less.")
}

// lines say of a price what covariances have to do with it, for people.
func (p *spreadPrice) lines() (out []string) {
	if p == nil {
		return nil
	}
	for _, s := range slices.Sorted(maps.Keys(p.together)) {
		out = append(out, fmt.Sprintf("with all answers before, epsilon %s at delta %s for secret %s; %s of the cost", quote.Short(p.together[s]), quote.Short(p.delta), s, quote.Short(p.added[s])))
	}
	if p.beside > 0 {
		out = append(out, fmt.Sprintf("%d values are counted by their number", p.beside))
	}
	return out
}

// explainSpread returns what a statement would be charged, and what covariances have to do with it. free: it costs
// nothing.
func (q *question) explainSpread(ctx context.Context, m *quote.Quote, free bool) (map[string]privacy.Loss, []string, error) {
	lines := quote.Uncertified(q.request.Dataset, q.request.Policy)
	if free {
		return m.Calibration.Losses, lines, nil
	}
	p, err := q.spreadPrice(ctx, m)
	switch {
	case sqlstate.Is(err, sqlstate.BudgetExhausted):
		return m.Calibration.Losses, append(lines, err.Error()), nil
	case err != nil:
		return nil, nil, err
	}
	return p.losses, append(p.spread.lines(), lines...), nil
}
