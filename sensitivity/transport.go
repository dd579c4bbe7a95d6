package sensitivity

// sweep returns how much of a can be moved to b by at most w each, both sorted and one-dimensional. The points within w
// of x are an interval that moves up with x, so filling the lowest first is optimal.
func sweep(a, b Atoms, w float64) (carried int64) {
	j, left := 0, b.mass[0]
	for i, x := range a.points {
		supply := a.mass[i]
		for supply > 0 && j < len(b.points) {
			y := b.points[j]
			// Points of b that x cannot reach are left behind, or wait for a larger x.
			if far := a.distance(x, y) > w; far && y[0] > x[0] {
				break
			} else if !far {
				step := min(supply, left)
				supply, left, carried = supply-step, left-step, carried+step
				if left > 0 {
					continue
				}
			}

			if j++; j < len(b.points) {
				left = b.mass[j]
			}
		}
	}
	return carried
}

// flow returns how much of a can be moved to b by at most w each: a maximum flow in the bipartite graph of the points
// at most w apart, by blocking flows along shortest augmenting paths (Dinic).
func flow(a, b Atoms, w float64) (carried int64) {
	f := network{n: len(a.points), m: len(b.points), supply: make([]int64, len(a.points)),
		demand: make([]int64, len(b.points))}
	copy(f.supply, a.mass)
	copy(f.demand, b.mass)

	// The edges join the points that are at most w apart.
	f.moved = make([]int64, f.n*f.m)
	f.near = make([][]int32, f.n)
	f.back = make([][]int32, f.m)
	for i, x := range a.points {
		for j, y := range b.points {
			if a.distance(x, y) <= w {
				f.near[i] = append(f.near[i], int32(j))
				f.back[j] = append(f.back[j], int32(i))
			}
		}
	}

	// Each round takes all that shortest paths carry, and the next ones are longer.
	for f.levels() {
		f.nextA, f.nextB = make([]int, f.n), make([]int, f.m)
		for i := range f.n {
			if f.supply[i] > 0 {
				sent := f.push(i, f.supply[i])
				f.supply[i] -= sent
				carried += sent
			}
		}
	}
	return carried
}

// network is a flow from sources 0…n-1 with supply left to sinks 0…m-1 with demand left. Edges have no capacity of
// their own; what was moved can be taken back.
type network struct {
	n, m           int
	supply, demand []int64
	moved          []int64   // n × m
	near, back     [][]int32 // edges by source, by sink
	levelA, levelB []int32   // of a breadth-first search from the sources with supply; -1: not reached
	nextA, nextB   []int     // edges already found useless at this level
}

// levels searches breadth first and reports whether some demand can be reached.
func (f *network) levels() bool {
	f.levelA, f.levelB = make([]int32, f.n), make([]int32, f.m)
	for j := range f.levelB {
		f.levelB[j] = -1
	}

	// The sources that have something left are at level 0.
	var queue []int32
	for i := range f.levelA {
		if f.levelA[i] = -1; f.supply[i] > 0 {
			f.levelA[i] = 0
			queue = append(queue, int32(i))
		}
	}

	found := false
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, j := range f.near[i] {
			if f.levelB[j] >= 0 {
				continue
			}
			f.levelB[j] = f.levelA[i] + 1
			if f.demand[j] > 0 {
				found = true
				continue
			}

			// What a sink has it can give back, so that its source finds another sink.
			for _, k := range f.back[j] {
				if f.levelA[k] < 0 && f.moved[int(k)*f.m+int(j)] > 0 {
					f.levelA[k] = f.levelB[j] + 1
					queue = append(queue, k)
				}
			}
		}
	}
	return found
}

// push sends up to want from source i along level edges, and returns what arrived.
func (f *network) push(i int, want int64) (sent int64) {
	for ; f.nextA[i] < len(f.near[i]) && sent < want; f.nextA[i]++ {
		j := int(f.near[i][f.nextA[i]])
		if f.levelB[j] != f.levelA[i]+1 {
			continue
		}
		got := f.through(j, want-sent)
		f.moved[i*f.m+j] += got
		if sent += got; sent == want {
			break // the edge may carry more
		}
	}
	return sent
}

// through takes up to want at sink j: what it demands, and what can be taken back from the sources that it has it from.
func (f *network) through(j int, want int64) (got int64) {
	if f.demand[j] > 0 {
		got = min(want, f.demand[j])
		f.demand[j] -= got
		return got // a sink with demand ends the shortest paths
	}

	// Otherwise a source that sends here is asked to send elsewhere.
	for ; f.nextB[j] < len(f.back[j]) && got < want; f.nextB[j]++ {
		k := int(f.back[j][f.nextB[j]])
		if f.levelA[k] != f.levelB[j]+1 {
			continue
		}
		if have := min(want-got, f.moved[k*f.m+j]); have > 0 {
			sent := f.push(k, have)
			f.moved[k*f.m+j] -= sent
			if got += sent; got == want {
				break
			}
		}
	}
	return got
}
