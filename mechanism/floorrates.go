package mechanism

import (
	"math"
	"slices"

	"fugu/privacy"
	"fugu/sensitivity"
)

const (
	// leastRate is the least share of ε that a direction gets. The rest of ε buys too little to give up more, and with
	// floorShare it bounds the scale of y by 2^48 steps.
	leastRate = 1.0 / 256

	anchorFrom = 1.05 // times what a search allows: of less the certificate's own widening takes care
)

// allowed returns, for each shift, the largest pure loss 1/t_s that the floor leaves of ε, and whether that is enough.
func (s *floorSearch) allowed(floor []cell) (rates []float64, ok bool) {
	// What the floor alone has to hide: all that a shift's own direction does not. Of several directions of a secret,
	// any leaves the most that one of them does.
	n := Noise{cells: floor}
	hidden := slices.Clone(s.Shifts)
	left := map[string]privacy.Loss{}
	for i := range hidden {
		hidden[i] = hidden[i].Aside()
		left[hidden[i].Secret] = left[hidden[i].Secret].Max(n.loss(hidden[i]))
	}

	// Who lends comes first: its rate is part of what is left for the others.
	rates = make([]float64, len(s.Shifts))
	epsilon := float64(s.Budget.Epsilon)
	for _, i := range s.lenders() {
		secret := s.Shifts[i].Secret
		if !left[secret].Within(s.Budget) {
			return nil, false
		}
		lent := 0.0
		if s.from[i] >= 0 {
			lent = math.Abs(s.lent[i]) * rates[s.from[i]]
		}
		rates[i] = epsilon - left[secret].EpsilonAt(float64(s.Budget.Delta)) - lent
		for j, f := range s.families {
			if f.Secret() != secret {
				continue
			}
			release := n.release([]sensitivity.Shift{hidden[i]}, f.Covariance(f.Span().From))
			if lent > 0 {
				release.Laplace = append(release.Laplace, lent)
			}
			rates[i] = math.Min(rates[i], s.certified(j, release, epsilon-lent))
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

// certified returns the largest 1/t that the certificate of the j-th family is likely to allow, of what there is of ε;
// 0 where that cannot be worked out.
func (s *floorSearch) certified(j int, release sensitivity.Release, of float64) float64 {
	// A probe is made once a line, at the pair that is hardest with most of ε spent on the direction.
	if s.probes[j] == nil {
		first := release
		first.Laplace = append(slices.Clone(release.Laplace), .8*of)
		p, err := sensitivity.NewProbe(s.families[j], first, s.aim())
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

// anchor looks for the pair at which the best so far is least private. If that shows more than what the probes saw, it
// is looked at as well from now on, and the search is not over.
func (s *floorSearch) anchor() (more bool) {
	n := Noise{cells: s.floor, directions: s.directions(s.Shifts, s.floor, s.rates)}
	b := s.aim()
	for j, f := range s.families {
		p, err := sensitivity.NewProbe(f, n.release(s.shiftsOf(f.Secret()), f.Covariance(f.Span().From)), b)
		if err == nil && p.Delta() > anchorFrom*float64(b.Delta) {
			s.anchors[j] = append(s.anchors[j], p)
			more = true
		}
	}
	return more
}

// aim is the budget that a search aims at.
func (s *floorSearch) aim() privacy.Budget {
	b := s.Budget
	b.Delta *= searchShare
	return b
}
