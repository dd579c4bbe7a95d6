package sensitivity

import (
	"math/bits"
	"slices"
)

// elimination is the order in which symmetric matrices of one shape are brought to the form LDLᵀ, and where L then has
// entries below its diagonal. Groups of a grouping set, and those of one that is finer, meet in few places: eliminated
// in the order of minimum degree [Tinney & Walker, "Direct solutions of sparse network equations by optimally ordered
// triangular factorization", 1967], L has little more entries than they have.
type elimination struct {
	order []int // order[i] is the component that goes as the i-th
	place []int // its inverse
	alone int   // so many, the first, meet no other
	first []int // of each column, where its entries start; and their number
	row   []int // of each entry, by column and ascending within
	col   []int // of each entry
	back  [][]int
	// back are, for each row, the entries in it.
}

// work is about how many multiplications one elimination takes.
func (e *elimination) work() float64 {
	total := float64(len(e.order))
	for j := range e.order {
		n := float64(e.first[j+1] - e.first[j])
		total += n * (n + 2)
	}
	return total
}

// at returns the entry for two components that meet.
func (e *elimination) at(k, l int) int {
	i, j := e.place[k], e.place[l]
	if i > j {
		i, j = j, i
	}
	n, ok := slices.BinarySearch(e.row[e.first[i]:e.first[i+1]], j)
	if !ok {
		return -1
	}
	return e.first[i] + n
}

// holds reports whether the order is one of m components and has room for all pairs that meet. A pair is never where
// both would be alone.
func (e *elimination) holds(m int, pairs [][2]int) bool {
	return e != nil && len(e.order) == m && !slices.ContainsFunc(pairs,
		func(p [2]int) bool { return e.at(p[0], p[1]) < 0 })
}

// newElimination orders m components of which some pairs meet.
func newElimination(m int, pairs [][2]int) *elimination {
	e := &elimination{place: make([]int, m), first: make([]int, 1, m+1), back: make([][]int, m)}

	near := make([][]int, m)
	for _, p := range pairs {
		near[p[0]], near[p[1]] = append(near[p[0]], p[1]), append(near[p[1]], p[0])
	}

	// Components that are linked, over others too, make a group. Groups do not notice each other, and are ordered each
	// by itself; what is near to none goes first.
	below := make([][]int, m) // of each component, what its column of L has
	seen := make([]bool, m)
	var linked []int
	for k := range m {
		switch {
		case len(near[k]) == 0:
			e.order = append(e.order, k)
		case !seen[k]:
			group := []int{k}
			seen[k] = true
			for i := 0; i < len(group); i++ {
				for _, l := range near[group[i]] {
					if !seen[l] {
						seen[l] = true
						group = append(group, l)
					}
				}
			}

			slices.Sort(group)
			linked = append(linked, eliminated(group, near, below)...)
		}
	}

	e.alone = len(e.order)
	e.order = append(e.order, linked...)
	for i, k := range e.order {
		e.place[k] = i
	}

	// The shape of L by columns; back has it by rows.
	for j, k := range e.order {
		rows := make([]int, len(below[k]))
		for i, l := range below[k] {
			rows[i] = e.place[l]
		}
		slices.Sort(rows)
		for _, i := range rows {
			e.back[i] = append(e.back[i], len(e.row))
			e.row, e.col = append(e.row, i), append(e.col, j)
		}

		e.first = append(e.first, len(e.row))
	}
	return e
}

// eliminated orders components that are linked, and fills in what each column has.
func eliminated(group []int, near, below [][]int) []int {
	set, degree := neighbours(group, near)
	left := make([]int, len(group))
	for i := range left {
		left[i] = i
	}
	var order []int
	for len(left) > 0 {
		// The one of least degree goes next.
		least := 0
		for i, v := range left {
			if degree[v] < degree[left[least]] {
				least = i
			}
		}

		v := left[least]

		if degree[v] == len(left)-1 { // all are near all: any order will do
			for i, v := range left {
				for _, w := range left[i+1:] {
					below[group[v]] = append(below[group[v]], group[w])
				}
				order = append(order, group[v])
			}

			break
		}

		// Its neighbours are near each other from now on, and it is gone from their sets.
		left = slices.Delete(left, least, least+1)
		order = append(order, group[v])
		for w, bitset := range set[v] {
			for ; bitset != 0; bitset &= bitset - 1 {
				j := 64*w + bits.TrailingZeros64(bitset)
				below[group[v]] = append(below[group[v]], group[j])
				for x := range set[j] {
					set[j][x] |= set[v][x]
				}
				set[j][j/64] &^= 1 << (j % 64)
				set[j][v/64] &^= 1 << (v % 64)
				degree[j] = count(set[j])
			}
		}
	}
	return order
}

// neighbours says who of a group is near whom, by places in the group, as sets of bits: to eliminate one is to unite
// its neighbours' sets.
func neighbours(group []int, near [][]int) (set [][]uint64, degree []int) {
	n := len(group)
	local := make(map[int]int, n)
	for i, k := range group {
		local[k] = i
	}
	set, degree = make([][]uint64, n), make([]int, n)
	for i, k := range group {
		set[i] = make([]uint64, (n+63)/64)
		for _, l := range near[k] {
			j := local[l]
			set[i][j/64] |= 1 << (j % 64)
		}
		degree[i] = count(set[i])
	}
	return set, degree
}

func count(set []uint64) int {
	n := 0
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	return n
}

// factor turns the matrix with the given diagonal and entries into D and LD, and the r columns of side into L⁻¹ of
// them, from the component that goes as alone on. inverse and column are room for it. Pivots are not looked at.
func factor[T float64 | complex128](e *elimination, diagonal, entries, side []T, r int, inverse, column []T) {
	for j := e.alone; j < len(e.order); j++ {
		// Column j of what is left, less what the columns before it take away.
		lo, hi := e.first[j], e.first[j+1]
		for i := lo; i < hi; i++ {
			column[e.row[i]] = entries[i]
		}

		d := diagonal[j]
		for _, i := range e.back[j] {
			k := e.col[i]
			f := entries[i] * inverse[k]
			d -= f * entries[i]
			rows, values := e.row[i+1:e.first[k+1]], entries[i+1:e.first[k+1]]
			for n, v := range values {
				column[rows[n]] -= f * v
			}
		}

		// What remains is the pivot, and the column of LD below it; the side is eliminated as it comes by.
		diagonal[j], inverse[j] = d, 1/d
		from := side[j*r : (j+1)*r]
		for i := lo; i < hi; i++ {
			entries[i] = column[e.row[i]]
			if f := entries[i] * inverse[j]; f != 0 {
				to := side[e.row[i]*r : (e.row[i]+1)*r]
				for n := range to {
					to[n] -= f * from[n]
				}
			}
		}
	}
}
