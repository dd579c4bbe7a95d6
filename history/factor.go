package history

import (
	"errors"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// factor is a lower triangular L with LL' = S, S growing by blocks of rows and columns.
type factor struct {
	size   int
	blocks []block
}

// block is some rows of L, as far as the diagonal goes.
type block struct {
	first, width int
	rows         []float64 // width × (first+width)
}

func (b block) stride() int { return b.first + b.width }

// solve replaces the columns of w, of so many rows as L has, by L⁻¹ of them.
func (f *factor) solve(w blas64.General) {
	if f.size == 0 {
		return
	}
	parts := min(w.Cols, 2)
	parallel(parts, func(p int) {
		from, to := p*w.Cols/parts, (p+1)*w.Cols/parts
		f.forward(blas64.General{Rows: w.Rows, Cols: to - from, Stride: w.Stride, Data: w.Data[from:]})
	})
}

func (f *factor) forward(w blas64.General) {
	for _, b := range f.blocks {
		part := blas64.General{Rows: b.width, Cols: w.Cols, Stride: w.Stride, Data: w.Data[b.first*w.Stride:]}
		if b.first > 0 {
			before := blas64.General{Rows: b.first, Cols: w.Cols, Stride: w.Stride, Data: w.Data}
			blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, blas64.General{Rows: b.width, Cols: b.first, Stride: b.stride(), Data: b.rows}, before, 1, part)
		}
		blas64.Trsm(blas.Left, blas.NoTrans, 1, b.triangle(), part)
	}
}

func (b block) triangle() blas64.Triangular {
	return blas64.Triangular{N: b.width, Stride: b.stride(), Uplo: blas.Lower, Diag: blas.NonUnit, Data: b.rows[b.first:]}
}

var errSingular = errors.New("the covariances of all releases together are too near singular for arithmetic")

// next returns the block by which L grows when S grows by the columns w below it, already solved, and the corner. least are
// lower bounds on what is left of the corner's diagonal, which hold but for rounding.
func (f *factor) next(w blas64.General, corner []float64, least []float64) (block, error) {
	b := block{first: f.size, width: len(least)}
	b.rows = make([]float64, b.width*b.stride())
	c := blas64.Symmetric{N: b.width, Stride: b.width, Uplo: blas.Lower, Data: append([]float64(nil), corner...)}
	if f.size > 0 {
		blas64.Syrk(blas.Trans, -1, w, 1, c)
		for k := range w.Rows {
			for l := range b.width {
				b.rows[l*b.stride()+k] = w.Data[k*w.Stride+l]
			}
		}
	}
	if _, ok := lapack64.Potrf(c); !ok {
		return b, errSingular
	}
	for l := range b.width {
		for k := range l + 1 {
			b.rows[l*b.stride()+b.first+k] = c.Data[l*b.width+k]
		}
		if d := c.Data[l*b.width+l]; !(d*d >= least[l]*(1-1e-6)) {
			return b, errSingular
		}
	}
	return b, nil
}

// whiten returns the part of L⁻¹x that belongs to b, from what it is before and x's own part.
func (b block) whiten(before, x []float64) []float64 {
	out := append([]float64(nil), x...)
	for l := range b.width {
		row := b.rows[l*b.stride():]
		for k, v := range before {
			out[l] -= row[k] * v
		}
		for k := range l {
			out[l] -= row[b.first+k] * out[k]
		}
		out[l] /= row[b.first+l]
	}
	return out
}

// grow appends a block.
func (f *factor) grow(b block) {
	f.blocks = append(f.blocks, b)
	f.size += b.width
}
