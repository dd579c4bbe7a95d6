package account

import (
	"context"
	"errors"

	"fugu/ledger"
	"fugu/policy"
	"fugu/privacy"
	"fugu/sqlstate"
)

// Shares returns the limits below a budget that apply to a user; for nobody in particular there are none.
func Shares(b policy.Budget, user string) (out []ledger.Share) {
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

// Scopes are whose shares those are.
func Scopes(shares []ledger.Share) (out []string) {
	for _, s := range shares {
		out = append(out, s.Scope)
	}
	return out
}

// Total is everybody's limit.
func Total(b policy.Budget) privacy.Budget { return b.Spendable() }

// BeginEpochs takes the labels of policies into the ledger: where one is new, the data are others from now on.
func BeginEpochs(ctx context.Context, l ledger.Ledger, policies []*policy.Policy) error {
	for _, p := range policies {
		if p.Epoch.Label == "" {
			continue
		}
		_, err := l.Advance(ctx, ledger.Epoch{Dataset: p.Dataset, Label: p.Epoch.Label,
			Independent: p.Epoch.Draw == policy.IndependentDraw,
			User:        "policy", Reason: "epoch.label of the policy"})
		if err != nil {
			return err
		}
	}
	return nil
}

// Stands returns where the policy's dataset stands.
func Stands(ctx context.Context, l ledger.Ledger, p *policy.Policy) (ledger.Standing, error) {
	s, err := l.Standing(ctx, p.Dataset, p.Privacy.Budget.Renew)
	if err != nil {
		return s, Error(err)
	}
	return s, nil
}

// Current refuses a policy that speaks of other data than the ledger.
func Current(p *policy.Policy, s ledger.Standing) error {
	if want := p.Epoch.Label; want != "" && want != s.Label {
		return sqlstate.New(sqlstate.CannotConnectNow, "the policy of dataset %q is for epoch %q, which is not that "+
			"of its data", p.Dataset, want).
			WithHint("Fugu has to read the policy again.")
	}
	return nil
}

// Error is what a client is told of an error of the ledger's. Budget and epoch are said in words; of anything else no
// more than that nothing can be answered.
func Error(err error) error {
	var x *ledger.Exhausted
	if errors.As(err, &x) {
		return sqlstate.New(sqlstate.BudgetExhausted, "%s", x.Error()).
			WithHint("Answers already given stay free; a smaller fugu.epsilon costs less. SELECT * FROM fugu.budget " +
				"shows what is left.")
	}
	var stale *ledger.Stale
	if errors.As(err, &stale) {
		return sqlstate.New(sqlstate.SerializationFailure, "%s", stale.Error()).WithHint("Ask again: the answer " +
			"will be about the data that there are now.")
	}
	return sqlstate.New(sqlstate.CannotConnectNow, "the privacy ledger is not available, so nothing can be answered").
		Because(err)
}
