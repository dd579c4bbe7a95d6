package mechanism

import (
	"fugu/sqlstate"
	"slices"
	"strings"
)

// designs holds the mechanisms in the order in which Auto breaks ties.
var designs = []mechanism{
	{kind: ExpmLaplace, auto: true, design: expmLaplace},
	{kind: ExpmGaussian, auto: true, design: expmGaussian},
	{kind: Directional, auto: true, design: directional},
	{kind: Wasserstein, design: wasserstein(Wasserstein), holds: closeEnough, certify: certifyClose(Wasserstein)},
	{kind: ApproximateWasserstein, design: wasserstein(ApproximateWasserstein), holds: closeEnough, certify: certifyClose(ApproximateWasserstein)},
	{kind: NoNoise, design: inherent(NoNoise, nil), holds: certificateOnly},
	{kind: Eigm, design: inherent(Eigm, eigm), holds: certificateOnly},
	{kind: Daum, design: inherent(Daum, daum), holds: certificateOnly},
	{kind: OptimalGaussian, design: inherent(OptimalGaussian, optimal), holds: certificateOnly},
	{kind: Apgm, design: inherent(Apgm, apgm), holds: certificateOnly},
	{kind: MarkovQuilt, design: markovQuilt, certify: certifyQuilts},
}

// Kinds returns the names of all mechanisms, Auto first.
func Kinds() []Kind {
	out := []Kind{Auto}
	for _, d := range designs {
		out = append(out, d.kind)
	}
	return out
}

// ParseKind reads the name of a mechanism; what is not exactly one of the names it refuses.
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
