package mechanism

import (
	"fmt"
	"fugu/sqlstate"
)

// Reasons for which a mechanism cannot answer a statement.
const (
	tooLarge     = "no noise that can be drawn is large enough"
	needsDelta   = "its noise is normal, which needs a failure probability above 0 (fugu.delta), and more than the model's own"
	tooCertain   = "it has no failure probability, and the model of the statement holds but for one"
	withoutLimit = "its noise is normal, which is proven for epsilon up to 100"
)

// unmet is the error of a mechanism that cannot answer a statement, and why.
func unmet(kind Kind, why string) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, "mechanism %s cannot keep this statement within its epsilon and delta: %s", kind, why).
		WithHint("Set a larger fugu.delta, or set fugu.mechanism to %s.", Auto)
}

// unmetNormal says why a mechanism of normal noise cannot answer a request.
func unmetNormal(kind Kind, r Request) error {
	switch {
	case r.Budget.Epsilon > maxGaussianEpsilon:
		return unmet(kind, withoutLimit)
	case kind == Apgm && len(r.Components) > 1:
		return unmet(kind, fmt.Sprintf("it has noise for one value only, and the statement has %d", len(r.Components)))
	case len(r.Components) > maxInherent && (kind == NoNoise || kind == Eigm || kind == Daum || kind == OptimalGaussian || kind == Apgm):
		return unmet(kind, fmt.Sprintf("it has noise for up to %d values, and the statement has %d", maxInherent, len(r.Components)))
	}
	return unmet(kind, needsDelta)
}

// uncertified is the error of a mechanism for which no noise of the search was enough, or whose model cannot be certified.
func uncertified(kind Kind, err error) error {
	return sqlstate.New(sqlstate.ModelUnfit, "mechanism %s cannot hide how the spread of this statement's values differs between the values of a secret", kind).
		WithHint("Group by fewer columns, set a larger fugu.delta, or set fugu.mechanism to %s.", Auto).Because(err)
}
