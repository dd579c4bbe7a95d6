package pipeline

import (
	"context"
	"encoding/json"
	"math"

	"fugu/dataset"
	"fugu/model"
	"fugu/planner"
	"fugu/privacy"
	"fugu/privacy/joint"
)

// covarianceTerms is what an answer brings into the account of covariances of its dataset: nothing of it depends on
// protected rows.
type covarianceTerms struct {
	Parts []covariancePart `json:"covariances"`

	bytes []byte // as the ledger keeps them
}

// covariancePart is an answer's components over one table.
type covariancePart struct {
	Table  string
	Digest string `json:",omitempty"` // of the reference's rows
	// Terms and Noise are of the components that can stand in a stack, Weight is Σ λ/(1+λ) of these and Beside of the
	// others: λ what varies, in units of the noise, of each sum that a component is made of.
	Terms          []byte    `json:",omitempty"`
	Noise          []float64 `json:",omitempty"`
	Weight, Beside float64
	Others         int                     `json:",omitempty"` // how many those others are
	Losses         map[string]privacy.Loss // by secret: what the noise hides of movements
	Close          float64                 // see joint.Beside

	terms []*joint.Terms
}

// stackedMost is how many components of a dataset a stack holds: what W is kept for (joint). What comes later counts
// beside it.
const stackedMost = 1500

// spreads says what the answer brings into the account of covariances; nil: its policy has none.
func (q *question) spreads(ctx context.Context, parts []part, m *measured) (*covarianceTerms, error) {
	if !counts(q.policy) || q.recorder != nil {
		return nil, nil
	}
	variance, close := m.calibration.Noise.Smoothed(m.inherent)
	byTable, offset := map[*dataset.Protected]*covariancePart{}, 0
	var order []*dataset.Protected
	for _, p := range parts {
		t := q.snapshot.Find(p.cut.Table.Schema, p.cut.Table.Name)
		if t == nil || t.Network != nil || len(t.Table.Secrets) == 0 { // what hides a network's parameters rests on no covariance
			return nil, nil
		}
		to := byTable[t]
		if to == nil {
			to = &covariancePart{Table: t.Table.String(), Losses: map[string]privacy.Loss{}, Close: close}
			for _, s := range t.Table.Secrets {
				to.Losses[s.Name] = m.calibration.Losses[s.Name]
			}
			byTable[t], order = to, append(order, t)
		}
		end := offset + len(p.model.components)
		if err := q.spread(ctx, t, p, to, variance[offset:end], m.inherent[offset:end]); err != nil {
			return nil, err
		}
		offset = end
	}
	out := &covarianceTerms{}
	for _, t := range order {
		part := byTable[t]
		if err := part.close(); err != nil {
			return nil, err
		}
		out.Parts = append(out.Parts, *part)
	}
	var err error
	out.bytes, err = json.Marshal(out)
	return out, err
}

// spread adds a cut's components to the part of its table.
func (q *question) spread(ctx context.Context, t *dataset.Protected, p part, to *covariancePart, variance, sd []float64) error {
	var totals []model.Total
	var noise []float64
	weight, beside, others := 0.0, 0.0, 0
	own := p.model.moments != nil && p.model.root == t
	stack := own && !q.engine.covariances.generous(q.snapshot, t)
	for k, v := range variance {
		share := 1.0 // of a component whose spread is not known λ may be anything
		switch {
		case own && k < len(p.model.moments.Components):
			share = 0
			for _, addends := range p.model.moments.Addends(k, t.Psi) {
				share = math.Max(share, joint.Weight(addends, v))
			}
		case sd[k] > 0:
			share = joint.Weight(sd[k:k+1], v)
		}
		var of []model.Total
		var each []float64
		if stack && v > 0 && summed(p.cut.Aggregates[p.model.components[k].Aggregate]) {
			of, each = addends(p.model.moments, t.Psi, k, v)
		}
		if of == nil {
			beside, others = beside+share, others+1
			continue
		}
		totals, noise, weight = append(totals, of...), append(noise, each...), weight+share
	}
	if len(totals) > 0 {
		terms, digest, err := q.numberedTerms(ctx, t, p.model.moments, totals)
		if err != nil {
			return err
		}
		if terms != nil {
			to.terms, to.Noise, to.Weight, to.Digest = append(to.terms, terms), append(to.Noise, noise...), to.Weight+weight, digest
		} else {
			beside, others = beside+weight, others+len(p.model.components)-others
		}
	}
	to.Beside, to.Others = to.Beside+beside, to.Others+others
	return nil
}

// summed reports whether an aggregate is a sum over rows, or one sum over another.
func summed(a planner.Aggregate) bool {
	return a.Sampled == nil && (a.Linear() || !a.Second() && len(a.Terms) == 2)
}

// addends are the sums that a component with noise of a variance stands for in a stack, with noise of their own that
// tells no less than the component's (see joined.add); nil: it has no place there.
func addends(m *model.Moments, psi []model.Psi, k int, variance float64) (of []model.Total, noise []float64) {
	of = m.Totals(k)
	for i := range of {
		v := variance
		if len(of) > 1 {
			d, err := m.Steepest(k, i, psi)
			if err != nil || !(d > 0) {
				return nil, nil
			}
			v /= float64(len(of)) * d * d
		}
		noise = append(noise, v)
	}
	return of, noise
}

// numberedTerms returns the terms of totals over the reference's rows; nil: they are too many, the rows have changed,
// or they cannot be read. Then the totals count by their number, which is always right.
func (q *question) numberedTerms(ctx context.Context, t *dataset.Protected, m *model.Moments, totals []model.Total) (*joint.Terms, string, error) {
	if len(totals) > stackedMost {
		return nil, "", nil
	}
	places, err := t.Numbered(ctx, q.database)
	if places == nil || err != nil {
		return nil, "", err
	}
	terms, err := m.Terms(ctx, q.database, places, totals)
	if err != nil {
		return nil, "", ctx.Err()
	}
	return terms, places.Digest, nil
}

// close writes the terms of a part down.
func (p *covariancePart) close() error {
	if len(p.terms) == 0 {
		return nil
	}
	all, err := joint.Concat(p.terms...)
	if err != nil { // too many: they stand beside
		p.Beside, p.Others, p.Weight, p.Noise = p.Beside+p.Weight, p.Others+len(p.Noise), 0, nil
		return nil
	}
	p.Terms, err = all.MarshalBinary()
	return err
}

// besides are what a secret's losses and the noise leave beside normal parts.
func (p *covariancePart) besides(secret string) (kappa2 float64, b joint.Beside) {
	l := p.Losses[secret]
	return l.Kappa2, joint.Beside{Pure: l.Pure, Squares: l.Pure * l.Pure, Close: p.Close, Delta: math.Min(1, l.Delta)}
}
