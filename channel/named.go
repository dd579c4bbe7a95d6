package channel

import "slices"

// named is the matrix that the weighted columns make, each of which is given the name of a value.
//
// A programme of n equations has a solution of n columns; those that count are the n heaviest, and the rest is
// rounding, which normal puts right. A column takes the name of a value for which it speaks: the assignment is that
// whose truths, less those that would be shown by chance, are the most. (To show most truths would not do: where nearly
// all are of one value, both columns of two would rather have its name, and a shown value could speak against itself.)
func named(columns [][]float64, weights, law []float64) [][]float64 {
	n := len(law)
	order := make([]int, len(columns))
	for r := range order {
		order[r] = r
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case weights[a] > weights[b]:
			return -1
		case weights[a] < weights[b]:
			return 1
		}
		return 0
	})
	order = order[:min(n, len(order))]

	// gain[k][y] is how much more often y is shown where it is true than by chance, if the column k has its name.
	gain := make([][]float64, n)
	for k := range gain {
		gain[k] = make([]float64, n)
		if k >= len(order) {
			continue
		}
		w, v := weights[order[k]], columns[order[k]]
		for y := range n {
			gain[k][y] = w * law[y] * (v[y] - mean(v, law))
		}
	}

	out := make([][]float64, n)
	for x := range out {
		out[x] = make([]float64, n)
	}
	for k, y := range assign(gain) {
		if k >= len(order) {
			continue
		}
		for x := range n {
			out[x][y] = max(0, weights[order[k]]*columns[order[k]][x])
		}
	}
	return normal(out)
}

// normal has rows that add up to 1.
func normal(matrix [][]float64) [][]float64 {
	for _, row := range matrix {
		sum := 0.
		for _, q := range row {
			sum += q
		}
		for y := range row {
			row[y] /= sum
		}
	}
	return matrix
}

// mean is Σ p v.
func mean(v, law []float64) float64 {
	out := 0.
	for x := range v {
		out += law[x] * v[x]
	}
	return out
}
