package sensitivity

import "math"

// straight reports whether the family's mean moves by (p-q)/Within·Along for every pair, but for rounding.
//
// Then nothing need be set aside for Along. As in Certify, let a ≤ q < p ≤ b: the pair is
// N(d',ρ) against N(0,1) in each coordinate, the pair of the ends N(d,ρ') against N(0,1), and the same β takes the
// latter to N(βd,ρ) against N(0,1) with d' = √((p-q)/(b-a))·βd, no longer than βd. A shorter d' is dominated by a
// longer one: sup_S P(S) - γQ(S) is reached where the likelihood ratio is above a level, and in each coordinate that
// is, whatever the others, an interval about d/(1-ρ) if ρ < 1, all but one if ρ > 1, a half-line if ρ = 1; so P(S)
// grows as the mean d of P moves away from 0, for every γ. [For all γ: so the pair of the ends dominates in Blackwell's
// order, beside other parts too.]
func (s *search) straight() bool {
	sp := s.family.Span()
	low, middle, high := s.family.Mean(sp.From), s.family.Mean((sp.From+sp.To)/2), s.family.Mean(sp.To)
	if len(low) != len(s.release.Along) || len(middle) != len(low) || len(high) != len(low) {
		return false
	}
	forth, back := true, true // the two orders of a pair
	for k, v := range s.release.Along {
		const tolerance = 1e-12 // of the order of steps of the grid
		rounding := tolerance * math.Max(math.Abs(low[k]), math.Abs(high[k]))
		move := (high[k] - low[k]) * sp.Within / (sp.To - sp.From)
		if !(math.Abs(low[k]+high[k]-2*middle[k]) <= rounding) {
			return false
		}
		rounding += tolerance * math.Abs(v)
		forth, back = forth && math.Abs(move-v) <= rounding, back && math.Abs(move+v) <= rounding
	}
	return forth || back
}
