package joint

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var fused = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// dots computes the inner products of the first n entries, n a multiple of 4, of each row with each column: the inner loop of all the account's
// arithmetic, several times faster in the processor's vectors of four.
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
