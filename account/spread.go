package account

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

// Spread is the part of a price that counts covariances.
type Spread struct {
	// Together is, by secret, the ε of all answers with this one, at the δ of all periods so far. Where the price of
	// the noise covers it anyway, it is an upper bound.
	Together map[string]float64
	// Added is, by secret, how much ε that adds to what the noise alone costs.
	Added map[string]float64

	account *covarianceAccount
	delta   float64 // at which Together holds
	former  float64 // how many periods were before this one
	beside  int     // how many values are counted by their number alone
}

// spreadPrice is the price where charges count covariances: what the noise alone costs, and what this lacks to the ε of
// all answers together with the covariances as they are (docs/accounting.md, Theorem 4).
func (b Books) spreadPrice(ctx context.Context, q Asked) (Price, error) {
	m, p := q.Quote, Price{Losses: q.Quote.Calibration.Losses}
	if m.Spreads == nil || hook.NoCovariances {
		return p, nil
	}

	// The answer is priced beside all those that the ledger has by now.
	a := b.Covariances.account(q.Request.Dataset, q.Request.Policy)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.catchUp(ctx, b.Ledger, q.Standing.Epoch); err != nil {
		return p, err
	}
	after := a.last
	p.after, p.Losses = &after, map[string]privacy.Loss{}
	maps.Copy(p.Losses, m.Calibration.Losses)
	accounts, err := spent(ctx, b.Ledger, q.Request.Policy.Dataset, ledger.Everybody, q.Standing)
	if err != nil {
		return p, err
	}

	// Each period had a budget of its own, so that the answers of all periods together may tell the sum of these.
	x := &Spread{account: a, Together: map[string]float64{}, Added: map[string]float64{}}
	if a.any {
		x.former = float64(q.Standing.Period - a.first)
	}
	x.delta = float64(Total(q.Request.Policy.Privacy.Budget).Delta) * (x.former + 1)
	p.Covariances = x
	for i := range m.Spreads.Parts {
		part := &m.Spreads.Parts[i]
		x.beside += part.Others
		if err := p.addSpread(ctx, q, part, accounts); err != nil {
			return p, err
		}
	}
	return p, nil
}

// addSpread raises the losses of one table's secrets to what the covariances take.
func (p *Price) addSpread(ctx context.Context, q Asked, part *quote.CovariancePart, accounts []ledger.Account) error {
	limit, x := Total(q.Request.Policy.Privacy.Budget), p.Covariances
	t := x.account.tables[part.Table]

	// What all answers together cost is worked out for the first secret that needs it, and for all others with it.
	var cost *stackedCost
	stacked := func() (_ *stackedCost, err error) {
		if cost == nil {
			cost, err = t.with(ctx, q.Request.Database, part)
		}
		return cost, err
	}

	for _, s := range t.secrets {
		before, loss := before(accounts, s.Name), p.Losses[s.Name]
		alone := before.Plus(loss).SpentAt(float64(limit.Delta), before.Releases())
		paid := x.former*float64(limit.Epsilon) + alone
		together, err := t.together(part, stacked, s, x.delta, paid)
		if err != nil {
			return err
		}
		if !x.account.any { // then it is the only one, and its own certificate may say more
			together = math.Min(together, q.Quote.Certified(s.Name, float64(limit.Delta)))
		}
		x.Together[s.Name] = together
		if together <= paid {
			continue
		}

		// What was paid does not cover them: the rest is charged too, if the budget has it.
		loss = lacking(before, loss, limit, together-x.former*float64(limit.Epsilon))
		p.Losses[s.Name] = loss
		x.Added[s.Name] = before.Plus(loss).SpentAt(float64(limit.Delta), before.Releases()) - alone
		if !before.Plus(loss).Allowed(limit, before.Releases()) && !hook.Overdraft {
			return overspread(q, s.Name, together, x.former)
		}
	}
	return nil
}

// lacking raises a loss until all losses together are worth epsilon at the limit's δ: by a pure part or by a Gaussian
// one, whichever costs less. Where all losses are Gaussian, that is a Gaussian one.
func lacking(before, loss privacy.Loss, limit privacy.Budget, epsilon float64) privacy.Loss {
	spent := func(l privacy.Loss) float64 { return before.Plus(l).SpentAt(float64(limit.Delta), before.Releases()) }
	if math.IsInf(epsilon, 1) { // no budget is enough: this exceeds any
		loss.Pure = 2 * float64(limit.Epsilon)
		return loss
	}
	pure, normal := loss, loss
	pure.Pure += math.Max(0, epsilon-spent(loss)) * (1 + 1e-9)

	// The least κ² that is enough lies between low and high: doubled until it does, then halved.
	below := func(kappa2 float64) bool {
		normal.Kappa2 = kappa2
		all := before.Plus(normal)
		return all.Below(epsilon, float64(limit.Delta), before.Releases())
	}
	low, high := loss.Kappa2, math.Max(1e-6, 2*loss.Kappa2)
	for below(high) && high < 1e6 {
		low, high = high, 2*high
	}
	for range 40 {
		if mid := (low + high) / 2; below(mid) {
			low = mid
		} else {
			high = mid
		}
	}

	// It may be too little by a rounding of δ.
	normal.Kappa2 = high
	if spent(normal) < epsilon {
		normal.Kappa2 = high * (1 + 1e-9)
	}
	if spent(normal) >= epsilon && spent(normal) < spent(pure) {
		return normal
	}
	return pure
}

// overspread says that the budget does not cover what answers tell by their covariances.
func overspread(q Asked, secret string, together, former float64) error {
	b := q.Request.Policy.Privacy.Budget
	needs := "more than any epsilon"
	if !math.IsInf(together, 1) {
		needs = "epsilon " + quote.Short(together)
	}
	return sqlstate.New(sqlstate.BudgetExhausted, "the privacy budget of dataset %q is exhausted for secret %q: with "+
		"this statement, the covariances of all answers would need %s at delta %s, of %s", q.Request.Policy.Dataset,
		secret, needs, quote.Short(float64(b.Delta)*(former+1)), quote.Short(float64(b.Epsilon)*(former+1))).
		WithHint("Answers already given stay free. Values that hardly move with a secret, but vary more under one of " +
			"its values, add up; a smaller fugu.epsilon or fewer values tell less.")
}

// lines tells people how far covariances raise the price.
func (x *Spread) lines() (out []string) {
	if x == nil {
		return nil
	}
	for _, s := range slices.Sorted(maps.Keys(x.Together)) {
		out = append(out, fmt.Sprintf("with all answers before, epsilon %s at delta %s for secret %s; %s of the cost",
			quote.Short(x.Together[s]), quote.Short(x.delta), s, quote.Short(x.Added[s])))
	}
	if x.beside > 0 {
		out = append(out, fmt.Sprintf("%d values are counted by their number", x.beside))
	}
	return out
}
