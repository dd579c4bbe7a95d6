//go:build !amd64

package joint

import "unsafe"

// dots computes the inner products of the first n entries of each row with each column.
func dots(n int, rows *[lanes]*float64, columns *[abreast]*float64, out *[lanes * abreast]float64) {
	for r, row := range rows {
		for c, column := range columns {
			out[r*abreast+c] = dot(unsafe.Slice(row, n), unsafe.Slice(column, n))
		}
	}
}
