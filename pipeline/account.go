package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"

	"fugu/dataset"
	"fugu/ledger"
	"fugu/policy"
	"fugu/privacy"
	"fugu/privacy/joint"
	"fugu/quote"
	"fugu/sqlstate"
)

// account is the joint account of a dataset: all of its answers, as far as this process has counted them. The ledger has
// them all, and decides: a charge that does not count with the newest is refused there.
type account struct {
	policy *policy.Policy
	tables map[string]*tableAccount

	mu   sync.Mutex
	last int64 // the newest answer counted
}

// tableAccount is what all answers together tell of one table's secrets.
type tableAccount struct {
	*joint.Account
	digest string             // of the reference's rows
	alone  map[string]float64 // κ² of all answers by secret, by the noise alone: of each secret; +Inf where it is not known
}

// newAccount makes the joint account of a policy, without any answer.
func newAccount(loaded *dataset.Snapshot, p *policy.Policy) (*account, error) {
	a := &account{policy: p, tables: map[string]*tableAccount{}}
	for _, t := range loaded.Tables {
		if t.Policy != p || len(t.Table.Secrets) == 0 {
			continue
		}
		var secrets []joint.Secret
		alone := map[string]float64{}
		for i, psi := range t.Psi {
			secrets = append(secrets, quote.Extreme(t.Table.Secrets[i], psi, float64(t.Table.Rows)))
			alone[psi.Name] = 0
		}
		account, err := joint.New(t.Places.Sample, secrets)
		if err != nil {
			return nil, fmt.Errorf("the joint account of %s: %w", t.Table, err)
		}
		a.tables[t.Table.String()] = &tableAccount{account, t.Places.Digest, alone}
	}
	return a, nil
}

// roundedUp is above what adding up loses.
const roundedUp = 1 + 1e-11

// with is what all answers cost with one more: no more than by the noise alone, which is what all costs where the
// randomness of the rows is little beside it.
func (t *tableAccount) with(trial *joint.Trial, part quote.JointPart, secret string) joint.Cost {
	c := trial.Cost(secret)
	c.Kappa2 = math.Min(c.Kappa2, (t.alone[secret]+part.Alone[secret])*roundedUp)
	return c
}

// cost is what all answers cost.
func (t *tableAccount) cost(secret string) joint.Cost {
	c := t.Cost(secret)
	c.Kappa2 = math.Min(c.Kappa2, t.alone[secret]*roundedUp)
	return c
}

// entry is an answer that is about to stand in an account.
type entry struct {
	part  quote.JointPart
	trial *joint.Trial
}

// catchUp counts the answers that the ledger has and the account has not.
func (a *account) catchUp(ctx context.Context, l ledger.Ledger, epoch int64) error {
	past, err := l.History(ctx, a.policy.Dataset, a.last)
	if err != nil {
		return ledgerError(err)
	}
	for _, p := range past {
		if err := a.count(p, epoch); err != nil {
			return err
		}
		a.last = p.ID
	}
	return nil
}

// count takes an answer of the ledger into the account.
func (a *account) count(p ledger.Past, epoch int64) error {
	if p.Failed && p.Terms == nil {
		return nil // that it failed is counted by its price
	}
	closed := func(format string, args ...any) error {
		return sqlstate.New(sqlstate.ModelUnfit, "dataset %s has answers that its joint account cannot count: %s", a.policy.Dataset, fmt.Sprintf(format, args...)).
			WithHint("Answers already given stay; nothing new can be answered until the owner of the policy begins anew.")
	}
	if p.Epoch != epoch {
		return closed("answer %d is about the data of another epoch", p.ID)
	}
	if p.Terms == nil || bytes.HasPrefix(p.Terms, []byte("{")) { // a list is a joint account's
		return closed("answer %d was given under composition: noise", p.ID)
	}
	var parts []quote.JointPart
	if err := json.Unmarshal(p.Terms, &parts); err != nil {
		return fmt.Errorf("reading the terms of answer %d: %w", p.ID, err)
	}
	entries := map[*tableAccount]entry{}
	for _, part := range parts {
		t := a.tables[part.Table]
		switch {
		case t == nil:
			return closed("answer %d is over %s, which the policy does not protect", p.ID, part.Table)
		case t.digest != part.Digest:
			return closed("the reference of %s is another than when answer %d was given", part.Table, p.ID)
		}
		if err := part.Read(); err != nil {
			return fmt.Errorf("answer %d: %w", p.ID, err)
		}
		for name := range part.Hidden { // the policy may have lost a secret since
			if math.IsInf(t.Cost(name).Kappa2, 1) {
				delete(part.Release.Hidden, name)
				delete(part.Release.Aside, name)
			}
		}
		trial, err := t.Trial(part.Release)
		if err != nil {
			return fmt.Errorf("answer %d: %w", p.ID, err)
		}
		entries[t] = entry{part, trial}
	}
	return commit(entries)
}

func commit(entries map[*tableAccount]entry) error {
	var errs []error
	for t, e := range entries {
		errs = append(errs, e.trial.Commit())
		for secret := range t.alone {
			kappa2, known := e.part.Alone[secret]
			if !known { // the policy has the secret since
				kappa2 = math.Inf(1)
			}
			t.alone[secret] += kappa2
		}
	}
	return errors.Join(errs...)
}

// price is what an answer costs, counted with the answers up to after.
type price struct {
	losses  map[string]privacy.Loss
	reached map[string]float64 // by secret: δ of all answers together, at the dataset's ε
	after   *int64             // nil: whatever the others are

	account *account
	entries map[*tableAccount]entry
	spread  *spreadPrice // of a policy whose charges count covariances; nil: another
}

// price is what the answer costs each secret beside all that was answered.
func (q *question) price(ctx context.Context, m *quote.Quote) (price, error) {
	if m.Joint == nil {
		return q.spreadPrice(ctx, m)
	}
	a := q.statement.snapshot.accounts[q.request.Policy]
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.catchUp(ctx, q.engine.ledger, q.standing.Epoch); err != nil {
		return price{}, err
	}
	after := a.last
	p := price{losses: map[string]privacy.Loss{}, reached: map[string]float64{}, after: &after, account: a, entries: map[*tableAccount]entry{}}
	spent, err := q.engine.ledger.Spent(ctx, q.request.Policy.Dataset, ledger.Everybody)
	if err != nil {
		return price{}, ledgerError(err)
	}
	for _, part := range m.Joint.Parts {
		t := a.tables[part.Table]
		trial, err := t.Trial(part.Release)
		if errors.Is(err, joint.ErrFull) {
			return price{}, sqlstate.New(sqlstate.BudgetExhausted, "the joint account of dataset %s is full: it holds %d values of at most %d, and the statement has %d", q.request.Policy.Dataset, t.Components(), joint.MaxComponents, len(part.Noise)).
				WithHint("Answers already given stay free.")
		} else if err != nil {
			return price{}, err
		}
		p.entries[t] = entry{part, trial}
		for name := range part.Hidden {
			l, now := m.Joint.Losses[name], t.with(trial, part, name)
			l.Kappa2 = math.Max(0, now.Kappa2-t.cost(name).Kappa2)
			p.losses[name] = l
			var before privacy.Loss
			for _, s := range spent {
				if s.Secret == name {
					before = s.Loss
				}
			}
			total := before.Plus(l)
			if p.reached[name], err = now.Delta(float64(q.request.Policy.Privacy.Budget.Epsilon), []float64{total.Pure}, total.Delta); err != nil {
				return price{}, err
			}
			if p.reached[name] > float64(q.request.Policy.Privacy.Budget.Delta) {
				return price{}, ledgerError(&ledger.Exhausted{Dataset: q.request.Policy.Dataset, Secret: name, Spent: before, Wanted: l,
					Limit: privacy.Budget{Epsilon: q.request.Policy.Privacy.Budget.Epsilon, Delta: q.request.Policy.Privacy.Budget.Delta}})
			}
		}
	}
	return p, nil
}

// charged takes a new answer into the account, if it is the next.
func (p price) charged(a ledger.Answer) error {
	if p.account == nil || !a.Fresh {
		return nil
	}
	p.account.mu.Lock()
	defer p.account.mu.Unlock()
	if p.account.last != *p.after {
		return nil // another has counted it from the ledger
	}
	if err := commit(p.entries); err != nil {
		return fmt.Errorf("answer %d: %w", a.ID, err)
	}
	p.account.last = a.ID
	return nil
}

// dearest is the greatest δ that all answers together reach, and of which secret.
func (p price) dearest() (secret string, delta float64) {
	delta = -1
	for name, d := range p.reached {
		if d > delta || d == delta && cmp.Less(name, secret) {
			secret, delta = name, d
		}
	}
	return secret, delta
}
