package mechanism

import (
	"fugu/privacy"
	"fugu/sensitivity"
	"math"
	"slices"
)

// firstG is where the search along floors of the blocks' own shapes begins, as a share of the number of blocks: powers of
// √2 on, it comes to that number itself, which is enough under translation.
const firstG = 1.0 / 8

// floorSearch is the search for the floor of least error.
type floorSearch struct {
	Request
	lending
	families       []sensitivity.Family // none yet: translation alone
	probes         []*sensitivity.Probe
	anchors        [][]*sensitivity.Probe // of each family, at pairs that were found to be worse
	least          []float64              // of each component
	beside, exact  []float64              // b, r
	gap            []float64              // |g|
	scale          []float64              // (|g|/√w)^⅓, w_k the error that a unit of variance in component k costs
	variance       []float64              // V
	spread         [][]float64            // of each shift, Σ_k (w_k/u_k)² over each block, w its own; nil: w is 0
	blockOf        []int
	firstF, firstC float64 // from where on f and c matter

	f, c, g float64 // the best so far, and what it gives
	best    float64
	floor   []cell
	rates   []float64
}

func newFloorSearch(r Request) *floorSearch {
	m := len(r.Components)
	s := &floorSearch{Request: r, best: math.Inf(1), firstF: math.Inf(1), firstC: math.Inf(1)}
	s.least, s.gap, s.variance = make([]float64, m), make([]float64, m), make([]float64, m)
	s.beside, s.exact = r.besideFloor()
	for k := range s.variance {
		s.variance[k] = math.Inf(1)
	}
	for _, f := range r.certifiable() {
		sp := f.Span()
		a, b := f.Covariance(sp.From).Diagonal(), f.Covariance(sp.To).Diagonal()
		for k := range r.Components {
			s.variance[k] = math.Min(s.variance[k], math.Max(0, math.Min(a[k], b[k]))) // 0, up to rounding, where F_k is known
			g := math.Abs(b[k]-a[k]) * sp.Within / (sp.To - sp.From)
			s.gap[k] = math.Max(s.gap[k], g)
		}
	}
	s.lend()
	s.spread, s.blockOf = make([][]float64, len(r.Shifts)), r.blockOf()
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
			s.firstF = math.Min(s.firstF, s.least[k]/b)
		}
	}
	squares := make([]float64, m)
	for k, c := range r.Components {
		squares[k] = 1 / c.Unit / c.Unit
	}
	s.shape(squares)
	return s
}

// shape gives the floor the shape for which a unit of variance in component k costs weight_k.
func (s *floorSearch) shape(weight []float64) {
	s.scale, s.firstC = make([]float64, len(weight)), math.Inf(1)
	for k, g := range s.gap {
		if s.scale[k] = math.Cbrt(g / math.Sqrt(weight[k])); s.scale[k] > 0 {
			s.firstC = math.Min(s.firstC, math.Hypot(s.least[k], math.Sqrt(s.variance[k]))/s.scale[k])
		}
	}
}

// marginal is what a unit of variance more costs in each component of the best so far, where the error is Absolute.
func (s *floorSearch) marginal() []float64 {
	out := make([]float64, len(s.floor))
	for k, c := range s.floor {
		out[k] = atZero(s.laplace(k, s.rates), math.Ldexp(float64(c.sigma), c.exponent)) / s.Components[k].Unit
	}
	return out
}

// laplace returns the scales of the directions' noise in component k, of which nothing is less than for rates of ε.
func (s *floorSearch) laplace(k int, rates []float64) (scales []float64) {
	for i, w := range s.own {
		if b := math.Abs(w[k]); b > 0 {
			scales = append(scales, b/rates[i])
		}
	}
	return scales
}

// again searches from the beginning.
func (s *floorSearch) again() {
	s.best, s.floor, s.c, s.g = math.Inf(1), nil, 0, 0
	s.line(&s.c, s.firstC)
	s.line(&s.f, s.firstF)
}

// cells returns the floor of f and c.
func (s *floorSearch) cells(f, c, g float64) []cell {
	floor := make([]cell, len(s.Components))
	for k := range floor {
		sd := 0.0
		if s.scale[k] > 0 {
			if v := c*c*s.scale[k]*s.scale[k] - s.variance[k]; v > 0 {
				sd = math.Sqrt(v)
			}
		}
		if s.exact[k] > 0 {
			sd = math.Hypot(sd, f*s.exact[k])
		}
		if s.beside[k] > 0 {
			sd = math.Max(sd, f*s.beside[k])
		}
		if g > 0 {
			sd = g * s.alone[k]
		}
		sd = math.Max(sd, s.least[k])
		floor[k].exponent = gridFor(sd)
		floor[k].sigma = steps(sd, floor[k].exponent)
	}
	return floor
}

// error is that of a floor and of directions of the given rates; nil: of the least noise there may be along them.
func (s *floorSearch) error(floor []cell, rates []float64) (sum float64) {
	if !s.Absolute {
		blocks := newBlockSum(s.blockOf)
		for k, c := range floor {
			sd := math.Ldexp(float64(c.sigma), c.exponent) / s.Components[k].Unit
			blocks.each[s.blockOf[k]] += sd * sd
		}
		for i, rate := range rates {
			for block, spread := range s.spread[i] {
				blocks.each[block] += 2 * spread / rate / rate
			}
		}
		return blocks.total()
	}
	if rates == nil {
		rates = slices.Repeat([]float64{float64(s.Budget.Epsilon)}, len(s.Shifts))
	}
	for k, c := range floor {
		sum += meanAbsolute(s.laplace(k, rates), math.Ldexp(float64(c.sigma), c.exponent)) / s.Components[k].Unit
	}
	return sum
}

// line searches along one of f and c, from first on: in powers of √2, and then finer about the best.
func (s *floorSearch) line(x *float64, first float64) {
	s.probes = make([]*sensitivity.Probe, len(s.families))
	if !(first <= magnitude) { // it shapes nothing: the least floor is the only one
		s.try(s.f, s.c, 0)
		return
	}
	// at tries one value, and reports whether a larger one may still be better.
	at := func(v float64) bool {
		f, c, g := s.f, s.c, 0.0
		switch x {
		case &s.f:
			f = v
		case &s.c:
			c = v
		default:
			g = v
		}
		return s.try(f, c, g)
	}
	for i, v := 0, first; at(v) && (i < searchSteps || len(s.families) == 0); i++ {
		v *= math.Sqrt2
	}
	steps := 8 // either side of the best so far
	if len(s.families) > 0 {
		steps = 4 // certificates take their time
	}
	if x == &s.g && s.g == 0 {
		return
	}
	for _, finer := range []float64{.5, .5 / float64(steps)} {
		finer /= float64(steps)
		v := *x * math.Exp2(-float64(steps)*finer)
		for i := 0; i <= 2*steps && at(v); i++ {
			v *= math.Exp2(finer)
		}
	}
}

func (s *floorSearch) try(f, c, g float64) bool {
	floor := s.cells(f, c, g)
	if s.error(floor, nil) >= s.best {
		return false
	}
	rate, ok := s.allowed(floor)
	if !ok {
		return true
	}
	if sum := s.error(floor, rate); sum < s.best {
		s.best, s.f, s.c, s.g, s.floor, s.rates = sum, f, c, g, floor, rate
	}
	return true
}

// allowed returns, for each shift, the largest pure loss 1/t_s that the floor leaves of ε, and whether that is enough.
func (s *floorSearch) allowed(floor []cell) ([]float64, bool) {
	rates := make([]float64, len(s.Shifts))
	epsilon := float64(s.Budget.Epsilon)
	n := Noise{cells: floor}
	hidden := slices.Clone(s.Shifts)
	left := map[string]privacy.Loss{} // of each secret, the most that any of its directions leaves
	for i := range hidden {
		hidden[i] = hidden[i].Aside() // the direction hides the rest
		left[hidden[i].Secret] = left[hidden[i].Secret].Max(n.loss(hidden[i]))
	}
	for _, i := range s.lenders() {
		secret := s.Shifts[i].Secret
		own, l := hidden[i], left[secret]
		if !l.Within(s.Budget) {
			return nil, false
		}
		lent := 0.0
		if s.from[i] >= 0 {
			lent = math.Abs(s.lent[i]) * rates[s.from[i]]
		}
		rates[i] = epsilon - l.EpsilonAt(float64(s.Budget.Delta)) - lent
		for j, f := range s.families {
			if f.Secret() == secret {
				release := n.release([]sensitivity.Shift{own}, f.Covariance(f.Span().From))
				if lent > 0 {
					release.Laplace = append(release.Laplace, lent)
				}
				rates[i] = math.Min(rates[i], s.certified(j, release, epsilon-lent))
			}
		}
		if s.spread[i] == nil && lent > 0 { // nothing is left to hide
			rates[i] = math.Min(rates[i], leastRate*epsilon)
		}
		if rates[i] < leastRate*epsilon {
			return nil, false
		}
	}
	return rates, true
}

// certified returns the largest 1/t that the certificate of the j-th family is likely to allow, of what there is of ε.
func (s *floorSearch) certified(j int, release sensitivity.Release, of float64) float64 {
	if s.probes[j] == nil {
		b := s.Budget
		b.Delta *= searchShare
		first := release
		first.Laplace = append(slices.Clone(release.Laplace), .8*of)
		p, err := sensitivity.NewProbe(s.families[j], first, b)
		if err != nil {
			return 0
		}
		s.probes[j] = p
	}
	rate := s.probes[j].Laplace(release)
	for _, p := range s.anchors[j] {
		if rate > 0 {
			rate = math.Min(rate, p.Laplace(release))
		}
	}
	return rate
}

// leastRate is the least share of ε that a direction gets. The rest of ε buys too little to give up more, and with
// floorShare it bounds the scale of y by 2^48 steps.
const leastRate = 1.0 / 256

// shapings is how often the floor of an Absolute request gets the shape that the best one so far asks for.
const shapings = 2

// searchSteps is how many powers of √2 a search for a certified floor goes up: some certificates cannot be met by any
// floor, and the search has to end. What the shift alone asks for is always met in the end.
const searchSteps = 80

// directions returns the Laplace noise along each own, in the order of the shifts. Where own is 0 there is one only to say what is lent.
func (s *floorSearch) directions(floor []cell, inflate float64) (out []direction) {
	at := make([]int, len(s.Shifts))
	for i := range s.Shifts {
		if s.spread[i] != nil || s.from[i] >= 0 {
			at[i] = len(out)
			own := s.Shifts[i]
			own.Along = s.own[i]
			out = append(out, newDirection(own, floor, s.rates[i]/inflate))
		}
	}
	for i, from := range s.from {
		if from >= 0 {
			out[at[i]].from, out[at[i]].lent = at[from], s.lent[i]
		}
	}
	return out
}
