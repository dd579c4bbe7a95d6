package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fugu/account"
	"fugu/admin/console"
	"fugu/explain"
	"fugu/ledger"
	"fugu/ledger/audit"
	"fugu/policy"
	"fugu/privacy"
	"fugu/sqlstate"
)

// How much of a ledger the console reads for a page: the newest.
const (
	consoleCharges = 5000
	consoleEntries = 500
)

// Budgets implements console.Source.
func (k *keeperPages) Budgets(ctx context.Context) (out console.Budgets, err error) {
	h := k.house()
	if len(h.policies) == 0 {
		return out, nil
	}
	books, err := k.books()
	if err != nil {
		return out, err
	}
	for _, p := range h.policies {
		if err := addBudget(ctx, books, p, &out); err != nil {
			return out, problem(err)
		}
	}

	// That budgets began anew stands in the audit chain.
	entries, err := books.Latest(ctx, consoleEntries)
	if err != nil {
		return out, problem(account.Error(err))
	}
	for _, e := range entries {
		if e.Event == audit.Reset {
			out.Ended = append(out.Ended, console.Reset{At: e.At, Dataset: e.Dataset, User: e.User, Reason: e.Reason})
		}
	}
	return out, nil
}

// addBudget adds the accounts of a policy, those of everybody with how they came about.
func addBudget(ctx context.Context, books ledger.Manager, p *policy.Policy, out *console.Budgets) error {
	balances, err := account.AllBalances(ctx, books, p)
	if err != nil {
		return err
	}
	charges, err := books.Payments(ctx, p.Dataset, "", consoleCharges)
	if err != nil {
		return account.Error(err)
	}
	charges = slices.DeleteFunc(charges, func(c ledger.Payment) bool { return c.Past || c.Scope != ledger.Everybody })
	slices.Reverse(charges)

	// The history is that of everybody's account: shares have no charges of their own.
	for _, b := range balances {
		a := console.Account{Dataset: b.Dataset, Scope: payerOf(b.Scope), Secret: b.Secret, Limit: b.Total,
			Spent: b.Spent, Left: b.Left, Delta: b.Delta, Answers: b.Releases, Period: b.Period}
		if b.Scope == ledger.Everybody {
			a.History = history(b, charges)
		}
		out.Accounts = append(out.Accounts, a)
	}
	if len(balances) > 0 {
		out.Payers = append(out.Payers, payers(p.Dataset, balances[0].Delta, charges)...)
	}
	return nil
}

// payerOf says whose account a scope's is.
func payerOf(scope string) string {
	if user, ok := ledger.User(scope); ok {
		return "user " + user
	} else if scope == ledger.Everybody {
		return "everybody"
	}
	return "group " + strings.TrimPrefix(scope, "@")
}

// history is how an account came to what it stands at. Where there were more charges than are read, it begins at what
// had been spent before them.
func history(b account.Balance, charges []ledger.Payment) (out []console.Spent) {
	before, n := b.Loss, b.Releases
	for _, c := range charges {
		if c.Secret == b.Secret {
			before = privacy.Loss{Pure: before.Pure - c.Loss.Pure, Kappa2: before.Kappa2 - c.Loss.Kappa2,
				Delta: before.Delta - c.Loss.Delta}
			n--
		}
	}

	// Of an account whose charges are all here, what is left is a rounding error.
	spent := privacy.Loss{Pure: max(0, before.Pure), Kappa2: max(0, before.Kappa2), Delta: max(0, before.Delta)}
	if n <= 0 {
		spent, n = privacy.Loss{}, 0
	}
	for _, c := range charges {
		if c.Secret == b.Secret {
			spent, n = spent.Plus(c.Loss), n+1
			out = append(out, console.Spent{At: c.At, Epsilon: spent.SpentAt(b.Delta, n)})
		}
	}
	return out
}

// payers are who had answers charged. What an answer lost of several secrets counts with its greatest parts.
func payers(dataset string, delta float64, charges []ledger.Payment) (out []console.Payer) {
	type sum struct {
		secrets map[string]privacy.Loss
		answers map[int64]bool
		last    ledger.Payment
	}

	by := map[string]*sum{}
	for _, c := range charges {
		s := by[c.User]
		if s == nil {
			s = &sum{secrets: map[string]privacy.Loss{}, answers: map[int64]bool{}}
			by[c.User] = s
		}
		s.secrets[c.Secret], s.last = s.secrets[c.Secret].Plus(c.Loss), c
		s.answers[c.Answer] = true
	}

	// The secret of which a user was told most says how much that is.
	for _, user := range slices.Sorted(maps.Keys(by)) {
		s := by[user]
		p := console.Payer{Dataset: dataset, User: user, Answers: len(s.answers), Last: s.last.At}
		for _, l := range s.secrets {
			p.Epsilon = max(p.Epsilon, l.SpentAt(delta, len(s.answers)))
		}
		out = append(out, p)
	}
	return out
}

// Events implements console.Source.
func (k *keeperPages) Events(ctx context.Context) (out []console.Event, err error) {
	if len(k.house().policies) == 0 {
		return nil, nil
	}
	books, err := k.books()
	if err != nil {
		return nil, err
	}
	entries, err := books.Latest(ctx, consoleEntries)
	if err != nil {
		return nil, problem(account.Error(err))
	}
	for _, e := range entries {
		if x, ok := eventOf(e); ok {
			out = append(out, x)
		}
	}
	return out, nil
}

// eventNames are how the console calls what the audit chain tells of. What came of a question that was charged ahead
// stands there, too, and is left out where it was answered: how long a reading took is nobody's to see.
var eventNames = map[audit.Event]string{audit.Release: "answer", audit.Joined: "joined", audit.NewEpoch: "epoch",
	audit.NewPeriod: "period", audit.Refused: "refused", audit.Lost: "not recorded", audit.Reset: "reset",
	audit.Compacted: "compacted", audit.Promised: "promised"}

// eventOf is an entry without what identifies a statement or an answer.
func eventOf(e audit.Entry) (x console.Event, ok bool) {
	name, ok := eventNames[e.Event]
	if !ok {
		return x, false
	}
	x = console.Event{At: e.At, What: name, Dataset: e.Dataset, User: e.User, Code: e.Code, Times: e.Times,
		Answer: e.Answer, Mechanism: e.Mechanism, Assumption: e.Assumption, Meaning: meanings[sqlstate.Code(e.Code)],
		Note: noteOf(e)}
	if e.Requested != nil {
		x.Epsilon, x.Delta = float64(e.Requested.Epsilon), float64(e.Requested.Delta)
		for _, secret := range slices.Sorted(maps.Keys(e.Losses)) {
			x.Prices = append(x.Prices, console.Price{Secret: secret, Epsilon: e.Losses[secret].EpsilonAt(x.Delta)})
		}
	}
	for _, c := range e.Certificates {
		x.Certificates = append(x.Certificates, console.Certificate{Secret: c.Secret, Mechanism: c.Mechanism,
			Assumptions: strings.Join(c.Assumptions, ", "), Pair: pairOf(c.Pair), Epsilon: c.Epsilon, Delta: c.Delta})
	}
	return x, true
}

// noteOf says of what was done to a ledger what, and why.
func noteOf(e audit.Entry) string {
	switch e.Event {
	case audit.NewEpoch:
		return strings.TrimSpace(fmt.Sprintf("epoch %d %s: %s", e.Epoch, e.Label, e.Reason))
	case audit.NewPeriod:
		return fmt.Sprintf("period %d: %s", e.Period, e.Reason)
	case audit.Reset, audit.Compacted:
		return e.Reason
	case audit.Promised:
		return fmt.Sprintf("what answers about table %s hide in period %d", e.Table, e.Period)
	case audit.Lost:
		return "refusals that are only counted"
	}
	return ""
}

// pairOf says which values of a secret are the hardest to hide.
func pairOf(pair [2]float64) string {
	if pair == [2]float64{} {
		return "all alike"
	}
	return explain.Pair(pair)
}
