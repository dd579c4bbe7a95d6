package main

import (
	"context"
	"fmt"
	"slices"

	"fugu/account"
	"fugu/ledger"
	"fugu/policy"
)

// uncharged says in what a policy promises more than answers were charged under, for which they are refused, and of
// which secrets the accounts do not have all that was told.
func (h *house) uncharged(ctx context.Context, p *policy.Policy) (broken []*account.Broken, late []string, err error) {
	if !slices.ContainsFunc(p.Tables, noisy) {
		return nil, nil, nil
	}
	broken, err = account.AllBroken(ctx, h.ledger, h.room(p.Database).snapshot.Snapshot, p)
	if err == nil && len(broken) == 0 {
		late, err = lateSecrets(ctx, h.ledger, p)
	}
	return broken, late, err
}

// placeOf is where a policy has what is broken.
func placeOf(p *policy.Policy, b *account.Broken) policy.Position {
	for _, s := range p.Secrets {
		if s.Name == b.Secret {
			return s.At
		}
	}
	t, _ := p.Table(b.Table)
	return t.At
}

// lateSecrets says by their names of which secrets the accounts do not have all that was told, in a period in which a
// version charged that kept no promises. An answer is charged to each secret that its table has in the policy of then.
// A secret that was added since, or has another name, begins with nothing spent, whatever earlier answers told of it.
func lateSecrets(ctx context.Context, l ledger.Ledger, p *policy.Policy) (out []string, err error) {
	standing, err := l.Standing(ctx, p.Dataset, p.Privacy.Budget.Renew)
	if err != nil || standing.Due { // a period that begins now has no answers
		return nil, err
	}
	accounts, err := l.Spent(ctx, p.Dataset, ledger.Everybody)
	if err != nil {
		return nil, err
	}

	// A secret that the policy has no more may have been of any table: it counts where nothing else does.
	releases, gone := map[string]int{}, 0
	for _, a := range accounts {
		releases[a.Secret] = a.Releases
		if !slices.ContainsFunc(p.Secrets, func(s policy.Secret) bool { return s.Name == a.Secret }) {
			gone = max(gone, a.Releases)
		}
	}

	// Each answer about a table is charged to each of its secrets: who has fewer than another came later.
	for _, t := range p.Tables {
		if !noisy(t) {
			continue
		}
		var secrets []string
		most := 0
		for _, s := range p.Secrets {
			if s.Table == t.Qualified() {
				secrets, most = append(secrets, s.Name), max(most, releases[s.Name])
			}
		}
		if most == 0 {
			most = gone
		}

		for _, s := range secrets {
			if n := releases[s]; n < most {
				out = append(out, fmt.Sprintf("secret %s of table %s was charged for %d of %d answers: the others "+
					"were given before the policy had it, or under another name, and what they told of it is in no "+
					"account", s, t.Qualified(), n, most))
			}
		}
	}
	return out, nil
}

// unchargedHint says what to do about it.
const unchargedHint = "bring the policy of then back; what was told cannot be taken back, and only for other rows, " +
	"under another dataset, does a budget begin with nothing spent"
