package mechanism

import "math"

// gaussian is noise of covariance diag(floor²) + Σ_j v_j v_jᵀ, floor and lines v_j in F's units. No floor is less than
// floorShare of the lines at its component, which bounds the grid's weights.
func gaussian(floor []float64, lines [][]float64) Noise {
	n := Noise{cells: make([]cell, len(floor))}
	for k, sd := range floor {
		for _, v := range lines {
			sd = math.Max(sd, floorShare*math.Abs(v[k]))
		}
		n.cells[k].exponent = gridFor(sd)
		n.cells[k].sigma = steps(sd, n.cells[k].exponent)
	}
	for _, v := range lines {
		d := direction{sigma: 1 << (gridBits + 1), weights: make([]float64, len(v))}
		for k := range v {
			d.weights[k] = math.Ldexp(v[k], -n.cells[k].exponent) / float64(d.sigma)
		}
		n.directions = append(n.directions, d)
	}
	return n
}
