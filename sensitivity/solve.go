package sensitivity

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Solve returns C⁻¹v, in time proportional to what a pencil's evaluation takes. An error says that C is malformed, or
// that it is not positive definite as far as rounding lets that be seen.
func (c Covariance) Solve(v []float64) ([]float64, error) {
	x, err := newPencil(c, c, v, nil)
	if err != nil {
		return nil, err
	}
	solved, ok := x.solved()
	if !ok {
		return nil, errNotPositive
	}

	// A pencil has unit variances: SCS with S_k = 1/√C_kk.
	out := make([]float64, len(v))
	variance := c.Diagonal()
	for i, k := range x.order {
		out[k] = solved[i] / math.Sqrt(variance[k])
	}
	return out, nil
}

// Form returns wᵀCw.
func (c Covariance) Form(w []float64) (sum float64) {
	base := 0
	for _, b := range c.Blocks {
		own := w[base : base+b.Size]
		for i, v := range own {
			sum += v * floats.Dot(b.Entries[i*b.Size:(i+1)*b.Size], own)
		}
		base += b.Size
	}
	for _, e := range c.Off {
		sum += 2 * e.Value * w[e.Row] * w[e.Col]
	}
	for _, t := range c.Low {
		along := floats.Dot(t.Vector, w)
		sum += t.Weight * along * along
	}
	return sum
}

// solved returns Q⁻¹ at the vector whose quadratic form is wanted; ok is false where Q is not positive definite, or
// rounding hides whether it is. Rank-one terms come last, as in logDet.
func (x *pencil) solved() (out []float64, ok bool) {
	columns, ok := x.solvedInBlocks()
	if !ok {
		return nil, false
	}
	for _, positive := range []bool{true, false} {
		for i, weight := range x.wq {
			if weight >= 0 != positive || weight == 0 {
				continue
			}

			// (M + w·uuᵀ)⁻¹ = M⁻¹ - w/(1+w·uᵀM⁻¹u) · M⁻¹u uᵀM⁻¹, of each column but the term's own, which is done with.
			u, own := x.u[i], columns[i]
			by := weight * floats.Dot(u, own)
			if !(1+by > cancelled*(1+math.Abs(by))) {
				return nil, false
			}
			for j, column := range columns {
				if j != i {
					floats.AddScaled(column, -weight/(1+by)*floats.Dot(u, column), own)
				}
			}
		}
	}

	out = columns[len(columns)-1]
	return out, finite(floats.Sum(out))
}

// solvedInBlocks returns the inverse of Q without its rank-one terms at each of the vectors.
func (x *pencil) solvedInBlocks() (columns [][]float64, ok bool) {
	r := len(x.u)
	w := &x.real
	w.of(x.elimination, r)
	copy(w.diagonal, x.q)
	copy(w.entries, x.qo)
	for k := range x.order {
		w.inverse[k] = 1 / x.q[k]
		for i, u := range x.u {
			w.side[k*r+i] = u[k]
		}
	}
	factor(x.elimination, w.diagonal, w.entries, w.side, r, w.inverse, w.column)

	// The side is L⁻¹u now: D⁻¹ of it, and then Lᵀ from the last component back to the first.
	for j := len(x.order) - 1; j >= 0; j-- {
		if !(w.diagonal[j] > 0) {
			return nil, false
		}
		own := w.side[j*r : (j+1)*r]
		floats.Scale(w.inverse[j], own)
		for n := x.first[j]; n < x.first[j+1]; n++ {
			later := x.row[n]
			floats.AddScaled(own, -w.entries[n]*w.inverse[j], w.side[later*r:(later+1)*r])
		}
	}

	columns = make([][]float64, r)
	for i := range columns {
		columns[i] = make([]float64, len(x.order))
		for k := range x.order {
			columns[i][k] = w.side[k*r+i]
		}
	}
	return columns, true
}
