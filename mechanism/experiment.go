package mechanism

import (
	"math"
	"slices"

	"fugu/sensitivity"
)

// release says what the noise does for a secret with the given shifts: a pair of it moves F by one of them. like has
// the blocks of F's covariance.
//
// A release is round(F) + D + round(w·y), D discrete noise. Taking D for a rounded normal costs gaussianDeviation,
// taking y for a rounded Laplace laplaceDeviation, and then the release is a post-processing of round(F) + round(w·y) +
// G, G ~ N(0, diag σ²) as in sensitivity.Release; what the two roundings and the whole steps of y move differs by at
// most slack steps between the values of the pair, given everything else, and is hidden like Beside [the mixture of
// shifts is no worse than the widest: hockey-stick divergences are jointly convex]. So it is with Gaussian directions,
// y a rounded normal Y: round(w·round(Y)) is w·Y up to ½+½|w|.
func (n Noise) release(shifts []sensitivity.Shift, like sensitivity.Covariance) sensitivity.Release {
	m := len(n.cells)
	r := sensitivity.Release{Floor: make([]float64, m), Beside: make([]float64, m)}
	for _, c := range n.cells {
		if c.sigma > 0 {
			r.Extra = r.Extra.Plus(gaussianDeviation(float64(c.sigma)))
		} else {
			r.Extra = r.Extra.Plus(laplaceDeviation(float64(c.laplace)))
		}
	}
	rounding := make([]float64, m)
	for k := range rounding {
		rounding[k] = slack
	}
	for _, d := range n.directions {
		if d.scale > 0 {
			r.Extra = r.Extra.Plus(laplaceDeviation(float64(d.scale)))
			continue
		}
		r.Extra = r.Extra.Plus(gaussianDeviation(float64(d.sigma)))
		for k, w := range d.weights {
			rounding[k] += 1 + math.Abs(w)
		}
		r.Gaussian.Low = append(r.Gaussian.Low, sensitivity.RankOne{Weight: 1, Vector: n.line(d)})
	}
	directions := []float64{0}
	laplace, pure := make([]float64, m), slices.ContainsFunc(n.cells, func(c cell) bool { return c.laplace > 0 })
	for _, s := range shifts {
		if pure { // its shifts are bounded each by itself
			s.Beside, s.Unseen = s.Box(), nil
		}
		r.Unseen = append(r.Unseen, s.Unseen)
		moves, left, hidden := n.hidden(s)
		for i, v := range moves { // the i-th of one shift's is no worse than one that is larger
			if i == len(directions) {
				directions = append(directions, 0)
			}
			directions[i] = math.Max(directions[i], v)
		}
		along := make([]float64, m)
		for k, c := range n.cells {
			g := step(c.exponent)
			beside := s.Beside[k] + rounding[k]*g
			if len(moves) > 1 {
				beside += roundingLent * g
			}
			switch {
			case hidden || c.laplace > 0:
				beside += math.Abs(left[k])
			case len(shifts) == 1:
				along[k] = left[k]
			}
			switch {
			case c.laplace > 0:
				laplace[k] = math.Max(laplace[k], beside/(g*float64(c.laplace)))
			case !hidden && len(shifts) > 1: // which of several directions it is, is not known
				r.Beside[k] = math.Max(r.Beside[k], beside+math.Abs(s.Along[k]))
			default:
				r.Beside[k] = math.Max(r.Beside[k], beside)
			}
		}
		if len(shifts) == 1 {
			r.Along = along
		}
	}
	r.Laplace = append(laplace, directions...)
	for k, c := range n.cells {
		sd := math.Ldexp(float64(c.sigma), c.exponent)
		r.Floor[k] = sd * sd
	}
	for _, b := range like.Blocks {
		r.Gaussian.Blocks = append(r.Gaussian.Blocks,
			sensitivity.Block{Size: b.Size, Entries: make([]float64, len(b.Entries))})
	}
	r.Gaussian = r.Gaussian.WithDiagonal(1, r.Floor)
	return r
}

// laplaceScales returns the scales of noise that is Laplace in each component and nothing else, in F's units.
func (n Noise) laplaceScales() ([]float64, bool) {
	var out []float64
	for _, c := range n.cells {
		if c.laplace == 0 || len(n.directions) > 0 {
			return nil, false
		}
		out = append(out, math.Ldexp(float64(c.laplace), c.exponent))
	}
	return out, true
}
