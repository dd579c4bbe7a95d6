package joint

import (
	"errors"
	"math"
)

// factor is a lower triangular L with LL' = S, row by row, S growing by rows and columns.
type factor struct {
	rows [][]float64 // the i-th has i+1 entries
}

// lanes is how many rows are solved at a time, and abreast how many right-hand sides: see dots.
const lanes, abreast = 4, 3

// solve replaces each of the vectors, in its first len(rows) entries, by L⁻¹ of it, by so many goroutines.
func (f *factor) solve(vectors [][]float64, goroutines int) {
	batches := (len(vectors) + abreast - 1) / abreast
	// The vectors of a part pass over L together: L is larger than caches, and they should not be.
	const most = 8 * abreast
	parts := max(1, min(batches, max((len(vectors)+most-1)/most, goroutines)))
	parallel(parts, func(p int) {
		from, to := abreast*(p*batches/parts), min(abreast*((p+1)*batches/parts), len(vectors))
		f.forward(vectors[from:to])
	})
}

// forward is solve, by one goroutine.
func (f *factor) forward(vectors [][]float64) {
	var rows [lanes]*float64
	var out [lanes * abreast]float64
	for i := 0; i < len(f.rows); i += lanes {
		n := min(lanes, len(f.rows)-i)
		for r := range rows {
			rows[r] = &f.rows[i+min(r, n-1)][0]
		}

		// Rows and vectors are taken in blocks, so that a row is read once for several vectors. At the end of either
		// the last one fills the block, and what is computed of it is not used.
		for j := 0; j < len(vectors); j += abreast {
			var columns [abreast]*float64
			for c := range columns {
				columns[c] = &vectors[min(j+c, len(vectors)-1)][0]
			}
			dots(i, &rows, &columns, &out)
			for c := range min(abreast, len(vectors)-j) {
				x := vectors[j+c][i : i+n]
				for r := range x {
					row := f.rows[i+r]
					v := x[r] - out[r*abreast+c]
					for k := range r {
						v -= row[i+k] * x[k]
					}
					x[r] = v / row[i+r]
				}
			}
		}
	}
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
