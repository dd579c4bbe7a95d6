package mechanism

// Kind names a mechanism.
type Kind string

// The mechanisms, by what they add to F; the functions of their names have formula, proof and source.
const (
	Auto                   Kind = "auto"                    // whichever of the others has the least Error
	ExpmLaplace            Kind = "expm-laplace"            // independent Laplace noise
	ExpmGaussian           Kind = "expm-gaussian"           // independent normal noise
	Directional            Kind = "directional"             // shared Laplace noise along a direction, and a floor
	Wasserstein            Kind = "wasserstein"             // Laplace noise to the coupling that is nearest
	ApproximateWasserstein Kind = "approximate-wasserstein" // the same for all of the coupling but δ
	NoNoise                Kind = "no-noise"                // a floor of one lattice step
	Eigm                   Kind = "eigm"                    // what the variance of each eigenvector lacks
	Daum                   Kind = "daum"                    // what the variance along the direction lacks
	OptimalGaussian        Kind = "optimal-gaussian"        // the least normal noise that one answer needs
	Apgm                   Kind = "apgm"                    // what the covariance lacks, attribute by attribute
	MarkovQuilt            Kind = "markov-quilt"            // Laplace noise for a network of parameters
)

// The assumptions on F; see the package comment.
const (
	Translation = "translation" // what composes: every mechanism's Losses
	Gaussian    = "gaussian"    // of mechanisms that count the randomness of the data as well
	Coupling    = "coupling"    // none, beyond the model of rows: bounds on coupled datasets

	// IndependentRows: each row is an independent draw from the reference's rows of its class. It stands in a
	// certificate in place of Gaussian where F's own law was computed, and nothing is taken for normal but the noise.
	IndependentRows = "independent rows"

	// IndependentColumns: the columns are independent of each other given all parameters of a network.
	IndependentColumns = "independent columns"

	RelaxedModel = "relaxed" // beside others: they need to hold only nearly
)
