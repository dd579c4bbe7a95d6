package mechanism

import (
	"math"

	"fugu/sensitivity"
)

// besideFloor is the shape of Gaussian noise against what is beside the directions: standard deviations of about the
// least error Σ_k (sd_k/u_k)² for which it is a Gaussian shift of about κ = 1, for the secret that needs most in each
// component; 0 where nothing is beside. It only guides a search. Where there is Unseen it is exact: sensitivity.Release sets just
// so much aside. Against Beside alone a share of all is set aside; that is box.
//
// For a box of sides b_k the least error at κ² = Σ (b_k/sd_k)² is that of sd_k² = b_k·u_k·W, W = Σ b_k/u_k (Lagrange). For one
// unseen row it is that within each cell c, W_c the sum over the cell: each cell then has κ = 1 by itself. So it is for Rows of
// them, with Rows times the variance, unless the box is cheaper. Two parts of errors E₁ and E₂ at κ = 1 cost least
// together at κ_i in proportion to E_i^⅓.
func (r Request) besideFloor() (box, exact []float64) {
	m := len(r.Components)
	box, unseen := make([]float64, m), make([]float64, m)
	for _, s := range r.Shifts {
		own := make([]float64, m)
		for _, u := range s.Unseen {
			r.unseenFloor(own, u)
		}
		for k, v := range own {
			left := s.Beside[k]
			if s.Scatter != nil {
				left += math.Sqrt(s.Scatter.Variance[k])
			}
			box[k], unseen[k] = math.Max(box[k], left), math.Max(unseen[k], v)
		}
	}
	all := 0.0
	for k, c := range r.Components {
		all += box[k] / c.Unit
	}
	var first, second float64
	for k, c := range r.Components {
		box[k] = math.Sqrt(box[k]) * math.Sqrt(c.Unit) * math.Sqrt(all)
		first += (box[k] / c.Unit) * (box[k] / c.Unit)
		second += (unseen[k] / c.Unit) * (unseen[k] / c.Unit)
	}
	first, second = math.Cbrt(first), math.Cbrt(second)
	part := func(sd, error float64) float64 {
		if error == 0 {
			return 0
		}
		return sd / error
	}
	if second == 0 {
		return box, unseen
	}
	for k := range box {
		unseen[k] = (first + second) * math.Hypot(part(box[k], first), part(unseen[k], second))
		box[k] = 0
	}
	return box, unseen
}

// unseenFloor adds the shape against unseen rows to sd.
func (r Request) unseenFloor(sd []float64, u sensitivity.Unseen) {
	relative := func(i int) float64 { return u.Size[i] / r.Components[u.At[i]].Unit }
	cells := map[int]float64{}
	all, squares := 0.0, 0.0
	for i := range u.At {
		cells[u.Cell[i]] += relative(i)
		all += relative(i)
	}
	for i, c := range u.Cell {
		if i == 0 || c != u.Cell[i-1] { // in their order, to the last bit
			squares += float64(u.Rows) * cells[c] * cells[c]
		}
	}
	for i, k := range u.At {
		w := float64(u.Rows) * cells[u.Cell[i]]
		if all*all <= squares {
			w = all
		}
		sd[k] += math.Sqrt(u.Size[i]) * math.Sqrt(r.Components[k].Unit) * math.Sqrt(w)
	}
}
