package account

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"fugu/dataset"
	"fugu/ledger"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/privacy/joint"
	"fugu/quote"
)

// Covariances are the accounts of covariances of the policies of one snapshot, the newest that was asked about. The
// zero value has counted nothing; it is safe for concurrent use.
type Covariances struct {
	mu       sync.Mutex
	snapshot *dataset.Snapshot
	of       map[*policy.Policy]*covarianceAccount
}

// covarianceAccount is what all answers of a dataset together tell with the covariances as they are, as far as this
// process has counted them. The ledger has them all, and decides: a charge that does not count with the newest is
// refused there.
type covarianceAccount struct {
	policy  *policy.Policy
	booking sync.Mutex // one charge at a time, so that charges of this process do not overtake each other

	mu     sync.Mutex
	tables map[string]*covarianceTable
	last   int64 // the newest answer counted
	any    bool  // there is one
	first  int64 // the period of the oldest
}

// covarianceTable is the account of one table's secrets.
type covarianceTable struct {
	of      *dataset.Protected
	secrets []joint.Secret // that bend covariances

	// The stack is worked out where cheaper bounds do not do; until then parts wait.
	stack   *joint.Account
	digest  string // of its reference's rows
	waiting []quote.CovariancePart

	// What the last part that was tried costs, as long as nothing was counted since: who asks for the price of a
	// statement often sends it next.
	tried *quote.CovariancePart
	cost  *stackedCost

	beside, all float64 // Σ λ/(1+λ) of components that are not in the stack and do not wait, and of all
	kappa2      map[string]float64
	besides     map[string]joint.Beside
}

// account returns a policy's account.
func (a *Covariances) account(s *dataset.Snapshot, p *policy.Policy) *covarianceAccount {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.snapshot != s {
		a.snapshot, a.of = s, map[*policy.Policy]*covarianceAccount{}
	}
	if a.of[p] == nil {
		a.of[p] = newCovarianceAccount(s, p)
	}
	return a.of[p]
}

func newCovarianceAccount(s *dataset.Snapshot, p *policy.Policy) *covarianceAccount {
	a := &covarianceAccount{policy: p, tables: map[string]*covarianceTable{}}
	for _, t := range s.Tables {
		if t.Policy != p || len(t.Table.Secrets) == 0 || t.Network != nil {
			continue
		}
		a.tables[t.Table.String()] = &covarianceTable{of: t, secrets: quote.Bending(t), kappa2: map[string]float64{},
			besides: map[string]joint.Beside{}}
	}
	return a
}

// catchUp counts the answers that the ledger has and the account has not.
func (a *covarianceAccount) catchUp(ctx context.Context, l ledger.Ledger, epoch int64) error {
	past, err := l.History(ctx, a.policy.Dataset, a.last)
	if err != nil {
		return Error(err)
	}
	for _, p := range past {
		// Where the data of an epoch are drawn independently the budget began anew with it.
		if p.Epoch == epoch || a.policy.Epoch.Draw != policy.IndependentDraw {
			if err := a.count(p); err != nil {
				return fmt.Errorf("answer %d: %w", p.ID, err)
			}
		}
		a.last = p.ID
	}
	return nil
}

// count takes an answer of the ledger into the account. If it has no terms, because an older version or another
// composition booked it, only its losses and the number of its values are known: each value may be anything.
func (a *covarianceAccount) count(p ledger.Past) error {
	// The account begins with the earliest period that has an answer.
	if !a.any || p.Period < a.first {
		a.any, a.first = true, p.Period
	}

	var terms quote.CovarianceTerms
	if err := json.Unmarshal(p.Terms, &terms); p.Terms != nil && err == nil && terms.Parts != nil {
		for _, part := range terms.Parts {
			if t := a.tables[part.Table]; t != nil {
				t.add(part)
			}
		}
		return nil
	}

	// Other terms without losses are those of a joint account, which cannot be counted here.
	if p.Terms != nil && len(p.Losses) == 0 {
		return fmt.Errorf("its terms are those of another composition")
	}

	// Of anything else its losses are known and how many values it has: it counts wherever its secrets are.
	for _, t := range a.tables {
		part := quote.CovariancePart{Losses: map[string]privacy.Loss{}}
		for _, s := range t.of.Table.Secrets {
			if l, ok := p.Losses[s.Name]; ok {
				part.Losses[s.Name], part.Beside = l, float64(p.Values)
			}
		}
		t.add(part)
	}
	return nil
}

// add takes in a part.
func (t *covarianceTable) add(part quote.CovariancePart) {
	t.tried, t.cost = nil, nil
	t.all += part.Weight + part.Beside
	t.beside += part.Beside
	for name := range part.Losses {
		kappa2, b := part.Besides(name)
		t.kappa2[name] += kappa2
		t.besides[name] = t.besides[name].Plus(b)
	}
	if part.Terms != nil {
		part.Losses = nil
		t.waiting = append(t.waiting, part)
	}
}

// together returns the ε of all answers and one more part at δ, for one secret. As soon as it is known to be at most
// enough, it is not worked out any better.
func (t *covarianceTable) together(part *quote.CovariancePart, stacked func() (*stackedCost, error), s joint.Secret,
	delta, enough float64) (float64, error) {
	kappa2, b := part.Besides(s.Name)
	kappa2, b = t.kappa2[s.Name]+kappa2, t.besides[s.Name].Plus(b)
	all := t.all + part.Weight + part.Beside

	// First by the number of values alone, whatever they are.
	unknown := joint.Cost{Kappa2: kappa2, G: math.Inf(1), Slope: math.Inf(1), Bend: quote.Bend(s)}
	loose := unknown.Outside(all, all).Epsilon(delta, b)
	if loose <= enough {
		return loose, nil
	}

	x, err := stacked()
	if err != nil {
		return 0, err
	}
	known := !math.IsInf(quote.Bend(s), 1)
	switch {
	case x == nil && known:
		return loose, nil
	case x == nil: // nothing is known, and Uncertified says so
		return 0, nil
	}

	c := x.of(s.Name)
	c.Kappa2 = kappa2
	if known {
		c = c.Outside(x.beside, all)
	}
	return math.Min(loose, c.Epsilon(delta, b)), nil
}

// stackedCost is what a stack costs, with a part that is about to be charged, and the weight of what is not in it.
type stackedCost struct {
	of     func(secret string) joint.Cost
	beside float64
}

// with returns the stack's cost with a part; nil: there is no stack.
func (t *covarianceTable) with(ctx context.Context, db planner.Querier,
	part *quote.CovariancePart) (*stackedCost, error) {
	if t.tried == part {
		return t.cost, nil
	}
	if err := t.build(ctx, db); t.stack == nil || err != nil {
		return nil, err
	}

	// What was charged goes into the stack, as far as it can be certified beside the rest. Then the part is tried, and
	// not kept.
	for ; len(t.waiting) > 0; t.waiting = t.waiting[1:] {
		trial, err := t.try(&t.waiting[0])
		if err != nil {
			return nil, err
		}
		if trial == nil {
			t.beside += t.waiting[0].Weight
			continue
		}
		if err := trial.Commit(); err != nil {
			return nil, err
		}
	}

	trial, err := t.try(part)
	if err != nil {
		return nil, err
	}
	t.tried, t.cost = part, &stackedCost{t.stack.Cost, t.beside + part.Weight + part.Beside}
	if trial != nil {
		t.cost = &stackedCost{trial.Cost, t.beside + part.Beside}
	}
	return t.cost, nil
}

// build makes an empty stack, where the reference's rows can be told apart.
func (t *covarianceTable) build(ctx context.Context, db planner.Querier) error {
	if t.stack != nil || len(t.secrets) == 0 {
		return nil
	}
	places, err := t.of.Numbered(ctx, db)
	if places == nil || err != nil {
		return err
	}
	t.digest = places.Digest
	t.stack, err = joint.New(places.Sample, t.secrets)
	return err
}

// try tries a part on the stack. It returns nil if the part has no place there: it was made with another reference, is
// too large, or is nearly what stands there already.
func (t *covarianceTable) try(part *quote.CovariancePart) (*joint.Trial, error) {
	if part.Terms == nil || part.Digest != t.digest || t.stack.Components()+len(part.Noise) > quote.StackedMost {
		return nil, nil
	}
	r := joint.Release{Terms: new(joint.Terms), Noise: part.Noise, Hidden: map[string]bool{}}
	for _, s := range t.secrets { // the losses count its movements
		r.Hidden[s.Name] = true
	}
	if err := r.Terms.UnmarshalBinary(part.Terms); err != nil {
		return nil, err
	}
	trial, err := t.stack.Trial(r)
	if err != nil {
		return nil, nil //nolint:nilerr // it stands beside, which is always right
	}
	return trial, nil
}
