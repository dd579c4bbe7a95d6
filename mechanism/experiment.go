package mechanism

import (
	"math"
	"slices"

	"fugu/privacy"
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
	r := sensitivity.Release{Extra: n.deviation(), Floor: make([]float64, m), Beside: make([]float64, m)}
	laplace := slices.ContainsFunc(n.cells, func(c cell) bool { return c.laplace > 0 })

	// What Laplace noise hides: of each component's own, and of each direction that moves. Of several shifts a pair has
	// any, and the i-th move of one is no worse than that of another which is larger.
	own, directions := make([]float64, m), []float64{0}
	for _, s := range shifts {
		if laplace { // its shifts are bounded each by itself
			s.Beside, s.Unseen = s.Box(), nil
		}
		r.Unseen = append(r.Unseen, s.Unseen)
		moves, left, hidden := n.hidden(s)
		for i, v := range moves {
			if i == len(directions) {
				directions = append(directions, 0)
			}
			directions[i] = math.Max(directions[i], v)
		}

		// A single shift's own movement is one that is known; all else may be in any direction.
		along, beside := n.leftToCells(s, left, len(moves) > 1, len(shifts) == 1 && !hidden)
		for k, c := range n.cells {
			if c.laplace > 0 {
				own[k] = math.Max(own[k], beside[k]/(step(c.exponent)*float64(c.laplace)))
			} else {
				r.Beside[k] = math.Max(r.Beside[k], beside[k])
			}
		}

		if len(shifts) == 1 {
			r.Along = along
		}
	}
	r.Laplace = append(own, directions...)

	// What normal noise there is, in the blocks of F's covariance.
	for k, c := range n.cells {
		sd := shifted(float64(c.sigma), c.exponent)
		r.Floor[k] = sd * sd
	}
	for _, d := range n.directions {
		if d.sigma > 0 {
			r.Gaussian.Low = append(r.Gaussian.Low, sensitivity.RankOne{Weight: 1, Vector: n.line(d)})
		}
	}

	for _, b := range like.Blocks {
		zero := sensitivity.Block{Size: b.Size, Entries: make([]float64, len(b.Entries))}
		r.Gaussian.Blocks = append(r.Gaussian.Blocks, zero)
	}
	r.Gaussian = r.Gaussian.WithDiagonal(1, r.Floor)
	return r
}

// deviation is the cost of taking all discrete noise for continuous noise, rounded.
func (n Noise) deviation() (l privacy.Loss) {
	for _, c := range n.cells {
		if c.sigma > 0 {
			l = l.Plus(gaussianDeviation(float64(c.sigma)))
		} else {
			l = l.Plus(laplaceDeviation(float64(c.laplace)))
		}
	}
	for _, d := range n.directions {
		if d.scale > 0 {
			l = l.Plus(laplaceDeviation(float64(d.scale)))
		} else {
			l = l.Plus(gaussianDeviation(float64(d.sigma)))
		}
	}
	return l
}

// leftToCells is what each cell has to hide of a shift of which Laplace directions leave so much: along where known,
// that is the movement of normal cells; beside, in F's units, all else with what rounding adds.
func (n Noise) leftToCells(s sensitivity.Shift, left []float64, lent, known bool) (along, beside []float64) {
	along, beside = make([]float64, len(n.cells)), make([]float64, len(n.cells))
	for k, c := range n.cells {
		g := step(c.exponent)
		beside[k] = s.Beside[k] + n.rounding(k)*g
		if lent {
			beside[k] += roundingLent * g
		}
		if known && c.laplace == 0 {
			along[k] = left[k]
		} else {
			beside[k] += math.Abs(left[k])
		}
	}
	return along, beside
}

// laplaceScales returns the scales of noise that is Laplace in each component and nothing else, in F's units.
func (n Noise) laplaceScales() ([]float64, bool) {
	var out []float64
	for _, c := range n.cells {
		if c.laplace == 0 || len(n.directions) > 0 {
			return nil, false
		}
		out = append(out, shifted(float64(c.laplace), c.exponent))
	}
	return out, true
}
