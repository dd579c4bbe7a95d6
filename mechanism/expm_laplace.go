package mechanism

import (
	"math"

	"fugu/sensitivity"
)

// expmLaplace is the Expected Value Mechanism with Laplace noise.
//
//	u_k   unit of component k           h_k   its lattice
//	Δ1  = max over secrets and the d by which they move F of Σ_k |d_k|/u_k
//	b   = Δ1/ε
//	noise of component k: Laplace(max(b·u_k, h_k)), independent
//
// For translations it is (ε,0)-distribution private [Chen & Ohrimenko, Theorem 4.1, with components scaled by u_k]: a
// shift by d costs Σ_k d_k/b_k. A scale below the lattice would release values nearly without noise, hence h_k; it only
// lowers the loss. Where f_θ is known, b is widened until what the unequal covariances cost fits into ε as well.
var expmLaplace = mechanism{kind: ExpmLaplace, auto: true, design: designExpmLaplace}

func designExpmLaplace(r Request) (design, error) {
	delta1 := r.widest(func(s sensitivity.Shift) float64 {
		sum := s.Norm1(r.units())
		if s.Scatter != nil { // its bound grows as the scales fall, in proportion
			sum += s.Scatter.Norm1(r.units())
		}
		return sum
	})
	b, err := r.widened(delta1 / float64(r.Budget.Epsilon))
	if err != nil {
		return nil, uncertified(ExpmLaplace, err)
	}
	return r.cells(b, setLaplace), nil
}

func setLaplace(c *cell, scale int64) { c.laplace = scale }

// widened returns the least scale from b on at which the shift and the difference of the covariances together cost at
// most ε; sensitivity.ErrUncertified if there is none.
func (r Request) widened(b float64) (float64, error) {
	// Upwards until it fits. Where b itself does, as it does without families, it is what is wanted to the last bit.
	lo, hi := b, b
	for {
		ok, err := r.fitsLaplace(hi)
		if err != nil || ok && lo == hi {
			return hi, err
		}
		if ok {
			break
		}
		if lo, hi = hi, 2*hi+1e-3; hi > magnitude {
			return 0, sensitivity.ErrUncertified
		}
	}

	// And then between the last two, of which the upper one fits. An error means that the middle is not known to.
	for range 30 {
		mid := (lo + hi) / 2
		if !(mid > lo && mid < hi) {
			continue
		}
		if ok, err := r.fitsLaplace(mid); err == nil && ok {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, nil
}

// fitsLaplace reports whether Laplace noise of so many units, and of a lattice at least, hides shift and covariances of
// each certifiable family within ε: see sensitivity.ScaleCost.
func (r Request) fitsLaplace(scale float64) (bool, error) {
	own := make([]float64, len(r.Components))
	for k, c := range r.Components {
		own[k] = math.Max(scale*c.Unit, c.Lattice)
	}
	for _, f := range r.certifiable() {
		cost, err := sensitivity.ScaleCost(f, own)
		if err != nil {
			return false, err
		}
		for _, s := range r.shiftsOf(f.Secret()) {
			if cost+s.Norm1(own) > float64(r.Budget.Epsilon) {
				return false, nil
			}
		}
	}
	return true, nil
}
