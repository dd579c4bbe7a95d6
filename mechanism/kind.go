package mechanism

import (
	"slices"
	"strings"

	"fugu/privacy"
	"fugu/sqlstate"
)

// Kind names a mechanism.
type Kind string

const (
	Auto                   Kind = "auto" // whichever of the others has the least Error
	ExpmLaplace            Kind = "expm-laplace"
	ExpmGaussian           Kind = "expm-gaussian"
	Directional            Kind = "directional"
	Wasserstein            Kind = "wasserstein"
	ApproximateWasserstein Kind = "approximate-wasserstein"
	NoNoise                Kind = "no-noise"
	Eigm                   Kind = "eigm"
	Daum                   Kind = "daum"
	OptimalGaussian        Kind = "optimal-gaussian"
	Apgm                   Kind = "apgm"
	MarkovQuilt            Kind = "markov-quilt"
)

// The assumptions on F; see the package comment.
const (
	Translation = "translation" // what composes: every mechanism's Losses
	Gaussian    = "gaussian"    // of mechanisms that count the randomness of the data as well
	Coupling    = "coupling"    // none, beyond the model of rows: bounds on coupled datasets

	// IndependentColumns: the columns are independent of each other given all parameters of a network.
	IndependentColumns = "independent columns"

	RelaxedModel = "relaxed" // beside others: they need to hold only nearly
)

// mechanism is one way to make noise for a request.
type mechanism struct {
	kind   Kind
	auto   bool // Auto considers it; it also hides what a Shift leaves to chance
	design func(Request) (design, error)
	// holds reports whether the noise alone keeps what the mechanism promises; nil: that the losses are within the budget.
	// What is promised otherwise is of this release alone. Losses may then be more, and are what is charged: so Auto
	// leaves such mechanisms to those who ask for them.
	holds func(Request, Noise) bool
	// certify returns the certificate of each secret; nil: Request.certify.
	certify func(Request, Noise, map[string]privacy.Loss) ([]Certificate, error)
}

func (m mechanism) certificates(r Request, n Noise, losses map[string]privacy.Loss) ([]Certificate, error) {
	if m.certify != nil {
		return m.certify(r, n, losses)
	}
	return r.certify(m.kind, n, losses)
}

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
