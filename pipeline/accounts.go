package pipeline

import (
	"context"
	"math"
	"slices"

	"fugu/ledger"
	"fugu/policy"
	"fugu/privacy"
	"fugu/sqlstate"
)

// shares are the limits below a budget that apply to a user; of nobody in particular there are none.
func shares(b policy.Budget, user string) (out []ledger.Share) {
	if user == "" {
		return nil
	}
	if limit, ok := b.Share(user); ok {
		out = append(out, ledger.Share{Scope: ledger.UserScope(user), Limit: limit})
	}
	for _, g := range b.Groups(user) {
		out = append(out, ledger.Share{Scope: ledger.GroupScope(g.Name), Limit: g.Limit})
	}
	return out
}

// scopes are whose shares those are.
func scopes(shares []ledger.Share) (out []string) {
	for _, s := range shares {
		out = append(out, s.Scope)
	}
	return out
}

// total is everybody's limit.
func total(b policy.Budget) privacy.Budget { return privacy.Budget{Epsilon: b.Epsilon, Delta: b.Delta} }

// BeginEpochs takes the labels of policies into the ledger: where one is new, the data are others from now on.
func BeginEpochs(ctx context.Context, l ledger.Ledger, policies []*policy.Policy) error {
	for _, p := range policies {
		if p.Epoch.Label == "" {
			continue
		}
		_, err := l.Advance(ctx, ledger.Epoch{Dataset: p.Dataset, Label: p.Epoch.Label, Independent: p.Epoch.Draw == policy.IndependentDraw,
			User: "policy", Reason: "epoch.label of the policy"})
		if err != nil {
			return err
		}
	}
	return nil
}

// stands returns where the policy's dataset stands.
func stands(ctx context.Context, l ledger.Ledger, p *policy.Policy) (ledger.Standing, error) {
	s, err := l.Standing(ctx, p.Dataset, p.Privacy.Budget.Renew)
	if err != nil {
		return s, ledgerError(err)
	}
	return s, nil
}

// current refuses a policy that speaks of other data than the ledger.
func current(p *policy.Policy, s ledger.Standing) error {
	if want := p.Epoch.Label; want != "" && want != s.Label {
		return sqlstate.New(sqlstate.CannotConnectNow, "the policy of dataset %q is of epoch %q, which is not that of its data", p.Dataset, want).
			WithHint("Fugu has to read the policy again.")
	}
	return nil
}

// Account is what one secret's budget stands at, in ε at the total δ of its dataset or share.
type Account struct {
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

	loss privacy.Loss
}

// Accounts returns the accounts of a policy's secrets that apply to a user: everybody's, and those of the user's shares.
func Accounts(ctx context.Context, l ledger.Ledger, p *policy.Policy, user string) ([]Account, error) {
	return accounts(ctx, l, p, shares(p.Privacy.Budget, user))
}

// AllAccounts returns everybody's accounts, and those of every share that the policy names or that was charged. A scope to
// which the policy gives no share any more has none.
func AllAccounts(ctx context.Context, l ledger.Ledger, p *policy.Policy) ([]Account, error) {
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
	charged, err := l.Scopes(ctx, p.Dataset)
	if err != nil {
		return nil, ledgerError(err)
	}
	for _, scope := range charged {
		if user, ok := ledger.User(scope); ok {
			if limit, ok := b.Share(user); ok {
				add(ledger.Share{Scope: scope, Limit: limit})
			}
		}
	}
	return accounts(ctx, l, p, all)
}

func accounts(ctx context.Context, l ledger.Ledger, p *policy.Policy, below []ledger.Share) ([]Account, error) {
	standing, err := stands(ctx, l, p)
	if err != nil {
		return nil, err
	}
	var out []Account
	for _, x := range append([]ledger.Share{{Scope: ledger.Everybody, Limit: total(p.Privacy.Budget)}}, below...) {
		spent, err := spent(ctx, l, p.Dataset, x.Scope, standing)
		if err != nil {
			return nil, err
		}
		for _, sec := range p.Secrets {
			a := Account{Dataset: p.Dataset, Scope: x.Scope, Secret: sec.Name, Total: float64(x.Limit.Epsilon), Delta: float64(x.Limit.Delta),
				Epoch: standing.Epoch, Period: standing.Period}
			for _, s := range spent {
				if s.Secret == sec.Name {
					a.loss, a.Spent, a.Releases = s.Loss, s.Loss.SpentAt(a.Delta, s.Releases), s.Releases
				}
			}
			a.Left = math.Max(0, a.Total-a.Spent)
			out = append(out, a)
		}
	}
	return out, nil
}

// spent returns a scope's accounts in the period in which a charge would be booked.
func spent(ctx context.Context, l ledger.Ledger, dataset, scope string, standing ledger.Standing) ([]ledger.Account, error) {
	if standing.Due {
		return nil, nil
	}
	out, err := l.Spent(ctx, dataset, scope)
	if err != nil {
		return nil, ledgerError(err)
	}
	return out, nil
}
