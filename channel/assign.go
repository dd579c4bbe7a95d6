package channel

import "math"

// assign gives each row a column of its own, so that the gains of what was assigned add up to the most: the Hungarian
// method with potentials [Kuhn 1955; Munkres 1957], in time cubic in the rows. gain is square.
func assign(gain [][]float64) []int {
	n := len(gain)
	u, v := make([]float64, n+1), make([]float64, n+1) // potentials of rows and columns, from 1
	owner, before := make([]int, n+1), make([]int, n+1)

	for row := 1; row <= n; row++ {
		// A shortest path, in reduced costs, from the new row to a column that nobody owns; column 0 stands for the
		// row.
		least, done := make([]float64, n+1), make([]bool, n+1)
		for j := range least {
			least[j] = math.Inf(1)
		}
		owner[0] = row
		at := 0
		for owner[at] != 0 {
			done[at] = true
			of, next, step := owner[at], 0, math.Inf(1)
			for j := 1; j <= n; j++ {
				if done[j] {
					continue
				}
				if cost := -gain[of-1][j-1] - u[of] - v[j]; cost < least[j] {
					least[j], before[j] = cost, at
				}
				if least[j] < step {
					step, next = least[j], j
				}
			}
			for j := range least {
				if done[j] {
					u[owner[j]] += step
					v[j] -= step
				} else {
					least[j] -= step
				}
			}
			at = next
		}

		// Along the path every column goes to the row before it.
		for at != 0 {
			owner[at] = owner[before[at]]
			at = before[at]
		}
	}

	out := make([]int, n)
	for j := 1; j <= n; j++ {
		out[owner[j]-1] = j - 1
	}
	return out
}
