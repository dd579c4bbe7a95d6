package account

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"

	"fugu/dataset"
	"fugu/ledger"
	"fugu/policy"
	"fugu/privacy/joint"
	"fugu/quote"
	"fugu/sqlstate"
)

// Joint is the joint account of a dataset: all of its answers, as far as this process has counted them. The ledger has
// them all, and decides: a charge that does not count with the newest is refused there. It is safe for concurrent use.
type Joint struct {
	policy *policy.Policy
	tables map[string]*jointTable

	mu   sync.Mutex
	last int64 // the newest answer counted
}

// jointTable is what all answers together tell of one table's secrets.
type jointTable struct {
	*joint.Account
	digest string             // of the reference's rows
	alone  map[string]float64 // by secret: κ² of all answers by the noise alone; +Inf if it is not known
}

// NewJoint makes the joint account of a policy, without any answer. It fails for a reference that no account can be
// made with.
func NewJoint(loaded *dataset.Snapshot, p *policy.Policy) (*Joint, error) {
	a := &Joint{policy: p, tables: map[string]*jointTable{}}
	for _, t := range loaded.Tables {
		if t.Policy != p || len(t.Table.Secrets) == 0 {
			continue
		}

		// Nothing was answered yet, and so nothing is told of any secret.
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
		account.CountShapes(float64(p.Privacy.Budget.Epsilon))
		a.tables[t.Table.String()] = &jointTable{account, t.Places.Digest, alone}
	}
	return a, nil
}

// roundedUp is above what adding up loses.
const roundedUp = 1 + 1e-11

// with returns what all answers and one more cost. That is never more than they cost by the noise alone, which it comes
// close to where the randomness of the rows is small beside the noise.
func (t *jointTable) with(trial *joint.Trial, part quote.JointPart, secret string) joint.Cost {
	c := trial.Cost(secret)
	c.Kappa2 = math.Min(c.Kappa2, (t.alone[secret]+part.Alone[secret])*roundedUp)
	return c
}

// cost returns what all answers cost.
func (t *jointTable) cost(secret string) joint.Cost {
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
func (a *Joint) catchUp(ctx context.Context, l ledger.Ledger, epoch int64) error {
	past, err := l.History(ctx, a.policy.Dataset, a.last)
	if err != nil {
		return Error(err)
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
func (a *Joint) count(p ledger.Past, epoch int64) error {
	if p.Failed && p.Terms == nil {
		return nil // that it failed is counted by its price
	}
	if p.Epoch != epoch {
		return a.closed("answer %d is about the data of another epoch", p.ID)
	}
	if p.Terms == nil || bytes.HasPrefix(p.Terms, []byte("{")) { // a list is a joint account's
		return a.closed("answer %d was given under composition: noise", p.ID)
	}
	var parts []quote.JointPart
	if err := json.Unmarshal(p.Terms, &parts); err != nil {
		return fmt.Errorf("reading the terms of answer %d: %w", p.ID, err)
	}

	// All parts are tried before any is taken in: an answer is counted as a whole, or not at all.
	entries := map[*jointTable]entry{}
	for _, part := range parts {
		t := a.tables[part.Table]
		switch {
		case t == nil:
			return a.closed("answer %d is over %s, which the policy does not protect", p.ID, part.Table)
		case t.digest != part.Digest:
			return a.closed("the reference of %s is another than when answer %d was given", part.Table, p.ID)
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

// closed says why the account can count nothing more.
func (a *Joint) closed(format string, args ...any) error {
	return sqlstate.New(sqlstate.ModelUnfit, "dataset %s has answers that its joint account cannot count: %s",
		a.policy.Dataset, fmt.Sprintf(format, args...)).
		WithHint("Answers already given stay; nothing new can be answered until the owner of the policy begins anew.")
}

func commit(entries map[*jointTable]entry) error {
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
