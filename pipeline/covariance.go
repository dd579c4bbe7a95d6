package pipeline

import (
	"context"
	"fmt"
	"math"

	"fugu/history"
	"fugu/model"
	"fugu/planner"
	"fugu/policy"
)

// uncertified says why the total of a policy says nothing about covariances that differ under the two values of a pair;
// empty: it does, but for secrets of which unspread says otherwise.
func uncertified(p *policy.Policy) string {
	switch {
	case p.Privacy.Composition == policy.Jointly: // the joint account has a certificate of its own
		return ""
	case !p.Accepts(policy.Translation):
		return "" // what is bounded on coupled datasets includes them
	case !p.Accepts(policy.Gaussian):
		return "assume does not list gaussian"
	case p.Privacy.Budget.Delta == 0:
		return "privacy.budget.delta is 0"
	case p.Privacy.Within != nil:
		return "privacy.model.within lets the model be wrong"
	}
	return ""
}

// counts reports whether charges under a policy count covariances.
func counts(p *policy.Policy) bool {
	return p.Privacy.Composition != policy.Jointly && p.Accepts(policy.Translation) && uncertified(p) == ""
}

// unspread says why nothing is known of how a secret bends covariances; empty: something is.
func unspread(psi model.Psi) string {
	switch {
	case psi.Simplex != nil:
		return "it is a range of vectors"
	case psi.FromReference:
		return "its rows are drawn from the reference"
	}
	return ""
}

// bend is history's Bend of a secret: over all of its pairs.
func bend(s history.Secret) float64 {
	most := 0.0
	for _, p := range s.Pairs {
		most = math.Max(most, p.Bend(s.Distribution))
	}
	return most
}

// bending are the secrets of a table that bend covariances. What only shifts has losses that add up.
func (t *protected) bending() (out []history.Secret) {
	for i, psi := range t.psi {
		if s := extreme(t.table.Secrets[i], psi, float64(t.table.Rows)); unspread(psi) == "" && bend(s) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// generousValues is how many values a budget must have room for, whatever their covariances are, to be generous.
const generousValues = 10_000

// generous reports whether the budget has room for so many values by their number alone that nobody needs their terms.
func (t *protected) generous() bool {
	b := t.policy.Privacy.Budget
	for _, x := range t.bending() {
		c := history.Cost{G: math.Inf(1), Slope: math.Inf(1), Bend: bend(x)}.Outside(generousValues, generousValues)
		if !(c.Epsilon(float64(b.Delta)/2, history.Beside{}) <= float64(b.Epsilon)/2) {
			return false
		}
	}
	return true
}

// Uncertified says, for people, what the total of a policy does not promise about covariances.
func (s *Snapshot) Uncertified(p *policy.Policy) (out []string) {
	if why := uncertified(p); why != "" {
		return []string{fmt.Sprintf("what all answers together tell by covariances that a secret changes is not counted, as %s: "+
			"many statements whose values hardly move, but spread otherwise, may tell more than the budget says", why)}
	}
	if !counts(p) {
		return nil
	}
	for _, t := range s.tables {
		if t.policy != p || t.network != nil {
			continue
		}
		if n := t.referenceRows(); n > model.MaxPlaces {
			out = append(out, fmt.Sprintf("the reference of %s has %.0f rows, and the covariances of answers are worked out from %d at most: they are bounded by the number of values, "+
				"which uses a small budget up soon; a sample of it can be the reference", t.table, n, model.MaxPlaces))
		}
		for i, psi := range t.psi {
			why := unspread(psi)
			switch {
			case why != "":
				out = append(out, fmt.Sprintf("how secret %s bends the covariances of all answers together is not counted: %s", psi.Name, why))
			case math.IsInf(bend(extreme(t.table.Secrets[i], psi, float64(t.table.Rows))), 1):
				out = append(out, fmt.Sprintf("how secret %s bends covariances is counted for counts, sums and averages alone, and not for other functions: "+
					"a class is empty under one of its values, or it is about a distribution", psi.Name))
			}
		}
	}
	return out
}

// referenceRows is how many rows the reference has.
func (t *protected) referenceRows() float64 {
	n := 0.0
	for _, x := range t.totals {
		rows := x.Outside
		for _, v := range x.Size {
			rows += v
		}
		n = math.Max(n, rows)
	}
	return n
}

// numbered numbers the rows of the reference, once; nil: there are too many, or none, or they cannot be read.
func (t *protected) numbered(ctx context.Context, db planner.Querier) (*model.Places, error) {
	if t.table.Reference == "" || t.referenceRows() > model.MaxPlaces {
		return nil, nil
	}
	t.numberMu.Lock()
	defer t.numberMu.Unlock()
	if t.number != nil {
		return t.number, nil
	}
	p, err := model.ReadPlaces(ctx, db, t.table)
	if err != nil {
		return nil, ctx.Err()
	}
	t.number = p
	return p, nil
}
