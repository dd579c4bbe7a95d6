// Package account says what was spent of a dataset's budget, what an answer would cost beside all that were given, and
// whether it may be given. It reads the ledger and books charges there; it knows no session, no protocol and no
// protected row.
package account

import (
	"context"
	"math"
	"slices"

	"fugu/ledger"
	"fugu/policy"
	"fugu/privacy"
)

// Balance is what one secret's budget stands at, in ε at the total δ of its dataset or share.
type Balance struct {
	Dataset  string  `json:"dataset"`
	Scope    string  `json:"scope"` // of a ledger: empty is everybody's together
	Secret   string  `json:"secret"`
	Total    float64 `json:"epsilon_total"`
	Spent    float64 `json:"epsilon_spent"`
	Left     float64 `json:"epsilon_left"`
	Delta    float64 `json:"delta_total"`
	Releases int     `json:"releases"`
	Epoch    int64   `json:"epoch"`
	Period   int64   `json:"period"`

	Loss privacy.Loss `json:"-"` // of which Spent is what it is worth at Delta
}

// Balances returns the accounts of a policy's secrets that apply to a user: everybody's, and those of the user's
// shares.
func Balances(ctx context.Context, l ledger.Ledger, p *policy.Policy, user string) ([]Balance, error) {
	return balances(ctx, l, p, Shares(p.Privacy.Budget, user))
}

// AllBalances returns everybody's accounts, and those of every share that the policy names or that was charged. A scope
// to which the policy gives no share any more has none.
func AllBalances(ctx context.Context, l ledger.Ledger, p *policy.Policy) ([]Balance, error) {
	b := p.Privacy.Budget
	all := []ledger.Share{}
	add := func(more ...ledger.Share) {
		for _, s := range more {
			if !slices.ContainsFunc(all, func(t ledger.Share) bool { return s.Scope == t.Scope }) {
				all = append(all, s)
			}
		}
	}

	if b.Shares != nil {
		for _, g := range b.Shares.Groups {
			add(ledger.Share{Scope: ledger.GroupScope(g.Name), Limit: g.Limit})
		}
		for _, u := range b.Shares.Users {
			add(ledger.Share{Scope: ledger.UserScope(u.Name), Limit: u.Limit})
		}
	}

	// Where everybody who is named nowhere has a share, those count who were charged.
	charged, err := l.Scopes(ctx, p.Dataset)
	if err != nil {
		return nil, Error(err)
	}
	for _, scope := range charged {
		if user, ok := ledger.User(scope); ok {
			if limit, ok := b.Share(user); ok {
				add(ledger.Share{Scope: scope, Limit: limit})
			}
		}
	}
	return balances(ctx, l, p, all)
}

func balances(ctx context.Context, l ledger.Ledger, p *policy.Policy, below []ledger.Share) ([]Balance, error) {
	standing, err := Stands(ctx, l, p)
	if err != nil {
		return nil, err
	}

	// Everybody together has the dataset's budget, and each share its own below that.
	var out []Balance
	for _, x := range append([]ledger.Share{{Scope: ledger.Everybody, Limit: Total(p.Privacy.Budget)}}, below...) {
		spent, err := spent(ctx, l, p.Dataset, x.Scope, standing)
		if err != nil {
			return nil, err
		}
		// A secret of which nothing was spent has a balance, too.
		for _, sec := range p.Secrets {
			a := Balance{Dataset: p.Dataset, Scope: x.Scope, Secret: sec.Name, Total: float64(x.Limit.Epsilon),
				Delta: float64(x.Limit.Delta), Epoch: standing.Epoch, Period: standing.Period}
			for _, s := range spent {
				if s.Secret == sec.Name {
					a.Loss, a.Spent, a.Releases = s.Loss, s.Loss.SpentAt(a.Delta, s.Releases), s.Releases
				}
			}
			a.Left = math.Max(0, a.Total-a.Spent)
			out = append(out, a)
		}
	}
	return out, nil
}

// spent returns a scope's accounts in the period in which a charge would be booked.
func spent(ctx context.Context, l ledger.Ledger, dataset, scope string,
	standing ledger.Standing) ([]ledger.Account, error) {
	if standing.Due {
		return nil, nil
	}
	out, err := l.Spent(ctx, dataset, scope)
	if err != nil {
		return nil, Error(err)
	}
	return out, nil
}
