package policy

import (
	"math"

	"fugu/internal/strictyaml"
)

// vectorOf reads a list of numbers of reasonable size.
func vectorOf(v *strictyaml.Value) ([]float64, bool) {
	items, ok := v.List()
	out := make([]float64, len(items))
	for i, item := range items {
		x, number := item.Float()
		if number && !(math.Abs(x) <= maxMean) {
			item.Bad("", "%s: %v is not a number of reasonable size", v.Path, x)
			number = false
		}
		out[i], ok = x, ok && number
	}
	return out, ok
}

// matrixOf reads a symmetric positive semidefinite matrix, row by row.
func matrixOf(v *strictyaml.Value, size int) ([][]float64, bool) {
	rows, ok := v.List()
	if !ok || !counted(v, len(rows), size, "one row for each component") {
		return nil, false
	}
	var m [][]float64
	for _, row := range rows {
		x, good := vectorOf(row)
		if !good || !counted(row, len(x), size, "one number for each component") {
			return nil, false
		}
		m = append(m, x)
	}

	// It is written whole, so that the two halves check each other.
	for i := range m {
		for j := range i {
			if m[i][j] != m[j][i] {
				v.Bad("write the same number in both places", "%s: entry (%d, %d) is %v, and (%d, %d) is %v", v.Path,
					i+1, j+1, m[i][j], j+1, i+1, m[j][i])
				return nil, false
			}
		}
	}

	if !semidefinite(m) {
		v.Bad("give the covariances of a distribution", "%s is not positive semidefinite", v.Path)
		return nil, false
	}
	return m, true
}

// semidefinite reports whether a symmetric matrix is positive semidefinite up to rounding: Gaussian elimination on the
// matrix of correlations, the largest pivot first, meets no negative pivot.
func semidefinite(m [][]float64) bool {
	n := len(m)
	a := make([][]float64, n)
	for i := range m {
		a[i] = make([]float64, n)
		for j := range m {
			a[i][j] = m[i][j]
			if scale := math.Sqrt(m[i][i]) * math.Sqrt(m[j][j]); scale > 0 {
				a[i][j] /= scale
			} else if m[i][j] != 0 || m[i][i] < 0 {
				return false
			}
		}
	}

	const tolerance = 1e-9
	done := make([]bool, n)
	for range n {
		p := -1
		for i := range n {
			if !done[i] && (p < 0 || a[i][i] > a[p][p]) {
				p = i
			}
		}
		if !(a[p][p] > tolerance) {
			break
		}
		done[p] = true

		// What is left is the matrix given those that are done (the Schur complement).
		for i := range n {
			for j := range n {
				if !done[i] && !done[j] {
					a[i][j] -= a[i][p] * a[p][j] / a[p][p]
				}
			}
		}
	}

	// Where no variance is left there is no covariance, or a negative pivot would come of it.
	for i := range n {
		for j := range n {
			if !done[i] && !done[j] && (math.Abs(a[i][j]) > 1e3*tolerance || math.IsNaN(a[i][j])) {
				return false
			}
		}
	}
	return true
}

func counted(v *strictyaml.Value, got, want int, what string) bool {
	if v != nil && v.Kind == strictyaml.List && got != want {
		v.Bad("write "+what, "%s has %d entries, not %d", v.Path, got, want)
	}
	return got == want
}

// maxMean keeps differences and squares of means in float64.
const maxMean = 1e100

// rounding is how far the difference of two proportions in decimal may be from the float64 difference.
const rounding = 1e-12
