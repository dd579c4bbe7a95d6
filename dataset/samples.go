package dataset

import (
	"math"
	"slices"

	"fugu/mechanism"
	"fugu/policy"
	"fugu/sensitivity"
)

// closeness says how close the two laws of every pair of a secret are, if the policy declares that in place of how they
// shift.
func closeness(p *policy.Policy, l policy.Law, spans []sensitivity.Span) (sensitivity.Close, error) {
	if l.Concentrated != nil {
		return concentrated(p, l, spans)
	}
	return closestSamples(p, l, spans)
}

// closestSamples says how close the two laws of every pair of a secret are, if the policy declares their atoms.
//
// With several components, distances are in the norm Σ_k |x_k-y_k|/U_k of the noise, U_k what component k needs by
// itself: how close its own laws are. So a sum of incomes and a count are hidden alike, whatever they are measured in.
//
// All answers to the statement rest on one coupling of each pair, or their losses would not add up. So all that a
// coupling depends on is the policy's: neither a session's delta nor its mechanism has part in it.
func closestSamples(p *policy.Policy, l policy.Law, spans []sensitivity.Span) (sensitivity.Close, error) {
	var laws []sensitivity.Atoms
	for i, points := range l.Samples {
		a, err := atomsOf(points, l.Weights, i)
		if err != nil {
			return sensitivity.Close{}, err
		}
		laws = append(laws, a)
	}
	var pairs [][2]int
	for _, s := range spans {
		pairs = append(pairs, [2]int{l.Index(s.From), l.Index(s.To)})
	}

	delta := leftOut(p)
	unit := Spacing(l)
	if len(unit) == 1 {
		return sensitivity.Widest(l.Secret, laws, pairs, delta)
	}
	for k := range unit {
		var own []sensitivity.Atoms
		for _, a := range laws {
			own = append(own, a.Component(k))
		}
		c, err := sensitivity.Widest(l.Secret, own, pairs, delta)
		if err != nil {
			return c, err
		}
		if c.W > 0 { // otherwise no pair moves it by itself, and the distance of its values has to do
			unit[k] = c.W
		}
	}

	// In these units the distance counts each component by the noise that it would have anyway.
	for i, a := range laws {
		laws[i] = a.In(unit)
	}
	c, err := sensitivity.Widest(l.Secret, laws, pairs, delta)
	c.Unit = unit
	return c, err
}

func atomsOf(points [][]float64, weights [][]int64, i int) (sensitivity.Atoms, error) {
	if weights == nil {
		return sensitivity.Sample(points)
	}
	return sensitivity.Counted(points, weights[i])
}

// leftOut is the probability of a coupling to move F further than noise hides, which is part of the price of each
// answer: none for the mechanism that has no failure, half of the policy's delta for those whose noise needs the other
// half, and all of it for noise that needs none.
func leftOut(p *policy.Policy) float64 {
	switch delta := float64(p.Privacy.Delta); mechanism.Kind(p.Privacy.Mechanism) {
	case mechanism.Wasserstein:
		return 0
	case mechanism.ExpmGaussian, mechanism.Directional:
		return delta / 2
	default:
		return delta
	}
}

// Spacing is the least distance of two different numbers that a component has among the samples of some laws; where it
// has one number alone, 1.
func Spacing(laws ...policy.Law) []float64 {
	var out []float64
	for k := range laws[0].Samples[0][0] {
		var all []float64
		for _, l := range laws {
			for _, points := range l.Samples {
				for _, x := range points {
					all = append(all, x[k])
				}
			}
		}

		// Neighbours in order: no two others are closer.
		slices.Sort(all)
		least := math.Inf(1)
		for i := 1; i < len(all); i++ {
			if gap := all[i] - all[i-1]; gap > 0 {
				least = math.Min(least, gap)
			}
		}
		if math.IsInf(least, 1) {
			least = 1
		}
		out = append(out, least)
	}
	return out
}
