package mechanism

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
