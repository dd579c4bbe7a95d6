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

// CountsRows reports whether a mechanism counts the randomness of the rows as noise, so that it matters what the law of
// F is like.
func CountsRows(kind Kind) bool {
	return slices.ContainsFunc(designs, func(m mechanism) bool { return m.kind == kind && m.inherent })
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
