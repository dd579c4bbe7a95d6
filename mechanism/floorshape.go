package mechanism

import (
	"math"
	"slices"
)

// shape gives the floor the shape for which a unit of variance in component k costs weight_k.
func (s *floorSearch) shape(weight []float64) {
	s.scale, s.first[bySpread] = make([]float64, len(weight)), math.Inf(1)
	for k, g := range s.gap {
		if s.scale[k] = math.Cbrt(g / math.Sqrt(weight[k])); s.scale[k] > 0 {
			from := math.Hypot(s.least[k], math.Sqrt(s.variance[k])) / s.scale[k]
			s.first[bySpread] = math.Min(s.first[bySpread], from)
		}
	}
}

// marginal is what a unit of variance more costs in each component of the best so far, where the error is Absolute.
func (s *floorSearch) marginal() []float64 {
	out := make([]float64, len(s.floor))
	for k, c := range s.floor {
		sd := shifted(float64(c.sigma), c.exponent)
		out[k] = atZero(s.laplace(k, s.rates), sd) / s.Components[k].Unit
	}
	return out
}

// cells returns the floor of the parameters.
func (s *floorSearch) cells(p [parameters]float64) []cell {
	floor := make([]cell, len(s.Components))
	if p[byAlone] > 0 {
		for k := range floor {
			floor[k].normal(max(p[byAlone]*s.alone[k], s.least[k]))
		}
		return floor
	}

	for k := range floor {
		sd := 0.0
		if s.scale[k] > 0 {
			if v := p[bySpread]*p[bySpread]*s.scale[k]*s.scale[k] - s.variance[k]; v > 0 {
				sd = math.Sqrt(v)
			}
		}

		// Each parameter asks for a width, and the largest is taken.
		if s.exact[k] > 0 {
			sd = math.Hypot(sd, p[byBeside]*s.exact[k])
		}
		if s.beside[k] > 0 {
			sd = max(sd, p[byBeside]*s.beside[k])
		}
		floor[k].normal(max(sd, s.least[k]))
	}
	return floor
}

// widenedFloor is a floor of so many times the standard deviations.
func widenedFloor(floor []cell, by float64) []cell {
	out := make([]cell, len(floor))
	for k, c := range floor {
		out[k].normal(by * shifted(float64(c.sigma), c.exponent))
	}
	return out
}

// error is that of a floor and of directions of the given rates; nil: of the least noise there may be along them.
func (s *floorSearch) error(floor []cell, rates []float64) (sum float64) {
	if !s.Absolute {
		blocks := newBlockSum(s.blockOf)
		for k, c := range floor {
			sd := shifted(float64(c.sigma), c.exponent) / s.Components[k].Unit
			blocks.each[s.blockOf[k]] += sd * sd
		}
		for i, rate := range rates {
			for block, spread := range s.spread[i] {
				blocks.each[block] += 2 * spread / rate / rate
			}
		}

		return blocks.total()
	}

	// Absolute errors add up component by component, and there are no blocks.
	if rates == nil {
		rates = slices.Repeat([]float64{float64(s.Budget.Epsilon)}, len(s.Shifts))
	}
	for k, c := range floor {
		sd := shifted(float64(c.sigma), c.exponent)
		sum += meanAbsolute(s.laplace(k, rates), sd) / s.Components[k].Unit
	}
	return sum
}
