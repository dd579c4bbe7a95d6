package sensitivity

import (
	"errors"
	"fmt"
	"math"
)

// Scatter is what is left to chance in a movement of F, where two datasets are coupled: they differ in some rows only,
// each drawn for itself, and F moves by S = E S + Σ Y_i, a sum of independent terms. A Shift with a Scatter says that S
// is a·Along + r + Σ Y_i; Norm1 and Norm2 bound the sum in the metric of the noise that shall hide it.
//
// Z = ‖Σ Y_i‖ is the supremum of a centred empirical process: over the unit ball's functionals u for the Euclidean
// norm, over signs for the sum norm. With E Z ≤ e, Var u·Σ Y_i ≤ v for each u, and |u·Y_i| ≤ b [Klein & Rio 2005,
// "Concentration around the mean for maxima of empirical processes", Theorem 1.1]
//
//	Pr(Z ≥ e + x) ≤ exp(-x²/(2(v + 2be) + 3bx)).
//
// A row of the data has h ≠ 0 in one cell of each layer only. That makes v the greatest, not the sum, over a layer's
// cells.
type Scatter struct {
	Variance []float64 // of each component: Σ Var Y_i
	Second   []float64 // of each component: Σ E h², h the rows that the Y_i are made of
	Extent   []float64 // of each component: the most by which h differs between two rows
	Cell     []int     // the cell of each component, cells of different layers having different numbers
	Layer    []int     // of each component's cell
	Rows     int       // that one Y_i is made of: 1, or 2 of opposite signs

	Failure float64 // the probability that a norm is larger than its bound; above 0, below 1
	Beside  float64 // the probability that the Shift's Beside does not hold, where it bounds chance too
}

// Check reports what does not fit a Shift of m components.
func (s *Scatter) Check(m int) error {
	if len(s.Variance) != m || len(s.Second) != m || len(s.Extent) != m || len(s.Cell) != m || len(s.Layer) != m {
		return errors.New("a scatter of other components")
	}
	for k := range m {
		for _, v := range []float64{s.Variance[k], s.Second[k], s.Extent[k]} {
			if !(v >= 0 && finite(v)) {
				return fmt.Errorf("the scatter of component %d is not finite, or negative", k)
			}
		}
	}
	if !(s.Failure > 0 && s.Failure < 1 && s.Beside >= 0 && s.Beside < 1) || s.Rows < 1 || s.Rows > 2 {
		return errors.New("a scatter without a failure probability, or of more than two rows")
	}
	return nil
}

// Norm2 bounds (Σ_k (ΣY)_k²/sd_k²)^½ but for probability Failure. A component of which sd is +Inf does not count.
func (s *Scatter) Norm2(sd []float64) float64 {
	trace, layers := 0.0, s.layers(func(k int) [2]float64 {
		trace := s.Second[k] / sd[k] / sd[k]
		return [2]float64{trace, s.Extent[k] * s.Extent[k] / sd[k] / sd[k]}
	})
	for k, v := range s.Variance {
		trace += v / sd[k] / sd[k]
	}
	// E Z ≤ (E Z²)^½. A cell's second moments are at most their trace, and those of layers together at most their sum
	// (Cauchy-Schwarz); a term of two rows of opposite signs has at most twice those of both.
	var v, b2 float64
	for _, l := range layers {
		v += l.most[0]
		b2 += l.most[1]
	}
	rows := float64(s.Rows)
	return s.bound(math.Sqrt(trace), math.Min(trace, rows*v), rows*math.Sqrt(2*b2))
}

// Norm1 bounds Σ_k |(ΣY)_k|/scale_k but for probability Failure. A component of which scale is +Inf does not count.
func (s *Scatter) Norm1(scale []float64) float64 {
	mean, layers := 0.0, s.layers(func(k int) [2]float64 {
		return [2]float64{math.Sqrt(s.Second[k]) / scale[k], s.Extent[k] / scale[k]}
	})
	for k, v := range s.Variance {
		mean += math.Sqrt(v) / scale[k]
	}
	// Minkowski's inequality within a cell; a layer's cells add up, as a row is in one of them; Minkowski's over
	// layers.
	var root, b float64
	for _, l := range layers {
		root += math.Sqrt(l.squares)
		b += l.most[1]
	}
	rows := float64(s.Rows)
	return s.bound(mean, rows*root*root, rows*2*b)
}

// layer holds, over its cells, the greatest sums of two quantities, and the sum of squares of the first.
type layer struct {
	most    [2]float64
	squares float64
}

// layers sums quantities of the components within cells.
func (s *Scatter) layers(of func(k int) [2]float64) []layer {
	var cells [][2]float64
	var layers []layer
	// Cells and layers are numbered as they come, so that sums do not depend on the order of a map.
	cell, home := map[int]int{}, []int{} // number of a cell to its place; its layer's place
	place := map[int]int{}
	for k, c := range s.Cell {
		i, ok := cell[c]
		if !ok {
			l, ok := place[s.Layer[k]]
			if !ok {
				l = len(layers)
				place[s.Layer[k]], layers = l, append(layers, layer{})
			}
			i = len(cells)
			cell[c], cells, home = i, append(cells, [2]float64{}), append(home, l)
		}

		q := of(k)
		cells[i][0], cells[i][1] = cells[i][0]+q[0], cells[i][1]+q[1]
	}

	for i, sum := range cells {
		l := &layers[home[i]]
		l.most[0], l.most[1] = math.Max(l.most[0], sum[0]), math.Max(l.most[1], sum[1])
		l.squares += sum[0] * sum[0]
	}
	return layers
}

// bound solves exp(-x²/(2(v + 2be) + 3bx)) = Failure and returns e + x.
func (s *Scatter) bound(e, v, b float64) float64 {
	t := -math.Log(s.Failure)
	return e + (3*b*t+math.Sqrt(9*b*b*t*t+8*t*(v+2*b*e)))/2
}

// place puts a part's scatter into one of all components, from offset on.
func (s *Scatter) place(whole **Scatter, total, offset int) {
	if s == nil {
		return
	}
	if *whole == nil {
		*whole = &Scatter{Variance: make([]float64, total), Second: make([]float64, total),
			Extent: make([]float64, total), Cell: make([]int, total), Layer: make([]int, total)}
		for k := range total {
			(*whole).Cell[k], (*whole).Layer[k] = -1-k, -1-k // components that the secret does not move
		}
	}

	w := *whole
	copy(w.Variance[offset:], s.Variance)
	copy(w.Second[offset:], s.Second)
	copy(w.Extent[offset:], s.Extent)
	for k := range s.Cell { // another part is another statement over the same rows: other layers
		w.Cell[offset+k], w.Layer[offset+k] = offset+s.Cell[k], offset+s.Layer[k]
	}

	// The worst of the parts holds for all of them.
	w.Rows = max(w.Rows, s.Rows)
	w.Failure = math.Max(w.Failure, s.Failure)
	w.Beside += s.Beside
}
