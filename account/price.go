package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/policy"
	"fugu/privacy"
	"fugu/privacy/joint"
	"fugu/quote"
	"fugu/sqlstate"
)

// Books are where the answers of datasets are booked: the ledger, and what all of its answers together tell. They are
// safe for concurrent use.
type Books struct {
	Ledger      ledger.Ledger
	Joint       map[*policy.Policy]*Joint // of policies that have a joint account
	Covariances *Covariances              // of all others
}

// Asked is what a price is asked for: a request, what is known of it, and where its dataset stood before anything was
// read.
type Asked struct {
	Request  *quote.Request
	Quote    *quote.Quote
	Standing ledger.Standing
}

// Price is what an answer costs beside the answers that were given before it.
type Price struct {
	Losses      map[string]privacy.Loss
	Reached     map[string]float64 // by secret: δ of all answers together, at the dataset's ε
	Covariances *Spread            // how far covariances raise the price; nil: the policy's charges do not count them

	after   *int64 // the newest answer that the price counts with; nil: it does not depend on others
	account *Joint // where the answer will be counted; nil: nowhere
	entries map[*jointTable]entry
}

// Price returns what the answer costs each secret beside all that was answered. A budget that does not cover it is an
// error that the client may see (BudgetExhausted), and so is a history that cannot be counted (ModelUnfit).
func (b Books) Price(ctx context.Context, q Asked) (Price, error) {
	if q.Quote.Joint == nil {
		return b.spreadPrice(ctx, q)
	}
	return b.jointPrice(ctx, q)
}

// jointPrice is the price under a joint account.
func (b Books) jointPrice(ctx context.Context, q Asked) (Price, error) {
	// The release is tried on the account of all answers that the ledger has by now.
	a := b.Joint[q.Request.Policy]
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.catchUp(ctx, b.Ledger, q.Standing.Epoch); err != nil {
		return Price{}, err
	}

	// The price holds while this is the newest answer. Once there is a newer one the charge is overtaken, and priced
	// anew.
	after := a.last
	p := Price{Losses: map[string]privacy.Loss{}, Reached: map[string]float64{}, after: &after, account: a,
		entries: map[*jointTable]entry{}}
	spent, err := b.Ledger.Spent(ctx, q.Request.Policy.Dataset, ledger.Everybody)
	if err != nil {
		return Price{}, Error(err)
	}

	// Nothing is booked yet: each table's account says what all answers together would tell of each secret.
	for _, part := range q.Quote.Joint.Parts {
		t := a.tables[part.Table]
		trial, err := t.Trial(part.Release)
		if errors.Is(err, joint.ErrFull) {
			return Price{}, sqlstate.New(sqlstate.BudgetExhausted, "the joint account of dataset %s is full: it holds "+
				"%d values of at most %d, and the statement has %d", q.Request.Policy.Dataset, t.Components(),
				joint.MaxComponents, len(part.Noise)).WithHint("Answers already given stay free.")
		} else if err != nil {
			return Price{}, err
		}
		p.entries[t] = entry{part, trial}
		for _, name := range slices.Sorted(maps.Keys(part.Hidden)) {
			if err := p.add(q, t, p.entries[t], name, before(spent, name)); err != nil {
				return Price{}, err
			}
		}
	}
	return p, nil
}

// add counts what a part of the answer costs one of its secrets. before is what was spent of that secret's account.
func (p *Price) add(q Asked, t *jointTable, e entry, secret string, before privacy.Loss) (err error) {
	limit := Total(q.Request.Policy.Privacy.Budget)
	l, now := q.Quote.Joint.Losses[secret], t.with(e.trial, e.part, secret)
	l.Kappa2 = math.Max(0, now.Kappa2-t.cost(secret).Kappa2)
	p.Losses[secret] = l

	total := before.Plus(l)
	p.Reached[secret], err = now.Delta(float64(limit.Epsilon), []float64{total.Pure}, total.Delta)
	if err != nil {
		return err
	}
	if p.Reached[secret] > float64(limit.Delta) {
		return Error(&ledger.Exhausted{Dataset: q.Request.Policy.Dataset, Secret: secret, Spent: before, Wanted: l,
			Limit: limit})
	}
	return nil
}

// before returns what was spent of a secret's account.
func before(accounts []ledger.Account, secret string) privacy.Loss {
	i := slices.IndexFunc(accounts, func(a ledger.Account) bool { return a.Secret == secret })
	if i < 0 {
		return privacy.Loss{}
	}
	return accounts[i].Loss
}

// count takes the answer that was charged at this price into the account, if it is the next one there.
func (p Price) count(a ledger.Answer) error {
	if p.account == nil || !a.Fresh {
		return nil
	}
	p.account.mu.Lock()
	defer p.account.mu.Unlock()
	if p.account.last != *p.after {
		return nil // another question has counted it from the ledger
	}
	if err := commit(p.entries); err != nil {
		return fmt.Errorf("answer %d: %w", a.ID, err)
	}
	p.account.last = a.ID
	return nil
}

// dearest returns the secret of which all answers together tell most, and the δ that they reach.
func (p Price) dearest() (secret string, delta float64) {
	delta = -1
	for name, d := range p.Reached {
		if d > delta || d == delta && cmp.Less(name, secret) {
			secret, delta = name, d
		}
	}
	return secret, delta
}

// Covered refuses a charge that the budget or a share does not cover, before any protected row is read.
func Covered(ctx context.Context, l ledger.Ledger, c ledger.Charge, standing ledger.Standing) error {
	for _, x := range append([]ledger.Share{{Scope: ledger.Everybody, Limit: c.Limit}}, c.Shares...) {
		accounts, err := spent(ctx, l, c.Dataset, x.Scope, standing)
		if err != nil {
			return err
		}
		for _, secret := range slices.Sorted(maps.Keys(c.Losses)) {
			spent, loss := before(accounts, secret), c.Losses[secret]
			if !spent.Plus(loss).Allowed(x.Limit, spent.Releases()) && !(hook.Apart && x.Scope == ledger.Everybody) {
				return Error(&ledger.Exhausted{Dataset: c.Dataset, Scope: x.Scope, Secret: secret,
					Limit: x.Limit, Spent: spent, Wanted: loss})
			}
		}
	}
	return nil
}

// Expected is what a statement would be charged, and what the accounts of its dataset say of that, for people.
type Expected struct {
	Losses      map[string]privacy.Loss
	Together    string   // what all answers together tell, with this one; empty: there is no joint account
	Covariances []string // how far covariances raise it
}

// Expect returns the price of an answer before it is asked for; free says that it costs nothing. A budget that does not
// cover it is told in words, and is no error.
func (b Books) Expect(ctx context.Context, q Asked, free bool) (Expected, error) {
	nominal := Expected{Losses: q.Quote.Calibration.Losses}
	jointly := q.Quote.Joint != nil
	counted := jointly || q.Quote.Width > 0
	if !jointly && counted {
		nominal.Covariances = quote.Uncertified(q.Request.Dataset, q.Request.Policy)
	}
	if free || !counted {
		return nominal, nil
	}

	// A budget that is used up has a price as well, which is what whoever asks for one wants to read.
	p, err := b.Price(ctx, q)
	exhausted := sqlstate.Is(err, sqlstate.BudgetExhausted)
	switch {
	case err != nil && !exhausted:
		return Expected{}, err
	case !jointly && exhausted:
		nominal.Covariances = append(nominal.Covariances, err.Error())
		return nominal, nil
	case !jointly:
		return Expected{Losses: p.Losses, Covariances: append(p.Covariances.lines(), nominal.Covariances...)}, nil
	case exhausted:
		return Expected{Together: err.Error()}, nil
	}

	secret, delta := p.dearest()
	return Expected{Losses: p.Losses, Together: fmt.Sprintf(
		"with all answers before, delta %s at epsilon %s for secret %s", quote.Short(delta),
		quote.Short(float64(q.Request.Policy.Privacy.Budget.Epsilon)), secret)}, nil
}
