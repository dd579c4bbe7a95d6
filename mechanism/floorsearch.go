package mechanism

import (
	"math"
	"slices"

	"fugu/sensitivity"
)

// A floor is made of three numbers.
const (
	byBeside   = iota // f: against what is beside the directions
	bySpread          // c: against what the covariances of a pair differ by
	byAlone           // g: times what each block has alone, in place of the other two where it is not 0
	parameters        // how many there are
)

// floorSearch is the search for the floor of least error: see directional.
type floorSearch struct {
	Request
	lending
	families []sensitivity.Family // none yet: translation alone

	// The shape of floors, by component.
	least         []float64
	beside, exact []float64 // b, r
	gap           []float64 // |g|
	scale         []float64 // (|g|/√w)^⅓, w_k the error that a unit of variance in component k costs
	variance      []float64 // V

	spread  [][]float64         // of each shift, Σ_k (w_k/u_k)² over each block, w its own; nil: w is 0
	blockOf []int               // of each component
	first   [parameters]float64 // from where on each parameter matters

	// What certificates are likely to allow: of each family a probe, at the pair that is hardest at the beginning of a
	// line, and others at pairs that were found to be worse.
	probes  []*sensitivity.Probe
	anchors [][]*sensitivity.Probe

	// The best so far: its parameters, and what they give.
	at    [parameters]float64
	best  float64 // its error
	floor []cell
	rates []float64
}

// newFloorSearch prepares what all floors have in common.
func newFloorSearch(r Request) *floorSearch {
	m := len(r.Components)
	s := &floorSearch{Request: r, lending: newLending(r), blockOf: r.blockOf(), best: math.Inf(1)}
	s.beside, s.exact = r.besideFloor()
	s.least, s.gap, s.variance = make([]float64, m), make([]float64, m), make([]float64, m)

	// How F varies, and how differently at the ends of a pair.
	for k := range s.variance {
		s.variance[k] = math.Inf(1)
	}
	for _, f := range r.certifiable() {
		sp := f.Span()
		a, b := f.Covariance(sp.From).Diagonal(), f.Covariance(sp.To).Diagonal()
		for k := range r.Components {
			// Where F_k is known it is 0, up to rounding.
			s.variance[k] = math.Min(s.variance[k], math.Max(0, math.Min(a[k], b[k])))
			s.gap[k] = math.Max(s.gap[k], math.Abs(b[k]-a[k])*sp.Within/(sp.To-sp.From))
		}
	}

	// What noise along each direction costs the error, and the floor that bounds its grid.
	s.spread = make([][]float64, len(r.Shifts))
	s.first[byBeside] = math.Inf(1)
	for k, c := range r.Components {
		along := 0.0
		for i, shift := range r.Shifts {
			along = math.Max(along, math.Abs(shift.Along[k]))
			if w := s.own[i][k] / c.Unit; w != 0 {
				if s.spread[i] == nil {
					s.spread[i] = make([]float64, slices.Max(s.blockOf)+1)
				}
				s.spread[i][s.blockOf[k]] += w * w
			}
		}

		s.least[k] = math.Max(c.Lattice, floorShare*along/float64(r.Budget.Epsilon))
		if b := math.Max(s.beside[k], s.exact[k]); b > 0 {
			s.first[byBeside] = math.Min(s.first[byBeside], s.least[k]/b)
		}
	}

	squares := make([]float64, m)
	for k, c := range r.Components {
		squares[k] = 1 / c.Unit / c.Unit
	}
	s.shape(squares)
	s.first[byAlone] = firstG * float64(1+slices.Max(s.blockOf))
	return s
}

const (
	anchorings = 4 // searches, each of which looks at the pairs that those before it did not hide
	shapings   = 2 // times the floor of an Absolute request gets the shape that the best one so far asks for

	// firstG is where the search along floors of the blocks' own shapes begins, as a share of the number of blocks:
	// powers of √2 on, it comes to that number itself, which is enough under translation.
	firstG = 1.0 / 8

	// searchSteps is how many powers of √2 a search for a certified floor goes up: some certificates cannot be met by
	// any floor, and the search has to end. What the shift alone asks for is always met in the end.
	searchSteps = 80
)

// search finds the floor of least error: under translation, then with the certificates, whose hardest pair is not the
// same for all floors.
func (s *floorSearch) search() {
	s.line(byBeside)
	if s.families = s.certifiable(); len(s.families) == 0 {
		s.likeAlone()
		return
	}

	// Each search looks at the pairs that those before it did not hide.
	s.anchors = make([][]*sensitivity.Probe, len(s.families))
	for range anchorings {
		s.again()
		for range shapings {
			if s.Absolute && s.floor != nil {
				s.shape(s.marginal())
				s.again()
			}
		}

		s.likeAlone()
		if s.floor == nil || !s.anchor() {
			return
		}
	}
}

// again searches from the beginning, along c and f in turn.
func (s *floorSearch) again() {
	s.best, s.floor, s.at[bySpread], s.at[byAlone] = math.Inf(1), nil, 0, 0
	s.line(bySpread)
	s.line(byBeside)
}

// likeAlone tries the floors that have the shapes of what each block has alone.
func (s *floorSearch) likeAlone() {
	if s.alone != nil {
		s.line(byAlone)
	}
}

// line searches along one parameter, from its first value on: in powers of √2, and then finer about the best.
func (s *floorSearch) line(along int) {
	s.probes = make([]*sensitivity.Probe, len(s.families))
	point := func(v float64) [parameters]float64 {
		p := s.at
		p[byAlone] = 0
		p[along] = v
		return p
	}

	first := s.first[along]
	if !(first <= magnitude) { // it shapes nothing: the least floor is the only one
		s.try(point(s.at[along]))
		return
	}

	for i, v := 0, first; s.try(point(v)) && (i < searchSteps || len(s.families) == 0); i++ {
		v *= math.Sqrt2
	}
	if along == byAlone && s.at[byAlone] == 0 { // none of them was better
		return
	}

	// Twice more finely about the best, on either side of it.
	steps := 8 // either side of the best so far
	if len(s.families) > 0 {
		steps = 4 // certificates take their time
	}
	for _, finer := range []float64{.5, .5 / float64(steps)} {
		finer /= float64(steps)
		v := s.at[along] * math.Exp2(-float64(steps)*finer)
		for i := 0; i <= 2*steps && s.try(point(v)); i++ {
			v *= math.Exp2(finer)
		}
	}
}

// try looks at one floor, and reports whether one with a larger parameter may still be better than the best.
func (s *floorSearch) try(p [parameters]float64) bool {
	floor := s.cells(p)
	if s.error(floor, nil) >= s.best {
		return false
	}
	rate, ok := s.allowed(floor)
	if !ok {
		return true
	}
	if sum := s.error(floor, rate); sum < s.best {
		s.best, s.at, s.floor, s.rates = sum, p, floor, rate
	}
	return true
}
