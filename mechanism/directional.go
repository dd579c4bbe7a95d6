package mechanism

import (
	"math"
	"slices"
)

// floorShare is the least Gaussian floor of a component as a share of Along_k/ε, the smallest that the noise along a
// direction can be: it costs one part in two million of the variance and keeps the grid of the direction bounded.
const floorShare = 1.0 / 1024

// leastRate is the least share of ε that a direction gets. The rest of ε buys too little to give up more, and with
// floorShare it bounds the scale of y by 2^48 steps.
const leastRate = 1.0 / 256

// directional adds, for each secret, noise along the one direction in which that secret moves the mean, and a Gaussian
// floor in every component.
//
//	v_s   Along of secret s             y_s ~ Laplace(t_s), one real shared by all components
//	G_k   ~ N(0, floor_k²)              floor_k ≥ h_k, the lattice of component k
//	noise = Σ_s v_s·y_s + G
//
// A pair of s moves F by a·v_s + r. Condition on the other secrets' y. Replacing y_s by y_s+a hides a·v_s and costs
// |a|/t_s ≤ 1/t_s; given y_s, G hides r, a Gaussian shift of κ² = Σ_k (Beside_k/floor_k)². Together
//
//	δ = δ_G(ε - 1/t_s; κ)
//
// [Chen & Ohrimenko, Theorem 4.3, for the direction; Balle & Wang 2018, Theorem 5, for δ_G; Dwork & Roth, Theorem 3.16,
// for their sum]. Laplace noise along v alone has rank 1: an analyst who knows v tries the values of one count and sees
// which of them puts the other components on their lattices. So G has full rank, with at least a lattice step of
// standard deviation in each component.
//
// The floor is searched over floor_k = max(h_k, |Along_k|/1024ε, f·√(Beside_k·u_k)), f in powers of √2 and then finer
// about the best: of all floors with the same κ, those proportional to √(Beside_k·u_k) have the least Σ_k floor_k²/u_k²
// (Lagrange). For each f, 1/t_s is the most that κ leaves of ε; the f of least total error wins.
func directional(r Request) (design, error) {
	if r.Budget.Delta == 0 || r.Budget.Epsilon > maxGaussianEpsilon {
		return nil, unmet(Directional)
	}
	m := len(r.Components)
	least, shape := make([]float64, m), make([]float64, m)
	first := math.Inf(1)
	for k, c := range r.Components {
		var along, beside float64
		for _, s := range r.Shifts {
			along, beside = math.Max(along, math.Abs(s.Along[k])), math.Max(beside, s.Beside[k])
		}
		least[k] = math.Max(c.Lattice, floorShare*along/float64(r.Budget.Epsilon))
		shape[k] = math.Sqrt(beside) * math.Sqrt(c.Unit)
		if shape[k] > 0 {
			first = math.Min(first, least[k]/shape[k])
		}
	}
	spread := make([]float64, len(r.Shifts)) // Σ_k (v_k/u_k)²
	for i, s := range r.Shifts {
		for k, c := range r.Components {
			spread[i] += (s.Along[k] / c.Unit) * (s.Along[k] / c.Unit)
		}
	}

	best, at := math.Inf(1), 0.0
	var cells []cell
	var rates []float64
	// try evaluates one f; it reports whether a larger f may still be better.
	try := func(f float64) bool {
		floor, sum := make([]cell, m), 0.0
		for k, c := range r.Components {
			sd := least[k]
			if shape[k] > 0 {
				sd = math.Max(sd, f*shape[k])
			}
			floor[k].exponent = gridFor(sd)
			floor[k].sigma = steps(sd, floor[k].exponent)
			sum += (sd / c.Unit) * (sd / c.Unit)
		}
		if sum >= best {
			return false
		}
		if rate, ok := r.rates(floor); ok {
			for i := range r.Shifts {
				if spread[i] > 0 {
					sum += 2 * spread[i] / rate[i] / rate[i]
				}
			}
			if sum < best {
				best, at, cells, rates = sum, f, floor, rate
			}
		}
		return !math.IsInf(f, 1) // nothing beside the directions: the least floor is the only one
	}
	for f := first; try(f); f *= math.Sqrt2 {
	}
	for _, finer := range []float64{1. / 16, 1. / 128} { // eight steps either side of the best so far
		f := at * math.Exp2(-8*finer)
		for i := 0; i <= 16 && try(f); i++ {
			f *= math.Exp2(finer)
		}
	}
	if cells == nil {
		return nil, unmet(Directional)
	}
	return func(inflate float64) Noise {
		n := Noise{cells: slices.Clone(cells)}
		for i, s := range r.Shifts {
			if spread[i] > 0 {
				n.directions = append(n.directions, newDirection(s, cells, rates[i]/inflate))
			}
		}
		return n
	}, nil
}

// rates returns, for each secret, the largest pure loss 1/t_s that the floor leaves of ε, and whether that is enough.
func (r Request) rates(floor []cell) ([]float64, bool) {
	rates := make([]float64, len(r.Shifts))
	for i, s := range r.Shifts {
		n := Noise{cells: floor, directions: []direction{{secret: s.Secret, scale: 1}}}
		l := n.loss(s)
		if !l.Within(r.Budget) {
			return nil, false
		}
		epsilon := float64(r.Budget.Epsilon)
		rates[i] = epsilon - l.EpsilonAt(float64(r.Budget.Delta))
		if rates[i] < leastRate*epsilon {
			return nil, false
		}
	}
	return rates, true
}
