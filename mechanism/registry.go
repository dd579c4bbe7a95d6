package mechanism

import (
	"slices"
	"strings"

	"fugu/sqlstate"
)

// designs holds the mechanisms in the order in which Auto breaks ties.
var designs = []mechanism{
	expmLaplace,
	expmGaussian,
	directional,
	wasserstein(Wasserstein),
	wasserstein(ApproximateWasserstein),
	inherent(NoNoise, maxInherent, nil),
	inherent(Eigm, maxInherent, eigm),
	inherent(Daum, maxInherent, daum),
	optimalGaussian(),
	inherent(Apgm, maxInherent, apgm),
	markovQuilt,
}

// Kinds returns the names of all mechanisms, Auto first.
func Kinds() []Kind {
	out := []Kind{Auto}
	for _, d := range designs {
		out = append(out, d.kind)
	}
	return out
}

// ParseKind reads the name of a mechanism. What is not exactly one of the names is an InvalidParameterValue whose hint
// lists them.
func ParseKind(s string) (Kind, error) {
	if slices.Contains(Kinds(), Kind(s)) {
		return Kind(s), nil
	}
	return "", sqlstate.New(sqlstate.InvalidParameterValue, "unknown mechanism").WithHint("Use one of %s.", Names())
}

// Names lists the names of all mechanisms, for hints.
func Names() string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}
