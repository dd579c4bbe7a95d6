package quote

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

// StackedMost is how many components of a dataset a stack holds: what W is kept for (joint). What comes later counts
// beside it.
const StackedMost = 1500

// spreads says what the answer brings into the account of covariances; nil: its policy has none.
func (r *Request) spreads(ctx context.Context, parts []part, m *Quote) (*CovarianceTerms, error) {
	if !counts(r.Policy) {
		return nil, nil
	}

	// The components of a statement's cuts stand one behind the other, each cut's in the part of its table.
	variance, close := m.Calibration.Noise.Smoothed(m.Inherent)
	byTable, offset := map[*dataset.Protected]*CovariancePart{}, 0
	var order []*dataset.Protected
	for _, p := range parts {
		t := r.Dataset.Find(p.cut.Table.Schema, p.cut.Table.Name)
		// What hides a network's parameters rests on no covariance.
		if t == nil || t.Network != nil || len(t.Table.Secrets) == 0 {
			return nil, nil
		}
		to := byTable[t]
		if to == nil {
			to = &CovariancePart{Table: t.Table.String(), Losses: map[string]privacy.Loss{}, Close: close}
			for _, s := range t.Table.Secrets {
				to.Losses[s.Name] = m.Calibration.Losses[s.Name]
			}
			byTable[t], order = to, append(order, t)
		}
		end := offset + len(p.model.Components)
		if err := r.spread(ctx, t, p, to, variance[offset:end], m.Inherent[offset:end]); err != nil {
			return nil, err
		}
		offset = end
	}

	out := &CovarianceTerms{}
	for _, t := range order {
		part := byTable[t]
		if err := part.close(); err != nil {
			return nil, err
		}
		out.Parts = append(out.Parts, *part)
	}
	var err error
	out.Bytes, err = json.Marshal(out)
	return out, err
}

// spread adds a cut's components to the part of its table.
func (r *Request) spread(ctx context.Context, t *dataset.Protected, p part, to *CovariancePart,
	variance, sd []float64) error {
	var totals []model.Total
	var noise []float64
	weight, beside, others := 0.0, 0.0, 0
	own := p.model.moments != nil && p.model.root == t
	stack := own && !generous(t)

	// What a component weighs is what its addends tell at most; one whose spread is not known may be anything.
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
		if stack && v > 0 && summed(p.cut.Aggregates[p.model.Components[k].Aggregate]) {
			of, each, _ = standIns(p.model.moments, t.Psi, k, v) // what has no place in a stack counts beside it
		}
		if of == nil {
			beside, others = beside+share, others+1
			continue
		}
		totals, noise, weight = append(totals, of...), append(noise, each...), weight+share
	}

	// Totals that nobody can number are counted with those beside.
	if len(totals) > 0 {
		terms, digest, err := r.numberedTerms(ctx, t, p.model.moments, totals)
		if err != nil {
			return err
		}
		if terms != nil {
			to.terms, to.Noise, to.Weight, to.Digest = append(to.terms, terms), append(to.Noise, noise...),
				to.Weight+weight, digest
		} else {
			beside, others = beside+weight, len(p.model.Components)
		}
	}

	to.Beside, to.Others = to.Beside+beside, to.Others+others
	return nil
}

// summed reports whether an aggregate is a sum over rows, or one sum over another.
func summed(a planner.Aggregate) bool {
	return a.Sampled == nil && (a.Linear() || !a.Second() && len(a.Terms) == 2)
}

// standIns are the sums that a component with noise of a variance stands for in an account, with noise of their own.
// An average of s over c stands there as s and c: noise of variances τ_s and τ_c in them is no more in the average than
// (∂s)²τ_s + (∂c)²τ_c, ∂ its derivatives, and the average has at least that. So what the average tells, these tell as
// well. An error says that the average has no place there.
func standIns(m *model.Moments, psi []model.Psi, k int, variance float64) (of []model.Total, noise []float64,
	err error) {
	of = m.Totals(k)
	for i := range of {
		v := variance
		if len(of) > 1 {
			d, err := m.Steepest(k, i, psi)
			if err != nil {
				return nil, nil, err
			}
			v /= float64(len(of)) * d * d
		}
		noise = append(noise, v)
	}
	return of, noise, nil
}

// numberedTerms returns the terms of totals over the reference's rows; nil: they are too many, the rows have changed,
// or they cannot be read. Then the totals count by their number, which is always right.
func (r *Request) numberedTerms(ctx context.Context, t *dataset.Protected, m *model.Moments,
	totals []model.Total) (*joint.Terms, string, error) {
	if len(totals) > StackedMost {
		return nil, "", nil
	}
	places, err := t.Numbered(ctx, r.Database)
	if places == nil || err != nil {
		return nil, "", err
	}
	terms, err := m.Terms(ctx, r.Database, places, totals)
	if err != nil {
		return nil, "", ctx.Err()
	}
	return terms, places.Digest, nil
}
