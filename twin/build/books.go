package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"fugu/ledger"
	"fugu/policy"
	"fugu/privacy"
	"fugu/twin"
)

// Mechanisms, as the ledger names what a twin has told, and the key that is kept there besides.
const (
	Mechanism      = "twin"
	orderMechanism = "order of drawing"
)

// orders is the dataset under which the keys of the orders of drawing are kept: an order belongs to a table, whatever
// datasets it is in, so that no second twin of it is drawn independently of the first.
const orders = "fugu twins: order of drawing"

// Draw is what a twin has told, once it is in the ledger: the noisy counts, and what they are of.
type Draw struct {
	Generation int     `json:"generation"` // 1 for the first of a table in a dataset
	Law        string  `json:"law"`        // the fingerprint of everything that the law depends on
	Contents   []byte  `json:"contents"`   // the digest of the rows by class when it was drawn
	Noisy      []int64 `json:"noisy"`      // by class
}

// books are the ledger as a build sees it.
type books struct {
	ledger ledger.Ledger
	random io.Reader
	user   string // the operator
}

// key identifies an entry by words.
func entryKey(words ...any) ledger.Key {
	text, _ := json.Marshal(words)
	sum := sha256.Sum256(text)
	return ledger.Key(hex.EncodeToString(sum[:]))
}

// order returns the key of a table's order of drawing, and makes it where there is none yet. It is 32 random bytes, kept
// in the ledger, sealed if the ledger is.
func (b books) order(ctx context.Context, table policy.QualifiedName) ([]byte, error) {
	key := entryKey(orderMechanism, table.Schema, table.Name)
	a, ok, err := b.ledger.Find(ctx, key)
	if err == nil && !ok {
		fresh := make([]byte, sha256.Size)
		if _, err = io.ReadFull(b.random, fresh); err != nil {
			return nil, fmt.Errorf("drawing the order of %s: %w", table, err)
		}
		// It costs nothing: what it tells is in what twins cost. Whoever was first stands.
		a, err = b.ledger.Charge(ctx, ledger.Charge{Key: key, Dataset: orders, User: b.user, Losses: map[string]privacy.Loss{table.String(): {}},
			Limit: privacy.Budget{Epsilon: 1}, Requested: privacy.Budget{Epsilon: 1}, Mechanism: orderMechanism, Assumption: "none", Answer: fresh})
	}
	if err != nil {
		return nil, fmt.Errorf("the order of drawing of %s: %w", table, err)
	}
	if len(a.Bytes) != sha256.Size {
		return nil, fmt.Errorf("the order of drawing of %s is damaged in the ledger: without it no twin can be made that is safe beside the earlier ones", table)
	}
	return a.Bytes, nil
}

// latest returns what was drawn last for a table, if anything was.
func (b books) latest(ctx context.Context, p *policy.Policy, table policy.QualifiedName) (d Draw, found bool, err error) {
	for generation := 1; ; generation++ {
		a, ok, err := b.ledger.Find(ctx, drawKey(p, table, generation))
		if err != nil || !ok {
			return d, found, err
		}
		d, found = Draw{}, true
		if err := json.Unmarshal(a.Bytes, &d); err != nil {
			return d, false, fmt.Errorf("what was drawn for %s is damaged in the ledger: %w", table, err)
		}
	}
}

func drawKey(p *policy.Policy, table policy.QualifiedName, generation int) ledger.Key {
	return entryKey(Mechanism, p.Dataset, table.Schema, table.Name, generation)
}

// pay draws noisy counts and books them with their price; it returns once both are on disk. Where another build of the same
// twin was faster, what that one has drawn stands, and is paid for.
func (b books) pay(ctx context.Context, p *policy.Policy, table policy.QualifiedName, design *twin.Design, d Draw, counts []int64) (Draw, error) {
	var err error
	if d.Noisy, err = design.Draw(b.random, counts); err != nil {
		return d, err
	}
	bytes, err := json.Marshal(d)
	if err != nil {
		return d, err
	}
	standing, err := b.ledger.Standing(ctx, p.Dataset, p.Privacy.Budget.Renew)
	if err != nil {
		return d, err
	}

	price := privacy.Budget{Epsilon: p.Privacy.Epsilon, Delta: p.Privacy.Delta}
	losses := map[string]privacy.Loss{}
	for _, s := range p.Secrets {
		if s.Table == table {
			losses[s.Name] = privacy.Loss{Pure: float64(price.Epsilon), Delta: float64(price.Delta)}
		}
	}
	a, err := b.ledger.Charge(ctx, ledger.Charge{Key: drawKey(p, table, d.Generation), Dataset: p.Dataset, Epoch: standing.Epoch, User: b.user, Losses: losses,
		Limit: privacy.Budget{Epsilon: p.Privacy.Budget.Epsilon, Delta: p.Privacy.Budget.Delta}, Renew: p.Privacy.Budget.Renew,
		Requested: price, Mechanism: Mechanism, Assumption: string(policy.Exchangeable), Answer: bytes})
	var exhausted *ledger.Exhausted
	if errors.As(err, &exhausted) {
		return d, fmt.Errorf("%w; a twin costs privacy.epsilon and privacy.delta of the policy, once", err)
	} else if err != nil {
		return d, err
	}
	stands := Draw{}
	return stands, json.Unmarshal(a.Bytes, &stands)
}

// lawOf is the fingerprint of everything that K and S depend on.
func lawOf(s twin.Spec) (string, error) {
	for i := range s.Secrets {
		s.Secrets[i].At = policy.Position{} // where it stands in the file says nothing
	}
	text, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("fingerprinting a law: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
