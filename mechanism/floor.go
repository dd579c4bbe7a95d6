package mechanism

import (
	"math"

	"fugu/sensitivity"
)

// besideFloor is the shape of Gaussian noise against what is beside the directions: standard deviations of about the
// least error Σ_k (sd_k/u_k)² for which it is a Gaussian shift of about κ = 1, for the secret that needs most in each
// component; 0 where nothing is beside. It only guides a search. Where there is Unseen it is exact: sensitivity.Release
// sets just so much aside. Against Beside alone a share of all is set aside; that is box.
//
// For a box of sides b_k the least error at κ² = Σ (b_k/sd_k)² is that of sd_k² = b_k·u_k·W, W = Σ b_k/u_k (Lagrange).
// For one unseen row it is that within each cell c, W_c the sum over the cell: each cell then has κ = 1 by itself. So
// it is for Rows of them, with Rows times the variance, unless the box is cheaper. Two parts of errors E₁ and E₂ at κ =
// 1 cost least together at κ_i in proportion to E_i^⅓.
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

	// Against a box, variances in proportion to its sides are cheapest (Lagrange); in proportion to how much error may
	// cost.
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

	// The two share κ so that together they cost least.
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

// unseenFloor adds the shape against unseen rows to sd: within a cell as if it were all, times the root of what times
// adds up to in all the cells that may hold rows together.
func (r Request) unseenFloor(sd []float64, u sensitivity.Unseen) {
	relative := func(i int) float64 { return u.Size[i] / r.Components[u.At[i]].Unit }
	cells := map[int]float64{}
	all, squares := 0.0, 0.0
	var apart [2]float64 // Σ W² of cells that are not shown, and of those that are
	for i := range u.At {
		cells[u.Cell[i]] += relative(i)
		all += relative(i)
	}

	// Of the cells that are shown, at most one can hold a row that is not seen: they are counted apart.
	kind := func(i int) int {
		if u.Shown != nil && u.Shown[i] {
			return 1
		}
		return 0
	}

	for i, c := range u.Cell {
		if i == 0 || c != u.Cell[i-1] { // in their order, to the last bit
			apart[kind(i)] += cells[c] * cells[c]
		}
	}

	// A single row of all cells together may need less than the rows of each.
	times := share(u.Rows, apart)
	for i := range apart {
		squares += times[i] * apart[i]
	}
	for i, k := range u.At {
		w := times[kind(i)] * cells[u.Cell[i]]
		if all*all <= squares {
			w = all
		}
		sd[k] += math.Sqrt(u.Size[i]) * math.Sqrt(r.Components[k].Unit) * math.Sqrt(w)
	}
}

// share divides κ² = 1 between cells that hold rows of the given number, those that are not shown and those that are:
// times[i] is one over what a cell has of it. With x of it in each cell that is not shown, and y in each that is, x ≤
// y, (rows-1)·x + y = 1 in all; the error Σ W²/x + Σ W²/y is least where x is to y as the roots of Σ W²/(rows-1) and of
// Σ W² of those shown (Lagrange).
func share(rows int, squares [2]float64) (times [2]float64) {
	others := float64(rows - 1)
	if others == 0 || squares[0] == 0 { // at most one cell holds a row
		return [2]float64{1, 1}
	}
	x, y := math.Sqrt(squares[0]/others), math.Sqrt(squares[1])
	if y < x {
		x, y = 1, 1
	}
	return [2]float64{(others*x + y) / x, (others*x + y) / y}
}
