package mechanism

import (
	"fmt"

	"fugu/sqlstate"
)

// Reasons for which a mechanism cannot answer a statement.
const (
	tooLarge   = "no noise that can be drawn is large enough"
	needsDelta = "its noise is normal, which needs a failure probability above 0 (fugu.delta), and more than the " +
		"model's own"
	tooCertain   = "it has no failure probability, and the model of the statement holds but for one"
	tooUncertain = "the model of the statement holds but for a probability that is above its delta"
	addsNothing  = "it adds no noise, and what the rows' own randomness hides is not enough"
	withoutLimit = "its noise is normal, which is proven for epsilon up to 100"
)

// unmet is the error of a mechanism that cannot answer a statement, and why.
func unmet(kind Kind, why string) error {
	return sqlstate.New(sqlstate.InvalidParameterValue,
		"mechanism %s cannot keep this statement within its epsilon and delta: %s", kind, why).
		WithHint("Set a larger fugu.delta, or set fugu.mechanism to %s.", Auto)
}

// short is the error of a mechanism for which no noise of its search kept the budget: where the model of the statement
// alone takes all of δ, or the mechanism has no noise to add, more of it would not have helped.
func (r Request) short(kind Kind) error {
	if err := r.checkFailure(kind, r.failure()); err != nil {
		return err
	}
	if kind == NoNoise {
		return unmet(kind, addsNothing)
	}
	return unmet(kind, tooLarge)
}

// checkFailure refuses a probability but for which a model holds if the budget, or the mechanism, has no room for it.
func (r Request) checkFailure(kind Kind, failure float64) error {
	switch {
	case failure > 0 && (r.Budget.Delta == 0 || kind == Wasserstein):
		return unmet(kind, tooCertain)
	case failure > float64(r.Budget.Delta):
		return unmet(kind, tooUncertain)
	}
	return nil
}

// failure is the largest probability but for which what is known of a secret holds.
func (r Request) failure() (most float64) {
	for _, s := range r.Shifts {
		own := s.Failure
		if s.Scatter != nil {
			own += s.Scatter.Failure + s.Scatter.Beside
		}
		most = max(most, own)
	}
	return most
}

// unmetNormal says why a mechanism of normal noise cannot answer a request. It has noise for up to most components; 0:
// for any number of them.
func unmetNormal(kind Kind, most int, r Request) error {
	m := len(r.Components)
	switch {
	case r.Budget.Epsilon > maxGaussianEpsilon:
		return unmet(kind, withoutLimit)
	case most > 0 && m > most:
		return unmet(kind, fmt.Sprintf("it has noise for up to %d values, and the statement has %d", most, m))
	}
	return unmet(kind, needsDelta)
}

// uncertified is the error of a mechanism for which no noise of the search was enough, or whose model cannot be
// certified.
func uncertified(kind Kind, err error) error {
	return sqlstate.New(sqlstate.ModelUnfit,
		"mechanism %s cannot hide how the spread of this statement's values differs between the values of a "+
			"secret", kind).
		WithHint("Group by fewer columns, set a larger fugu.delta, or set fugu.mechanism to %s.", Auto).Because(err)
}

// unassumed is the error of a mechanism that rests on an assumption, where the policy accepts none.
func unassumed(kind Kind) error {
	return sqlstate.New(sqlstate.ModelUnfit,
		"mechanism %s needs an assumption on how statistics are distributed, and the policy accepts none", kind).
		WithHint("Set fugu.mechanism to %s; or the owner of the policy can accept an assumption: assume: "+
			"[translation].", Auto)
}
