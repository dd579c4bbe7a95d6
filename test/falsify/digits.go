package falsify

import "math"

// Tests that look at the digits of a release, not at its size.

// Lattice is the attack on noise along one known direction v alone: whoever knows v tries every value of the integer
// component anchor, subtracts the multiple of v that it implies, and sees whether the other components fall on their
// lattices. The score is the density of what is recovered. unit is the rounding of the published values.
func Lattice(v, lattice []float64, unit float64, anchor int, density func(theta float64) Density, from, to int) Test {
	return Test{"lattice", func(pair [2]float64, _, _ [][]float64) Score {
		p, q := density(pair[0]), density(pair[1])
		return func(x []float64) float64 {
			f := decode(x, v, lattice, unit, anchor, from, to)
			if f == nil {
				return 0
			}
			return p(f) - q(f)
		}
	}}
}

// decode returns the point of the lattice from which x differs by a multiple of v most nearly; nil if even that point
// is further off than rounding explains.
func decode(x, v, lattice []float64, unit float64, anchor, from, to int) []float64 {
	best, f := math.Inf(1), make([]float64, len(x))
	for c := from; c <= to; c++ {
		y := (x[anchor] - float64(c)) / v[anchor]
		worst := 0.0
		for k := range x {
			at := (x[k] - y*v[k]) / lattice[k]
			tolerance := .51 * unit * (1 + math.Abs(v[k]/v[anchor])) / lattice[k]
			worst = math.Max(worst, math.Abs(at-math.Round(at))/tolerance)
		}

		if worst < best {
			best = worst
			for k := range x {
				f[k] = math.Round((x[k]-y*v[k])/lattice[k]) * lattice[k]
			}
		}
	}

	if best > 1 {
		return nil
	}
	return f
}

// LowBits is the attack on a float64 F plus scale·ln(u) of a 53-bit u [Mironov, "On Significance of the Least
// Significant Bits for Differential Privacy", 2012]: for each F only some float64 values can come out. The score is 1
// where the release can come from the first value's F alone, -1 where from the second's alone. at gives F and the
// scale.
func LowBits(at func(theta float64) (f, scale float64)) Test {
	return Known("low bits", func(pair [2]float64, x []float64) float64 {
		score := 0.0
		for i, theta := range pair {
			f, scale := at(theta)
			if reachable(x[0], f, scale) {
				score += float64(1 - 2*i)
			}
		}
		return score
	})
}

// reachable reports whether some u = k·2^-53 near the one that x implies gives x = f ± scale·ln(u) in float64.
func reachable(x, f, scale float64) bool {
	sign := 1.0
	if x > f {
		sign = -1
	}
	k := math.Round(math.Ldexp(math.Exp(-math.Abs(x-f)/scale), 53))
	for step := -8.0; step <= 8; step++ {
		if u := math.Ldexp(k+step, -53); u > 0 && f+sign*scale*math.Log(u) == x {
			return true
		}
	}
	return false
}
