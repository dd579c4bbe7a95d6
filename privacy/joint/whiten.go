package joint

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// maxWhitened is up to how many components D is measured by S; it costs twice as much as L itself. Beyond, it is
// measured by the noise.
const maxWhitened = 1500

// whited is W = L⁻¹DL⁻ᵀ: D in units of all that hides it, the randomness of the rows as well as the noise.
type whited struct {
	lower  [][]float64 // of W, the i-th row with i+1 entries; nil: too large, or lost
	square float64     // ‖W‖² by Frobenius
	sums   []float64   // of moduli of each row
}

// growing is W as it grows by a release. With L growing by the rows (b, M), D by the rows (d, c) and V = L⁻¹dᵀ,
//
//	W grows by the rows M⁻¹(Vᵀ - bW)  and  M⁻¹(c - bV - (bV)ᵀ + bWbᵀ)M⁻ᵀ.
type growing struct {
	before *whited
	charge *charge
	scale  []float64 // of the old components
	d, c   [][]float64
}

// grow begins a W that has the new components too; nil where it would be too large, or D is 0.
func (p *pair) grow(end int, x *covariances, c *charge) *growing {
	size, width := len(x.before), len(x.noise)
	before := &whited{}
	if p.whited != nil {
		before = p.whited[end]
	}
	if before == nil || x.number != nil || size+width > maxWhitened {
		return nil
	}
	g := &growing{before: before, charge: c, scale: p.scale, d: make([][]float64, width), c: make([][]float64, width)}
	for l := range width {
		g.d[l], g.c[l] = make([]float64, size), make([]float64, width)
	}
	return g
}

// take takes in D of the new component l with the old.
func (g *growing) take(l int, line []float64) {
	if g == nil {
		return
	}
	for k, v := range line {
		g.d[l][k] = v / (g.scale[k] * g.charge.scale[l])
	}
}

// corner takes in D of the new component l with the new.
func (g *growing) corner(l int, line []float64) {
	if g == nil {
		return
	}
	for k, v := range line {
		g.c[l][k] = v / (g.charge.scale[k] * g.charge.scale[l])
	}
}

// whiten returns the grown W.
func (g *growing) whiten(f *factor, goroutines int) *whited {
	if g == nil {
		return nil
	}
	size, width := len(f.rows), len(g.c)
	f.solve(g.d, goroutines)
	b := g.charge.factor
	moved := make([][]float64, width) // W bᵀ
	parallel(width, func(l int) { moved[l] = g.before.times(b[l][:size]) })
	out := &whited{lower: g.before.lower[:size:size], square: g.before.square, sums: make([]float64, size+width)}
	copy(out.sums, g.before.sums)
	corner := make([][]float64, width)
	for l := range width {
		corner[l] = make([]float64, width)
		for m := range width {
			corner[l][m] = g.c[l][m] - dot(b[l][:size], g.d[m]) - dot(b[m][:size], g.d[l]) + dot(b[l][:size], moved[m])
		}
	}

	for l := range width {
		row := make([]float64, size+l+1)
		for k := range size {
			row[k] = g.d[l][k] - moved[l][k]
		}
		g.d[l] = row[:size]
		backward(g.d, b, size, l)
		backward(corner, b, size, l)
		out.lower = append(out.lower, row)
	}

	// From the left M⁻¹ is done; now from the right, of which each row is a column of the transpose.
	for l := range width {
		for m := range width {
			v := corner[l][m]
			for k := range m {
				v -= b[m][size+k] * corner[l][k]
			}
			corner[l][m] = v / b[m][size+m]
		}

		copy(out.lower[size+l][size:], corner[l][:l+1])
	}
	for i := size; i < size+width; i++ {
		for k, v := range out.lower[i] {
			v = math.Abs(v)
			out.sums[i] += v
			if k < i {
				out.sums[k] += v
				out.square += v * v
			}

			out.square += v * v
		}
	}
	return out
}

// backward turns row l of a matrix, of which the rows above are done, into the row of M⁻¹ times it.
func backward(rows, b [][]float64, size, l int) {
	for k := range l {
		for i := range rows[l] {
			rows[l][i] -= b[l][size+k] * rows[k][i]
		}
	}
	for i := range rows[l] {
		rows[l][i] /= b[l][size+l]
	}
}

// times is W·x.
func (w *whited) times(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, row := range w.lower {
		out[i] += dot(row, x)
		if i > 0 {
			blas64.Axpy(x[i], blas64.Vector{N: i, Inc: 1, Data: row}, blas64.Vector{N: i, Inc: 1, Data: out})
		}
	}
	return out
}
