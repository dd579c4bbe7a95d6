package mechanism

import (
	"math"
	"slices"

	"fugu/privacy"
	"fugu/sensitivity"
)

// Normal returns the normal noise, in F's units: the variance of each component's own, and for each direction with
// normal noise the vector v that a standard normal number moves all components along. ok is false where a component has
// no normal noise of its own, or noise for a relaxed model besides: a joint account has no place for that.
func (n Noise) Normal() (variance []float64, lines [][]float64, ok bool) {
	for _, c := range n.cells {
		if c.sigma == 0 || c.extra > 0 {
			return nil, nil, false
		}
		sd := math.Ldexp(float64(c.sigma), c.exponent)
		variance = append(variance, sd*sd)
	}
	for _, d := range n.directions {
		if d.sigma > 0 {
			lines = append(lines, n.line(d))
		}
	}
	return variance, lines, true
}

// line is a standard deviation of normal noise along a direction, in F's units.
func (n Noise) line(d direction) []float64 {
	v := make([]float64, len(n.cells))
	for k, w := range d.weights {
		v[k] = math.Ldexp(w*float64(d.sigma), n.cells[k].exponent)
	}
	return v
}

// Rounding bounds what the grid adds to a release: at most r_k in each component, and not the same under both values of
// a secret. It is (Σ_k (r_k/σ_k)²)^½, σ_k the standard deviation of the component's own normal noise.
func (n Noise) Rounding() float64 {
	total := 0.0
	for k, c := range n.cells {
		v := n.rounding(k) / float64(c.sigma)
		total += v * v
	}
	return math.Sqrt(total)
}

// rounding is r_k in steps of the grid: see loss.
func (n Noise) rounding(k int) float64 {
	r := float64(slack)
	for _, d := range n.directions {
		if d.sigma > 0 {
			r += 1 + math.Abs(d.weights[k])
		}
	}
	return r
}

// Aside bounds what the noise alone hides of a secret in a release that stands in a joint account. Where hidden, that
// is everything: Laplace noise hides the movement along the secret's direction, and the account need not. Otherwise the
// account hides the movement along it of the components of which counted is true, and the rest, with what rounding
// adds, is in the loss.
func (n Noise) Aside(shifts []sensitivity.Shift, counted []bool) (hidden bool, l privacy.Loss) {
	hidden = !slices.ContainsFunc(shifts, func(s sensitivity.Shift) bool {
		_, _, ok := n.hidden(s)
		return !ok
	})
	for _, s := range shifts {
		if !hidden {
			s = n.besides(s, counted)
		}
		l = l.Max(n.loss(s))
	}
	return hidden, l
}

// besides is the shift without what it has along its direction in the components that are counted; as y of a normal
// direction, which is on a grid, counts as if it were not, each is off by a little more.
func (n Noise) besides(s sensitivity.Shift, counted []bool) sensitivity.Shift {
	s.Along, s.Beside = slices.Clone(s.Along), slices.Clone(s.Beside)
	for k, c := range n.cells {
		if counted[k] {
			s.Along[k] = 0
		}
		s.Beside[k] += math.Ldexp(n.rounding(k), c.exponent)
	}
	return s
}
