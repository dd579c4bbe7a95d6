package joint

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// factor is a lower triangular L with LL' = S, row by row, S growing by rows and columns.
type factor struct {
	rows [][]float64 // the i-th has i+1 entries
}

// abreast is the most right-hand sides that pass over L together: L is larger than caches, and they should not be.
const abreast = 24

// solve replaces each of the vectors, in its first len(rows) entries, by L⁻¹ of it, by so many goroutines.
func (f *factor) solve(vectors [][]float64, goroutines int) {
	parts := min(len(vectors), max((len(vectors)+abreast-1)/abreast, goroutines))
	parallel(parts, func(p int) {
		f.forward(vectors[p*len(vectors)/parts : (p+1)*len(vectors)/parts])
	})
}

// forward is solve, by one goroutine.
func (f *factor) forward(vectors [][]float64) {
	// An entry of all vectors stands together, so that a row of L is read once for all of them.
	m := len(vectors)
	x := make([]float64, len(f.rows)*m)
	for c, v := range vectors {
		for i := range f.rows {
			x[i*m+c] = v[i]
		}
	}

	// The entries before the i-th are solved: what they take of it is their product with the row.
	for i, row := range f.rows {
		entry := blas64.Vector{N: m, Inc: 1, Data: x[i*m : (i+1)*m]}
		if i > 0 {
			before := blas64.General{Rows: i, Cols: m, Stride: m, Data: x}
			blas64.Gemv(blas.Trans, -1, before, blas64.Vector{N: i, Inc: 1, Data: row}, 1, entry)
		}
		for c := range entry.Data {
			entry.Data[c] /= row[i]
		}
	}

	for c, v := range vectors {
		for i := range f.rows {
			v[i] = x[i*m+c]
		}
	}
}

// dot is the inner product of x and as much of y.
func dot(x, y []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	return blas64.Dot(blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(x), Inc: 1, Data: y})
}

var errSingular = errors.New("the covariances of all releases together are too near singular for arithmetic")

// extend turns the rows that S grows by, already solved as far as L goes, into rows of L. least are lower bounds on
// what is left of their diagonals, which hold but for rounding.
func (f *factor) extend(rows [][]float64, least []float64) error {
	size := len(f.rows)
	for l, row := range rows {
		// One more right-hand side for the rows before it that are new as well.
		parallel((l+solvedAtOnce-1)/solvedAtOnce, func(p int) {
			for k := p * solvedAtOnce; k < min(l, (p+1)*solvedAtOnce); k++ {
				row[size+k] -= dot(row[:size], rows[k])
			}
		})
		for k := range l {
			row[size+k] = (row[size+k] - dot(row[size:size+k], rows[k][size:])) / rows[k][size+k]
		}
		d := row[size+l] - dot(row[:size+l], row)
		if !(d >= least[l]*(1-1e-6)) || math.IsInf(d, 1) {
			return errSingular
		}
		row[size+l] = math.Sqrt(d)
	}
	return nil
}

// solvedAtOnce is how many products are worth a goroutine.
const solvedAtOnce = 64

// whiten returns the part of L⁻¹x that belongs to new rows, from what it is before and x's own part.
func whiten(rows [][]float64, before, x []float64) []float64 {
	all := append(append([]float64(nil), before...), x...)
	for l, row := range rows {
		i := len(before) + l
		all[i] = (all[i] - dot(row[:i], all)) / row[i]
	}
	return all[len(before):]
}
