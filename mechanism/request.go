package mechanism

import (
	"math"

	"fugu/privacy"
	"fugu/sensitivity"
)

// Component describes one entry of F.
type Component struct {
	Lattice float64 // upper bound on the step of the lattice the component lives on, in F's units, > 0
	Unit    float64 // error is measured in this unit, > 0
	Integer bool    // published as an integer
	Block   int     // the values of one aggregate in one set of groups are one block: see Request.balanced
}

// Request is what a calibration depends on. It holds nothing from protected rows.
type Request struct {
	Shifts     []sensitivity.Shift // at least one, or Quilts; those of one secret together cover its pairs
	Components []Component         // one for each entry of F, at least one
	Budget     privacy.Budget      // what this release may cost each secret

	// Families are f_θ, where it is known and the policy accepts that it is normal: those of one secret cover its
	// pairs. A secret without one, or with one that is not affine, is left to the translation assumption.
	Families []sensitivity.Family
	// Close says of secrets how close the distributions of their pairs are, where that is known.
	Close []sensitivity.Close
	// Quilts are those of secrets that are parameters of a network; a request has either these or other secrets. Widths
	// are in Σ_k |x_k|/u_k, u_k the units.
	Quilts []sensitivity.Quilt
	// Sums are public totals that F has whatever the secrets are; no component is in two. What is released is brought
	// to them by SummingTo, and noise may be drawn given them.
	Sums []Sum
	// Joint: the release stands in a joint account, which needs normal noise in every component and counts the
	// randomness of the data.
	Joint bool
	// Absolute: what is to be small is Σ E|noise_k|/Unit_k, and not Σ E noise_k²/Unit_k².
	Absolute bool
	// Relaxed says how far all of this may be from the truth; nil: it is exact.
	Relaxed *Relaxed
	// Between is called between the steps of the search, and may wait for others to go first; nil: nothing is.
	Between func()

	promised privacy.Budget // for the true distributions; Budget is what that leaves
	alone    []float64      // of each component, the floor that its block would have alone; nil: there is one block
}

// Relaxed says that the true distributions of F are not those of a request, but near them: in one of the two senses,
// the other nil. Noise is calibrated at a tighter ε and δ, and every promise is one for the true distributions.
type Relaxed struct {
	Approximated *privacy.Approximated // [Chen & Ohrimenko, Theorem 4.6]
	Nearby       *privacy.Nearby       // [Theorem 4.7], in the norm Σ_k |x_k|/w_k
	Reach        []float64             // the w_k of Nearby, > 0; nil: the units
	Limit        privacy.Budget        // of all releases together
}

// magnitude bounds every length in a request, from above and (lattice, unit) from below: squares stay in float64.
const magnitude = 1e100

// shiftsOf returns the shifts of a secret.
func (r Request) shiftsOf(secret string) []sensitivity.Shift {
	var out []sensitivity.Shift
	for _, s := range r.Shifts {
		if s.Secret == secret {
			out = append(out, s)
		}
	}
	return out
}

func (r Request) units() []float64 {
	units := make([]float64, len(r.Components))
	for k, c := range r.Components {
		units[k] = c.Unit
	}
	return units
}

// certifiable returns the families that bounds on unequal covariances exist for: those of a secret all of whose are
// known.
func (r Request) certifiable() []sensitivity.Family {
	crooked := map[string]bool{}
	for _, f := range r.Families {
		crooked[f.Secret()] = crooked[f.Secret()] || !sensitivity.Known(f)
	}
	var out []sensitivity.Family
	for _, f := range r.Families {
		if !crooked[f.Secret()] {
			out = append(out, f)
		}
	}
	return out
}

// known reports whether the distribution of F is known along every secret, in a form that can be certified.
func (r Request) known() bool {
	known := map[string]bool{}
	for _, f := range r.certifiable() {
		known[f.Secret()] = true
	}
	for _, s := range r.Shifts {
		if !known[s.Secret] {
			return false
		}
	}
	return true
}

// widest returns the largest value of f over the secrets.
func (r Request) widest(f func(sensitivity.Shift) float64) float64 {
	var most float64
	for _, s := range r.Shifts {
		most = math.Max(most, f(s))
	}
	return most
}

// blockOf numbers the block of each component, in the order of their first.
func (r Request) blockOf() []int {
	number, out := map[int]int{}, make([]int, len(r.Components))
	for k, c := range r.Components {
		if _, ok := number[c.Block]; !ok {
			number[c.Block] = len(number)
		}
		out[k] = number[c.Block]
	}
	return out
}
