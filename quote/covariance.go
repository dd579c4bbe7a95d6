package quote

import (
	"fmt"
	"math"

	"fugu/dataset"
	"fugu/model"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy/joint"
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

// Bend is joint's Bend of a secret: over all of its pairs.
func Bend(s joint.Secret) float64 {
	most := 0.0
	for _, p := range s.Pairs {
		most = math.Max(most, p.Bend(s.Distribution))
	}
	return most
}

// Bending are the secrets of a table that bend covariances. What only shifts has losses that add up.
func Bending(t *dataset.Protected) (out []joint.Secret) {
	for i, psi := range t.Psi {
		if s := Extreme(t.Table.Secrets[i], psi, float64(t.Table.Rows)); unspread(psi) == "" && Bend(s) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// generousValues is how many values a budget must have room for, whatever their covariances are, to be generous.
const generousValues = 10_000

// generous reports whether the budget has room for so many values by their number alone that nobody needs their terms.
func generous(t *dataset.Protected) bool {
	b := t.Policy.Privacy.Budget
	for _, x := range Bending(t) {
		c := joint.Cost{G: math.Inf(1), Slope: math.Inf(1), Bend: Bend(x)}.Outside(generousValues, generousValues)
		if !(c.Epsilon(float64(b.Delta)/2, joint.Beside{}) <= float64(b.Epsilon)/2) {
			return false
		}
	}
	return true
}

// Uncertified says, for people, what the total of a policy does not promise about covariances.
func Uncertified(s *dataset.Snapshot, p *policy.Policy) (out []string) {
	if why := uncertified(p); why != "" {
		return []string{fmt.Sprintf("what all answers together tell by covariances that a secret changes is not "+
			"counted, as %s: many statements whose values hardly move, but spread otherwise, may tell more than "+
			"the budget says", why)}
	}

	if !counts(p) {
		return nil
	}

	for _, t := range s.Tables {
		if t.Policy != p || t.Network != nil {
			continue
		}
		if n := t.ReferenceRows(); n > model.MaxPlaces {
			out = append(out, fmt.Sprintf("the reference of %s has %.0f rows, and the covariances of answers are "+
				"worked out from %d at most: they are bounded by the number of values, "+
				"which uses a small budget up soon; a sample of it can be the reference", t.Table, n, model.MaxPlaces))
		}

		// One line a secret, and the reason that weighs most.
		for i, psi := range t.Psi {
			why := unspread(psi)
			switch {
			case why != "":
				out = append(out, fmt.Sprintf("how secret %s bends the covariances of all answers together is not "+
					"counted: %s", psi.Name, why))
			case math.IsInf(Bend(Extreme(t.Table.Secrets[i], psi, float64(t.Table.Rows))), 1):
				out = append(out, fmt.Sprintf("how secret %s bends covariances is counted for counts, sums and "+
					"averages alone, and not for other functions: a class is empty under one of its values, or it is "+
					"about a distribution", psi.Name))
			}
		}
	}
	return out
}

// Extreme gives the pairs of which all of a secret's are convex combinations.
func Extreme(sec planner.Secret, psi model.Psi, rows float64) joint.Secret {
	s := joint.Secret{Name: psi.Name, N: rows, Distribution: psi.Distribution}
	shares := func(x float64) []float64 { return []float64{1 - x, x} }
	for _, v := range psi.Vectors {
		s.Pairs = append(s.Pairs, joint.Pair{P: v[0], Q: v[1]})
	}
	for _, span := range psi.Spans {
		if sec.Number != nil {
			s.Pairs = append(s.Pairs, joint.Pair{Move: span.Within})
			continue
		}
		s.Pairs = append(s.Pairs, joint.Pair{P: shares(span.From), Q: shares(span.From + span.Within)},
			joint.Pair{P: shares(span.To - span.Within), Q: shares(span.To)})
	}
	return s
}
