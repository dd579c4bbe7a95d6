package sensitivity

import (
	"fmt"
	"math"
	"slices"
)

// Unseen is what rows that a reference does not show add to a movement of F. Its cells are disjoint: a row is in one of
// them, and adds to all components of that cell at once. So the movements are
//
//	r with |r_k| ≤ a_c·Size_k for component k of cell c, and 0 for the others, 0 ≤ a_c ≤ 1, Σ_c a_c ≤ Rows:
//
// for one row and one component a cell an L1 ball, the convex hull of ±Size_k e_k. For as many rows as cells it is a
// box. Of cells that are Shown, a_c adds up to at most 1 besides. The extreme points have a_c = 1 in at most Rows
// cells, of which at most one is Shown, and a_c = 0 in the rest [the sums are over nested sets of cells, so that the
// constraints' matrix is totally unimodular]. A convex function is greatest in one of them, which makes both norms
// below exact.
//
// What disjoint cells have in common is what makes this smaller than a box: each cell by itself may hold a row that was
// never seen, and 100 of them together do not hold 100.
type Unseen struct {
	Rows int       // at least 1
	At   []int     // the components that it moves, cell after cell
	Cell []int     // of each of At: a number that its cell has alone
	Size []float64 // of each of At: what one row adds at most, in F's units

	// Shown says of each of At whether the reference has rows of the kind in its cell: more than one row is in cells
	// that are not. nil: none is.
	Shown []bool
	// Sign tells which sets of one Shift cannot add up: in one order of a pair, and in the other likewise, what the
	// rows of a set of sign 1 and those of one of sign -1 add to a component never has the same sign. 0: it may be
	// anything.
	Sign int
}

// Check reports what does not fit a Shift of m components. A cell in two places would count as two cells.
func (u Unseen) Check(m int) error {
	if u.Rows < 1 || len(u.Cell) != len(u.At) || len(u.Size) != len(u.At) ||
		u.Shown != nil && len(u.Shown) != len(u.At) || u.Sign < -1 || u.Sign > 1 {
		return fmt.Errorf("%d unseen rows, in %d components of %d cells, of %d sizes", u.Rows, len(u.At), len(u.Cell),
			len(u.Size))
	}

	// The components of a cell follow one another, so that one pass can add them up.
	component, cell := make([]bool, m), map[int]bool{}
	for i, k := range u.At {
		if k < 0 || k >= m || component[k] {
			return fmt.Errorf("unseen rows in component %d of %d, or twice in it", k, m)
		}
		component[k] = true
		if i == 0 || u.Cell[i] != u.Cell[i-1] {
			if cell[u.Cell[i]] {
				return fmt.Errorf("unseen rows in cell %d, whose components do not follow one another", u.Cell[i])
			}
			cell[u.Cell[i]] = true
		} else if u.shown(i) != u.shown(i-1) {
			return fmt.Errorf("unseen rows in cell %d, which is shown and is not", u.Cell[i])
		}

		if v := u.Size[i]; !(v >= 0 && finite(v)) {
			return fmt.Errorf("what unseen rows add to component %d is not finite, or negative", k)
		}
	}
	return nil
}

func (u Unseen) shown(i int) bool { return u.Shown != nil && u.Shown[i] }

// Norm1 is the greatest Σ_k |r_k|/scale_k. A component of which scale is +Inf does not count.
func (u Unseen) Norm1(scale []float64) float64 {
	return u.greatest(func(i int) float64 { return u.Size[i] / scale[u.At[i]] })
}

// Norm2 is the greatest (Σ_k (r_k/sd_k)²)^½. A component of which sd is +Inf does not count.
func (u Unseen) Norm2(sd []float64) float64 {
	return math.Sqrt(u.greatest(func(i int) float64 {
		v := u.Size[i] / sd[u.At[i]]
		return v * v
	}))
}

// even raises weight to what each component needs of noise of standard deviations sd, 1 being all of it, for u to have
// the norm that it has with all of it: cells that do not count among the largest need no more than makes them as large
// as the last of these.
func (u Unseen) even(weight, sd []float64) {
	var hidden, shown []float64
	sum := make([]float64, len(u.At)) // of the cell of each of At
	// The square of what each cell moves by, in units of the noise.
	for from := 0; from < len(u.At); {
		to, total := from, 0.0
		for ; to < len(u.At) && u.Cell[to] == u.Cell[from]; to++ {
			total += u.Size[to] / sd[u.At[to]] * u.Size[to] / sd[u.At[to]]
		}
		for i := from; i < to; i++ {
			sum[i] = total
		}
		if u.shown(from) {
			shown = append(shown, total)
		} else {
			hidden = append(hidden, total)
		}

		from = to
	}

	if len(u.At) == 0 {
		return
	}
	// Rows-1 of the cells that are not shown count, and the largest of the rest.
	slices.Sort(hidden)
	slices.Reverse(hidden)
	last, least := 0.0, math.Inf(1)
	if len(shown) > 0 {
		last = slices.Max(shown)
	}
	if u.Rows <= len(hidden) {
		last = math.Max(last, hidden[u.Rows-1])
	}
	if n := min(u.Rows-1, len(hidden)); n > 0 {
		least = hidden[n-1]
	}

	// The level that a cell may reach: that of the last that counts, or its own where it counts anyway.
	for i, k := range u.At {
		level := last
		if !u.shown(i) && u.Rows > 1 {
			level = math.Min(least, math.Max(last, sum[i]))
		}
		switch share := sum[i] / level; {
		case share < 1 && u.Size[i] != 0: // a square may have become 0
			weight[k] = math.Max(weight[k], math.Max(share, 1e-30))
		case share < 1:
		case u.Size[i] != 0: // NaN, too
			weight[k] = 1
		}
	}
}

// beside is the greatest (Σ_k ((v_k+r_k)/sd_k)²)^½ for v ≥ 0, of which alone is that without r.
func (u Unseen) beside(v []float64, alone float64, sd []float64) float64 {
	return math.Sqrt(alone*alone + u.greatest(func(i int) float64 {
		k := u.At[i]
		return u.Size[i] / sd[k] * (2*v[k] + u.Size[i]) / sd[k]
	}))
}

// greatest adds a quantity of the components, at least 0, up within cells, and returns the sum of the Rows largest
// cells of which at most one is shown.
func (u Unseen) greatest(of func(i int) float64) float64 {
	most, shown, total := 0.0, 0.0, 0.0
	var hidden []float64
	for i := 0; i < len(u.At); {
		sum, cell, at := 0.0, u.Cell[i], i
		for ; i < len(u.At) && u.Cell[i] == cell; i++ {
			sum += of(i)
		}
		most = math.Max(most, sum)
		if u.shown(at) {
			shown = math.Max(shown, sum)
		} else if u.Rows > 1 {
			hidden = append(hidden, sum)
		}
	}

	// With one row nothing is to be sorted.
	if u.Rows == 1 {
		return most
	}

	// The last row is in the largest shown cell, or in the next hidden one.
	slices.Sort(hidden)
	slices.Reverse(hidden)
	if u.Rows <= len(hidden) {
		shown = math.Max(shown, hidden[u.Rows-1])
	}
	for _, v := range hidden[:min(u.Rows-1, len(hidden))] {
		total += v
	}
	return total + shown
}

// Cells is the number of cells.
func (u Unseen) Cells() int {
	n := 0
	for i := range u.At {
		if i == 0 || u.Cell[i] != u.Cell[i-1] {
			n++
		}
	}
	return n
}

// box adds to each component of out what it moves by at most.
func (u Unseen) box(out []float64) {
	for i, k := range u.At {
		out[k] += u.Size[i]
	}
}

// placed returns u with its components counted from offset on.
func (u Unseen) placed(offset int) Unseen {
	u.At = slices.Clone(u.At)
	for i := range u.At {
		u.At[i] += offset
	}
	return u
}

// Cover returns what holds the movements of a as well as of b, which have to be lists of as many rows, each in the same
// cells of the same components: otherwise the error says where they are not.
func Cover(a, b []Unseen) ([]Unseen, error) {
	if len(a) != len(b) {
		return nil, fmt.Errorf("unseen rows of %d kinds do not cover those of %d", len(a), len(b))
	}

	out := slices.Clone(a)
	alike, opposite := true, true // the signs of both lists
	for i, u := range out {
		v := b[i]
		if !slices.Equal(u.At, v.At) || !slices.Equal(u.Cell, v.Cell) {
			return nil, fmt.Errorf("unseen rows of kind %d are in other cells", i)
		}
		alike, opposite = alike && u.Sign == v.Sign, opposite && u.Sign == -v.Sign

		out[i].Rows, out[i].Size = max(u.Rows, v.Rows), slices.Clone(u.Size)
		for j := range v.Size {
			out[i].Size[j] = math.Max(u.Size[j], v.Size[j])
		}

		// A cell counts as shown only where both say so.
		if u.Shown == nil || v.Shown == nil {
			out[i].Shown = nil
			continue
		}
		out[i].Shown = slices.Clone(u.Shown)
		for j, shown := range v.Shown {
			out[i].Shown[j] = u.Shown[j] && shown
		}
	}

	// If some signs are alike and some are opposite, no sign holds for all.
	for i := range out {
		if !alike && !opposite {
			out[i].Sign = 0
		}
	}
	return out, nil
}
