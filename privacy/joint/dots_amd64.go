package joint

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var fused = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// dots computes the inner products of the first n entries, n a multiple of 4, of each row with each column: the inner
// loop of all the account's arithmetic.
//
// It is written by hand because nothing well-kept comes near it. Twenty right-hand sides against a factor of 4,000 rows
// take 14 ms of one processor by it, 49 ms by blas64.Dot, 54 ms by blas64.Gemm and Trsm in blocks of 64 (dense, in
// place of rows), and 87 ms by the same tile of twelve sums in Go: gonum's kernels have vectors of two and no fused
// product. A charge (BenchmarkCharge200x20) takes 21 ms of one processor by it, and 58 ms by blas64.Dot, which is what
// processors without AVX2 get.
func dots(n int, rows *[lanes]*float64, columns *[abreast]*float64, out *[lanes * abreast]float64) {
	switch {
	case n == 0:
		*out = [lanes * abreast]float64{}
	case fused:
		dotsFused(n, rows, columns, out)
	default:
		for r, row := range rows {
			for c, column := range columns {
				out[r*abreast+c] = dot(unsafe.Slice(row, n), unsafe.Slice(column, n))
			}
		}
	}
}

//go:noescape
func dotsFused(n int, rows *[lanes]*float64, columns *[abreast]*float64, out *[lanes * abreast]float64)
