package mechanism

import (
	"math"
	"slices"

	"fugu/sensitivity"
)

const (
	anchorings = 4    // searches, each of which looks at the pairs that those before it did not hide
	anchorFrom = 1.05 // times what a search allows: of less the certificate's own widening takes care
)

// search finds the floor of least error: under translation, then with the certificates, whose hardest pair is not the same
// for all floors.
func (s *floorSearch) search() {
	s.line(&s.f, s.firstF)
	if s.families = s.certifiable(); len(s.families) == 0 {
		s.likeAlone()
		return
	}
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

// likeAlone tries the floors that have the shapes of what each block has alone.
func (s *floorSearch) likeAlone() {
	if s.alone != nil {
		s.line(&s.g, firstG*float64(1+slices.Max(s.blockOf)))
	}
}

// anchor looks for the pair at which the best so far is least private. If that shows more than what the probes saw, it is
// looked at as well from now on, and the search is not over.
func (s *floorSearch) anchor() (more bool) {
	n := Noise{cells: s.floor, directions: s.directions(s.floor, 1)}
	b := s.Budget
	b.Delta *= searchShare
	for j, f := range s.families {
		p, err := sensitivity.NewProbe(f, n.release(s.of(f.Secret()), f.Covariance(f.Span().From)), b)
		if err == nil && p.Delta() > anchorFrom*float64(b.Delta) {
			s.anchors[j] = append(s.anchors[j], p)
			more = true
		}
	}
	return more
}

// widened is a floor of so many times the standard deviations.
func widened(floor []cell, by float64) []cell {
	out := make([]cell, len(floor))
	for k, c := range floor {
		sd := by * math.Ldexp(float64(c.sigma), c.exponent)
		out[k].exponent = gridFor(sd)
		out[k].sigma = steps(sd, out[k].exponent)
	}
	return out
}
